"""Structured logs on standard error: for people on a terminal, one JSON object a line otherwise.

What libraries log through the standard library takes the same way. Not here: the lines about decisions (decisions.py).
"""

import logging
import sys
from collections.abc import MutableMapping
from enum import StrEnum

import msgspec
import structlog
from structlog.typing import Processor

EventDict = MutableMapping[str, object]


class Format(StrEnum):
    """How lines look; `auto` looks whether standard error is a terminal."""

    AUTO = "auto"
    CONSOLE = "console"
    JSON = "json"


def configure(form: Format) -> None:
    """Set up logging for the whole process."""
    if form is Format.AUTO:
        form = Format.CONSOLE if sys.stderr.isatty() else Format.JSON
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info if form is Format.JSON else _unchanged,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer(serializer=_json)
        if form is Format.JSON
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)


def _json(event: EventDict, **_: object) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()


def _unchanged(_: object, __: str, event: EventDict) -> EventDict:
    return event
