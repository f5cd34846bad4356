"""What the plugins for volumes remember is what they would make of everything afresh, after any history of pods and objects."""

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.node_volume_limits import NodeVolumeLimits
from plugins.registry import BUILT_IN
from plugins.volume_binding import VolumeBinding
from scheduler.api import (
    ApiObject,
    CsiNode,
    Kind,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.cache.rows import Rows
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.framework import CycleState, PodInfo, Status
from scheduler.handle import PluginHandle
from scheduler.messages import Fact, NodeGone, NodeSeen, ObjectGone, ObjectSeen, PodGone, PodSeen
from scheduler.observer import Observer
from tests.builders import JsonObject, node, pod
from tests.volumes import HOSTNAME, claim_json, class_json, csi_node_json, csi_source, made, using, volume_json, where

NODES = ("n0", "n1", "n2")
NAMES = ("a", "b", "c")
DRIVER = "csi.example.com"
WANTING = [pod("p", spec=using(name)) for name in NAMES] + [pod("p", spec=using("a", "b"))]

nodes, names = st.sampled_from(NODES), st.sampled_from(NAMES)


def volume(name: str, on: str, *, claimed: bool, in_tree: bool) -> JsonObject:
    reference = {"namespace": "default", "name": name, "uid": name} if claimed else None
    ebs: JsonObject = {"awsElasticBlockStore": {"volumeID": name}}
    source = ebs if in_tree else csi_source(name)
    phase = "Bound" if claimed else "Available"
    return volume_json(
        f"v-{name}", storage_class="csi", source=source, on=where(HOSTNAME, on), claim=reference, phase=phase
    )


def attachment(name: str, on: str) -> JsonObject:
    spec: JsonObject = {"attacher": DRIVER, "nodeName": on, "source": {"persistentVolumeName": f"v-{name}"}}
    return {"metadata": {"name": f"at-{name}"}, "spec": spec}


objects: st.SearchStrategy[tuple[type[ApiObject], JsonObject]] = st.one_of(
    st.builds(
        lambda name, on, claimed, in_tree: (PersistentVolume, volume(name, on, claimed=claimed, in_tree=in_tree)),
        names,
        nodes,
        st.booleans(),
        st.booleans(),
    ),
    st.builds(
        lambda name, bound: (
            PersistentVolumeClaim,
            claim_json(name, storage_class="csi", volume=f"v-{name}" if bound else ""),
        ),
        names,
        st.booleans(),
    ),
    st.builds(
        lambda name, limit: (CsiNode, csi_node_json(name, {DRIVER: limit, "ebs.csi.aws.com": limit})),
        nodes,
        st.integers(0, 2),
    ),
    st.builds(lambda name, on: (VolumeAttachment, attachment(name, on)), names, nodes),
    st.builds(
        lambda driver: (StorageClass, class_json("csi", driver)),
        st.sampled_from((DRIVER, "other.example.com", "kubernetes.io/no-provisioner")),
    ),
)
moves: st.SearchStrategy[Callable[["History"], None]] = st.one_of(
    st.builds(lambda what: lambda history: history.see(*what), objects),
    st.builds(lambda what: lambda history: history.lose(*what), objects),
    st.builds(lambda name, on, claim: lambda history: history.bind(name, on, claim), names, nodes, names),
    st.builds(lambda name: lambda history: history.end(name), names),
    st.builds(lambda name: lambda history: history.replace(name), nodes),
)


class History:
    """A cluster, and two plugins that are asked now and then."""

    def __init__(self) -> None:
        self.engine = Engine(default(BUILT_IN), BUILT_IN, 0, Observer())
        self.handle = PluginHandle(self.engine)
        self.limits = NodeVolumeLimits(NodeVolumeLimits.Args(), self.handle)
        self.binding = self._binding()
        self.version = 1
        for name in NODES:
            self.tell(NodeSeen(node(name)))
            self.see(CsiNode, csi_node_json(name, {DRIVER: 1, "ebs.csi.aws.com": 1}))
        self.see(StorageClass, class_json("csi", DRIVER))
        for name, on in zip(NAMES, NODES, strict=True):
            self.see(PersistentVolume, volume(name, on, claimed=True, in_tree=False))
            self.see(PersistentVolumeClaim, claim_json(name, storage_class="csi", volume=f"v-{name}"))
            self.see(VolumeAttachment, attachment(name, on))
            self.bind(name, on, name)

    def tell(self, fact: Fact) -> None:
        self.engine.handle(fact, 0.0)

    def see(self, kind: type[ApiObject], obj: JsonObject) -> None:
        self.tell(ObjectSeen(made(kind, self._versioned(obj))))

    def lose(self, kind: type[ApiObject], obj: JsonObject) -> None:
        meta = obj["metadata"]
        known = self.handle.find(kind, meta.get("namespace", ""), meta["name"])
        if known is not None:
            self.tell(ObjectGone(Kind(kind.kind), known.uid, known.namespace, known.name))

    def bind(self, name: str, on: str, claim: str) -> None:
        self.version += 1
        metadata = {"uid": f"{name}-{self.version}", "resourceVersion": str(self.version)}
        self.end(name)
        self.tell(PodSeen(pod(name, node=on, spec=using(claim), metadata=metadata)))

    def end(self, name: str) -> None:
        for uid in [uid for uid, known in self.engine.state.cache.bound_pods().items() if known.name == name]:
            self.tell(PodGone(uid))

    def replace(self, name: str) -> None:
        info = self.handle.node(name)
        assert info is not None
        self.version += 1
        self.tell(NodeGone(name, info.node.uid))
        metadata = {"uid": f"{name}-{self.version}", "resourceVersion": str(self.version)}
        self.tell(NodeSeen(node(name, metadata=metadata)))

    def compare(self) -> None:
        rows = self.handle.rows()
        assert isinstance(rows, Rows)
        scratch = rows.table.scratch(rows.index)
        for uid, known in list(self.engine.state.cache.bound_pods().items())[:1]:
            scratch.remove_pod(known.node_name, uid)
        for seen in (rows, Rows(scratch, scratch.live(), rows.table)):
            for wanting in WANTING:
                fresh = NodeVolumeLimits(NodeVolumeLimits.Args(), self.handle)
                whole = said(self.limits, wanting, seen)
                assert whole == said(fresh, wanting, seen)
                assert said(self.limits, wanting, seen.subset(np.array([1, 2]))) == whole[1:], "each row by itself"
                assert said(self.binding, wanting, seen) == said(self._binding(), wanting, seen)

    def _binding(self) -> VolumeBinding:
        return BUILT_IN["VolumeBinding"](VolumeBinding.Args(), self.handle)  # type: ignore[return-value]  # as the registry says

    def _versioned(self, obj: JsonObject) -> JsonObject:
        """A UID never comes back, so each version of an object is an object of its own."""
        self.version += 1
        kind_and_version = {"uid": f"{obj['metadata']['name']}-{self.version}", "resourceVersion": str(self.version)}
        return {**obj, "metadata": {**obj["metadata"], **kind_and_version}}


def said(plugin: NodeVolumeLimits | VolumeBinding, wanting: PodInfo, rows: Rows) -> list[Status | None]:
    answer = plugin.filter_rows(CycleState(), wanting, rows)
    return [answer.statuses[code - 1] if code else None for code in answer.codes.tolist()]


@settings(max_examples=60)
@given(st.lists(moves, min_size=1, max_size=10))
def test_what_is_remembered_is_what_would_be_found_afresh(history: list[Callable[[History], None]]) -> None:
    cluster = History()
    cluster.compare()
    for move in history:
        move(cluster)
        cluster.compare()


def test_volumes_that_become_free_are_found() -> None:
    history = History()
    history.see(StorageClass, class_json("csi"))
    history.see(PersistentVolumeClaim, claim_json("a", storage_class="csi"))
    history.compare()
    for name in ("b", "a"):
        history.see(PersistentVolume, volume(name, "n0", claimed=False, in_tree=False))
        history.compare()


def test_a_volume_that_changes_while_it_is_attached_for_nobody_counts_as_what_it_is() -> None:
    history = History()
    history.end("a")
    history.lose(PersistentVolumeClaim, claim_json("a"))
    for in_tree in (False, True, False):
        history.see(PersistentVolume, volume("a", "n0", claimed=True, in_tree=in_tree))
        history.compare()
