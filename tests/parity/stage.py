"""Clusters on a real API server with a real kube-scheduler, one after another; and what it says of the pods it is asked about."""

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

from scheduler.api import ApiObject, Kind
from scheduler.framework import Node, PodInfo
from scheduler.objects import FOLLOWED, NodeDecoder, PodDecoder
from tests.builders import JsonObject
from tests.controlplane.apiserver import ApiServer
from tests.parity.cluster import Cluster

PATIENCE = 20.0
POLL = 0.004
_SCORED = re.compile(
    r'"Plugin scored node for pod" pod="[^/"]*/(?P<pod>[^"]*)" plugin="(?P<plugin>[^"]*)" node="(?P<node>[^"]*)" '
    r"score=(?P<score>-?\d+)"
)
_NAMESPACED = {
    Kind.POD_DISRUPTION_BUDGET,
    Kind.SERVICE,
    Kind.REPLICATION_CONTROLLER,
    Kind.REPLICA_SET,
    Kind.STATEFUL_SET,
    Kind.PERSISTENT_VOLUME_CLAIM,
    Kind.CSI_STORAGE_CAPACITY,
}
_PODS = "/api/v1/namespaces/default/pods"
_NODES = "/api/v1/nodes"

Scores = dict[tuple[str, str], int]
"""Weighted score by plugin and node."""


class StageError(RuntimeError):
    """The API server did not do what it was asked to."""


@dataclass(frozen=True)
class Facts:
    """What is on the API server, as berth decodes it."""

    nodes: list[Node]
    pods: list[PodInfo]
    others: list[ApiObject]


@dataclass(frozen=True)
class Verdict:
    """What was decided about a pod: a node's name or a message; the scores that led to it; and for a pod that preempts the
    node it was promised, and who goes for it.
    """

    decision: str
    scores: Scores
    nominated: str = ""
    victims: frozenset[str] = frozenset()


