"""KubeSchedulerConfiguration v1: typed, defaulted, strictly validated."""

from scheduler.config.load import default, load
from scheduler.config.model import ConfigError, Configuration, LeaderElection, PluginRef, Profile

__all__ = ["ConfigError", "Configuration", "LeaderElection", "PluginRef", "Profile", "default", "load"]
