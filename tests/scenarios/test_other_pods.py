"""Kind 4: pods that mind each other (BR-027, 037, 039, 040, 041, 043, 044, 047, 048)."""

from collections import Counter

import pytest

from tests.builders import JsonObject, taint
from tests.scenarios.world import World

HOST = "kubernetes.io/hostname"
W = {"app": "w"}


def spread(key: str = "zone", **more: object) -> JsonObject:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**constraint, "labelSelector": {"matchLabels": W}, **more}]}


def terms(kind: str, *about: tuple[dict[str, str], str]) -> JsonObject:
    required = [{"labelSelector": {"matchLabels": labels}, "topologyKey": key} for labels, key in about]
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def zones(*names: str) -> World:
    world = World()
    for i, zone in enumerate(names, 1):
        world.node(f"n{i}", labels={"zone": zone})
    return world.start()


def test_br037_pods_on_their_way_out_do_not_count_and_revisions_are_told_apart() -> None:
    world = zones("a", "b")
    for i in range(4):
        world.pod(
            f"old{i}", labels={**W, "hash": "1"}, scheduler="other", metadata={"finalizers": ["example.com/slow"]}
        )
        world.bind_elsewhere(f"old{i}", "n1" if i < 2 else "n2")
    for i in (2, 3):
        world.delete(f"old{i}", grace=30)
    world.pod("p", labels={**W, "hash": "2"}, spec=spread())
    world.run(1.0)
    assert world.node_of("p") == "n2"
    for i in range(20):
        world.pod(f"by-revision{i}", labels={**W, "hash": f"r{i}"}, spec=spread(matchLabelKeys=["hash"]))
    world.run(1.0)
    assert {world.node_of(f"by-revision{i}") for i in range(20)} == {"n1", "n2"}


def test_br039_a_cordoned_zone_counts_unless_taints_are_honoured() -> None:
    world = zones("a", "b", "c")
    for i in (1, 2):
        world.pod(f"w{i}", labels=W, scheduler="other")
        world.bind_elsewhere(f"w{i}", f"n{i}")
    cordon = taint("node.kubernetes.io/unschedulable")
    world.change_node("n3", {"spec": {"unschedulable": True, "taints": [cordon]}})
    world.pod("p", labels=W, spec=spread())
    world.run(1.0)
    assert world.why("p")[1].startswith(
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints."
    )
    world.pod("honours", labels=W, spec=spread(nodeTaintsPolicy="Honor"))
    world.run(1.0)
    assert world.node_of("honours") in ("n1", "n2")
    world.change_node("n3", {"spec": {"unschedulable": False, "taints": []}})
    world.driver.settle()
    assert world.node_of("p") == "n3"


def test_br040_a_tainted_node_is_the_empty_domain_unless_taints_are_honoured() -> None:
    world = World()
    world.node("cp", taints=[taint("control-plane")])
    for i in range(3):
        world.node(f"w{i}")
    world.start()
    for i in range(7):
        world.pod(f"p{i}", labels=W, spec=spread(HOST))
    world.run(30.0)
    waiting = [f"p{i}" for i in range(7) if world.node_of(f"p{i}") is None]
    assert len(waiting) == 4
    assert world.why(waiting[0])[1].startswith(
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match pod topology spread constraints."
    )
    for i in range(7):
        world.delete(f"p{i}")
        world.pod(f"h{i}", labels=W, spec=spread(HOST, nodeTaintsPolicy="Honor"))
    world.run(30.0)
    assert sorted(Counter(world.node_of(f"h{i}") for i in range(7)).values()) == [2, 2, 3]


