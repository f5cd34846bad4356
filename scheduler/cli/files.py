"""The configuration file that commands take."""

from pathlib import Path

from scheduler.config import ConfigError, Configuration, default, load
from scheduler.config.merge import Registry


def read_configuration(path: Path | None, registry: Registry) -> Configuration:
    """What is in a file, or the defaults without one. Raises ConfigError, also if the file cannot be read."""
    if path is None:
        return default(registry)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError([f"{path}: {error.strerror or error}"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: not text in UTF-8: {error.reason} at byte {error.start}"]) from error
    return load(text, str(path), registry)
