"""From a profile's plugin lists to the plugins of each extension point (kube-scheduler 1.36, runtime/framework.go)."""

from collections.abc import Mapping

from scheduler.config import wire
from scheduler.config.model import PluginRef
from scheduler.framework import EXTENSION_POINTS, Plugin

# kube-scheduler's default MultiPoint list, in its order and with its weights, as far as berth has the plugins.
DEFAULT_PLUGINS = (
    PluginRef("SchedulingGates"),
    PluginRef("PrioritySort"),
    PluginRef("NodeUnschedulable"),
    PluginRef("NodeName"),
    PluginRef("TaintToleration", 3),
    PluginRef("NodeAffinity", 2),
    PluginRef("NodePorts"),
    PluginRef("NodeResourcesFit"),
    PluginRef("NodeResourcesBalancedAllocation"),
    PluginRef("ImageLocality"),
    PluginRef("DefaultBinder"),
)

Registry = Mapping[str, type[Plugin]]


def effective_plugins(
    plugins: wire.Plugins, registry: Registry, problems: list[str], path: str
) -> dict[str, list[PluginRef]]:
    """The plugins of each extension point in call order; what is wrong is added to `problems`."""
    everywhere = _multi_point(plugins.multi_point, registry, problems, f"{path}.multiPoint")
    result: dict[str, list[PluginRef]] = {}
    for point, kinds in EXTENSION_POINTS.items():
        given: wire.PluginSet = getattr(plugins, _attribute(point))
        where = f"{path}.{point}"
        own = _named(given, registry, problems, where)
        for ref in own:
            if ref.name in registry and not issubclass(registry[ref.name], kinds):
                problems.append(f"{where}.enabled: plugin {ref.name!r} does not implement {point}")
        disabled = {plugin.name for plugin in given.disabled}
        expanded = [
            ref
            for ref in everywhere
            if issubclass(registry[ref.name], kinds) and "*" not in disabled and ref.name not in disabled
        ]
        names = {ref.name for ref in own}
        shared = {ref.name for ref in expanded}
        # First what the list of the point itself reorders, then the rest of multiPoint, then what only the list has.
        result[point] = [
            *(ref for ref in own if ref.name in shared),
            *(ref for ref in expanded if ref.name not in names),
            *(ref for ref in own if ref.name not in shared),
        ]
    return result


def _multi_point(given: wire.PluginSet, registry: Registry, problems: list[str], path: str) -> list[PluginRef]:
    own = _named(given, registry, problems, path)
    disabled = {plugin.name for plugin in given.disabled}
    replaced = {ref.name: ref for ref in own}
    kept = [
        replaced.get(ref.name, ref)
        for ref in DEFAULT_PLUGINS
        if ref.name in registry and "*" not in disabled and ref.name not in disabled
    ]
    names = {ref.name for ref in kept}
    return [*kept, *(ref for ref in own if ref.name not in names and ref.name in registry)]


def _named(given: wire.PluginSet, registry: Registry, problems: list[str], path: str) -> list[PluginRef]:
    refs: dict[str, PluginRef] = {}
    for i, plugin in enumerate(given.enabled):
        where = f"{path}.enabled[{i}]"
        if plugin.name not in registry:
            problems.append(f"{where}.name: there is no plugin {plugin.name!r}; known: {', '.join(sorted(registry))}")
        elif plugin.name in refs:
            problems.append(f"{where}.name: plugin {plugin.name!r} is enabled twice")
        elif plugin.weight is not None and plugin.weight < 0:
            problems.append(f"{where}.weight: found {plugin.weight}, allowed: 0 (meaning 1) and more")
        else:
            refs[plugin.name] = PluginRef(plugin.name, plugin.weight or 1)
    return list(refs.values())


def _attribute(point: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in point)
