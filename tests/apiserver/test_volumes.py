"""Volumes on a real API server: the messages are kube-scheduler's, and the real volume controller completes what berth begins."""

import pytest
from kubernetes.client import StorageV1Api, V1PersistentVolumeClaim

from tests.apiserver.stage import Stage, berth
from tests.apiserver.test_messages import SAME_PLUGINS
from tests.builders import JsonObject, node_json, pod_json
from tests.controlplane.components import controller_manager, kube_scheduler
from tests.controlplane.process import wait_until
from tests.volumes import (
    HOSTNAME,
    ZONE,
    claim_json,
    class_json,
    csi_node_json,
    csi_source,
    using,
    volume_json,
    where,
)

pytestmark = pytest.mark.controlplane("kube-scheduler")

EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
UNPLACEABLE: dict[str, JsonObject] = {
    "missing": using("no-such-claim"),
    "unbound": using("immediate"),
    "of-no-class": using("of-no-class"),
    "elsewhere": using("on-n3"),
    "nothing-to-bind": using("wants-local"),
    "another-zone": using("in-the-west"),
    "too-many": using("one-more"),
    "in-use": using("exclusive"),
    "lost": using("lost"),
    "not-there": using("bound-to-nothing"),
    "ephemeral": using(scratch={"ephemeral": {"volumeClaimTemplate": {"spec": claim_json("")["spec"]}}}),
    "selected": using("for-a-node-that-is-gone"),
    "no-room": using("too-large"),
    "disk": {**using(data=EBS), "nodeSelector": {HOSTNAME: "n1"}},
    "elsewhere-and-nothing": using("on-n3", "wants-local"),
}
# Claims by name: what they ask for, and the phase that a controller would have given them.
CLAIMS: dict[str, tuple[JsonObject, str]] = {
    "immediate": (claim_json("immediate", storage_class="immediate"), "Pending"),
    "of-no-class": (claim_json("of-no-class", storage_class=""), "Pending"),
    "on-n3": (claim_json("on-n3", volume="v-n3"), "Bound"),
    "wants-local": (claim_json("wants-local"), "Pending"),
    "in-the-west": (claim_json("in-the-west", volume="v-west"), "Bound"),
    "one-more": (claim_json("one-more", volume="v-more"), "Bound"),
    "attached": (claim_json("attached", volume="v-attached"), "Bound"),
    "exclusive": (claim_json("exclusive", volume="v-exclusive", modes=("ReadWriteOncePod",)), "Bound"),
    "lost": (claim_json("lost", volume="v-lost"), "Lost"),
    "bound-to-nothing": (claim_json("bound-to-nothing", volume="v-nothing"), "Bound"),
    "for-a-node-that-is-gone": (
        claim_json("for-a-node-that-is-gone", storage_class="csi", selected_node="n9"),
        "Pending",
    ),
    "too-large": (claim_json("too-large", size="2Ti", storage_class="csi"), "Pending"),
}
VOLUMES = [
    volume_json("v-n3", on=where(HOSTNAME, "n3")),
    volume_json("v-west", storage_class="", source=csi_source("west", "other.example.com"), labels={ZONE: "west"}),
    volume_json("v-more", storage_class="", source=csi_source("more")),
    volume_json("v-attached", storage_class="", source=csi_source("attached")),
    volume_json(
        "v-exclusive",
        storage_class="",
        source=csi_source("exclusive", "other.example.com"),
        modes=("ReadWriteOncePod",),
    ),
    volume_json("too-small", size="1Gi", on=where(HOSTNAME, "n1")),
    volume_json("of-another-class", storage_class="other", on=where(HOSTNAME, "n1")),
]


def set_up_storage(stage: Stage) -> None:
    storage = StorageV1Api(stage.server.admin)
    for made in (
        class_json("local"),
        class_json("immediate", "csi.example.com", late=False),
        class_json("csi", "pool.example.com"),
    ):
        storage.create_storage_class(made)
    storage.create_csi_driver({"metadata": {"name": "pool.example.com"}, "spec": {"storageCapacity": True}})
    pool = {
        "metadata": {"name": "pool"},
        "storageClassName": "csi",
        "capacity": "1Ti",
        "nodeTopology": {"matchLabels": {HOSTNAME: "n1"}},
    }
    storage.create_namespaced_csi_storage_capacity("default", pool)
    for node in ("n1", "n2"):
        storage.create_csi_node(csi_node_json(node, {"csi.example.com": 1}))
    for volume in VOLUMES:
        name = volume["metadata"]["name"]
        stage.core.create_persistent_volume(volume)
        stage.core.patch_persistent_volume_status(name, {"status": {"phase": "Available"}})
    for name, (claim, phase) in CLAIMS.items():
        stage.core.create_namespaced_persistent_volume_claim("default", claim)
        stage.core.patch_namespaced_persistent_volume_claim_status(name, "default", {"status": {"phase": phase}})