def test_br041_the_first_of_a_group_that_wants_to_be_together() -> None:
    world = World()
    world.node("n1", labels={"zone": "a", "rack": "r1"})
    world.node("n2", labels={"zone": "a"})
    world.start()
    both = terms("podAffinity", (W, "zone"), ({"tier": "x"}, "rack"))
    world.pod("half", labels=W, spec=both)
    world.pod("elsewhere", namespace="kube-system", labels={**W, "tier": "x"})
    world.run(1.0)
    assert world.node_of("half") is None
    world.pod("first", labels={**W, "tier": "x"}, spec=both)
    world.pod("second", labels={**W, "tier": "x"}, spec=both)
    world.run(1.0)
    assert (world.node_of("first"), world.node_of("second")) == ("n1", "n1")
    # Now there is a pod that both terms are about, and that wakes the one that fulfils only half of its own.
    assert world.node_of("half") == "n1"


def test_br043_a_node_without_the_label_is_in_no_domain() -> None:
    world = World()
    world.node("n1", labels={"zone": "a"})
    world.node("n2")
    world.start()
    for name, node in (("x", "n1"), ("y", "n2")):
        world.pod(name, labels=W, scheduler="other")
        world.bind_elsewhere(name, node)
    world.pod("p", spec=terms("podAntiAffinity", (W, "zone")))
    world.run(1.0)
    assert world.node_of("p") == "n2"


@pytest.mark.parametrize("cure", ["the other pod goes", "other labels"])
def test_br044_anti_affinity_of_a_pod_on_a_node_keeps_others_out(cure: str) -> None:
    world = World()
    world.node("n1")
    world.node("n2", cpu="0")
    world.start()
    world.pod("x", scheduler="other", spec=terms("podAntiAffinity", ({"app": "p"}, HOST)))
    world.bind_elsewhere("x", "n1")
    world.pod("p", cpu="1", labels={"app": "p"})
    world.run(1.0)
    assert "1 node(s) didn't satisfy existing pods anti-affinity rules" in world.why("p")[1]
    if cure == "the other pod goes":
        world.delete("x")
    else:
        world.change_pod("p", {"metadata": {"labels": {"app": "q"}}})
    world.run(2.0)
    assert world.node_of("p") == "n1"


def test_br047_pods_that_ask_for_nothing_do_not_pile_up() -> None:
    world = World()
    for i in range(4):
        world.node(f"n{i}")
    world.start()
    for i in range(100):
        world.pod(f"p{i}")
    world.run(1.0)
    assert max(Counter(world.placed().values()).values()) <= 50


def test_br048_one_replica_a_zone_and_one_too_many() -> None:
    world = zones("a", "a", "b", "b")
    apart = terms("podAntiAffinity", (W, "zone"))
    for i in range(3):
        world.pod(f"p{i}", labels=W, spec=apart, metadata={"finalizers": ["example.com/slow"]})
    world.run(5.0)
    (waiting,) = [f"p{i}" for i in range(3) if world.node_of(f"p{i}") is None]
    assert world.why(waiting)[1].startswith("0/4 nodes are available: 4 node(s) didn't match pod anti-affinity rules.")
    leaving = next(name for name in world.placed())
    world.delete(leaving, grace=30)
    world.run(5.0)
    assert world.node_of(waiting) is None
    world.change_pod(leaving, {"metadata": {"finalizers": None}})
    world.delete(leaving)
    world.driver.settle()
    assert world.node_of(waiting) is not None


@pytest.mark.parametrize(
    "spec", [spread(), terms("podAffinity", (W, "zone"))], ids=["PodTopologySpread", "InterPodAffinity"]
)
def test_br027_a_node_that_comes_tainted_and_is_untainted_later(spec: JsonObject) -> None:
    world = World()
    world.node("n1", labels={"zone": "a"})
    world.node("n2", labels={"zone": "b"}, taints=[taint("never")])
    world.start()
    world.pod("w", labels=W, scheduler="other")
    world.bind_elsewhere("w", "n1" if "affinity" not in spec else "n2")
    world.pod("p", labels={"app": "p"} if "affinity" in spec else W, spec=spec)
    world.run(5.0)
    assert world.node_of("p") is None
    world.node("n3", labels={"zone": "b"}, taints=[taint("node.kubernetes.io/not-ready")])
    world.run(5.0)
    world.change_node("n3", {"spec": {"taints": []}})
    world.driver.settle()
    assert world.node_of("p") == "n3"
