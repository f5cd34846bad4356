"""`berth demo`: a sandbox cluster, a scheduler as it would run against any cluster, a mixed workload, and what became of it."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from scheduler.framework import PodInfo
from scheduler.objects import PodDecoder
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.served import Served, served_sandbox
from scheduler.sandbox.workloads import mixed_cluster, mixed_workload

_LONGEST = 45.0


@click.command()
@click.option("--keep", is_flag=True, help="Keep everything running afterwards, until interrupted.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".cache/demo"),
    show_default=True,
    help="For the kubeconfig and the scheduler's log.",
)
def demo(folder: Path, *, keep: bool) -> None:
    """Place a mixed workload on a small in-memory cluster, and explain what must wait."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        sys.exit(asyncio.run(_demo(folder, keep=keep)))
    except KeyboardInterrupt:
        sys.exit(0)


async def _demo(folder: Path, *, keep: bool) -> int:
    console = Console()
    async with served_sandbox(folder / "kubeconfig", port=0, seed=1) as served:
        for node in mixed_cluster():
            served.cluster.create("nodes", node)
        console.print(
            f"A cluster of {len(list(mixed_cluster()))} nodes is served at {served.url}; starting berth beside it."
        )
        scheduler = await _start(served, folder / "berth.log")
        try:
            pods = [served.cluster.create("pods", pod) for pod in mixed_workload()]
            settled = await _settle(served.cluster, len(pods), scheduler, console)
            _show(served.cluster, console)
            if not settled:
                console.print(f"Not settled within {_LONGEST:g} s; the scheduler's log is {folder / 'berth.log'}.")
                return 1
            if keep:
                await _keep(served, console, scheduler)
        finally:
            await _stop(scheduler)
    return 0


async def _start(served: Served, log: Path) -> asyncio.subprocess.Process:
    """berth in a process of its own, told nothing but where the API server is."""
    config = served.kubeconfig.with_name("berth.yaml")
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "leaderElection: {resourceNamespace: default}\n"
    )
    command = ["-m", "scheduler.cli", "run", "--config", str(config), "--kubeconfig", str(served.kubeconfig)]
    with log.open("wb") as sink:
        return await asyncio.create_subprocess_exec(
            sys.executable, *command, "--bind-address", "127.0.0.1:0", stdout=sink, stderr=sink
        )


async def _settle(cluster: Cluster, total: int, scheduler: asyncio.subprocess.Process, console: Console) -> bool:
    """Wait until every pod runs or says why it waits."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=not console.is_terminal) as progress:
        task = progress.add_task("Placing pods", total=total)
        deadline = asyncio.get_running_loop().time() + _LONGEST
        while asyncio.get_running_loop().time() < deadline and scheduler.returncode is None:
            done = [pod for pod in _pods(cluster) if pod.phase == "Running" or _reason(pod)]
            progress.update(task, completed=len(done))
            if len(done) == total:
                return True
            await asyncio.sleep(0.1)
    return False


def _show(cluster: Cluster, console: Console) -> None:
    pods = _pods(cluster)
    placed = Table(title="Placements")
    placed.add_column("Node")
    placed.add_column("Pods")
    for node in sorted(
        str(obj["metadata"]["name"]) for obj in cluster.list("nodes")[0] if isinstance(obj["metadata"], dict)
    ):
        apps = Counter(pod.labels.get("app", "") for pod in pods if pod.node_name == node)
        placed.add_row(node, ", ".join(f"{count} x {app}" for app, count in sorted(apps.items())) or "-")
    console.print(placed)
    waiting = Table(title="Waiting, and why")
    waiting.add_column("Pod")
    waiting.add_column("Reason")
    waiting.add_column("Message", overflow="fold")
    for pod in pods:
        if not pod.node_name and pod.scheduled_condition is not None:
            waiting.add_row(pod.name, pod.scheduled_condition.reason, pod.scheduled_condition.message)
    console.print(waiting)


async def _keep(served: Served, console: Console, scheduler: asyncio.subprocess.Process) -> None:
    console.print("Still running. Look around, in another terminal:")
    for words in ("get nodes", "get pods -o wide", "describe pod train-big", "get pods --watch", "delete pod train-0"):
        console.print(f"  kubectl --kubeconfig {served.kubeconfig} {words}", soft_wrap=True)
    console.print("End it with Ctrl-C.")
    await scheduler.wait()


async def _stop(scheduler: asyncio.subprocess.Process) -> None:
    if scheduler.returncode is None:
        scheduler.terminate()
        await scheduler.wait()


def _pods(cluster: Cluster) -> list[PodInfo]:
    decoder = PodDecoder()
    return [decoder.decode(msgspec.json.encode(obj)) for obj in cluster.list("pods")[0]]


def _reason(pod: PodInfo) -> str:
    condition = pod.scheduled_condition
    return condition.reason if condition is not None and condition.status == "False" else ""
