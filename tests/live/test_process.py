"""A whole scheduler on an API server: it places pods, stands by, loses the lease, and ends in good order."""

import asyncio

from plugins.priority_sort import PrioritySort
from scheduler.config import LeaderElection
from scheduler.framework import PodInfo
from scheduler.live.dispatcher import BIND
from scheduler.sandbox.fields import JsonObject, objects_at, text_at
from tests.builders import node_json, pod_json
from tests.live.berth import Start
from tests.live.faulty import FaultyApi, answer, drop_after, hang, held_until
from tests.live.waiting import eventually


def nodes_of(api: FaultyApi) -> dict[str, str]:
    return {text_at(p, "metadata", "name"): text_at(p, "spec", "nodeName") for p in api.cluster.list("pods")[0]}


def events(api: FaultyApi, reason: str) -> list[str]:
    found = api.cluster.list("events.events.k8s.io")[0]
    return sorted(text_at(event, "regarding", "name") for event in found if event["reason"] == reason)


def condition(api: FaultyApi, name: str) -> JsonObject:
    conditions = objects_at(api.cluster.get("pods", "default", name), "status", "conditions")
    return next((c for c in conditions if c["type"] == "PodScheduled"), {})


def all_bound(api: FaultyApi) -> bool:
    return all(nodes_of(api).values())


async def test_pods_are_placed_with_one_binding_and_one_event_each(api: FaultyApi, start: Start) -> None:
    for i in range(3):
        api.cluster.create("nodes", node_json(f"n{i}"))
    berth = start()
    for i in range(20):
        api.cluster.create("pods", pod_json(f"p{i}", "100m"))
    await eventually(lambda: all_bound(api), "all are bound")
    assert await berth.end() == 0
    assert events(api, "Scheduled") == sorted(f"p{i}" for i in range(20))
    assert api.count("POST", "/binding") == 20
    assert api.count("PATCH", "/pods") == 0
    assert text_at(api.cluster.get("leases", "default", "berth"), "spec", "holderIdentity") == ""


async def test_a_pod_that_fits_nowhere_says_why_until_a_node_comes(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("small", "1"))
    berth = start()
    api.cluster.create("pods", pod_json("big", "2"))
    await eventually(lambda: condition(api, "big").get("reason") == "Unschedulable", "the condition says so")
    no_use = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    assert condition(api, "big")["message"] == f"0/1 nodes are available: 1 Insufficient cpu. {no_use}"
    status, text = await berth.get("/why/default/big")
    assert status == 200
    assert "not placed: 0/1 nodes are available: 1 Insufficient cpu." in text
    api.cluster.create("nodes", node_json("large", "4"))
    await eventually(lambda: nodes_of(api)["big"] == "large", "it is bound")


async def test_readiness_and_metrics_tell_of_a_scheduler_at_work(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1"))
    berth = start()
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: all_bound(api), "it is bound")
    assert (await berth.get("/readyz"))[0] == 200
    status, text = await berth.get("/metrics")
    assert status == 200
    assert 'scheduler_schedule_attempts_total{profile="berth",result="scheduled"} 1.0' in text
    assert 'scheduler_cache_size{type="nodes"} 1.0' in text
    assert "berth_leader 1.0" in text


async def test_the_standby_writes_nothing_and_takes_over_when_the_leader_ends(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1"))
    first = start()
    await eventually(lambda: first.leads, "the first leads")
    second = start()
    await eventually(lambda: second.parts.watches.reflectors[0].lists > 0, "the second keeps up")
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: all_bound(api), "it is bound")
    assert second.parts.engine.summary().bound_here == 0
    assert await first.end() == 0
    await eventually(lambda: second.leads, "the second leads")
    api.cluster.create("pods", pod_json("b", "1"))
    await eventually(lambda: all_bound(api), "the other is bound too")
    assert await second.end() == 0
    assert second.parts.engine.summary().bound_here == 1
    assert events(api, "Scheduled") == ["a", "b"]


async def test_without_the_lease_nothing_is_written_and_with_it_again_work_goes_on(
    api: FaultyApi, start: Start
) -> None:
    api.cluster.create("nodes", node_json("n1"))
    berth = start()
    await eventually(lambda: berth.leads, "it leads")
    api.fault("PUT", "/leases", hang)
    api.fault("GET", "/leases", hang)
    await eventually(lambda: not berth.parts.leadership.valid(), "the lease is lost")
    api.cluster.create("pods", pod_json("a", "1"))
    lists = berth.parts.watches.reflectors[0].lists
    await eventually(lambda: berth.parts.engine.find_pod("default", "a"), "the pod is seen")
    seen = berth.parts.engine.find_pod("default", "a")
    assert seen is not None
    assert [line.what for line in berth.parts.engine.story(seen.uid)] == ["queued"]
    assert api.count("POST", "/binding") == 0
    assert not berth.status.done()
    api.heal()
    await eventually(lambda: all_bound(api), "it is bound")
    assert berth.parts.watches.reflectors[0].lists > lists


