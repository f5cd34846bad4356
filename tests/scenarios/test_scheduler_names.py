"""Kind 13: pods that name a scheduler which nobody runs (BR-155)."""

import pytest

from tests.scenarios.world import World


@pytest.mark.parametrize("name", ["berht", "Berth", "berth-2", "default-scheduler"])
def test_br155_pods_of_another_name_are_left_alone(name: str) -> None:
    world = World()
    world.node("n1")
    world.start()
    world.pod("theirs", cpu="1", scheduler=name)
    world.pod("too-large", cpu="100", scheduler=name)
    world.pod("ours", cpu="1")
    world.run(400.0)
    assert world.node_of("theirs") is None
    assert world.node_of("ours") == "n1"
    assert {getattr(effect, "name", "") for effect in world.driver.sent} == {"ours"}
