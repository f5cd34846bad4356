"""This machine as a Kubernetes node: containerd and a kubelet below one scratch folder, and nothing left of them afterwards."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Self

import yaml
from kubernetes.client import CoreV1Api

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.components import NODE_READY_SECONDS, node_ready
from tests.controlplane.ports import free_port
from tests.controlplane.process import Process, wait_until
from tests.node.images import BASE, Images

NAME = "node-1"


class Machine:
    """A node called node-1. Its folder's name is short, because socket paths are limited to 108 bytes."""

    def __init__(self, server: ApiServer, images: Images) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="berth-node-"))
        self._server = server
        self._images = images
        self._socket = self.folder / "containerd.sock"
        self._processes: list[Process] = []

    def start(self) -> None:
        """Start containerd, then the kubelet, and wait until the node is Ready."""
        self._write_network()
        containerd = self._process("containerd", f"--config={self._containerd_config()}")
        containerd.wait_until(lambda: self._ctr("version") is not None, 30, "containerd answers")
        self.load(BASE)
        kubelet = self._process(
            self._server.binaries.path("kubelet"),
            f"--config={self._kubelet_config()}",
            f"--kubeconfig={self._server.kubeconfig(self.folder / 'kubelet.kubeconfig')}",
            f"--root-dir={self.folder / 'kubelet'}",
            f"--cert-dir={self.folder / 'kubelet-certs'}",
            f"--hostname-override={NAME}",
        )
        kubelet.wait_until(lambda: node_ready(self._server, NAME), NODE_READY_SECONDS, f"node {NAME} Ready")

    def load(self, image: str) -> None:
        """Give an image of the buildah store to containerd."""
        archive = self.folder / "image.tar"
        self._images.export(image, archive)
        if self._ctr("images", "import", str(archive)) is None:
            raise RuntimeError(f"containerd does not take {image}")
        archive.unlink()

    def log_files(self) -> list[Path]:
        """What the containers wrote, by namespace, pod and container."""
        return sorted((self.folder / "pods").glob("*/*/*.log"))

    def drain(self) -> None:
        """Let no pod come, and wait until the kubelet has ended those that are here: only then do their networks go."""
        core = CoreV1Api(self._server.admin)
        core.patch_node(NAME, {"spec": {"unschedulable": True}})
        here = f"spec.nodeName={NAME}"
        for pod in core.list_pod_for_all_namespaces(field_selector=here).items:
            core.delete_namespaced_pod(pod.metadata.name, pod.metadata.namespace, grace_period_seconds=1)
        wait_until(lambda: not core.list_pod_for_all_namespaces(field_selector=here).items, 60, f"no pods on {NAME}")

    def stop(self) -> None:
        """End the kubelet, then what containers are left, then containerd; take mounts and the folder away."""
        for process in reversed(self._processes[1:]):
            process.stop()
        for task in (self._ctr("tasks", "list", "--quiet") or "").split():
            self._ctr("tasks", "delete", "--force", task)
        for containerd in self._processes[:1]:
            containerd.stop()
        for mount in reversed(_mounts_below(self.folder)):
            subprocess.run(["umount", "--lazy", mount], check=False)
        shutil.rmtree(self.folder)

    def _process(self, *command: str | Path) -> Process:
        process = Process(command, self._server.folder / f"{Path(command[0]).name}.log")
        self._processes.append(process)
        return process

    def _ctr(self, *args: str) -> str | None:
        """Standard output of containerd's own client, None when it failed."""
        command = ["ctr", f"--address={self._socket}", "--namespace=k8s.io", *args]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def _write_network(self) -> None:
        """A point-to-point link per pod, which disappears with the pod."""
        ranges = [[{"subnet": "10.88.77.0/24"}]]
        ipam = {"type": "host-local", "ranges": ranges, "dataDir": str(self.folder / "ipam")}
        network = {"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipam": ipam}]}
        (self.folder / "cni").mkdir()
        (self.folder / "cni" / "pods.conflist").write_text(json.dumps(network))

    def _containerd_config(self) -> Path:
        """restrict_oom_score_adj: inside a container or virtual machine root may lack CAP_SYS_RESOURCE, and runc dies."""
        path = self.folder / "containerd.toml"
        path.write_text(
            f"""
version = 2
root = "{self.folder}/containerd"
state = "{self.folder}/run"
[grpc]
  address = "{self._socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{self.folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{BASE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{self.folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
"""
        )
        return path

    def _kubelet_config(self) -> Path:
        document = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": "127.0.0.1",
            "port": free_port(),
            "readOnlyPort": 0,
            "healthzPort": 0,
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "containerRuntimeEndpoint": f"unix://{self._socket}",
            "podLogsDir": str(self.folder / "pods"),
            "volumePluginDir": str(self.folder / "volume-plugins"),
            "cgroupDriver": "cgroupfs",
            "failCgroupV1": False,
            "failSwapOn": False,
            "enforceNodeAllocatable": [],
            "makeIPTablesUtilChains": False,
            "imageGCHighThresholdPercent": 100,
            "evictionHard": {"memory.available": "1Mi", "nodefs.available": "0%", "imagefs.available": "0%"},
        }
        path = self.folder / "kubelet.yaml"
        path.write_text(yaml.safe_dump(document))
        return path

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.drain()
        finally:
            self.stop()


def _mounts_below(folder: Path) -> list[str]:
    """Mount points in the order they were made."""
    points = (line.split()[1] for line in Path("/proc/mounts").read_text().splitlines())
    return [point for point in points if point.startswith(f"{folder}/")]
