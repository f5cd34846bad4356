"""The main job: pods created while berth runs get nodes, once each, and nothing else is touched."""

from collections import Counter
from typing import Any

from tests.apiserver.audit import AuditLog
from tests.apiserver.stage import Stage, berth, user
from tests.apiserver.witness import Witness
from tests.builders import node_json, pod_json
from tests.controlplane.process import wait_until

NODES = 500
PODS = 3000
SHAPES = 30

JsonObject = dict[str, Any]


def shaped(number: int) -> JsonObject:
    """One of 30 shapes: sizes, priorities, zones, tolerations, ports."""
    shape = number % SHAPES
    spec: JsonObject = {}
    if shape % 5 == 1:
        spec["nodeSelector"] = {"topology.kubernetes.io/zone": f"zone-{shape % 3}"}
    if shape % 5 == 2:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    return pod_json(
        f"p{number}", cpu=f"{100 + 20 * shape}m", memory=f"{64 + 8 * shape}Mi", labels={"shape": str(shape)}, spec=spec
    )


def some_nodes() -> list[JsonObject]:
    """500 nodes in three zones, one in ten tainted."""
    return [
        node_json(
            f"n{i}",
            cpu="4",
            memory="8Gi",
            pods="30",
            labels={"topology.kubernetes.io/zone": f"zone-{i % 3}"},
            taints=[{"key": "dedicated", "effect": "NoSchedule"}] if i % 10 == 0 else None,
        )
        for i in range(NODES)
    ]


def test_three_thousand_pods_of_thirty_shapes_on_five_hundred_nodes(stage: Stage, audit: AuditLog) -> None:
    stage.create(some_nodes())
    with Witness(stage.server) as witness, berth(stage.server) as scheduler:
        resident: list[int] = []
        for start in range(0, PODS, 500):
            stage.create(shaped(number) for number in range(start, start + 500))
            wait_until(lambda: witness.bound() >= start + 450, 120, f"{start + 450} pods bound")  # noqa: B023  waited for here
            resident.append(scheduler.resident())
        wait_until(lambda: witness.bound() == PODS, 120, "all pods bound")
        wait_until(lambda: audit.counts(user("berth"))["create events"] == PODS, 60, "one event for each pod")
        assert scheduler.returncode is None

    assert witness.over_committed == []
    assert witness.bound_twice() == []
    assert witness.marked == []
    bindings = audit.bindings(user("berth"))
    assert len(bindings) == PODS
    assert all(entry["requestObject"]["metadata"]["uid"] for entry in bindings)
    assert audit.counts(user("berth")) == Counter({"create pods/binding": PODS, "create events": PODS})
    assert resident[-1] <= 1.05 * resident[len(resident) // 2], f"memory grows: {resident}"
