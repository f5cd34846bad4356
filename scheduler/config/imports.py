"""Plugins that a file names by where they are (`module:Class`) instead of by their name."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

from scheduler.config import wire
from scheduler.config.problems import Problems
from scheduler.framework import Plugin


@runtime_checkable
class Importing(Protocol):
    """A registry that can take in further plugins."""

    def bring(self, place: str) -> type[Plugin]:
        """The plugin at `module:Class`, which is in the registry from now on. Raises ValueError saying what is wrong with it."""


class Imports:
    """Brings plugins into a registry; everything else goes by their names from then on."""

    def __init__(self, registry: Importing, problems: Problems) -> None:
        self._registry = registry
        self._problems = problems

    def resolved(self, file: wire.File) -> wire.File:
        """The file with names only. What cannot be imported is a problem, and stays as it is."""
        profiles = tuple(self._profile(profile, f"profiles[{i}]") for i, profile in enumerate(file.profiles))
        return msgspec.structs.replace(file, profiles=profiles)

    def _profile(self, profile: wire.Profile, path: str) -> wire.Profile:
        sets = {}
        for field in msgspec.structs.fields(wire.Plugins):
            given = profile.plugins.at(field.encode_name)
            where = f"{path}.plugins.{field.encode_name}"
            enabled = self._named(given.enabled, f"{where}.enabled")
            sets[field.name] = wire.PluginSet(enabled, self._named(given.disabled, f"{where}.disabled"))
        arguments = tuple(
            msgspec.structs.replace(config, name=self._name(config.name, f"{path}.pluginConfig[{i}].name"))
            for i, config in enumerate(profile.plugin_config)
        )
        return msgspec.structs.replace(profile, plugins=wire.Plugins(**sets), plugin_config=arguments)

    def _named(self, plugins: Sequence[wire.Plugin], path: str) -> tuple[wire.Plugin, ...]:
        return tuple(
            msgspec.structs.replace(plugin, name=self._name(plugin.name, f"{path}[{i}].name"))
            for i, plugin in enumerate(plugins)
        )

    def _name(self, given: str, path: str) -> str:
        if ":" not in given:
            return given
        try:
            return self._registry.bring(given).name
        except ValueError as error:
            self._problems.add(path, f'found "{given}", which cannot be used: {error}')
            return given
