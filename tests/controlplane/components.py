"""What runs beside the API server: controller manager, kube-scheduler, and real kubelets over a fake runtime (kubemark)."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

import yaml
from kubernetes.client import CoreV1Api

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.ports import free_port
from tests.controlplane.process import Process

NODE_READY_SECONDS = 60.0


def controller_manager(server: ApiServer, *extra: str) -> Process:
    """Start kube-controller-manager: Deployments make pods, namespaces get their account, garbage is collected."""
    return Process(
        [
            server.binaries.path("kube-controller-manager"),
            f"--kubeconfig={server.kubeconfig(server.folder / 'controller-manager.kubeconfig')}",
            f"--service-account-private-key-file={server.key_file}",
            f"--root-ca-file={server.ca_file}",
            "--use-service-account-credentials=true",
            "--leader-elect=false",
            "--secure-port=0",
            *extra,
        ],
        server.folder / "kube-controller-manager.log",
    )


def kube_scheduler(server: ApiServer, config: Mapping[str, object] | None = None, *extra: str) -> Process:
    """Start kube-scheduler with a KubeSchedulerConfiguration; `config` adds to or replaces its top-level fields, `extra` are
    further flags.

    Its client limits are lifted, or else it would measure its own throttle.
    """
    kubeconfig = server.kubeconfig(server.folder / "scheduler.kubeconfig")
    document: dict[str, object] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 10000},
        "leaderElection": {"leaderElect": False},
        **(config or {}),
    }
    path = server.folder / "scheduler.yaml"
    path.write_text(yaml.safe_dump(document))
    return Process(
        [server.binaries.path("kube-scheduler"), f"--config={path}", "--secure-port=0", *extra],
        server.folder / "kube-scheduler.log",
    )


@contextmanager
def hollow_nodes(
    server: ApiServer,
    *names: str,
    labels: Mapping[str, str] | None = None,
    extended_resources: Mapping[str, int] | None = None,
) -> Iterator[list[Process]]:
    """Real kubelets over a fake runtime, one per name, Ready when this is entered.

    Each has 1 CPU, 3840Mi of memory and room for 110 pods, and refuses what does not fit, as any kubelet does (OutOfcpu).
    """
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(_hollow_node(server, name, labels or {}, extended_resources or {})) for name in names
        ]
        for name, process in zip(names, nodes, strict=True):
            process.wait_until(partial(node_ready, server, name), NODE_READY_SECONDS, f"node {name} Ready")
        yield nodes


def node_ready(server: ApiServer, name: str) -> bool:
    """Whether that node exists and its Ready condition is True."""
    nodes = CoreV1Api(server.admin).list_node(field_selector=f"metadata.name={name}").items
    return any(
        condition.type == "Ready" and condition.status == "True"
        for node in nodes
        for condition in node.status.conditions or []
    )


def _hollow_node(server: ApiServer, name: str, labels: Mapping[str, str], resources: Mapping[str, int]) -> Process:
    return Process(
        [
            server.binaries.path("kubemark"),
            "--morph=kubelet",
            f"--name={name}",
            f"--kubeconfig={server.kubeconfig(server.folder / f'kubemark-{name}.kubeconfig')}",
            f"--kubelet-port={free_port()}",
            "--kubelet-read-only-port=0",
            "--use-host-image-service=false",
            f"--node-labels={_pairs(labels)}",
            f"--extended-resources={_pairs(resources)}",
        ],
        server.folder / f"kubemark-{name}.log",
    )


def _pairs(items: Mapping[str, str] | Mapping[str, int]) -> str:
    return ",".join(f"{key}={value}" for key, value in items.items())
