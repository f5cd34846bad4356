"""The first plugins against the real kube-scheduler, on random clusters: who is feasible, each plugin's score of each node,
and the message for a pod that fits nowhere.
"""

from collections.abc import Sequence

import pytest
import yaml
from kubernetes.client import AppsV1Api, CoreV1Api

from plugins.registry import BUILT_IN
from scheduler.api import ApiObject, Kind
from scheduler.config import load
from scheduler.objects import FOLLOWED, NodeDecoder, PodDecoder
from tests.builders import JsonObject
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.components import kube_scheduler
from tests.parity import oracle
from tests.parity.neighbours import REPLICA_SET, SERVICES, Neighbours
from tests.parity.subject import Answer, answer
from tests.parity.worlds import FPGA, GPU, World

pytestmark = pytest.mark.controlplane("kube-scheduler")

NODES = 24
PODS = 40
NODES_OF, PODS_OF = NodeDecoder(), PodDecoder()


def fit(kind: str, **more: object) -> JsonObject:
    return {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": kind, **more}}}


SHAPE = {"shape": [{"utilization": 0, "score": 9}, {"utilization": 35, "score": 2}, {"utilization": 100, "score": 10}]}
DEVICES = [
    {"name": name, "weight": weight} for name, weight in (("cpu", 1), ("memory", 2), (GPU, 5), ("ephemeral-storage", 1))
]
BALANCED = [{"name": name} for name in ("cpu", "memory", GPU, "ephemeral-storage")]
ADDED = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["1"]}]}]
    },
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 30, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["east"]}]}}
    ],
}
CONFIGURATIONS: dict[str, list[JsonObject]] = {
    "defaults": [],
    "most allocated, ignoring a device": [
        {
            "name": "NodeResourcesFit",
            "args": {"ignoredResources": [FPGA], "scoringStrategy": {"type": "MostAllocated", "resources": DEVICES}},
        },
        {"name": "NodeResourcesBalancedAllocation", "args": {"resources": BALANCED}},
    ],
    "by utilization, with an affinity for all": [
        fit("RequestedToCapacityRatio", resources=DEVICES, requestedToCapacityRatio=SHAPE),
        {"name": "NodeAffinity", "args": {"addedAffinity": ADDED}},
    ],
}


@pytest.mark.parametrize(("seed", "name"), list(enumerate(CONFIGURATIONS)))
def test_the_same_nodes_scores_and_messages(private_apiserver: ApiServer, seed: int, name: str) -> None:
    compare(private_apiserver, World(seed), name)


@pytest.mark.parametrize("seed", range(2))
def test_the_same_for_pods_that_mind_each_other(private_apiserver: ApiServer, seed: int) -> None:
    core, apps = CoreV1Api(private_apiserver.admin), AppsV1Api(private_apiserver.admin)
    for service in SERVICES:
        core.create_namespaced_service("default", service)
    apps.create_namespaced_replica_set("default", REPLICA_SET)
    others = [
        *_listed(Kind.NAMESPACE, core.list_namespace(_preload_content=False).data),
        *_listed(Kind.SERVICE, core.list_service_for_all_namespaces(_preload_content=False).data),
        *_listed(Kind.REPLICA_SET, apps.list_replica_set_for_all_namespaces(_preload_content=False).data),
    ]
    compare(private_apiserver, Neighbours(seed), "defaults", nodes=12, others=others)


def _listed(kind: Kind, page: bytes) -> list[ApiObject]:
    return FOLLOWED[kind].decoder().decode_list(page)[0]


def compare(
    private_apiserver: ApiServer, world: World, name: str, *, nodes: int = NODES, others: Sequence[ApiObject] = ()
) -> None:
    core = CoreV1Api(private_apiserver.admin)
    for node in world.nodes(nodes):
        core.create_node(node)
    profiles = [oracle.profile(set(BUILT_IN), CONFIGURATIONS[name])]
    file = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles}
    configuration = load(yaml.safe_dump(file), name, BUILT_IN)
    mine: dict[str, Answer] = {}
    theirs: dict[str, str] = {}
    with kube_scheduler(private_apiserver, {"profiles": profiles}, "-v=10") as process:
        for i in range(PODS):
            pod = f"p{i:02}"
            listed, _, _ = NODES_OF.decode_list(core.list_node(_preload_content=False).data)
            pods, _, _ = PODS_OF.decode_list(core.list_namespaced_pod("default", _preload_content=False).data)
            created = core.create_namespaced_pod("default", world.pod(pod), _preload_content=False)
            mine[pod] = answer(configuration, listed, pods, PODS_OF.decode(created.data), others)
            theirs[pod] = oracle.decision(core, pod)
            if theirs[pod].startswith("0/"):
                core.delete_namespaced_pod(pod, "default", grace_period_seconds=0)
    scored = oracle.scores(process.log)
    for pod, decision in theirs.items():
        own = mine[pod]
        assert own.scores == scored.get(pod, {}), pod
        if own.feasible:
            assert decision in own.feasible, pod
            assert _total(own, own.decision) == _total(own, decision), pod
        else:
            assert own.decision == decision, pod
    assert len(scored) > PODS / 4
    assert sum(not own.feasible for own in mine.values()) > PODS / 30


def _total(own: Answer, node: str) -> int:
    return sum(score for (_, scored), score in own.scores.items() if scored == node)
