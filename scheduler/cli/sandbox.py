"""`berth sandbox`: an in-memory API server to try things on."""

import asyncio
from pathlib import Path

import click

from scheduler.sandbox.served import served_sandbox
from scheduler.sandbox.workloads import mixed_cluster


@click.command()
@click.option("--port", default=0, show_default="a free one", help="Port on loopback.")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(".cache/sandbox.kubeconfig"),
    show_default=True,
    help="Where to write a kubeconfig for it.",
)
@click.option("--empty", is_flag=True, help="Start without nodes.")
@click.option("--seed", default=0, show_default=True, help="Of UIDs and generated names.")
def sandbox(port: int, kubeconfig: Path, seed: int, *, empty: bool) -> None:
    """Serve an in-memory Kubernetes API with fake kubelets until interrupted. A test bed, not a cluster."""
    asyncio.run(_serve(port, kubeconfig, seed, empty=empty))


async def _serve(port: int, kubeconfig: Path, seed: int, *, empty: bool) -> None:
    async with served_sandbox(kubeconfig, port, seed) as served:
        for node in () if empty else mixed_cluster():
            served.cluster.create("nodes", node)
        click.echo(f"serving {served.url}; look around with: kubectl --kubeconfig {kubeconfig} get nodes")
        await asyncio.Event().wait()
