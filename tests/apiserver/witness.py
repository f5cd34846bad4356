"""An independent watcher: what became of every pod, and whether a node ever held more than it has."""

import threading
from collections import defaultdict
from contextlib import suppress
from typing import Any, Self

import msgspec
import urllib3

from scheduler.framework import PodInfo
from scheduler.objects import NodeDecoder, PodDecoder
from tests.controlplane.apiserver import ApiServer

JsonObject = dict[str, Any]


class Witness:
    """Watches all pods in a thread of its own, from an empty cluster on. Read it when it has stopped, or know what you do."""

    def __init__(self, server: ApiServer) -> None:
        self.nodes_of: dict[str, list[str]] = defaultdict(list)
        self.over_committed: list[str] = []
        self.present: dict[str, PodInfo] = {}
        self.marked: list[str] = []
        self.failed: dict[str, PodInfo] = {}
        self._server = server
        self._decoder = PodDecoder()
        self._allocatable: dict[str, dict[str, int]] = {}
        self._used: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._version = ""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(timeout=30)

    def bound(self) -> int:
        """How many pods that exist have a node."""
        return sum(1 for pod in list(self.present.values()) if pod.node_name)

    def waiting(self) -> int:
        """How many pods have been told that they cannot be placed."""
        return sum(1 for pod in list(self.present.values()) if pod.scheduled_condition is not None)

    def running(self) -> int:
        """How many pods run."""
        return sum(1 for pod in list(self.present.values()) if pod.phase == "Running")

    def bound_twice(self) -> list[str]:
        """Pods that were seen on more than one node."""
        return [uid for uid, nodes in self.nodes_of.items() if len(nodes) > 1]

    def _run(self) -> None:
        """Over and over: servers are killed in these tests."""
        while not self._stopped.is_set():
            with suppress(urllib3.exceptions.HTTPError, msgspec.DecodeError, OSError):
                self._list()
                self._watch()
            self._stopped.wait(0.2)

    def _pool(self) -> urllib3.PoolManager:
        return urllib3.PoolManager(
            ca_certs=str(self._server.ca_file), retries=False, timeout=urllib3.Timeout(5.0, read=2.0)
        )

    def _get(self, path: str, *, stream: bool = False) -> urllib3.BaseHTTPResponse:
        headers = {"Authorization": f"Bearer {self._server.token}"}
        return self._pool().request("GET", self._server.url + path, headers=headers, preload_content=not stream)

    def _list(self) -> None:
        nodes, _, _ = NodeDecoder().decode_list(self._get("/api/v1/nodes").data)
        self._allocatable = {node.name: dict(node.allocatable) for node in nodes}
        answer = self._get("/api/v1/pods")
        if answer.status != 200:
            raise OSError(f"HTTP {answer.status}")
        pods, self._version, _ = self._decoder.decode_list(answer.data)
        for uid in self.present.keys() - {pod.uid for pod in pods}:
            self._drop(uid)
        for pod in pods:
            self._see(pod)

    def _watch(self) -> None:
        stream = self._get(f"/api/v1/pods?watch=1&resourceVersion={self._version}", stream=True)
        rest = b""
        while not self._stopped.is_set():
            try:
                piece = stream.read1(65536)
            except urllib3.exceptions.ReadTimeoutError:
                return
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self._marks(line)
                event = self._decoder.decode_event(line)
                if event.object is None:
                    return
                if event.type == "DELETED":
                    self._drop(event.object.uid)
                else:
                    self._see(event.object)

    def _see(self, pod: PodInfo) -> None:
        self._drop(pod.uid)
        self.present[pod.uid] = pod
        if pod.phase == "Failed":
            self.failed[pod.uid] = pod
        if not pod.node_name:
            return
        if pod.node_name not in self.nodes_of[pod.uid]:
            self.nodes_of[pod.uid].append(pod.node_name)
        if not pod.terminal:
            self._count(pod, 1)

    def _drop(self, uid: str) -> None:
        pod = self.present.pop(uid, None)
        if pod is not None and pod.node_name and not pod.terminal:
            self._count(pod, -1)

    def _count(self, pod: PodInfo, sign: int) -> None:
        used = self._used[pod.node_name]
        for resource, amount in {**pod.usage.amounts, "pods": 1}.items():
            used[resource] += sign * amount
            room = self._allocatable.get(pod.node_name, {}).get(resource, 0)
            if sign > 0 and used[resource] > room:
                self.over_committed.append(f"{pod.node_name}: {resource} {used[resource]} of {room} with {pod.key}")

    def _marks(self, line: bytes) -> None:
        """Finalizers and annotations that nobody but a scheduler could have left."""
        metadata = msgspec.json.decode(line, type=dict[str, Any])["object"].get("metadata", {})
        if metadata.get("finalizers") or metadata.get("annotations"):
            self.marked.append(str(metadata.get("name")))
