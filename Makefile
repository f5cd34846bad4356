# Everything a contributor types. `make help` lists it.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

install: $(STAMP) ## make the virtual environment with pinned packages

test: $(STAMP) ## run all tests that this machine can run
	$(BIN)/python -m pytest $(ARGS)

check: $(STAMP) ## lint, format check, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## format the code
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

lock: ## pin the newest packages that pyproject.toml allows
	$(PYTHON) -m venv $(VENV) && $(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --extra uvloop pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --extra uvloop --group dev pyproject.toml -o requirements-dev.lock

controlplane: ## build a real control plane for tests (needs Go)
	tools/controlplane/build.sh

.PHONY: help install test check format lock controlplane
