"""Host ports."""

import pytest

from plugins.node_ports import NodePorts
from scheduler.framework import SUCCESS, Action, Code, CycleState, EventResource, PodInfo, unschedulable
from tests.builders import JsonObject, container, node, pod
from tests.plugins.cluster import Cluster, wakes

REFUSED = unschedulable("node(s) didn't have free ports for the requested pod ports")


def port(number: int, protocol: str = "TCP", ip: str = "") -> JsonObject:
    return {"containerPort": 8080, "hostPort": number, "protocol": protocol, "hostIP": ip}


def with_ports(name: str, *ports: JsonObject, on: str | None = None) -> PodInfo:
    return pod(name, containers=[container(ports=list(ports))], node=on)


def fits(wanted: JsonObject, *taken: JsonObject) -> bool:
    cluster = Cluster(node("n"), pods=[with_ports("other", *taken, on="n")])
    verdict = cluster.verdicts(cluster.plugin(NodePorts), with_ports("p", wanted))["n"]
    assert verdict in (SUCCESS, REFUSED)
    return verdict.ok


@pytest.mark.parametrize(
    ("wanted", "taken", "expected"),
    [
        (port(80), port(80), False),
        (port(80), port(81), True),
        (port(80, "UDP"), port(80, "TCP"), True),
        (port(80, ip="10.0.0.1"), port(80, ip="10.0.0.2"), True),
        (port(80, ip="10.0.0.1"), port(80, ip="10.0.0.1"), False),
        (port(80, ip="10.0.0.1"), port(80), False),
        (port(80, ip="0.0.0.0"), port(80, ip="10.0.0.2"), False),
        (port(80, ip="::"), port(80, ip="10.0.0.2"), True),
        (port(80, "SCTP", "10.0.0.1"), port(80, "SCTP"), False),
    ],
)
def test_ports_conflict_by_number_protocol_and_address(wanted: JsonObject, taken: JsonObject, expected: bool) -> None:
    assert fits(wanted, taken) is expected


def test_one_of_several_ports_is_enough_for_a_conflict() -> None:
    assert not fits(port(82), port(80), port(82))


def test_only_the_node_whose_port_is_taken_is_refused() -> None:
    cluster = Cluster(node("a"), node("b"), pods=[with_ports("other", port(80), on="b")])
    verdicts = cluster.verdicts(cluster.plugin(NodePorts), with_ports("p", port(80)))
    assert verdicts == {"a": SUCCESS, "b": REFUSED}


def test_a_sidecars_port_counts_and_an_init_containers_does_not() -> None:
    init = container(name="init", ports=[port(80)])
    sidecar = container(name="sidecar", ports=[port(81)], restart_policy="Always")
    wanting = pod("p", spec={"initContainers": [init, sidecar]})
    for taken, expected in ((80, SUCCESS), (81, REFUSED)):
        cluster = Cluster(node("n"), pods=[with_ports("other", port(taken), on="n")])
        assert cluster.verdicts(cluster.plugin(NodePorts), wanting) == {"n": expected}


def test_a_pod_without_host_ports_is_not_looked_at() -> None:
    state = CycleState()
    plugin = Cluster().plugin(NodePorts)
    inside = pod("p", containers=[container(ports=[{"containerPort": 80}])])
    assert plugin.pre_filter(state, inside).status.code is Code.SKIP
    assert plugin.pre_filter(state, with_ports("q", port(80))).status.ok


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        (with_ports("x", port(80), on="n"), True),
        (with_ports("x", port(81), on="n"), False),
        (with_ports("x", port(80, "UDP"), on="n"), False),
        (pod("x", node="n"), False),
    ],
)
def test_a_pod_that_frees_a_wanted_port_wakes_a_pod(gone: PodInfo, expected: bool) -> None:
    plugin = Cluster().plugin(NodePorts)
    event = (EventResource.ASSIGNED_POD, Action.DELETE)
    assert wakes(plugin, *event, with_ports("p", port(80)), gone, None) is expected


def test_a_new_node_wakes_a_pod_and_a_changed_one_does_not() -> None:
    plugin = Cluster().plugin(NodePorts)
    waiting = with_ports("p", port(80))
    assert wakes(plugin, EventResource.NODE, Action.ADD, waiting, None, node("n"))
    assert not wakes(plugin, EventResource.NODE, Action.UPDATE_NODE_ALLOCATABLE, waiting, node("n"), node("n"))
