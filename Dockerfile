# BASE is any image with Python 3.11 or newer and its venv module; both stages must use the same.
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
RUN python3 -m venv /opt/berth
WORKDIR /src
COPY requirements.lock .
RUN /opt/berth/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY pyproject.toml README.md ./
COPY scheduler scheduler
COPY plugins plugins
RUN /opt/berth/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps . \
    && /opt/berth/bin/pip uninstall --quiet --yes pip

FROM ${BASE}
COPY --from=build /opt/berth /opt/berth
# Nothing is written at run time: byte code is compiled above, logs go to the standard output.
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 65532:65532
ENTRYPOINT ["/opt/berth/bin/berth"]
CMD ["run"]