async def test_whatever_else_hangs_the_lease_is_renewed(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1", "64"))
    berth = start()
    await eventually(lambda: berth.leads and berth.parts.engine.ready, "it leads, and knows what there is")
    api.cluster.create("pods", pod_json("first", "100m"))
    await eventually(lambda: berth.parts.engine.summary().bound == 1, "it watches")
    for method, path in (("POST", "/binding"), ("POST", "/selfsubject"), ("GET", "/apis/berth.dev"), ("GET", "/pods")):
        api.fault(method, path, hang)
    for i in range(100):
        api.cluster.create("pods", pod_json(f"p{i}", "100m"))
    berth.parts.rights.doubt(BIND)
    await eventually(lambda: api.count("POST", "/binding") == 65, "as many as may are under way")
    renewed = api.count("PUT", "/leases")
    await eventually(lambda: api.count("PUT", "/leases") > renewed + 5, "the lease is renewed")
    assert berth.leads


async def test_a_binding_whose_answer_was_lost_is_settled_and_not_sent_twice(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1"))
    api.fault("POST", "/binding", drop_after, times=1)
    berth = start()
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: berth.parts.engine.summary().bound_here == 1, "it counts as bound")
    await berth.end()
    assert api.count("POST", "/binding") == 1
    assert events(api, "Scheduled") == ["a"]
    assert events(api, "FailedScheduling") == []


async def test_missing_rights_keep_it_from_leading_until_they_are_there(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1"))
    api.cluster.create("pods", pod_json("a", "1"))
    api.fault("POST", "selfsubjectaccessreviews", answer(503))
    berth = start()
    await eventually(berth.parts.problems.lines, "problems are told")
    status, text = await berth.get("/readyz")
    assert status == 503
    assert "create pods/binding in all namespaces: not known: HTTP 503" in text
    assert (await berth.get("/livez"))[0] == 200
    assert api.count("POST", "/leases") == 0
    api.heal()
    await eventually(lambda: all_bound(api), "it is bound")


async def test_only_the_pods_of_its_namespace_are_scheduled_but_all_that_are_bound_count(
    api: FaultyApi, start: Start
) -> None:
    api.cluster.create("namespaces", {"metadata": {"name": "mine"}})
    api.cluster.create("nodes", node_json("n1", "4"))
    api.cluster.create("pods", pod_json("bound", "3", node="n1"))
    api.cluster.create("pods", pod_json("foreign", "1"))
    start(namespace="mine")
    api.cluster.create("pods", pod_json("small", "1", namespace="mine"))
    api.cluster.create("pods", pod_json("big", "2", namespace="mine"))
    await eventually(lambda: events(api, "FailedScheduling") == ["big"], "the big one does not fit")
    await eventually(lambda: nodes_of(api)["small"], "the small one is bound")
    assert nodes_of(api) == {"bound": "n1", "foreign": "", "small": "n1", "big": ""}


async def test_a_stop_lets_end_what_was_sent_and_tells_of_it(api: FaultyApi, start: Start) -> None:
    release = asyncio.Event()
    api.fault("POST", "/binding", held_until(release))
    api.cluster.create("nodes", node_json("n1"))
    berth = start()
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: api.count("POST", "/binding") == 1, "the binding is sent")
    ending = asyncio.ensure_future(berth.end())
    await eventually(lambda: berth.parts.informant.stopping, "it is stopping")
    api.cluster.create("pods", pod_json("late", "1"))
    release.set()
    assert await ending == 0
    assert nodes_of(api) == {"a": "n1", "late": ""}
    assert events(api, "Scheduled") == ["a"]
    assert text_at(api.cluster.get("leases", "default", "berth"), "spec", "holderIdentity") == ""


async def test_a_part_that_ends_ends_the_process_and_gives_the_lease_back(api: FaultyApi, start: Start) -> None:
    berth = start()
    await eventually(lambda: berth.leads, "it leads")
    berth.parts.informant.tasks["watches"].cancel()
    assert await asyncio.wait_for(berth.status, 10) == 1
    assert text_at(api.cluster.get("leases", "default", "berth"), "spec", "holderIdentity") == ""


class Picky(PrioritySort):
    """A plugin of somebody else's that cannot cope with pods of one name."""

    def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[float | str, ...]:
        if pod.name == "poison":
            raise ZeroDivisionError
        return super().sort_key(pod, queued_at)


async def test_a_plugin_that_raises_does_not_hold_up_other_pods(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1"))
    berth = start(plugins={"PrioritySort": Picky})
    api.cluster.create("pods", pod_json("poison", "1"))
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: nodes_of(api)["a"], "the other is bound")
    _, text = await berth.get("/metrics")
    assert 'berth_plugin_exceptions_total{extension_point="QueueSort",plugin="PrioritySort"}' in text


async def test_without_election_it_leads_from_the_start(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1"))
    start(LeaderElection(leader_elect=False))
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: all_bound(api), "it is bound")
    assert api.count("POST", "/leases") == 0
