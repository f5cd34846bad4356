"""Setting the stage on a real API server: nodes and pods by the thousand, and berth as a process of its own."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from sys import executable
from typing import Any

import urllib3
import yaml
from kubernetes.client import CoreV1Api, RbacAuthorizationV1Api

from tests.controlplane.accounts import shipped_account, token_for
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.ports import free_port
from tests.controlplane.process import Process

JsonObject = dict[str, Any]

NAMESPACE = "berth-system"


class Stage:
    """An API server and shorthand for what tests do to it."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.core = CoreV1Api(server.admin)
        self._pool = urllib3.PoolManager(ca_certs=str(server.ca_file), maxsize=16, block=True)

    def create(self, objects: Iterable[JsonObject]) -> None:
        """Create nodes and pods, several at a time, in any order."""
        with ThreadPoolExecutor(8) as threads:
            for answer in threads.map(self._post, objects):
                assert answer.status == 201, answer.data

    def _post(self, obj: JsonObject) -> urllib3.BaseHTTPResponse:
        namespace = obj["metadata"].get("namespace")
        path = f"/api/v1/namespaces/{namespace}/pods" if obj["kind"] == "Pod" else "/api/v1/nodes"
        headers = {"Authorization": f"Bearer {self.server.token}"}
        return self._pool.request("POST", self.server.url + path, json=obj, headers=headers)

    def condition(self, name: str, namespace: str = "default") -> tuple[str, str]:
        """Reason and message of a pod's PodScheduled condition."""
        pod = self.core.read_namespaced_pod(name, namespace)
        for condition in pod.status.conditions or []:
            if condition.type == "PodScheduled":
                return condition.reason or "", condition.message or ""
        return "", ""

    def node_of(self, name: str, namespace: str = "default") -> str:
        """The node of a pod, or ""."""
        return self.core.read_namespaced_pod(name, namespace).spec.node_name or ""


class Berth(Process):
    """`berth run`, with its health port."""

    def __init__(self, kubeconfig: Path, folder: Path, name: str, **configuration: Any) -> None:
        self.port = free_port()
        config = folder / f"{name}.yaml"
        document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            **configuration,
        }
        config.write_text(yaml.safe_dump(document))
        command: list[str | Path] = [
            executable,
            "-m",
            "scheduler.cli",
            "run",
            "--config",
            config,
            "--kubeconfig",
            kubeconfig,
        ]
        super().__init__([*command, "--bind-address", f"127.0.0.1:{self.port}"], folder / f"{name}.log")

    def ready(self) -> bool:
        """Whether /readyz says so."""
        with urllib3.PoolManager(retries=False, timeout=2.0) as pool:
            try:
                return pool.request("GET", f"http://127.0.0.1:{self.port}/readyz").status == 200
            except urllib3.exceptions.HTTPError:
                return False

    def wait_ready(self, seconds: float = 30.0) -> None:
        """Wait until it decides."""
        self.wait_until(self.ready, seconds, "berth ready")

    def resident(self) -> int:
        """Resident memory in bytes."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * 4096


def account(server: ApiServer, name: str) -> Path:
    """A kubeconfig for a ServiceAccount with exactly the rights that manifests/base gives to berth."""
    token = shipped_account(server)
    if name != "berth":
        CoreV1Api(server.admin).create_namespaced_service_account(NAMESPACE, {"metadata": {"name": name}})
        rbac = RbacAuthorizationV1Api(server.admin)
        subject = {"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}
        group = "rbac.authorization.k8s.io"
        role = {"apiGroup": group, "kind": "ClusterRole", "name": "berth"}
        rbac.create_cluster_role_binding({"metadata": {"name": name}, "roleRef": role, "subjects": [subject]})
        role = {"apiGroup": group, "kind": "Role", "name": "berth-lease"}
        rbac.create_namespaced_role_binding(
            NAMESPACE, {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
        )
        token = token_for(server, NAMESPACE, name)
    return server.kubeconfig(server.folder / f"{name}.kubeconfig", token=token)


@contextmanager
def berth(server: ApiServer, name: str = "berth", **configuration: Any) -> Iterator[Berth]:
    """berth with a ServiceAccount of its own and the rights of manifests/base, ready; ended afterwards."""
    with Berth(account(server, name), server.folder, name, **configuration) as process:
        process.wait_ready()
        yield process


def user(name: str) -> str:
    """The user name of a berth of this name in the audit log."""
    return f"system:serviceaccount:{NAMESPACE}:{name}"
