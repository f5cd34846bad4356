"""`berth run`: schedule pods on a cluster."""

import asyncio
import faulthandler
import signal
import sys
from os import environ
from pathlib import Path

import click

from plugins.registry import RegistryError, load_registry
from scheduler.cli.files import read_configuration
from scheduler.config import ConfigError
from scheduler.live.client import HttpTransport
from scheduler.live.configuration import tell_notices
from scheduler.live.credentials import Credentials
from scheduler.live.errors import SetupError
from scheduler.live.event_loop import new_event_loop
from scheduler.live.logs import Format, configure
from scheduler.live.parts import Options, Parts
from scheduler.live.preflight import check_lease, check_server
from scheduler.live.process import SchedulerProcess
from scheduler.live.server import DEFAULT_PORT, Address

# Probes come from outside the pod; elsewhere only this machine looks.
_HOST = "0.0.0.0" if "KUBERNETES_SERVICE_HOST" in environ else "127.0.0.1"  # noqa: S104

_LOOK_AGAIN = 60.0
_LOOK_AGAIN_AT_FILE = 2.0


@click.command()
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A KubeSchedulerConfiguration; without it the defaults.",
)
@click.option(
    "--kubeconfig", metavar="FILE", help="Where the cluster is. Without it: KUBECONFIG, the cluster, ~/.kube/config."
)
@click.option("--context", metavar="NAME", help="A context of the kubeconfig; without it the current one.")
@click.option("--namespace", default="all", show_default=True, help="Schedule the pods of this namespace only.")
@click.option("--bind-address", default=f"{_HOST}:{DEFAULT_PORT}", show_default=True, help="Health, metrics and why.")
@click.option("--log-format", type=click.Choice([form.value for form in Format]), default="auto", show_default=True)
@click.option("--seed", default=0, show_default=True, help="Of the choice among equally good nodes.")
@click.option("--plugin", "plugins", multiple=True, metavar="MODULE:CLASS", help="A plugin of your own; repeatable.")
def run(
    *,
    config: Path | None,
    kubeconfig: str | None,
    context: str | None,
    namespace: str,
    bind_address: str,
    log_format: str,
    seed: int,
    plugins: tuple[str, ...],
) -> None:
    """Schedule the pods that ask for it (spec.schedulerName), until told to end."""
    configure(Format(log_format))
    # A fault in compiled code ends the process without a word; so it leaves at least where it was.
    faulthandler.enable()
    try:
        registry = load_registry(plugins)
        configuration = read_configuration(config, registry)
        tell_notices(configuration)
        check_lease(configuration.leader_election)
        where = "" if namespace == "all" else namespace
        options = Options(
            configuration,
            registry,
            where,
            Address.parse(bind_address),
            seed,
            look_again=_LOOK_AGAIN,
            path=config,
            look_again_at_file=_LOOK_AGAIN_AT_FILE,
        )
        credentials = Credentials(kubeconfig or configuration.client_connection.kubeconfig or None, context)
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            status = runner.run(_work(options, credentials))
    except (SetupError, ConfigError, RegistryError) as error:
        for line in str(error).splitlines():
            click.echo(f"berth: {line}", err=True)
        status = 1
    sys.exit(status)


async def _work(options: Options, credentials: Credentials) -> int:
    """First contact, then work until SIGTERM or SIGINT; a second signal ends the process at once."""
    source = (await credentials.load()).source
    transport = HttpTransport(credentials, connections=1)
    try:
        await check_server(transport, source)
    finally:
        await transport.close()
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def end(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end, number)
    return await SchedulerProcess(Parts(options, credentials)).run(stop)
