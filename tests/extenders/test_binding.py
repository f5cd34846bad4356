"""An extender that binds takes the place of the bind plugins; what it has done is found out when it does not say."""

from typing import Any

import pytest

from scheduler.messages import Bind, Unknown
from scheduler.sandbox.faults import CallPlan, extending
from tests.extenders.extender import URL, JsonObject, ScriptedExtender
from tests.extenders.stage import BIND, GPU, world_with
from tests.scenarios.world import World


class Binder(ScriptedExtender):
    """An extender that really binds, and then answers or fails."""

    def __init__(self, answer: object) -> None:
        super().__init__(bind=self._bind)
        self.stage: World | None = None
        self._answer = answer

    def _bind(self, body: JsonObject) -> object:
        assert self.stage is not None
        self.stage.bind_elsewhere(body["PodName"], body["Node"])
        return self._answer


def stage_with(extender: ScriptedExtender, **fields: Any) -> World:
    """A cluster with an extender that binds."""
    stage = world_with(extender, **BIND, **fields)
    if isinstance(extender, Binder):
        extender.stage = stage
    return stage


def direct(stage: World) -> list[Bind]:
    """The Bindings that berth has written itself."""
    return [effect for effect in stage.driver.sent if isinstance(effect, Bind)]


def test_a_pod_is_bound_by_the_extender_and_by_nobody_else() -> None:
    extender = Binder({"Error": ""})
    stage = stage_with(extender)
    uid = stage.pod("p", "1")
    stage.start().run()
    node = stage.node_of("p")
    assert extender.bodies("bind") == [{"PodName": "p", "PodNamespace": "default", "PodUID": uid, "Node": node}]
    assert direct(stage) == []
    assert len(stage.events("p", "Scheduled")) == 1


def test_pods_that_it_does_not_manage_are_bound_as_ever() -> None:
    extender = Binder({"Error": ""})
    stage = stage_with(extender, **GPU)
    stage.pod("plain", "1")
    stage.pod("gpu", resources={"x.example/gpu": "1"})
    stage.start().run()
    assert [body["PodName"] for body in extender.bodies("bind")] == ["gpu"]
    assert [bind.name for bind in direct(stage)] == ["plain"]


@pytest.mark.parametrize("answer", [{"Error": "lost my notes"}, b"gibberish"])
def test_a_pod_that_was_bound_is_bound_whatever_the_extender_says(answer: object) -> None:
    """BR-011: the Binding was written, and then something went wrong."""
    extender = Binder(answer)
    stage = stage_with(extender)
    stage.pod("p", "1")
    stage.start().run()
    assert len(extender.bodies("bind")) == 1
    assert stage.events("p", "FailedScheduling") == []
    assert len(stage.events("p", "Scheduled")) == 1


def test_an_answer_that_never_comes_is_settled_by_reading_the_pod() -> None:
    extender = Binder({})
    stage = stage_with(extender)
    stage.faults.calls(extending, CallPlan(after=60.0))
    stage.pod("p", "1")
    stage.start().run(30)
    assert len(extender.bodies("bind")) == 1
    assert stage.events("p", "FailedScheduling") == []


def test_an_extender_that_annotates_the_pod_before_it_binds_it_causes_no_second_attempt() -> None:
    """BR-017."""
    extender = Binder({})
    stage = stage_with(extender)
    bind = extender.bind

    def annotate_and_bind(body: JsonObject) -> object:
        stage.change_pod(body["PodName"], {"metadata": {"annotations": {"x.example/card": "3"}}})
        return bind(body)

    extender.bind = annotate_and_bind
    stage.faults.calls(extending, CallPlan(after=1.0))
    stage.pod("p", "1")
    stage.start().run()
    assert len(extender.bodies("bind")) == 1
    assert len(stage.events("p", "Scheduled")) == 1
    assert stage.events("p", "FailedScheduling") == []


def test_a_binding_that_failed_gives_the_room_back_and_is_tried_again() -> None:
    extender = ScriptedExtender(bind=lambda body: {"Error": "no card left"})
    stage = stage_with(extender)
    stage.pod("p", "1")
    stage.start()
    assert stage.why("p") == ("SchedulerError", "no card left")
    assert all(stage.used(name) == 0 for name in ("n1", "n2", "n3"))
    stage.run(3)
    assert len(extender.bodies("bind")) >= 2
    assert direct(stage) == []


def test_one_that_may_be_ignored_leaves_the_binding_to_the_plugins() -> None:
    """BR-165."""
    for extender in (ScriptedExtender(status=500), ScriptedExtender(bind=lambda body: {"Error": "no"})):
        stage = stage_with(extender, ignorable=True)
        stage.pod("p", "1")
        stage.start()
        assert [bind.name for bind in direct(stage)] == ["p"]
        assert stage.node_of("p")
        assert URL in stage.notes.failed_extenders[0]


def test_a_slow_binder_holds_up_no_other_binding() -> None:
    stage = stage_with(Binder({}), **GPU)
    stage.faults.calls(extending, CallPlan(after=4.0))
    stage.pod("gpu", resources={"x.example/gpu": "1"})
    stage.start()
    for number in range(5):
        stage.pod(f"plain{number}", "1")
    stage.run(0.5)
    assert {f"plain{number}" for number in range(5)} <= set(stage.placed())


def test_a_binding_is_not_sent_when_the_room_is_gone_at_the_moment_of_sending() -> None:
    extender = Binder({})
    stage = stage_with(extender)
    stage.faults.calls(extending, CallPlan(before=1.0), times=1)
    uid = stage.pod("p", "3")
    stage.start()
    placement = stage.engine.state.cache.placement(uid)
    assert placement is not None
    chosen = placement.node_name
    stage.pod("thief", "3", node=chosen)
    stage.run()
    assert stage.node_of("p") not in (None, chosen)
    assert len(extender.bodies("bind")) == 1


def test_a_call_that_may_have_got_through_is_not_taken_for_a_failure() -> None:
    """The connection breaks after the request was sent; the extender binds a moment later."""
    extender = ScriptedExtender()
    stage = stage_with(extender)
    stage.faults.calls(extending, CallPlan(answer=Unknown("connection reset")), times=1)
    stage.pod("p", "1")
    stage.start()
    assert stage.why("p")[0] == "SchedulerError"
    stage.bind_elsewhere("p", "n1")
    stage.run()
    assert stage.node_of("p") == "n1"
    assert stage.used("n1") == 1000
