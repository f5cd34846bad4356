"""`berth run`: schedule pods on a cluster."""

import asyncio
import sys
from pathlib import Path

import click

from plugins.registry import RegistryError, load_registry
from scheduler.config import ConfigError, Configuration, default, load
from scheduler.config.merge import Registry
from scheduler.live.errors import SetupError
from scheduler.live.logs import Format, configure
from scheduler.live.process import Options, SchedulerProcess
from scheduler.live.server import Address


@click.command()
@click.option("--config", type=click.Path(path_type=Path), help="A KubeSchedulerConfiguration file.")
@click.option(
    "--kubeconfig", help="Where the cluster is. Without it: KUBECONFIG, the cluster berth runs in, ~/.kube/config."
)
@click.option("--context", help="A context of the kubeconfig; without it the current one.")
@click.option("--namespace", default="all", show_default=True, help="Follow pods of one namespace only.")
@click.option(
    "--bind-address", default="127.0.0.1:10259", show_default=True, help="ADDRESS:PORT for health and metrics."
)
@click.option("--log-format", type=click.Choice([form.value for form in Format]), default="auto", show_default=True)
@click.option("--seed", default=0, show_default=True, help="Of the choice among equally good nodes.")
def run(
    config: Path | None,
    kubeconfig: str | None,
    context: str | None,
    namespace: str,
    bind_address: str,
    log_format: str,
    seed: int,
) -> None:
    """Schedule the pods that ask for it, until told to end."""
    configure(Format(log_format))
    try:
        registry = load_registry()
        configuration = _configuration(config, registry)
        watched = None if namespace == "all" else namespace
        options = Options(kubeconfig, context, watched, Address.parse(bind_address), seed)
        asyncio.run(SchedulerProcess(options, configuration, registry).run())
    except (SetupError, ConfigError, RegistryError) as error:
        for line in str(error).splitlines():
            click.echo(f"berth: {line}", err=True)
        sys.exit(1)


def _configuration(path: Path | None, registry: Registry) -> Configuration:
    if path is None:
        return default(registry)
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"--config {path}: {getattr(error, 'strerror', None) or error}") from error
    return load(text, str(path), registry)
