"""Reads a configuration file and checks it."""

import re

import msgspec
import yaml

from scheduler.config import wire
from scheduler.config.merge import Registry, effective_plugins
from scheduler.config.model import ConfigError, Configuration, LeaderElection, Profile

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"
DEFAULT_NAME = "berth"

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")


def default(registry: Registry) -> Configuration:
    """The configuration of an empty file: one profile named `berth` with the default plugins."""
    return _configuration(wire.File(API_VERSION, KIND), "defaults", registry)


def load(text: str, source: str, registry: Registry) -> Configuration:
    """A configuration from YAML or JSON. Raises ConfigError with one line for each problem, naming source and field."""
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError([f"{source}: not YAML: {' '.join(str(error).split())}"]) from error
    if not isinstance(tree, dict):
        raise ConfigError([f"{source}: found {type(tree).__name__}, allowed: a mapping with apiVersion and kind"])
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if tree.get(field) != wanted:
            raise ConfigError([f"{source}: {field}: found {tree.get(field)!r}, allowed: {wanted}"])
    try:
        file = msgspec.convert(tree, wire.File)
    except msgspec.ValidationError as error:
        raise ConfigError([f"{source}: {_readable(error)}"]) from error
    return _configuration(file, source, registry)


def _configuration(file: wire.File, source: str, registry: Registry) -> Configuration:
    problems: list[str] = []
    if file.extenders:
        problems.append("extenders: found extenders, allowed: none yet")
    if file.parallelism <= 0:
        problems.append(f"parallelism: found {file.parallelism}, allowed: 1 and more")
    if not 0 < file.pod_initial_backoff_seconds <= file.pod_max_backoff_seconds:
        problems.append(
            f"podInitialBackoffSeconds: found {file.pod_initial_backoff_seconds}, "
            f"allowed: 1 to podMaxBackoffSeconds ({file.pod_max_backoff_seconds})"
        )
    _check_percentage(file.percentage_of_nodes_to_score, "percentageOfNodesToScore", problems)
    profiles = [
        _profile(profile, f"profiles[{i}]", file, registry, problems)
        for i, profile in enumerate(file.profiles or [wire.Profile()])
    ]
    _check_profiles(profiles, problems)
    election = _election(file.leader_election, problems)
    if problems:
        raise ConfigError([f"{source}: {problem}" for problem in problems])
    return Configuration(
        profiles=tuple(profiles),
        pod_initial_backoff_seconds=float(file.pod_initial_backoff_seconds),
        pod_max_backoff_seconds=float(file.pod_max_backoff_seconds),
        leader_election=election,
    )


def _profile(given: wire.Profile, path: str, file: wire.File, registry: Registry, problems: list[str]) -> Profile:
    name = given.scheduler_name
    if not name:
        if len(file.profiles) > 1:
            problems.append(f"{path}.schedulerName: required, since there are several profiles")
        name = DEFAULT_NAME
    _check_percentage(given.percentage_of_nodes_to_score, f"{path}.percentageOfNodesToScore", problems)
    percentage = given.percentage_of_nodes_to_score
    return Profile(
        scheduler_name=name,
        plugins=effective_plugins(given.plugins, registry, problems, f"{path}.plugins"),
        args=_arguments(given, path, registry, problems),
        percentage_of_nodes_to_score=file.percentage_of_nodes_to_score if percentage is None else percentage,
    )


def _arguments(given: wire.Profile, path: str, registry: Registry, problems: list[str]) -> dict[str, msgspec.Struct]:
    read: dict[str, msgspec.Struct] = {}
    for i, config in enumerate(given.plugin_config):
        where = f"{path}.pluginConfig[{i}]"
        if config.name not in registry:
            problems.append(f"{where}.name: there is no plugin {config.name!r}; known: {', '.join(sorted(registry))}")
        elif config.name in read:
            problems.append(f"{where}.name: there are arguments for {config.name!r} already")
        else:
            tree = {k: v for k, v in config.args.items() if k not in ("apiVersion", "kind")}
            try:
                read[config.name] = msgspec.convert(tree, registry[config.name].Args)
            except msgspec.ValidationError as error:
                problems.append(f"{where}.args: {_readable(error)}")
    return read


def _check_profiles(profiles: list[Profile], problems: list[str]) -> None:
    names = [profile.scheduler_name for profile in profiles]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        problems.append(f"profiles: schedulerName {name!r} is used {names.count(name)} times")
    for i, profile in enumerate(profiles):
        sorts = [ref.name for ref in profile.plugins["queueSort"]]
        if len(sorts) != 1:
            problems.append(f"profiles[{i}].plugins.queueSort: found {sorts or 'none'}, allowed: exactly one plugin")
        if not profile.plugins["bind"]:
            problems.append(f"profiles[{i}].plugins.bind: found none, allowed: at least one plugin")
    if len({tuple(ref.name for ref in profile.plugins["queueSort"]) for profile in profiles}) > 1:
        problems.append("profiles: all profiles must have the same queueSort plugin, for they share one queue")


def _check_percentage(percentage: int | None, path: str, problems: list[str]) -> None:
    if percentage is not None and not 0 <= percentage <= 100:
        problems.append(f"{path}: found {percentage}, allowed: 0 to 100")


def _election(given: wire.LeaderElection, problems: list[str]) -> LeaderElection:
    def seconds(text: str, field: str) -> float:
        match = _DURATION.fullmatch(text)
        if match is None or not text:
            problems.append(f"leaderElection.{field}: found {text!r}, allowed: a duration such as 15s or 1m30s")
            return 0.0
        hours, minutes, rest = (float(part or 0) for part in match.groups())
        return 3600 * hours + 60 * minutes + rest

    lease = seconds(given.lease_duration, "leaseDuration")
    renew = seconds(given.renew_deadline, "renewDeadline")
    retry = seconds(given.retry_period, "retryPeriod")
    if given.resource_lock != "leases":
        problems.append(f"leaderElection.resourceLock: found {given.resource_lock!r}, allowed: leases")
    if not problems and not lease > renew > retry > 0:
        problems.append("leaderElection: allowed: leaseDuration > renewDeadline > retryPeriod > 0")
    return LeaderElection(given.leader_elect, lease, renew, retry, given.resource_name, given.resource_namespace)


def _readable(error: msgspec.ValidationError) -> str:
    """msgspec says `Object contains unknown field `x` - at `$.a[0]``; users know a path, what was found, what is allowed."""
    text = str(error)
    message, _, place = text.partition(" - at ")
    path = place.strip("`").removeprefix("$").removeprefix(".")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", message)
    if unknown:
        return f"{path + '.' if path else ''}{unknown.group(1)}: unknown field"
    return f"{path}: {message}" if path else message
