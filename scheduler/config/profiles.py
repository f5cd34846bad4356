"""Profiles: names, plugins, arguments, and what holds for all of them together."""

from collections.abc import Mapping, Sequence

from scheduler.config import wire
from scheduler.config.catalog import PLUGINS
from scheduler.config.decode import decode
from scheduler.config.document import shown
from scheduler.config.merge import Registry, complaint, effective_plugins, is_without_effect
from scheduler.config.model import Profile
from scheduler.config.problems import Problems
from scheduler.framework import PluginArgs

DEFAULT_NAME = "berth"

_ARGS_VERSION = "kubescheduler.config.k8s.io/v1"


def effective_profiles(file: wire.File, registry: Registry, problems: Problems) -> tuple[Profile, ...]:
    """The profiles of a file; one with the defaults if it has none. A single profile may leave its name out."""
    given = file.profiles or (wire.Profile(),)
    profiles = tuple(_profile(profile, f"profiles[{i}]", file, registry, problems) for i, profile in enumerate(given))
    _check_names(given, problems)
    for i, profile in enumerate(profiles):
        _check_points(profile, f"profiles[{i}].plugins", problems)
    _check_queue_sort(profiles, problems)
    return profiles


def check_percentage(percentage: int | None, path: str, problems: Problems) -> None:
    """percentageOfNodesToScore, here or there."""
    if percentage is not None and not 0 <= percentage <= 100:
        problems.add(path, f"found {percentage}, allowed: 0 to 100")


def _profile(given: wire.Profile, path: str, file: wire.File, registry: Registry, problems: Problems) -> Profile:
    own = given.percentage_of_nodes_to_score
    check_percentage(own, f"{path}.percentageOfNodesToScore", problems)
    return Profile(
        scheduler_name=given.scheduler_name or DEFAULT_NAME,
        plugins=effective_plugins(given.plugins, registry, problems, f"{path}.plugins"),
        args=_arguments(given.plugin_config, f"{path}.pluginConfig", registry, problems),
        percentage_of_nodes_to_score=file.percentage_of_nodes_to_score if own is None else own,
    )


def _arguments(
    given: Sequence[wire.PluginConfig], path: str, registry: Registry, problems: Problems
) -> dict[str, PluginArgs]:
    read: dict[str, PluginArgs] = {}
    seen: set[str] = set()
    for i, config in enumerate(given):
        where = f"{path}[{i}]"
        if is_without_effect(config.name, registry):
            problems.notice(where, f"{config.name} has no effect, for berth does not have it yet")
        elif text := complaint(config.name, registry):
            if not problems.known(f"{where}.name"):
                problems.add(f"{where}.name", text)
        elif config.name in seen:
            problems.add(f"{where}.name", f'found "{config.name}" again, allowed: once')
        else:
            fields = _without_type(config, f"{where}.args", problems)
            args = decode(fields, registry[config.name].Args, f"{where}.args", problems)
            if args is not None:
                read[config.name] = args
                for problem in args.problems():
                    problems.add(*_split(f"{where}.args.{problem}"))
        seen.add(config.name)
    return read


def _without_type(config: wire.PluginConfig, path: str, problems: Problems) -> object:
    """The arguments without apiVersion and kind, which may say again whose they are."""
    given = {} if config.args is None else config.args
    if not isinstance(given, Mapping):
        return given
    if config.name in PLUGINS:
        for field, allowed in (("apiVersion", _ARGS_VERSION), ("kind", f"{config.name}Args")):
            if given.get(field, allowed) != allowed:
                problems.add(f"{path}.{field}", f"found {shown(given[field])}, allowed: {allowed}")
    return {field: value for field, value in given.items() if field not in ("apiVersion", "kind")}


def _split(problem: str) -> tuple[str, str]:
    path, _, text = problem.partition(": ")
    return path, text


def _check_names(given: Sequence[wire.Profile], problems: Problems) -> None:
    first: dict[str, int] = {}
    for i, profile in enumerate(given):
        name = profile.scheduler_name
        path = f"profiles[{i}].schedulerName"
        if not name and len(given) > 1:
            problems.add(path, f"required, for there are {len(given)} profiles")
        elif name in first:
            problems.add(path, f'found "{name}", the name of profiles[{first[name]}] too, allowed: a name of its own')
        first.setdefault(name, i)


def _check_points(profile: Profile, path: str, problems: Problems) -> None:
    sorts = [ref.name for ref in profile.plugins["queueSort"]]
    if len(sorts) != 1:
        problems.add(f"{path}.queueSort", f"found {', '.join(sorts) or 'none'}, allowed: exactly one plugin")
    if not profile.plugins["bind"]:
        problems.add(f"{path}.bind", "found none, allowed: at least one plugin")


def _check_queue_sort(profiles: Sequence[Profile], problems: Problems) -> None:
    """All profiles share one queue, so its order must be the same, with the same arguments."""
    first = profiles[0]
    names = [ref.name for ref in first.plugins["queueSort"]]
    for i, profile in enumerate(profiles[1:], 1):
        others = [ref.name for ref in profile.plugins["queueSort"]]
        if others != names:
            found, allowed = ", ".join(others) or "none", ", ".join(names) or "none"
            problems.add(f"profiles[{i}].plugins.queueSort", f"found {found}, allowed: as in profiles[0] ({allowed})")
        elif any(profile.args.get(name) != first.args.get(name) for name in names):
            problems.add(
                f"profiles[{i}].pluginConfig",
                f"found other arguments of {names[0]} than profiles[0], allowed: the same",
            )
