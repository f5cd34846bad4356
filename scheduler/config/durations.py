"""Durations as Go writes them (time.ParseDuration), such as 1m30s."""

import re

import durationpy

from scheduler.config.problems import Problems

# The library also takes days and weeks, which Go's time.ParseDuration does not know.
_DURATION = re.compile(
    r"0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*", re.ASCII
)


def seconds(text: str, default: float, path: str, problems: Problems) -> float:
    """A duration; nothing and zero mean the default."""
    if not text:
        return default
    if not _DURATION.fullmatch(text):
        problems.add(path, f'found "{text}", allowed: a duration such as 15s or 1m30s')
        return default
    read: float = durationpy.from_str(text).total_seconds()
    return read or default
