"""The plugins by name. Order means nothing here: a profile says which run, in which order, and with which weight."""

import inspect
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

from plugins.default_binder import DefaultBinder
from plugins.default_preemption import DefaultPreemption
from plugins.image_locality import ImageLocality
from plugins.inter_pod_affinity import InterPodAffinity
from plugins.node_affinity import NodeAffinity
from plugins.node_declared_features import NodeDeclaredFeatures
from plugins.node_name import NodeName
from plugins.node_ports import NodePorts
from plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from plugins.node_resources_fit import NodeResourcesFit
from plugins.node_unschedulable import NodeUnschedulable
from plugins.node_volume_limits import NodeVolumeLimits
from plugins.pod_topology_spread import PodTopologySpread
from plugins.priority_sort import PrioritySort
from plugins.scheduling_gates import SchedulingGates
from plugins.taint_toleration import TaintToleration
from plugins.volume_binding import VolumeBinding
from plugins.volume_restrictions import VolumeRestrictions
from plugins.volume_zone import VolumeZone
from scheduler.framework import Plugin, PluginArgs

GROUP = "berth.plugins"

BUILT_IN: Mapping[str, type[Plugin]] = {
    "DefaultBinder": DefaultBinder,
    "DefaultPreemption": DefaultPreemption,
    "ImageLocality": ImageLocality,
    "InterPodAffinity": InterPodAffinity,
    "NodeAffinity": NodeAffinity,
    "NodeDeclaredFeatures": NodeDeclaredFeatures,
    "NodeName": NodeName,
    "NodePorts": NodePorts,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocation,
    "NodeResourcesFit": NodeResourcesFit,
    "NodeUnschedulable": NodeUnschedulable,
    "NodeVolumeLimits": NodeVolumeLimits,
    "PodTopologySpread": PodTopologySpread,
    "PrioritySort": PrioritySort,
    "SchedulingGates": SchedulingGates,
    "TaintToleration": TaintToleration,
    "VolumeBinding": VolumeBinding,
    "VolumeRestrictions": VolumeRestrictions,
    "VolumeZone": VolumeZone,
}


class RegistryError(ValueError):
    """Plugins that cannot be used; one line for each problem."""


class Registry(dict[str, type[Plugin]]):
    """Plugins by name, to which others can be brought."""

    def bring(self, place: str) -> type[Plugin]:
        """The plugin at `module:Class`. Raises RegistryError if it cannot be loaded, is no plugin, or has the name of another."""
        return self.take(EntryPoint("", place, GROUP))

    def take(self, entry: EntryPoint) -> type[Plugin]:
        """The plugin of an entry point; as `bring`."""
        plugin = _load(entry)
        other = self.setdefault(plugin.name, plugin)
        if other is not plugin:
            raise RegistryError(f"the name {plugin.name} is that of {_place(other)} already")
        return plugin


def load_registry(names: Iterable[str] = ()) -> Registry:
    """The built-in plugins, those that installed packages offer (entry points of `berth.plugins`), and those named here as
    `module:Class`. Raises RegistryError naming whatever cannot be loaded, is no plugin, or has the name of another.
    """
    found = [EntryPoint("", name, GROUP) for name in names]
    registry = Registry(BUILT_IN)
    problems: list[str] = []
    for entry in [*entry_points(group=GROUP), *found]:
        where = f"{entry.name} = {entry.value}" if entry.name else entry.value
        try:
            registry.take(entry)
        except RegistryError as error:
            problems.append(f"plugin {where}: {error}")
    if problems:
        raise RegistryError("\n".join(problems))
    return registry


def _load(entry: EntryPoint) -> type[Plugin]:
    if ":" not in entry.value:
        raise RegistryError("allowed: module:Class")
    try:
        loaded = entry.load()
    except Exception as error:  # a module of somebody else's may raise anything when it is imported
        raise RegistryError(f"cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(loaded, type) or not issubclass(loaded, Plugin):
        raise RegistryError("not a subclass of scheduler.framework.Plugin")
    if inspect.isabstract(loaded):
        raise RegistryError(f"does not implement {', '.join(sorted(loaded.__abstractmethods__))}")
    if not isinstance(getattr(loaded, "name", None), str):
        raise RegistryError("the class has no `name`")
    if not issubclass(loaded.Args, PluginArgs):
        raise RegistryError("its `Args` are not a subclass of scheduler.framework.PluginArgs")
    if entry.name not in ("", loaded.name):
        raise RegistryError(f"the class is named {loaded.name}, allowed: the name of the entry point")
    return loaded


def _place(plugin: type[Plugin]) -> str:
    return f"{plugin.__module__}:{plugin.__qualname__}"
