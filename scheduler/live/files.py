"""The text of a configuration file."""

from pathlib import Path

from scheduler.config import ConfigError


def read_text(path: Path) -> str:
    """Raises ConfigError if the file cannot be read, or is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError([f"{path}: {error.strerror or error}"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: not text in UTF-8: {error.reason} at byte {error.start}"]) from error
