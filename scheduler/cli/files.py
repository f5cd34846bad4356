"""The configuration file that commands take."""

from pathlib import Path

from scheduler.config import Configuration, default, load
from scheduler.config.merge import Registry
from scheduler.live.files import read_text


def read_configuration(path: Path | None, registry: Registry) -> Configuration:
    """What is in a file, or the defaults without one. Raises ConfigError, also if the file cannot be read."""
    if path is None:
        return default(registry)
    return load(read_text(path), str(path), registry)
