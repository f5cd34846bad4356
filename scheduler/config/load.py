"""Reads a configuration file and checks it."""

import copy
from collections.abc import Mapping
from dataclasses import replace

from scheduler.config import wire
from scheduler.config.decode import decode
from scheduler.config.document import Document, Tree
from scheduler.config.extenders import extenders, without_managed
from scheduler.config.imports import Importing, Imports
from scheduler.config.lease import leader_election
from scheduler.config.merge import Registry
from scheduler.config.model import ClientConnection, ConfigError, Configuration
from scheduler.config.problems import Problems
from scheduler.config.profiles import check_percentage, effective_profiles

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"


def default(registry: Registry) -> Configuration:
    """The configuration of an empty file: one profile named `berth` with the default plugins."""
    problems = Problems(None)
    made = _configuration(wire.File(API_VERSION, KIND), registry, problems)
    problems.raise_if_any()
    return made


def load(text: str, source: str, registry: Registry) -> Configuration:
    """A configuration from YAML or JSON, which may name plugins as `module:Class` if the registry can import them. Raises
    ConfigError with one line for each problem, naming source, line and field.
    """
    document = Document(text, source)
    problems = Problems(document)
    for path, twice in document.duplicates:
        problems.add(path, twice)
    return _load(
        document.tree,
        source,
        registry,
        problems,
        Imports(registry, problems) if isinstance(registry, Importing) else None,
    )


def load_object(tree: Mapping[str, object], path: str, registry: Registry) -> Configuration:
    """A configuration that is a part of an object, at this path in it. Raises ConfigError as `load`, without lines. It cannot
    bring in code: whoever may write the object need not be trusted with that.
    """
    return _load(copy.deepcopy(tree), path, registry, Problems(None, path))


def _load(
    tree: Tree, source: str, registry: Registry, problems: Problems, imports: Imports | None = None
) -> Configuration:
    file = decode(tree, wire.File, "", problems)
    if file is None:
        problems.raise_if_any()
        raise ConfigError([f"{source}: cannot be read"])
    if file.api_version != API_VERSION:
        problems.add("apiVersion", f'found "{file.api_version}", allowed: {API_VERSION}')
    if file.kind != KIND:
        problems.add("kind", f'found "{file.kind}", allowed: {KIND}')
    made = _configuration(imports.resolved(file) if imports else file, registry, problems)
    problems.raise_if_any()
    return made


def _configuration(file: wire.File, registry: Registry, problems: Problems) -> Configuration:
    initial, longest = file.pod_initial_backoff_seconds, file.pod_max_backoff_seconds
    if file.parallelism <= 0:
        problems.add("parallelism", f"found {file.parallelism}, allowed: 1 and more")
    if initial <= 0:
        problems.add("podInitialBackoffSeconds", f"found {initial}, allowed: 1 and more")
    if longest < initial:
        problems.add("podMaxBackoffSeconds", f"found {longest}, allowed: podInitialBackoffSeconds ({initial}) and more")
    check_percentage(file.percentage_of_nodes_to_score, "percentageOfNodesToScore", problems)
    made = Configuration(
        profiles=without_managed(effective_profiles(file, registry, problems), file.extenders, registry),
        extenders=extenders(file.extenders, problems),
        pod_initial_backoff_seconds=float(initial),
        pod_max_backoff_seconds=float(longest),
        leader_election=leader_election(file.leader_election, problems),
        client_connection=_client_connection(file.client_connection, problems),
        percentage_of_nodes_to_score=file.percentage_of_nodes_to_score,
        parallelism=file.parallelism,
        enable_profiling=file.enable_profiling,
        enable_contention_profiling=file.enable_contention_profiling,
        delay_cache_until_active=file.delay_cache_until_active,
    )
    return replace(made, notices=tuple(problems.notices))


def _client_connection(given: wire.ClientConnection, problems: Problems) -> ClientConnection:
    """Zeros mean the default."""
    usual = ClientConnection()
    if given.burst < 0:
        problems.add("clientConnection.burst", f"found {given.burst}, allowed: 0 and more")
    return ClientConnection(given.kubeconfig, given.qps or usual.qps, given.burst or usual.burst)