def test_the_messages_are_those_of_kube_scheduler(stage: Stage) -> None:
    stage.create([node_json(name, labels={ZONE: "east"}) for name in ("n1", "n2")])
    set_up_storage(stage)
    stage.create(
        [
            *(pod_json(f"attached-{n}", node=n, scheduler="nobody", spec=using("attached")) for n in ("n1", "n2")),
            pod_json("holder", node="n1", scheduler="nobody", spec=using("exclusive", data=EBS)),
        ]
    )
    told: dict[str, dict[str, tuple[str, str]]] = {}
    for scheduler in ("default-scheduler", "berth"):
        names = {name: f"{scheduler}-{name}" for name in UNPLACEABLE}
        stage.create(pod_json(names[name], scheduler=scheduler, spec=spec) for name, spec in UNPLACEABLE.items())
        with kube_scheduler(stage.server, SAME_PLUGINS) if scheduler != "berth" else berth(stage.server):
            wait_until(
                lambda: all(stage.condition(pod)[0] for pod in names.values()),  # noqa: B023
                30,
                f"{scheduler} has a reason for every pod",
            )
        told[scheduler] = {
            name: (reason, message.replace(scheduler, "the-scheduler"))
            for name, pod in names.items()
            for reason, message in [stage.condition(pod)]
        }
    assert told["berth"] == told["default-scheduler"]
    assert {reason for reason, _ in told["berth"].values()} == {"Unschedulable"}


@pytest.mark.controlplane("kube-controller-manager")
def test_a_claim_that_waits_for_its_pod_gets_the_volume_where_the_pod_fits(stage: Stage) -> None:
    stage.create([node_json("n1"), node_json("n2")])
    StorageV1Api(stage.server.admin).create_storage_class(class_json("local"))
    for node in ("n1", "n2"):
        stage.core.create_persistent_volume(volume_json(f"v-{node}", on=where(HOSTNAME, node)))
    stage.core.create_namespaced_persistent_volume_claim("default", claim_json("data"))

    def phase(name: str) -> str:
        return str(stage.core.read_persistent_volume(name).status.phase)

    with controller_manager(stage.server), berth(stage.server):
        wait_until(lambda: phase("v-n1") == phase("v-n2") == "Available", 30, "the volumes are available")
        stage.create([pod_json("big", cpu="4", spec={"nodeSelector": {HOSTNAME: "n1"}})])
        wait_until(lambda: stage.node_of("big") == "n1", 15, "n1 is full")
        stage.create([pod_json("db", cpu="1", spec=using("data"))])
        wait_until(lambda: stage.node_of("db"), 30, "the pod is bound")
        claim = stage.core.read_namespaced_persistent_volume_claim("data", "default")
        volume = stage.core.read_persistent_volume("v-n2")
    assert stage.node_of("db") == "n2"
    assert (claim.status.phase, claim.spec.volume_name) == ("Bound", "v-n2")
    assert volume.spec.claim_ref.uid == claim.metadata.uid
    assert phase("v-n1") == "Available"


@pytest.mark.controlplane("kube-controller-manager")
def test_a_provisioner_is_told_the_node_and_the_pod_waits_for_what_it_makes(stage: Stage) -> None:
    stage.create([node_json("n1")])
    StorageV1Api(stage.server.admin).create_storage_class(class_json("csi", "csi.example.com"))
    stage.core.create_namespaced_persistent_volume_claim("default", claim_json("data", storage_class="csi"))

    def claim() -> V1PersistentVolumeClaim:
        return stage.core.read_namespaced_persistent_volume_claim("data", "default")

    with controller_manager(stage.server), berth(stage.server):
        stage.create([pod_json("db", cpu="1", spec=using("data"))])
        selected = "volume.kubernetes.io/selected-node"
        wait_until(lambda: (claim().metadata.annotations or {}).get(selected) == "n1", 15, "the node is selected")
        assert stage.node_of("db") == ""
        reference = {"namespace": "default", "name": "data", "uid": claim().metadata.uid}
        provisioned = volume_json(
            "made",
            storage_class="csi",
            on=where(HOSTNAME, "n1"),
            claim=reference,
            source=csi_source("made"),
            metadata={"annotations": {"pv.kubernetes.io/provisioned-by": "csi.example.com"}},
        )
        stage.core.create_persistent_volume(provisioned)
        wait_until(lambda: stage.node_of("db") == "n1", 30, "the pod is bound")
    assert (claim().status.phase, claim().spec.volume_name) == ("Bound", "made")
