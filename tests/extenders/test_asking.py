"""What extenders say decides where pods go, as with kube-scheduler; and it never holds up anybody else."""

import pytest

from scheduler.messages import Bind
from scheduler.sandbox.faults import CallPlan, extending
from tests.builders import container
from tests.extenders.extender import URL, JsonObject, ScriptedExtender, refusing
from tests.extenders.stage import FILTER, GPU, PRIORITIZE, world, world_with
from tests.scenarios.world import World


def gpu_pod(stage: World, name: str) -> str:
    """A pod that an extender which manages GPUs is interested in."""
    return stage.pod(name, resources={"x.example/gpu": "1"})


def test_a_pod_goes_where_the_filter_lets_it() -> None:
    extender = ScriptedExtender(filter=refusing(n1="no licence", n3="no licence"))
    stage = world_with(extender, **FILTER)
    stage.pod("p", "1")
    stage.start()
    assert stage.node_of("p") == "n2"
    assert extender.asked[0][1]["NodeNames"] == ["n1", "n2", "n3"]


def test_refusals_are_counted_with_those_of_plugins() -> None:
    stage = world_with(ScriptedExtender(filter=refusing(n1="no licence", n2="no licence")), **FILTER)
    stage.node("small", cpu="100m")
    stage.node("n4", unschedulable=True)
    stage.driver.extenders[URL] = ScriptedExtender(filter=refusing(n1="no licence", n2="no licence", n3="too hot"))
    stage.pod("p", "1")
    stage.start()
    expected = "0/5 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 1 too hot, 2 no licence."
    assert stage.why("p")[0] == "Unschedulable"
    assert stage.why("p")[1].startswith(expected)


def test_an_unresolvable_refusal_is_told_like_others_and_stands_above_them() -> None:
    extender = ScriptedExtender(
        filter=lambda body: {
            "NodeNames": [],
            "FailedNodes": {"n1": "soon"},
            "FailedAndUnresolvableNodes": {"n1": "never"},
        }
    )
    stage = world_with(extender, nodes=1, **FILTER)
    stage.pod("p", "1")
    stage.start()
    assert stage.why("p")[1].startswith("0/1 nodes are available: 1 never.")


def test_a_node_left_out_without_a_word_is_not_used() -> None:
    stage = world_with(ScriptedExtender(filter=lambda body: {"NodeNames": ["n2"]}), **FILTER)
    stage.pod("p", "1")
    stage.start()
    assert stage.node_of("p") == "n2"


@pytest.mark.parametrize("answer", [{}, {"NodeNames": []}, {"nodenames": None}, None])
def test_an_empty_answer_leaves_no_node(answer: object) -> None:
    stage = world_with(ScriptedExtender(filter=lambda body: answer), **FILTER)
    stage.pod("p", "1")
    stage.start()
    assert stage.node_of("p") is None
    assert stage.why("p") == ("Unschedulable", "0/3 nodes are available:")


def test_a_pod_that_an_extender_refused_is_woken_by_any_event() -> None:
    """BR-029: nobody can say which event helps."""
    extender = ScriptedExtender(filter=refusing(n1="not yet", n2="not yet", n3="not yet"))
    stage = world_with(extender, **FILTER)
    stage.pod("p", "1")
    stage.start().run()
    assert stage.node_of("p") is None
    tried = len(extender.asked)
    stage.run(60)
    assert len(extender.asked) == tried
    extender.filter = refusing()
    stage.change_node("n1", {"metadata": {"labels": {"changed": "yes"}}})
    stage.run()
    assert stage.node_of("p") is not None


def test_filters_come_one_after_another_with_ignorable_ones_last() -> None:
    first, second = ScriptedExtender(filter=refusing(n1="first")), ScriptedExtender(filter=refusing(n2="second"))
    stage = world({**FILTER, "urlPrefix": "http://second", "ignorable": True}, {**FILTER, "urlPrefix": "http://first"})
    stage.driver.extenders.update({"http://first": first, "http://second": second})
    for name in ("n1", "n2", "n3"):
        stage.node(name)
    stage.pod("p", "1")
    stage.start()
    assert stage.node_of("p") == "n3"
    assert second.asked[0][1]["NodeNames"] == ["n2", "n3"]


