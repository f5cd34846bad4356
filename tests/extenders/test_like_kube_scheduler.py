"""The bodies that the real kube-scheduler sends to extenders, and those that berth sends about the same pod."""

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Protocol

from kubernetes.client import CoreV1Api

from scheduler.config import Extender
from scheduler.extenders import answers
from tests.apiserver.stage import Berth, Stage, account
from tests.builders import container, node_json, pod_json
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.components import kube_scheduler
from tests.controlplane.process import Process, wait_until
from tests.extenders.extender import JsonObject, ScriptedExtender
from tests.extenders.server import served

NAME = "tested"
# They differ from one pod to the next, even if these are made alike; and which of two equally good nodes it is, is drawn by lot.
DIFFERENT = ("uid", "resourceVersion", "creationTimestamp", "PodUID", "Node")
# kube-scheduler takes it out of pods, but not out of nodes. It is up to half of a node, and no extender has a use for it.
LEFT_OUT = "managedFields"
# What these two add to messages is not what this is about.
PROFILES: list[JsonObject] = [
    {
        "schedulerName": NAME,
        "plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}, {"name": "DynamicResources"}]}},
    }
]
VERBS: JsonObject = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1}


def elaborate_pod() -> JsonObject:
    """A pod with something of everything that could be written in different ways."""
    return pod_json(
        "p",
        scheduler=NAME,
        labels={"app": "web"},
        containers=[
            container("1500m", "0.5Gi", ports=[{"containerPort": 80, "hostPort": 8080}]),
            container(name="second", resources={"example.com/gpu": "1"}),
        ],
        metadata={"annotations": {"note": 'with "quotes", <tags> and ünïcode \U0001f600'}},
        spec={
            "initContainers": [{"name": "init", "image": "i", "env": [{"name": "A", "value": "1"}]}],
            "nodeSelector": {"zone": "z"},
            "volumes": [{"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}}],
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        },
    )


def nodes() -> list[JsonObject]:
    """Two nodes that could take it, and one that could not."""
    roomy: JsonObject = {"resources": {"example.com/gpu": "4"}, "labels": {"zone": "z"}}
    image = {"names": ["registry.example/app:1"], "sizeBytes": 12345678}
    return [node_json("n1", images=[image], **roomy), node_json("n2", **roomy), node_json("n3")]


def whole_nodes(body: JsonObject) -> JsonObject:
    """What an extender without a cache answers to filter."""
    return {"Nodes": body["Nodes"]}


class Pair:
    """Two extenders: one knows nodes by name, the other is shown them whole, and binds."""

    def __init__(self, core: CoreV1Api) -> None:
        self.cached = ScriptedExtender()
        self.whole = ScriptedExtender(filter=whole_nodes, bind=partial(self._bind, core))

    def _bind(self, core: CoreV1Api, body: JsonObject) -> JsonObject:
        target = {"apiVersion": "v1", "kind": "Node", "name": body["Node"]}
        binding = {"metadata": {"name": body["PodName"], "uid": body["PodUID"]}, "target": target}
        core.create_namespaced_binding(body["PodNamespace"], binding, _preload_content=False)
        return {"Error": ""}

    @contextmanager
    def configuration(self, *, whole_verbs: JsonObject) -> Iterator[list[JsonObject]]:
        with served({"cached": self.cached, "whole": self.whole}) as url:
            yield [
                {"urlPrefix": f"{url}/cached/", "nodeCacheCapable": True, "preemptVerb": "preempt", **VERBS},
                {"urlPrefix": f"{url}/whole", "preemptVerb": "preempt", **VERBS, **whole_verbs},
            ]


def comparable(body: Any) -> Any:
    """Without what must differ, and with lists in which the order has no meaning sorted."""
    if isinstance(body, dict):
        kept = {key: comparable(value) for key, value in body.items() if key not in (*DIFFERENT, LEFT_OUT)}
        if kept.get("NodeNames"):
            kept["NodeNames"].sort()
        if kept.get("Nodes"):
            kept["Nodes"]["items"].sort(key=lambda node: str(node["metadata"]["name"]))
        return kept
    return [comparable(item) for item in body] if isinstance(body, list) else body


class Scheduler(Protocol):
    """Starts a scheduler."""

    def __call__(
        self, server: ApiServer, extenders: list[JsonObject], profiles: list[JsonObject] = ...
    ) -> AbstractContextManager[Process]:
        """One with these extenders."""


def go(server: ApiServer, extenders: list[JsonObject], profiles: list[JsonObject] = PROFILES) -> Process:
    """The real kube-scheduler."""
    return kube_scheduler(server, {"profiles": profiles, "extenders": extenders})


@contextmanager
def ours(server: ApiServer, extenders: list[JsonObject], profiles: list[JsonObject] = PROFILES) -> Iterator[Process]:
    """berth."""
    with Berth(account(server, "berth"), server.folder, "berth", profiles=profiles, extenders=extenders) as process:
        process.wait_ready()
        yield process


def bodies_about_a_pod(stage: Stage, scheduler: Scheduler) -> list[tuple[str, str, object]]:
    """Which extender was sent what, in order of extender and verb, for the same pod each time."""
    pair = Pair(stage.core)
    with pair.configuration(whole_verbs={"bindVerb": "bind"}) as extenders, scheduler(stage.server, extenders):
        stage.create([elaborate_pod()])
        wait_until(lambda: stage.node_of("p"), 30, "the pod bound")
        wait_until(lambda: pair.whole.bodies("bind"), 10, "the extender asked to bind")
    stage.core.delete_namespaced_pod("p", "default", grace_period_seconds=0)
    asked = [("cached", *call) for call in pair.cached.asked] + [("whole", *call) for call in pair.whole.asked]
    return sorted(((who, verb, comparable(body)) for who, verb, body in asked), key=lambda call: call[:2])


def test_berth_sends_what_kube_scheduler_sends(private_apiserver: ApiServer) -> None:
    stage = Stage(private_apiserver)
    stage.create(nodes())
    theirs = bodies_about_a_pod(stage, go)
    assert [call[:2] for call in theirs] == [
        ("cached", "filter"),
        ("cached", "prioritize"),
        ("whole", "bind"),
        ("whole", "filter"),
        ("whole", "prioritize"),
    ]
    for their_call, my_call in zip(theirs, bodies_about_a_pod(stage, ours), strict=True):
        assert my_call == their_call


def refuse(body: JsonObject) -> JsonObject:
    """Different answers about different nodes: n1 for now, n2 for good, n3 in both ways, n4 without a word."""
    later, never = {"n1": "no licence", "n3": "no licence"}, {"n2": "too old", "n3": "too old"}
    return {"NodeNames": [], "FailedNodes": later, "FailedAndUnresolvableNodes": never}


REFUSALS: dict[str, ScriptedExtender] = {
    "refused": ScriptedExtender(filter=refuse),
    "says-nothing": ScriptedExtender(filter=lambda body: {}),
    "an-error": ScriptedExtender(filter=lambda body: {"Error": "no connection to the licence server"}),
    "a-stranger": ScriptedExtender(filter=lambda body: {"NodeNames": ["n9"]}),
    "out-of-order": ScriptedExtender(status=500),
}


def what_is_said(stage: Stage, scheduler: Scheduler, url: str) -> dict[str, tuple[str, str]]:
    """Reason and message of a pod's condition, by what the extender does."""
    said = {}
    for case in REFUSALS:
        extenders = [{"urlPrefix": f"{url}/{case}", "nodeCacheCapable": True, "filterVerb": "filter"}]
        with scheduler(stage.server, extenders):
            stage.create([pod_json("p", "1", scheduler=NAME)])
            said[case] = wait_until(
                lambda: stage.condition("p") if any(stage.condition("p")) else None, 30, "a verdict"
            )
        stage.core.delete_namespaced_pod("p", "default", grace_period_seconds=0)
    return said


def test_a_refused_pod_is_told_the_same_as_by_kube_scheduler(private_apiserver: ApiServer) -> None:
    stage = Stage(private_apiserver)
    stage.create([*(node_json(f"n{number}") for number in range(1, 5)), node_json("small", cpu="100m")])
    with served(REFUSALS) as url:
        theirs = what_is_said(stage, go, url)
        mine = what_is_said(stage, ours, url)
    assert mine == theirs


_BY_PLUGIN = re.compile(r'"Plugin scored node for pod" pod="default/p" plugin="[^"]*" node="([^"]*)" score=(-?\d+)')
_TOTAL = re.compile(r'"Calculated node\'s final score for pod" pod="default/p" node="([^"]*)" score=(-?\d+)')


def test_a_ranking_adds_what_it_adds_under_kube_scheduler(private_apiserver: ApiServer) -> None:
    """The total that kube-scheduler comes to, less what its plugins gave, is what an answer is taken for."""
    stage = Stage(private_apiserver)
    stage.create(node_json(f"n{number}") for number in (1, 2, 3))
    ranking = [{"Host": "n1", "Score": 3}, {"Host": "n2", "Score": 10}, {"Host": "n1", "Score": 1}]
    item = {"nodeCacheCapable": True, "prioritizeVerb": "prioritize", "weight": 7}
    with served({"e": ScriptedExtender(prioritize=lambda body: ranking)}) as url:
        document = {"profiles": PROFILES, "extenders": [{**item, "urlPrefix": f"{url}/e"}]}
        with kube_scheduler(stage.server, document, "-v=10"):
            stage.create([pod_json("p", "1", scheduler=NAME)])
            wait_until(lambda: stage.node_of("p"), 30, "the pod bound")
    log = (stage.server.folder / "kube-scheduler.log").read_text(errors="replace")
    totals = {node: int(score) for node, score in _TOTAL.findall(log)}
    for node, score in _BY_PLUGIN.findall(log):
        totals[node] -= int(score)
    extender = Extender("e", "http://e", node_cache_capable=True, weight=7)
    assert {"n3": 0, **answers.scores(extender, json.dumps(ranking).encode())} == totals


def preempt_bodies(stage: Stage, scheduler: Scheduler) -> list[tuple[str, object]]:
    """What each extender is sent about a pod that could take the place of others, and the pods that were chosen to go."""
    pair = Pair(stage.core)
    # Whoever is asked last spares everybody.
    pair.whole.preempt = lambda body: {}
    with pair.configuration(whole_verbs={}) as extenders, scheduler(stage.server, extenders, [{"schedulerName": NAME}]):
        stage.create([pod_json("p", "3", scheduler=NAME, spec={"priorityClassName": "system-node-critical"})])
        wait_until(lambda: any(stage.condition("p")), 30, "a verdict")
    stage.core.delete_namespaced_pod("p", "default", grace_period_seconds=0)
    asked = [("cached", body) for body in pair.cached.bodies("preempt")][:1]
    return [*asked, *(("whole", body) for body in pair.whole.bodies("preempt")[:1])]


def victims(asked: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """In comparable form. UIDs of victims stay, for these are the same pods for both schedulers."""
    meta = asked[0][1]["NodeNameToMetaVictims"]
    uids = {node: [pod["UID"] for pod in on_node["Pods"]] for node, on_node in meta.items()}
    return [("uids", uids), *((who, comparable(body)) for who, body in asked)]


def test_both_offer_the_same_victims(private_apiserver: ApiServer) -> None:
    stage = Stage(private_apiserver)
    stage.create([node_json("n1"), node_json("n2"), node_json("n3", cpu="1")])
    for node in ("n1", "n2"):
        stage.create(pod_json(f"{node}-{cpu}", cpu, node=node, scheduler="nobody") for cpu in ("3", "500m"))
    theirs = victims(preempt_bodies(stage, go))
    assert victims(preempt_bodies(stage, ours)) == theirs