@dataclass
class Stage:
    """One API server and one kube-scheduler, whose log is read as it grows."""

    server: ApiServer
    log: Path
    _read: int = 0
    _scores: dict[str, Scores] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pool = urllib3.PoolManager(ca_certs=str(self.server.ca_file), retries=False, timeout=30.0)
        self._pods_of, self._nodes_of = PodDecoder(), NodeDecoder()

    def raise_cluster(self, cluster: Cluster) -> None:
        """Make everything but the pods that are asked about. Priorities need no class: admission has been told to let them be."""
        for node in cluster.nodes:
            self.create(_NODES, node)
        for kind, obj in cluster.objects:
            self._create_object(kind, obj)
        for pod in cluster.running:
            self.create(_PODS, pod)
            if "status" in pod:
                self._call("PATCH", f"{_PODS}/{pod['metadata']['name']}/status", {"status": pod["status"]})

    def others(self) -> list[ApiObject]:
        """Everything that scheduling reads beside nodes and pods; nothing here changes it."""
        return [obj for kind in FOLLOWED for obj in self._list(kind)]

    def facts(self, others: list[ApiObject]) -> Facts:
        """Everything that scheduling reads."""
        nodes, _, _ = self._nodes_of.decode_list(self._get(_NODES))
        pods, _, _ = self._pods_of.decode_list(self._get("/api/v1/pods"))
        return Facts(nodes, pods, others)

    def decode(self, pod: JsonObject) -> PodInfo:
        """A pod as the API server answered it."""
        return self._pods_of.decode(json.dumps(pod).encode())

    def create(self, path: str, obj: JsonObject) -> JsonObject:
        """POST."""
        return self._call("POST", path, obj)

    def create_pod(self, pod: JsonObject) -> JsonObject:
        """A pod that is to be scheduled."""
        return self.create(_PODS, pod)

    def verdict(self, name: str, expected_victims: frozenset[str]) -> Verdict:
        """What kube-scheduler decides. Victims go one after another: as many are waited for as are expected."""
        end = time.monotonic() + PATIENCE
        while not (decision := self._decision(pod := self._call("GET", f"{_PODS}/{name}"))):
            if time.monotonic() > end:
                raise TimeoutError(f"kube-scheduler has not decided about {name} within {PATIENCE:g} s")
            time.sleep(POLL)
        nominated = pod["status"].get("nominatedNodeName", "")
        victims = self._victims()
        while nominated and victims != expected_victims and time.monotonic() < end - PATIENCE + 2:
            time.sleep(POLL)
            victims = self._victims()
        return Verdict(decision, self._scores_of(name), nominated, victims)

    def remove_pod(self, name: str) -> None:
        """Take a pod away at once."""
        self._call("DELETE", f"{_PODS}/{name}?gracePeriodSeconds=0")

    def clear(self, cluster: Cluster) -> None:
        """Take everything away again."""
        self._call("DELETE", f"{_PODS}?gracePeriodSeconds=0")
        for kind, obj in reversed(cluster.objects):
            path = f"{_path(kind)}/{obj['metadata']['name']}"
            # Nobody is here who would let volumes and claims go.
            self._call("PATCH", path, {"metadata": {"finalizers": None}})
            self._call("DELETE", path)
        self._call("DELETE", _NODES)

    def _create_object(self, kind: Kind, obj: JsonObject) -> None:
        if kind is Kind.PERSISTENT_VOLUME and "claimRef" in obj["spec"]:
            claim = self._call("GET", f"{_path(Kind.PERSISTENT_VOLUME_CLAIM)}/{obj['spec']['claimRef']['name']}")
            reference = {**obj["spec"]["claimRef"], "uid": claim["metadata"]["uid"]}
            obj = {**obj, "spec": {**obj["spec"], "claimRef": reference}}
        self.create(_path(kind), {k: v for k, v in obj.items() if k != "status"})
        if "status" in obj:
            self._call("PATCH", f"{_path(kind)}/{obj['metadata']['name']}/status", {"status": obj["status"]})

    def _decision(self, pod: JsonObject) -> str:
        if pod["spec"].get("nodeName"):
            return str(pod["spec"]["nodeName"])
        conditions: list[Mapping[str, str]] = pod["status"].get("conditions", [])
        return next((c["message"] for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False"), "")

    def _victims(self) -> frozenset[str]:
        pods: Iterable[JsonObject] = self._call("GET", _PODS)["items"]
        return frozenset(p["metadata"]["name"] for p in pods if "deletionTimestamp" in p["metadata"])

    def _scores_of(self, name: str) -> Scores:
        with self.log.open(errors="replace") as log:
            log.seek(self._read)
            text = log.read()
        whole = text[: text.rfind("\n") + 1]
        self._read += len(whole.encode(errors="replace"))
        for match in _SCORED.finditer(whole):
            of_pod = self._scores.setdefault(match["pod"], {})
            of_pod[match["plugin"], match["node"]] = int(match["score"])
        return self._scores.pop(name, {})

    def _list(self, kind: Kind) -> list[ApiObject]:
        return FOLLOWED[kind].decoder().decode_list(self._get(FOLLOWED[kind].path))[0]

    def _get(self, path: str) -> bytes:
        return self._request("GET", path, None).data

    def _call(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        answer: Any = json.loads(self._request(method, path, body).data)
        return dict(answer)

    def _request(self, method: str, path: str, body: JsonObject | None) -> urllib3.BaseHTTPResponse:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self.server.token}", "Content-Type": kind}
        sent = None if body is None else json.dumps(body)
        answer = self._pool.request(method, self.server.url + path, body=sent, headers=headers)
        if answer.status >= 300:
            raise StageError(f"{method} {path}: HTTP {answer.status}: {answer.data[:400].decode()}\n{sent}")
        return answer


def _path(kind: Kind) -> str:
    followed = FOLLOWED[kind]
    if kind not in _NAMESPACED:
        return followed.path
    return f"{followed.path.removesuffix(followed.plural)}namespaces/default/{followed.plural}"