def test_a_score_counts_ten_times_its_weight() -> None:
    """The plugins prefer the empty node by up to a hundred each; ten points of weight 100 outweigh that."""
    extender = ScriptedExtender(prioritize=lambda body: [{"Host": "n2", "Score": 10}, {"Host": "gone", "Score": 10}])
    stage = world_with(extender, **{**PRIORITIZE, "weight": 100})
    stage.pod("heavy", "2", node="n2")
    stage.pod("p", "1")
    stage.start()
    assert stage.node_of("p") == "n2"


def test_a_single_feasible_node_is_not_ranked() -> None:
    extender = ScriptedExtender()
    stage = world_with(extender, nodes=1, **PRIORITIZE)
    stage.pod("p", "1")
    stage.start()
    assert stage.node_of("p") == "n1"
    assert extender.asked == []


def test_an_extender_with_managed_resources_is_asked_about_pods_that_want_one_only() -> None:
    extender = ScriptedExtender()
    stage = world_with(extender, **FILTER, **GPU)
    stage.pod("plain", "1")
    gpu_pod(stage, "gpu")
    wants_none = container(name="first", resources={"x.example/gpu": "0"})
    stage.pod("zero", spec={"initContainers": [wants_none]})
    stage.start()
    assert sorted(extender.pods("filter")) == ["gpu", "zero"]
    assert set(stage.placed()) == {"plain", "gpu", "zero"}


@pytest.mark.parametrize(
    ("filter_", "said"),
    [
        (lambda body: b"{", "the answer cannot be read"),
        (lambda body: {"NodeNames": ["elsewhere"]}, 'claims a filtered node "elsewhere" which is not found'),
        (lambda body: {"NodeNames": ["n1"], "Error": "no connection to the licence server"}, "licence server"),
        (lambda body: {"NodeNames": "n1"}, "the answer cannot be read"),
    ],
)
def test_a_useless_answer_is_an_error_of_this_pod_unless_the_extender_may_be_ignored(
    filter_: object, said: str
) -> None:
    for ignorable in (False, True):
        stage = world_with(ScriptedExtender(filter=filter_), **FILTER, **GPU, ignorable=ignorable)  # type: ignore[arg-type]
        gpu_pod(stage, "gpu")
        stage.pod("plain", "1")
        stage.start()
        assert stage.node_of("plain")
        assert bool(stage.node_of("gpu")) is ignorable
        assert any(said in line and URL in line for line in stage.notes.failed_extenders)
        if not ignorable:
            assert stage.why("gpu")[0] == "SchedulerError"
            assert said in stage.why("gpu")[1]


def test_a_status_that_is_not_200_is_named_as_kube_scheduler_does() -> None:
    stage = world_with(ScriptedExtender(status=500), filterVerb="on/filter")
    stage.pod("p", "1")
    stage.start()
    assert stage.why("p") == ("SchedulerError", f"failed on/filter with extender at URL {URL}/on/filter, code 500")


def test_an_extender_that_does_not_answer_holds_up_nobody_else() -> None:
    """BR-165: down, then slow beyond its timeout; pods it does not manage are placed at once, its own when it is back."""
    extender = ScriptedExtender()
    stage = world_with(extender, **FILTER, **GPU, httpTimeout="5s")
    stage.faults.calls(extending, CallPlan(after=60.0))
    for number in range(20):
        gpu_pod(stage, f"gpu{number}")
    stage.start()
    stage.pod("plain", "1")
    stage.run(0.1)
    assert stage.node_of("plain")
    assert len(extender.asked) == 1, "it is asked about one pod at a time"
    stage.run(30)
    assert set(stage.placed()) == {"plain"}
    assert "no answer within 5 s" in stage.why("gpu0")[1]
    stage.faults.clear()
    stage.run(60)
    assert len(stage.placed()) == 21


