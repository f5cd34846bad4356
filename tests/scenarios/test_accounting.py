"""Kind 5: what is counted on a node, and when (BR-051, 052, 055, 056, 057, 059, 060, 061)."""

from typing import Any

import pytest

from tests.builders import container
from tests.scenarios.world import World

GPU = "nvidia.com/gpu"


def gpu(count: int) -> dict[str, str]:
    return {GPU: str(count)}


def set_allocatable(world: World, name: str, **amounts: Any) -> None:
    world.change_node(name, {"status": {"allocatable": amounts}}, status=True)


def status(world: World, name: str, cpu: str, conditions: list[dict[str, str]] | None = None) -> None:
    container_status = {"name": "main", "allocatedResources": {"cpu": cpu}, "resources": {"requests": {"cpu": cpu}}}
    world.change_pod(
        name, {"status": {"containerStatuses": [container_status], "conditions": conditions or []}}, status=True
    )


def test_br051_a_resize_counts_the_larger_number_until_it_is_settled() -> None:
    world = World()
    world.node("n1", cpu="4")
    world.start()
    world.pod("a", cpu="1")
    world.run()
    status(world, "a", "1")
    world.resize("a", "3")
    world.run()
    assert world.used("n1") == 3000
    world.pod("b", cpu="2")
    world.run()
    assert world.node_of("b") is None
    status(world, "a", "1", [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}])
    world.driver.settle()
    assert world.used("n1") == 3000  # a counts 1 again, and b is there
    assert world.node_of("b") == "n1"


def test_br052_a_deferred_growth_blocks_newcomers_and_over_commits_without_harm() -> None:
    world = World()
    world.node("n1", cpu="4")
    world.start()
    world.pod("a", cpu="1")
    world.pod("c", cpu="2")
    world.run()
    status(world, "a", "1")
    world.resize("a", "3")
    world.run()
    assert world.used("n1") == 5000
    world.pod("b", cpu="1")
    world.run()
    assert world.node_of("b") is None
    world.delete("c")
    world.driver.settle()
    assert world.node_of("b") == "n1"


def test_br056_allocatable_below_what_is_used_stops_only_who_wants_more_of_it() -> None:
    world = World()
    world.node("n1", cpu="16", resources=gpu(4))
    world.start()
    for i in range(4):
        world.pod(f"old{i}", resources=gpu(1))
    world.run()
    world.pod("g", resources=gpu(1))
    for stage, left in enumerate(("3", "0", "4")):
        set_allocatable(world, "n1", **{GPU: left})
        world.pod(f"c{stage}", cpu="1")
        world.run()
        assert world.node_of(f"c{stage}") == "n1"
        assert world.why("g") == ("Unschedulable", f"0/1 nodes are available: 1 Insufficient {GPU}.")
    world.delete("old0")
    world.driver.settle()
    assert world.node_of("g") == "n1"


def test_br057_one_resource_over_its_limit_does_not_block_the_others() -> None:
    world = World()
    world.node("n1", resources={"ephemeral-storage": "10Gi"})
    world.pod("foreign", cpu="1", node="n1", scheduler="other", resources={"ephemeral-storage": "12Gi"})
    world.start()
    world.pod("p", cpu="1")
    world.pod("q", resources={"ephemeral-storage": "1Gi"})
    world.run()
    assert world.node_of("p") == "n1"
    assert world.why("q") == ("Unschedulable", "0/1 nodes are available: 1 Insufficient ephemeral-storage.")


Port = tuple[str | None, str | None, int]


@pytest.mark.parametrize(
    ("held", "wanted", "fits"),
    [
        ((None, None, 80), ("10.0.0.1", "TCP", 80), False),
        (("10.0.0.1", "TCP", 80), (None, None, 80), False),
        (("10.0.0.1", "TCP", 80), ("10.0.0.2", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("10.0.0.1", "TCP", 80), False),
        ((None, "TCP", 80), (None, "UDP", 80), True),
        (("0.0.0.0", None, 80), (None, "TCP", 80), False),
        ((None, None, 80), (None, None, 81), True),
        (("::", None, 80), ("10.0.0.1", None, 80), True),
    ],
)
def test_br059_host_ports(held: Port, wanted: Port, fits: bool) -> None:
    def with_port(port: Port) -> list[dict[str, Any]]:
        ip, protocol, number = port
        entry: dict[str, Any] = {"containerPort": number, "hostPort": number}
        if ip:
            entry["hostIP"] = ip
        if protocol:
            entry["protocol"] = protocol
        return [container(ports=[entry])]

    world = World()
    world.node("n1")
    world.start()
    world.pod("a", containers=with_port(held))
    world.run()
    world.pod("b", containers=with_port(wanted))
    world.run()
    assert (world.node_of("b") == "n1") is fits
    if not fits:
        message = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
        assert world.why("b") == ("Unschedulable", message)
        world.change_pod("a", {"status": {"phase": "Succeeded"}}, status=True)
        world.driver.settle()
        assert world.node_of("b") == "n1"


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_br060_a_finished_pod_frees_everything_though_it_stays(phase: str) -> None:
    def whole(name: str, world: World) -> None:
        ports = [{"containerPort": 80, "hostPort": 80}]
        world.pod(name, containers=[container("1", ports=ports, resources=gpu(1))])

    world = World()
    world.node("n1", cpu="1", pods="1", resources=gpu(1))
    world.start()
    whole("a", world)
    world.run()
    whole("b", world)
    world.run()
    assert world.node_of("b") is None
    world.change_pod("a", {"status": {"phase": phase}}, status=True)
    world.driver.settle()
    assert world.node_of("b") == "n1"


def test_br060_a_restart_does_not_count_finished_pods() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.pod("a", cpu="1", node="n1")
    world.change_pod("a", {"status": {"phase": "Succeeded"}}, status=True)
    world.pod("b", cpu="1")
    world.start()
    assert world.node_of("b") == "n1"


def test_br061_a_terminating_pod_holds_its_room_until_it_is_gone() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.start()
    world.pod("a", cpu="1")
    world.run()
    world.delete("a", grace=600)
    world.pod("b", cpu="1")
    world.run(590.0)
    assert world.node_of("b") is None
    assert world.attempts("b") <= 3
    world.delete("a")
    world.driver.settle()
    assert world.node_of("b") == "n1"
