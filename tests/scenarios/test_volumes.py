"""Pods with volumes, from the filter to the bound claim (kind 6 of the bug reports)."""

from typing import Any, ClassVar

import pytest

from plugins.registry import load_registry
from scheduler.config import load
from scheduler.framework import (
    SUCCESS,
    CycleState,
    Handle,
    Permit,
    PermitResult,
    PluginArgs,
    PodInfo,
    Reserve,
    Status,
    unschedulable,
)
from scheduler.messages import Bind, BindVolume, SelectNode, Unknown
from scheduler.sandbox.faults import CallPlan, binding, volume_binding
from scheduler.sandbox.kubelet import Kubelets, Pace
from scheduler.sandbox.volumes import VolumeController, VolumePace
from tests.builders import JsonObject
from tests.scenarios.world import BERTH, World
from tests.volumes import HOSTNAME, claim_json, class_json, csi_node_json, csi_source, using, volume_json, where

_MERGE = "application/merge-patch+json"
NOTHING = "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind."


class Storage:
    """A world with a volume controller, and names for what happens to volumes."""

    def __init__(self, *nodes: str, world: World | None = None) -> None:
        self.world = world or World()
        self.controller = VolumeController(self.world.cluster, self.world.clock, VolumePace())
        for name in nodes:
            self.world.node(name)
        self.create("storageclasses", class_json("local"))
        self.create("storageclasses", class_json("csi", "csi.example.com"))

    def create(self, resource: str, obj: JsonObject) -> None:
        self.world.cluster.create(resource, obj)

    def volume(self, name: str, on: str, **fields: Any) -> None:
        self.create("persistentvolumes", volume_json(name, on=where(HOSTNAME, on), **fields))

    def claim(self, name: str, **fields: Any) -> None:
        self.create("persistentvolumeclaims", claim_json(name, **fields))

    def pod(self, name: str, *claims: str, **fields: Any) -> None:
        self.world.pod(name, spec=using(*claims), **fields)

    def volume_of(self, claim: str) -> str:
        return str(self.get("persistentvolumeclaims", claim)["spec"].get("volumeName", ""))

    def get(self, resource: str, name: str) -> JsonObject:
        return self.world.cluster.get(resource, "default" if resource == "persistentvolumeclaims" else None, name)

    def writes(self) -> list[BindVolume | SelectNode]:
        return [effect for effect in self.world.driver.sent if isinstance(effect, BindVolume | SelectNode)]


@pytest.fixture
def storage() -> Storage:
    return Storage("n1", "n2")


