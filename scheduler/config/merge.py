"""From a profile's plugin lists to the plugins of each extension point (kube-scheduler 1.36, apis/config/v1 and
runtime/framework.go).
"""

from collections.abc import Collection, Mapping

from scheduler.config import wire
from scheduler.config.catalog import DEFAULT_PLUGINS, PLACEMENT_POINTS, PLUGINS, REMOVED_PLUGINS, WITHOUT_EFFECT
from scheduler.config.model import PluginRef
from scheduler.config.problems import Problems
from scheduler.framework import EXTENSION_POINTS, Plugin

Registry = Mapping[str, type[Plugin]]

_MAX_WEIGHT = 2**31 - 1


def effective_plugins(
    plugins: wire.Plugins, registry: Registry, problems: Problems, path: str
) -> dict[str, tuple[PluginRef, ...]]:
    """The plugins of each extension point in call order."""
    everywhere = _multi_point(plugins.multi_point, registry, problems, f"{path}.multiPoint")
    for point in PLACEMENT_POINTS:
        for i, plugin in enumerate(plugins.at(point).enabled):
            problems.add(
                f"{path}.{point}.enabled[{i}]",
                f'found "{plugin.name}", allowed: none, for berth does not have {point} yet',
            )
    result = {}
    for point, kinds in EXTENSION_POINTS.items():
        given = plugins.at(point)
        where = f"{path}.{point}"
        own = _enabled(given, registry, problems, where)
        for i, plugin in enumerate(given.enabled):
            if plugin.name in registry and not issubclass(registry[plugin.name], kinds):
                points = ", ".join(points_of(registry[plugin.name]))
                problems.add(
                    f"{where}.enabled[{i}].name",
                    f'found "{plugin.name}", which does not implement {point}, allowed for it: {points}',
                )
        disabled = _disabled(given, registry, problems, where)
        expanded = [
            ref for ref in everywhere if issubclass(registry[ref.name], kinds) and not _is_in(ref.name, disabled)
        ]
        result[point] = _in_order(own, expanded)
    return result


def points_of(plugin: type[Plugin]) -> list[str]:
    """The extension points that a plugin implements."""
    return [point for point, kinds in EXTENSION_POINTS.items() if issubclass(plugin, kinds)]


def is_without_effect(name: str, registry: Registry) -> bool:
    """Whether a plugin may be named although there is none."""
    return name in WITHOUT_EFFECT and name not in registry


def complaint(name: str, registry: Registry) -> str | None:
    """Why a plugin cannot be used under this name, or None."""
    if name in registry:
        return None
    if ":" in name:
        return f'found "{name}", allowed: the name of a plugin; module:Class in files only'
    if name in REMOVED_PLUGINS:
        return f'found "{name}", which kube-scheduler has removed, allowed: in `disabled` only'
    if name in PLUGINS:
        return f'found "{name}", which berth does not have yet, allowed: in `disabled` only'
    return f'found "{name}", allowed: {", ".join(sorted(registry))}'


def _multi_point(given: wire.PluginSet, registry: Registry, problems: Problems, path: str) -> list[PluginRef]:
    """The defaults, of which the user's entries replace those of the same name in place; then the user's other entries."""
    own = {ref.name: ref for ref in _enabled(given, registry, problems, path)}
    disabled = _disabled(given, registry, problems, path)
    defaults = [ref for ref in DEFAULT_PLUGINS if ref.name in registry and not _is_in(ref.name, disabled)]
    names = {ref.name for ref in defaults}
    return [*(own.get(ref.name, ref) for ref in defaults), *(ref for ref in own.values() if ref.name not in names)]


def _in_order(own: list[PluginRef], expanded: list[PluginRef]) -> tuple[PluginRef, ...]:
    """First what the point's own list says again, then the rest of multiPoint, then what only the own list has."""
    listed = {ref.name for ref in own}
    shared = {ref.name for ref in expanded}
    return (
        *(ref for ref in own if ref.name in shared),
        *(ref for ref in expanded if ref.name not in listed),
        *(ref for ref in own if ref.name not in shared),
    )


def _enabled(given: wire.PluginSet, registry: Registry, problems: Problems, path: str) -> list[PluginRef]:
    refs: dict[str, PluginRef] = {}
    for i, plugin in enumerate(given.enabled):
        where = f"{path}.enabled[{i}]"
        weight = 1 if plugin.weight is None else plugin.weight
        if is_without_effect(plugin.name, registry):
            problems.notice(f"{where}.name", f"{plugin.name} has no effect, for berth does not have it yet")
        elif text := complaint(plugin.name, registry):
            if not problems.known(f"{where}.name"):
                problems.add(f"{where}.name", text)
        elif plugin.name in refs:
            problems.add(f"{where}.name", f'found "{plugin.name}" again, allowed: once in a list')
        elif not 0 <= weight <= _MAX_WEIGHT:
            problems.add(f"{where}.weight", f"found {weight}, allowed: 0 (which means 1) to {_MAX_WEIGHT}")
        else:
            refs[plugin.name] = PluginRef(plugin.name, weight or 1)
    return list(refs.values())


def _disabled(given: wire.PluginSet, registry: Registry, problems: Problems, path: str) -> set[str]:
    names = [plugin.name for plugin in given.disabled]
    for i, name in enumerate(names):
        # Under a wrong name a plugin would go on running, unnoticed.
        if name not in {"*", *registry, *PLUGINS, *REMOVED_PLUGINS} and not problems.known(
            f"{path}.disabled[{i}].name"
        ):
            problems.add(f"{path}.disabled[{i}].name", f'found "{name}", allowed: * or {", ".join(sorted(registry))}')
    return set(names)


def _is_in(name: str, disabled: Collection[str]) -> bool:
    return name in disabled or "*" in disabled
