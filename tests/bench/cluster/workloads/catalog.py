"""The workloads by name."""

from collections.abc import Callable, Iterator

from tests.bench.cluster.workloads.bodies import PRIORITY, apps_of, pod, running
from tests.bench.cluster.workloads.model import (
    HOST,
    ZONE,
    Arrive,
    Backlog,
    Churn,
    JsonObject,
    Placements,
    Rolling,
    Workload,
)
from tests.bench.cluster.workloads.rules import (
    apart,
    evenly_spread,
    on_labelled_nodes,
    together,
)

_MAX_SKEW = 5
_DEPLOYMENTS = 100


def _spread(what: str) -> Callable[[str], JsonObject]:
    def spec(app: str) -> JsonObject:
        selector = {"matchLabels": {"app": app}}
        constraint = {"topologyKey": ZONE, "maxSkew": _MAX_SKEW, "whenUnsatisfiable": what, "labelSelector": selector}
        return {"topologySpreadConstraints": [constraint]}

    return spec


def _required(kind: str, key: str) -> Callable[[str], JsonObject]:
    def spec(app: str) -> JsonObject:
        term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}

    return spec


def _preferred(kind: str, key: str) -> Callable[[str], JsonObject]:
    def spec(app: str) -> JsonObject:
        term = {"weight": 10, "podAffinityTerm": {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}}
        return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}}

    return spec


def _node_affinity(_: str) -> JsonObject:
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["fast"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


def _large_and_unimportant(nodes: int) -> Iterator[JsonObject]:
    """A pod on every node, beside which no other large one fits."""
    yield from running(lambda number: pod(number, cpu=3500, memory=500))(nodes)


def _of_deployment(number: int) -> JsonObject:
    return pod(number, _DEPLOYMENTS, cpu=20, memory=50)


def _of_deployments(nodes: int) -> Iterator[JsonObject]:
    """Twenty pods of each Deployment."""
    for number in range(_DEPLOYMENTS * 20):
        made = _of_deployment(number)
        made["metadata"]["name"] = f"old-{number:06d}"
        made["spec"]["nodeName"] = f"node-{number % nodes:05d}"
        yield made


def _twenty_a_node(nodes: int) -> Iterator[JsonObject]:
    yield from running(lambda number: pod(number, 200, cpu=10, memory=20), per_node=20)(nodes)


ONE_A_NODE = running(lambda number: pod(number, 50, cpu=100, memory=200))


def _backlog(
    name: str, about: str, spec: Callable[[str], JsonObject], *rules: Callable[[Placements], str | None]
) -> Workload:
    """Five apps beside a population of the same kind."""
    each = apps_of(5, spec)
    return Workload(name, about, each, population=running(apps_of(50, spec)), rules=rules)


def _steady(name: str, about: str, in_front: int = 0) -> Workload:
    return Workload(name, about, pod, play=Arrive(100), population=ONE_A_NODE, in_front=in_front, settled=True)


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("plain", "pods of five sizes", pod, population=ONE_A_NODE),
        Workload("shapes", "pods of twenty shapes", lambda number: pod(number, 20), population=ONE_A_NODE),
        _backlog("node-affinity", "required node affinity", _node_affinity, on_labelled_nodes("disk", "fast")),
        _backlog("spread-hard", "zone spread, DoNotSchedule", _spread("DoNotSchedule"), evenly_spread(_MAX_SKEW)),
        _backlog("spread-soft", "zone spread, ScheduleAnyway", _spread("ScheduleAnyway")),
        _backlog("anti-affinity", "required hostname anti-affinity", _required("podAntiAffinity", HOST), apart(HOST)),
        _backlog("affinity", "required zone affinity", _required("podAffinity", ZONE), together(ZONE)),
        _backlog("preferred-affinity", "preferred hostname affinity", _preferred("podAffinity", HOST)),
        _backlog("preferred-anti-affinity", "preferred hostname anti-affinity", _preferred("podAntiAffinity", HOST)),
        Workload(
            "unschedulable",
            "2,000 pods behind 5,000 that fit nowhere, all arriving at once",
            pod,
            play=Arrive(),
            population=ONE_A_NODE,
            in_front=5000,
        ),
        Workload(
            "preemption",
            "pods for which others have to go",
            lambda number: pod(number, cpu=3000, memory=500, priorityClassName=PRIORITY),
            count=500,
            play=Arrive(),
            population=_large_and_unimportant,
        ),
        Workload("churn", "200 pods stay, older ones finish", pod, play=Churn(200), population=ONE_A_NODE),
        Workload(
            "rolling",
            "rolling updates of 100 Deployments with Services",
            _of_deployment,
            play=Rolling(_DEPLOYMENTS, 5),
            population=_of_deployments,
            services=_DEPLOYMENTS,
        ),
        _steady("steady", "100 pods a second"),
        _steady("steady-behind", "100 pods a second beside 5,000 that fit nowhere", in_front=5000),
        Workload("large", "20 running pods a node", pod, count=200, play=Backlog(), population=_twenty_a_node),
    )
}