def test_a_pod_goes_where_a_volume_is_and_the_claim_gets_it(storage: Storage) -> None:
    storage.volume("v2", "n2")
    storage.claim("c")
    storage.pod("p", "c")
    storage.world.start().run()
    assert storage.world.node_of("p") == "n2"
    assert storage.volume_of("c") == "v2"
    (write, bind) = [e for e in storage.world.driver.sent if isinstance(e, BindVolume | Bind)]
    assert isinstance(write, BindVolume)
    assert isinstance(bind, Bind)
    volume = storage.get("persistentvolumes", "v2")
    assert volume["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}


def test_a_claim_gets_a_volume_made_where_the_pod_goes(storage: Storage) -> None:
    storage.claim("c", storage_class="csi")
    storage.pod("p", "c")
    storage.world.start().run()
    node = storage.world.node_of("p")
    volume = storage.get("persistentvolumes", storage.volume_of("c"))
    assert volume["spec"]["nodeAffinity"] == where(HOSTNAME, str(node))
    assert [type(write) for write in storage.writes()] == [SelectNode]


def test_while_one_pod_waits_for_its_volume_others_are_bound(storage: Storage) -> None:
    storage.controller.pace = VolumePace(provision=30.0)
    storage.claim("c", storage_class="csi")
    storage.pod("p", "c")
    storage.world.start().run(1.0)
    storage.world.pod("q")
    storage.world.run(1.0)
    assert storage.world.node_of("q") is not None
    assert storage.world.node_of("p") is None
    storage.world.run(40.0)
    assert storage.world.node_of("p") is not None


def test_two_pods_do_not_take_the_same_volume(storage: Storage) -> None:
    for number in (1, 2):
        storage.volume(f"v{number}", "n1")
        storage.claim(f"c{number}")
        storage.pod(f"p{number}", f"c{number}")
    storage.world.start().run()
    assert {storage.volume_of("c1"), storage.volume_of("c2")} == {"v1", "v2"}
    assert storage.world.placed() == {"p1": "n1", "p2": "n1"}


def test_br063_a_node_that_is_gone_stays_selected_until_the_provisioner_gives_it_up(storage: Storage) -> None:
    storage.claim("c", storage_class="csi", selected_node="n0")
    storage.pod("p", "c")
    storage.world.start().run(60.0)
    assert storage.world.why("p") == ("Unschedulable", NOTHING)
    patch: JsonObject = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": None}}}
    storage.world.cluster.patch("persistentvolumeclaims", "default", "c", patch, _MERGE)
    storage.world.run()
    assert storage.world.node_of("p") in ("n1", "n2")


def test_br063_a_provisioner_that_fails_ends_the_attempt_at_once(storage: Storage) -> None:
    storage.controller.failing.add("c")
    storage.claim("c", storage_class="csi")
    storage.pod("p", "c")
    storage.world.start().run(0.9)
    reason, message = storage.world.why("p")
    assert reason == "SchedulerError"
    assert 'provisioning failed for PVC "c"' in message
    storage.controller.failing.clear()
    storage.world.run()
    assert storage.world.node_of("p") is not None


def test_br064_what_was_assumed_is_free_again_after_a_failure(storage: Storage) -> None:
    storage.volume("v1", "n1")
    storage.claim("c1")
    storage.claim("c2")
    storage.world.faults.calls(volume_binding, CallPlan(carried_out=False, answer=Unknown("reset")), times=1)
    storage.pod("p", "c1")
    storage.world.start().run(0.5)
    assert not storage.volume_of("c1")
    storage.world.delete("p")
    storage.pod("q", "c2")
    storage.world.run()
    assert storage.volume_of("c2") == "v1"
    assert storage.world.node_of("q") == "n1"


@pytest.mark.parametrize("carried_out", [True, False])
def test_a_write_without_an_answer_is_settled_by_reading(storage: Storage, carried_out: bool) -> None:
    storage.volume("v1", "n1")
    storage.claim("c")
    plan = CallPlan(carried_out=carried_out, answer=Unknown("reset"), after=1.0)
    storage.world.faults.calls(volume_binding, plan, times=1)
    storage.pod("p", "c")
    storage.world.start().run()
    assert storage.world.node_of("p") == "n1"
    assert storage.volume_of("c") == "v1"
    assert len(storage.writes()) == (1 if carried_out else 2)


def test_a_volume_that_has_changed_meanwhile_is_not_written_and_the_pod_is_tried_again(storage: Storage) -> None:
    storage.volume("v1", "n1")
    storage.claim("c")
    storage.pod("p", "c")
    storage.world.faults.calls(volume_binding, CallPlan(before=0.5), times=1)
    storage.world.start()
    storage.world.cluster.patch("persistentvolumes", None, "v1", {"metadata": {"labels": {"a": "b"}}}, _MERGE)
    storage.world.run()
    assert storage.world.node_of("p") == "n1"
    assert len(storage.writes()) == 2


def test_a_pod_that_is_deleted_while_its_volume_is_bound_gives_up(storage: Storage) -> None:
    storage.controller.pace = VolumePace(bind=30.0)
    storage.volume("v1", "n1")
    storage.claim("c")
    storage.pod("p", "c", cpu="4")
    storage.world.start().run(1.0)
    assert storage.world.used("n1") == 4000
    storage.world.delete("p")
    storage.world.run(1.0)
    assert storage.world.used("n1") == 0
    assert not storage.world.bindings()


def test_what_is_not_bound_in_time_is_tried_again() -> None:
    storage = Storage("n1")
    storage.controller.pace = VolumePace(provision=5000.0)
    storage.claim("c", storage_class="csi")
    storage.pod("p", "c")
    storage.world.start().run(599.0)
    assert storage.world.why("p") == ("", "")
    storage.world.run(1.0)
    reason, message = storage.world.why("p")
    assert (reason, message) == ("SchedulerError", "binding volumes: context deadline exceeded")


def test_a_binding_that_fails_after_its_volumes_are_bound_is_repeated_with_them(storage: Storage) -> None:
    storage.volume("v1", "n1")
    storage.claim("c")
    storage.world.faults.calls(binding, CallPlan(carried_out=False, answer=Unknown("reset")), times=1)
    storage.pod("p", "c")
    storage.world.start().run(30.0)
    assert storage.world.node_of("p") == "n1"
    assert len(storage.writes()) == 1


def test_br067_a_new_nodes_limit_counts_once_it_is_known() -> None:
    storage = Storage("n1")
    for number in range(1, 5):
        storage.create(
            "persistentvolumes", volume_json(f"v{number}", storage_class="", source=csi_source(f"h{number}"))
        )
        storage.claim(f"c{number}", storage_class="", volume=f"v{number}")
    storage.pod("p1", "c1")
    storage.world.start().run()
    storage.create("csinodes", csi_node_json("n1", {"csi.example.com": 2}))
    for number in (2, 3, 4):
        storage.pod(f"p{number}", f"c{number}")
    storage.world.run()
    assert len(storage.world.placed()) == 2
    waiting = next(name for name in ("p2", "p3", "p4") if name not in storage.world.placed())
    assert storage.world.why(waiting)[1].startswith("0/1 nodes are available: 1 node(s) exceed max volume count.")


def test_br068_shared_volumes_count_once_and_until_the_pod_is_gone() -> None:
    storage = Storage("n1")
    storage.create("csinodes", csi_node_json("n1", {"csi.example.com": 2}))
    for number in (1, 2, 3):
        storage.create(
            "persistentvolumes", volume_json(f"v{number}", storage_class="", source=csi_source(f"h{number}"))
        )
        storage.claim(f"c{number}", storage_class="", volume=f"v{number}")
    storage.world.start()
    for name, claim in (("a", "c1"), ("b", "c1"), ("c", "c2"), ("d", "c3")):
        storage.pod(name, claim)
        storage.world.run(1.0)
    assert storage.world.placed() == {"a": "n1", "b": "n1", "c": "n1"}
    storage.world.delete("c", grace=30)
    storage.world.run()
    assert storage.world.node_of("d") is None
    storage.world.delete("c")
    storage.world.run(1.0)
    assert storage.world.node_of("d") == "n1"


def test_br069_a_read_write_once_pod_claim_is_for_one_pod_at_a_time(storage: Storage) -> None:
    storage.create("persistentvolumes", volume_json("v", storage_class="", modes=("ReadWriteOncePod",)))
    storage.claim("c", storage_class="", volume="v", modes=("ReadWriteOncePod",))
    storage.world.start()
    storage.pod("a", "c")
    storage.pod("b", "c")
    storage.world.run()
    (placed,) = storage.world.placed()
    (waits,) = {"a", "b"} - {placed}
    assert storage.world.why(waits)[1].startswith(
        "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod."
    )
    storage.world.delete(placed)
    storage.world.run(1.0)
    assert storage.world.node_of(waits) is not None


def test_br071_capacity_is_looked_at_claim_by_claim(storage: Storage) -> None:
    storage.create("csidrivers", {"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}})
    pool: JsonObject = {
        "metadata": {"name": "pool", "namespace": "default"},
        "storageClassName": "csi",
        "capacity": "100Gi",
        "nodeTopology": {"matchLabels": {HOSTNAME: "n1"}},
    }
    storage.create("csistoragecapacities", pool)
    for name in ("a", "b"):
        storage.claim(name, size="100Gi", storage_class="csi")
    storage.claim("too-big", size="101Gi", storage_class="csi")
    storage.pod("both", "a", "b")
    storage.pod("big", "too-big")
    storage.world.start().run()
    assert storage.world.node_of("both") == "n1"
    assert storage.world.why("big")[1].startswith(
        "0/2 nodes are available: 2 node(s) did not have enough free storage."
    )


def test_br072_volumes_on_two_nodes_leave_none(storage: Storage) -> None:
    for number in (1, 2):
        storage.volume(f"v{number}", f"n{number}")
        storage.claim(f"c{number}", volume=f"v{number}")
    storage.pod("p", "c1", "c2")
    storage.world.start().run()
    assert storage.world.why("p")[1].startswith(
        "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity."
    )


def test_br073_a_claim_of_the_same_name_is_another_claim() -> None:
    storage = Storage("n1")
    reference = {"namespace": "default", "name": "data", "uid": "the-old-one"}
    storage.volume("v1", "n1", claim=reference, phase="Released")
    storage.volume("v2", "n1", size="20Gi")
    storage.claim("data")
    storage.pod("db-0", "data")
    storage.world.start().run()
    assert storage.world.node_of("db-0") == "n1"
    assert storage.volume_of("data") == "v2"


def test_an_ephemeral_volume_waits_for_its_claim_which_must_be_the_pods_own(storage: Storage) -> None:
    uid = storage.world.pod("p", spec=using(scratch={"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}))
    storage.world.start().run()
    waiting = "waiting for ephemeral volume controller to create the persistentvolumeclaim"
    assert f'{waiting} "p-scratch"' in storage.world.why("p")[1]
    owner: JsonObject = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": True}
    storage.claim("p-scratch", storage_class="csi", metadata={"ownerReferences": [owner]})
    storage.world.run()
    assert storage.world.node_of("p") is not None


def test_br069_the_more_important_pod_takes_the_place_of_the_one_that_uses_the_claim() -> None:
    storage = Storage("n1", "n2")
    storage.world.kubelets = Kubelets(storage.world.cluster, storage.world.clock, Pace())
    modes = ("ReadWriteOncePod",)
    reference = {"namespace": "default", "name": "c"}
    storage.create("persistentvolumes", volume_json("v", storage_class="", modes=modes, claim=reference))
    storage.claim("c", storage_class="", volume="v", modes=modes)
    storage.world.start()
    storage.pod("a", "c", priority=0)
    storage.world.run(2.0)
    beside = "n2" if storage.world.node_of("a") == "n1" else "n1"
    storage.pod("beside", priority=0, node=beside)
    storage.pod("b", "c", priority=0)
    storage.pod("h", "c", priority=100)
    storage.world.run()
    assert storage.world.placed().keys() == {"beside", "h"}, "only the user of the claim had to go"
    storage.world.delete("h")
    storage.world.run(2.0)
    assert storage.world.node_of("b") is not None


class Fails(Reserve, Permit):
    """Fails once at one of its extension points, after the volumes were reserved."""

    name: ClassVar[str] = "Fails"
    where: ClassVar[str] = ""

    def __init__(self, args: PluginArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._failed = False

    def _once(self, where: str) -> Status:
        if self._failed or where != self.where:
            return SUCCESS
        self._failed = True
        return unschedulable("not now")

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        return self._once("reserve")

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Nothing to undo."""

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        return PermitResult(self._once("permit"))


@pytest.mark.parametrize("point", ["reserve", "permit"])
def test_br064_a_failure_after_the_volumes_were_reserved_writes_nothing_and_frees_them(point: str) -> None:
    failing = type("Failing", (Fails,), {"where": point})
    registry = load_registry() | {"Fails": failing}
    enabled = "profiles: [{schedulerName: berth, plugins: {multiPoint: {enabled: [{name: Fails}]}}}]\n"
    storage = Storage("n1", world=World(load(BERTH + enabled, "test", registry), registry=registry))
    storage.volume("v1", "n1")
    storage.claim("c1")
    storage.claim("c2")
    storage.pod("p", "c1")
    storage.world.start()
    assert storage.writes() == []
    storage.world.delete("p")
    storage.pod("q", "c2")
    storage.world.run()
    assert storage.volume_of("c2") == "v1"


def test_a_pod_that_is_preempted_while_its_volume_is_made_gives_everything_back() -> None:
    storage = Storage("n1")
    storage.controller.pace = VolumePace(bind=60.0)
    storage.volume("v1", "n1")
    storage.claim("c")
    storage.pod("low", "c", cpu="4", priority=0)
    storage.world.start().run(1.0)
    assert storage.world.used("n1") == 4000
    storage.pod("high", cpu="4", priority=100)
    storage.world.run(2.0)
    assert storage.world.placed() == {"high": "n1"}
    storage.world.delete("high")
    storage.world.run(70.0)
    assert storage.world.placed() == {"low": "n1"}
    assert storage.volume_of("c") == "v1"


def test_pods_that_share_a_claim_are_all_placed_where_its_volume_is_made(storage: Storage) -> None:
    storage.claim("c", storage_class="csi", modes=("ReadWriteMany",))
    for name in ("a", "b", "c"):
        storage.pod(name, "c")
    storage.world.start().run(30.0)
    placed = storage.world.placed()
    assert placed.keys() == {"a", "b", "c"}
    assert len(set(placed.values())) == 1
    assert len(storage.world.cluster.list("persistentvolumes")[0]) == 1


def test_a_node_that_goes_while_a_volume_is_made_for_it_ends_the_attempt() -> None:
    storage = Storage("n1")
    storage.controller.pace = VolumePace(provision=30.0)
    storage.claim("c", storage_class="csi")
    storage.pod("p", "c")
    storage.world.start().run(1.0)
    storage.world.cluster.delete("nodes", None, "n1")
    storage.world.run(0.5)
    reason, message = storage.world.why("p")
    assert (reason, 'failed to get node "n1"' in message) == ("SchedulerError", True)
    assert not storage.world.bindings()