def test_bindings_and_facts_go_on_while_an_extender_thinks_about_all_pods() -> None:
    stage = world_with(ScriptedExtender(), **FILTER)
    stage.faults.calls(extending, CallPlan(after=3.0), times=1)
    stage.pod("slow", "1")
    stage.start()
    stage.pod("next", "1")
    stage.node("late")
    stage.run(1)
    assert stage.placed() == {}
    assert stage.engine.summary().nodes == 4
    assert stage.engine.summary().pending["active"] == 1, "what has to be asked about too is better left in the queue"
    stage.run()
    assert set(stage.placed()) == {"slow", "next"}


def test_what_was_said_is_applied_to_the_facts_of_afterwards() -> None:
    """While the extender thinks, others take the node that was best: nothing is decided on what was known before."""
    stage = world_with(ScriptedExtender(), nodes=2, **FILTER, **GPU)
    stage.faults.calls(extending, CallPlan(after=2.0), times=1)
    stage.pod("gpu", "3", resources={"x.example/gpu": "1"})
    stage.start()
    stage.pod("thief", "3")
    stage.run(1)
    taken = stage.node_of("thief")
    assert taken
    stage.run()
    assert stage.node_of("gpu") == ({"n1", "n2"} - {taken}).pop()


def test_a_pod_whose_nodes_were_all_taken_meanwhile_says_so_and_finds_the_room_that_came() -> None:
    stage = world_with(ScriptedExtender(), nodes=1, **FILTER, **GPU)
    stage.faults.calls(extending, CallPlan(after=2.0), times=1)
    stage.pod("gpu", "3", resources={"x.example/gpu": "1"})
    stage.start()
    stage.pod("thief", "3")
    stage.run(5)
    assert stage.why("gpu")[1].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    stage.node("n2")
    stage.run()
    assert stage.node_of("gpu") == "n2"


def test_a_node_that_came_meanwhile_is_asked_about_if_no_other_is_left() -> None:
    extender = ScriptedExtender(filter=refusing(n1="no licence"))
    stage = world_with(extender, nodes=1, **FILTER)
    stage.faults.calls(extending, CallPlan(after=2.0), times=1)
    stage.pod("p", "1")
    stage.start()
    stage.node("n2")
    stage.run(2.5)
    assert stage.node_of("p") == "n2"
    assert [body["NodeNames"] for body in extender.bodies("filter")] == [["n1"], ["n2"]]


def test_a_node_made_anew_under_the_same_name_was_not_asked_about() -> None:
    extender = ScriptedExtender()
    stage = world_with(extender, nodes=1, **FILTER)
    stage.faults.calls(extending, CallPlan(after=2.0), times=1)
    stage.pod("p", "1")
    stage.start()
    stage.cluster.delete("nodes", None, "n1")
    stage.node("n1")
    stage.run(2.5)
    assert stage.node_of("p") == "n1"
    assert len(extender.asked) == 2


def test_a_pod_that_is_deleted_while_an_extender_thinks_is_forgotten() -> None:
    stage = world_with(ScriptedExtender(), **FILTER)
    stage.faults.calls(extending, CallPlan(after=2.0), times=1)
    uid = stage.pod("p", "1")
    stage.start()
    stage.delete("p")
    stage.run()
    assert stage.bindings() == []
    assert stage.engine.state.queue.get(uid) is None
    stage.pod("q", "1")
    stage.run()
    assert stage.node_of("q")


def test_leadership_that_is_lost_while_an_extender_thinks_decides_nothing() -> None:
    stage = world_with(ScriptedExtender(), **FILTER)
    stage.faults.calls(extending, CallPlan(after=2.0), times=1)
    stage.pod("p", "1")
    stage.start()
    stage.driver.stop()
    stage.run(10)
    assert stage.bindings() == []
    stage.driver.start()
    stage.run()
    assert stage.node_of("p")


