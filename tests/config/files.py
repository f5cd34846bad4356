"""Configuration files in few words."""

import json

import pytest

from plugins.registry import BUILT_IN
from scheduler.config import ConfigError, Configuration, Profile, load
from tests.builders import JsonObject

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def read(text: str = "") -> Configuration:
    """What a file with this text after its head means."""
    return load(HEAD + text, "file.yaml", BUILT_IN)


def profile(plugins: JsonObject, *, args: list[JsonObject] | None = None) -> Profile:
    """The one profile of a file."""
    return read(f"profiles: {json.dumps([{'plugins': plugins, 'pluginConfig': args or []}])}").profiles[0]


def complaints(text: str) -> list[str]:
    """What is wrong with a file with this text after its head (which is two lines)."""
    with pytest.raises(ConfigError) as raised:
        read(text)
    assert "\n".join(raised.value.problems) == str(raised.value)
    return list(raised.value.problems)


def names(of: Profile, point: str) -> list[str]:
    """The plugins at an extension point."""
    return [ref.name for ref in of.plugins[point]]
