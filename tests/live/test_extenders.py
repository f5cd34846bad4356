"""A whole scheduler with an extender that takes its time."""

from functools import partial

from scheduler.config import Extender
from scheduler.sandbox.fields import text_at
from tests.builders import node_json, pod_json
from tests.extenders.extender import JsonObject, ScriptedExtender
from tests.extenders.server import serving
from tests.live.berth import Start
from tests.live.faulty import FaultyApi
from tests.live.waiting import eventually

GPU = {"x.example/gpu": "1"}
THINKS = 1.5


def node_of(api: FaultyApi, name: str) -> str:
    return text_at(api.cluster.get("pods", "default", name), "spec", "nodeName")


def bind(api: FaultyApi, body: JsonObject) -> JsonObject:
    binding: JsonObject = {"metadata": {"name": body["PodName"]}, "target": {"kind": "Node", "name": body["Node"]}}
    api.cluster.bind(body["PodNamespace"], body["PodName"], binding)
    return {"Error": ""}


async def test_a_slow_extender_holds_up_only_its_own_pods_and_is_named(api: FaultyApi, start: Start) -> None:
    for name in ("n1", "n2"):
        api.cluster.create("nodes", node_json(name, resources={"x.example/gpu": "4"}))
    extender = ScriptedExtender()
    async with serving({"e": extender}, delay=THINKS) as url:
        manager = Extender(
            "slow",
            f"{url}/e",
            filter_verb="filter",
            bind_verb="bind",
            node_cache_capable=True,
            managed_resources=frozenset(GPU),
        )
        extender.bind = partial(bind, api)
        berth = start(extenders=[manager])
        await eventually(lambda: berth.leads, "it leads")
        api.cluster.create("pods", pod_json("gpu", resources=GPU))
        await eventually(lambda: berth.parts.extenders.in_flight > 0, "the extender is asked")
        for number in range(20):
            api.cluster.create("pods", pod_json(f"p{number}", "100m"))
        await eventually(lambda: all(node_of(api, f"p{number}") for number in range(20)), "the others are bound")
        assert not node_of(api, "gpu"), "it still thinks"
        assert (await berth.get("/readyz"))[0] == 200
        await eventually(lambda: bool(node_of(api, "gpu")), "the extender binds")
        metrics = (await berth.get("/metrics"))[1]
        await berth.end()
    assert 'berth_extender_duration_seconds_count{extender="slow",verb="filter"} 1.0' in metrics
    assert api.count("POST", "/binding") == 20
