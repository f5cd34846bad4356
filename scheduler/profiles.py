"""From a configuration to profiles at work, and from what they need to what must be followed."""

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler.api import Kind
from scheduler.cache.cache import Cache
from scheduler.config import Configuration
from scheduler.framework import Plugin
from scheduler.handle import Host, PluginHandle
from scheduler.observer import Observer
from scheduler.runtime.profile import ProfileRuntime
from scheduler.state import OWN_REGISTRATIONS


@dataclass(frozen=True, slots=True)
class ProfileMaker:
    """Sets up the plugins of profiles for one engine."""

    registry: Mapping[str, type[Plugin]]
    host: Host
    cache: Cache
    observer: Observer

    def make(self, configuration: Configuration, known: Mapping[str, ProfileRuntime]) -> dict[str, ProfileRuntime]:
        """The profiles of a configuration; one of those that are known stays if nothing about it is different. Raises
        ConfigError if a plugin cannot be set up.
        """
        made = {}
        for profile in configuration.profiles:
            runtime = known.get(profile.scheduler_name)
            if runtime is None or runtime.profile != profile:
                runtime = ProfileRuntime(
                    profile,
                    self.registry,
                    PluginHandle(self.host),
                    table=self.cache.nodes,
                    observer=self.observer,
                    own_registrations=OWN_REGISTRATIONS,
                )
            made[profile.scheduler_name] = runtime
        return made


def kinds(profiles: Mapping[str, ProfileRuntime]) -> frozenset[Kind]:
    """What must be followed: pods, nodes, and what plugins need."""
    return frozenset({Kind.POD, Kind.NODE, *(kind for runtime in profiles.values() for kind in runtime.needs())})
