"""`berth config`: what a configuration file comes to."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import yaml
from rich.console import Console
from rich.table import Table

from plugins.registry import RegistryError, load_registry
from scheduler.cli.files import read_configuration
from scheduler.config import ConfigError, Configuration, Extender, PluginRef, Profile
from scheduler.config.merge import Registry


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--plugin", "plugins", multiple=True, metavar="MODULE:CLASS", help="A plugin of your own; repeatable.")
def config(file: Path | None, plugins: tuple[str, ...]) -> None:
    """Show what FILE comes to: the plugins of each profile in call order, their arguments, and all other settings. Without
    FILE, the defaults. If anything is wrong with it, all of that instead, with exit status 1.
    """
    try:
        registry = load_registry(plugins)
        configuration = read_configuration(file, registry)
    except (ConfigError, RegistryError) as error:
        for line in str(error).splitlines():
            click.echo(f"berth: {line}", err=True)
        sys.exit(1)
    console = Console(highlight=False, markup=False)
    for profile in configuration.profiles:
        console.print(_plugins(profile))
        console.print(_arguments(profile, registry))
    console.print(_settings(configuration))
    for notice in configuration.notices:
        click.echo(f"berth: {notice}", err=True)


def _plugins(profile: Profile) -> Table:
    table = _table(f"Profile {profile.scheduler_name}", "extension point", "plugins, in call order")
    for point, refs in profile.plugins.items():
        shown = (_weighted(ref) if point == "score" else ref.name for ref in refs)
        table.add_row(point, ", ".join(shown) or "-")
    percentage = profile.percentage_of_nodes_to_score
    table.caption = f"nodes scored: {f'{percentage} %' if percentage else 'all'}"
    return table


def _weighted(ref: PluginRef) -> str:
    return f"{ref.name} ({ref.weight})"


def _arguments(profile: Profile, registry: Registry) -> Table:
    table = _table(f"Arguments in profile {profile.scheduler_name}", "plugin", "arguments")
    names = dict.fromkeys(ref.name for refs in profile.plugins.values() for ref in refs)
    for name in sorted(names):
        kind = registry[name].Args
        if kind.__struct_fields__:
            args = profile.args.get(name) or kind()
            table.add_row(name, yaml.safe_dump(msgspec.to_builtins(args), sort_keys=False).strip())
    return table


def _settings(configuration: Configuration) -> Table:
    table = _table("Settings of all profiles", "field", "value")
    for field, value in _fields(configuration):
        table.add_row(field, value)
    return table


def _fields(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """As they are called in the file."""
    election, client = configuration.leader_election, configuration.client_connection
    yield "podInitialBackoffSeconds", f"{configuration.pod_initial_backoff_seconds:g}"
    yield "podMaxBackoffSeconds", f"{configuration.pod_max_backoff_seconds:g}"
    yield "leaderElection.leaderElect", _boolean(election.leader_elect)
    if election.leader_elect:
        yield "leaderElection.leaseDuration", f"{election.lease_duration:g}s"
        yield "leaderElection.renewDeadline", f"{election.renew_deadline:g}s"
        yield "leaderElection.retryPeriod", f"{election.retry_period:g}s"
        yield "leaderElection.resourceNamespace", election.resource_namespace
        yield "leaderElection.resourceName", election.resource_name
    yield "clientConnection.kubeconfig", client.kubeconfig or "-"
    yield "clientConnection.qps", f"{client.qps:g}"
    yield "clientConnection.burst", str(client.burst)
    for extender in configuration.extenders:
        yield f"extender {extender.name}", _extender(extender)
    yield "parallelism", f"{configuration.parallelism} (without effect: rules work on all nodes at once)"
    yield "enableProfiling", _boolean(configuration.enable_profiling)
    yield "enableContentionProfiling", _boolean(configuration.enable_contention_profiling)
    yield "delayCacheUntilActive", _boolean(configuration.delay_cache_until_active)


def _extender(extender: Extender) -> str:
    """What it is asked, and about which pods."""
    verbs = {
        "filter": extender.filter_verb,
        f"prioritize (weight {extender.weight})": extender.prioritize_verb,
        "preempt": extender.preempt_verb,
        "bind": extender.bind_verb,
    }
    asked = ", ".join(verb for verb, path in verbs.items() if path) or "nothing"
    about = (
        f"pods that want {', '.join(sorted(extender.managed_resources))}" if extender.managed_resources else "all pods"
    )
    shown = "names of nodes" if extender.node_cache_capable else "whole nodes"
    ignorable = ", ignored if it fails" if extender.ignorable else ""
    return f"{asked}, about {about}; is sent {shown}, within {extender.timeout:g}s{ignorable}"


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", caption_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
