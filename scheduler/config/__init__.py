"""KubeSchedulerConfiguration v1: typed, defaulted, strictly validated."""

from scheduler.config.load import default, load, load_object
from scheduler.config.model import (
    ClientConnection,
    ConfigError,
    Configuration,
    Extender,
    ExtenderTls,
    LeaderElection,
    PluginRef,
    Profile,
)

__all__ = [
    "ClientConnection",
    "ConfigError",
    "Configuration",
    "Extender",
    "ExtenderTls",
    "LeaderElection",
    "PluginRef",
    "Profile",
    "default",
    "load",
    "load_object",
]