def test_of_the_pods_that_wait_for_an_extender_the_most_important_is_next() -> None:
    extender = ScriptedExtender()
    stage = world_with(extender, **FILTER, **GPU)
    stage.faults.calls(extending, CallPlan(after=1.0))
    for number in range(3):
        stage.pod(f"low{number}", resources={"x.example/gpu": "1"})
    stage.start()
    stage.pod("high", resources={"x.example/gpu": "1"}, spec={"priorityClassName": "system-node-critical"})
    stage.run()
    assert extender.pods("filter")[:2] == ["low0", "high"]


def test_the_promised_node_is_tried_first_and_the_others_if_the_extender_refuses_it() -> None:
    extender = ScriptedExtender(filter=refusing(n2="no licence"))
    stage = world_with(extender, **FILTER)
    stage.pod("p", "1", status={"nominatedNodeName": "n2"})
    stage.change_pod("p", {"status": {"nominatedNodeName": "n2"}}, status=True)
    stage.start()
    assert [body["NodeNames"] for body in extender.bodies("filter")] == [["n2"], ["n1", "n3"]]
    assert stage.node_of("p") in ("n1", "n3")


def test_resources_ignored_by_the_scheduler_are_left_to_the_extender() -> None:
    stage = world_with(ScriptedExtender(filter=refusing(n1="no gpu", n3="no gpu")), **FILTER, **GPU)
    gpu_pod(stage, "gpu")
    stage.start()
    assert stage.node_of("gpu") == "n2", "no node says that it has any"


def test_a_user_s_share_of_nodes_holds_with_extenders_too() -> None:
    extender = ScriptedExtender()
    stage = world(FILTER, more="percentageOfNodesToScore: 50\n")
    stage.driver.extenders[URL] = extender
    for number in range(300):
        stage.node(f"n{number}")
    stage.pod("p", "1")
    stage.start()
    assert len(extender.asked) == 1
    assert len(extender.asked[0][1]["NodeNames"]) == 150
    assert stage.node_of("p") in extender.asked[0][1]["NodeNames"]


def test_several_rankings_are_asked_for_at_once_and_added_up() -> None:
    one = ScriptedExtender(prioritize=lambda body: [{"Host": "n1", "Score": 9}])
    two = ScriptedExtender(prioritize=lambda body: [{"Host": "n3", "Score": 5}])
    three = ScriptedExtender(prioritize=lambda body: [{"Host": "n3", "Score": 5}])
    rank: JsonObject = {**PRIORITIZE, "weight": 50}
    stage = world(*({**rank, "urlPrefix": f"http://{name}"} for name in ("one", "two", "three")))
    stage.driver.extenders.update({"http://one": one, "http://two": two, "http://three": three})
    for name in ("n1", "n2", "n3"):
        stage.node(name)
    stage.faults.calls(extending, CallPlan(after=4.0))
    stage.pod("p", "1")
    stage.start().run(4.5)
    assert stage.node_of("p") == "n3"


def test_a_ranking_that_does_not_come_counts_nothing() -> None:
    for extender in (ScriptedExtender(status=503), ScriptedExtender(prioritize=lambda body: {"Host": "n1"})):
        stage = world_with(extender, **PRIORITIZE)
        stage.pod("p", "1")
        stage.start()
        assert stage.node_of("p")
        assert URL in stage.notes.failed_extenders[0]


def test_nothing_is_asked_without_a_binding_that_could_follow() -> None:
    """What plugins refuse everywhere does not reach the extender."""
    extender = ScriptedExtender()
    stage = world_with(extender, **FILTER)
    stage.pod("p", "100")
    stage.start()
    assert extender.asked == []
    assert [e for e in stage.driver.sent if isinstance(e, Bind)] == []
