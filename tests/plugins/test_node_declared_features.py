"""What a pod takes for granted, and what nodes declare."""

import pytest

from plugins.node_declared_features import NodeDeclaredFeatures
from scheduler.framework import SUCCESS, Action, Code, CycleState, EventResource, unresolvable
from tests.builders import JsonObject, container, decode_node, node, node_json, pod
from tests.plugins.cluster import Cluster, wakes

REFUSED = unresolvable("node(s) didn't match Pod's required features")
USERNS = "UserNamespacesHostNetworkSupport"
RESTART = "RestartAllContainersOnContainerExits"
RESTARTS_ALL = {"restartPolicyRules": [{"action": "RestartAllContainers"}]}


def declaring(name: str, *features: str) -> JsonObject:
    made = node_json(name, metadata={"uid": name, "resourceVersion": "1"})
    made["status"]["declaredFeatures"] = list(features)
    return made


@pytest.mark.parametrize(
    ("spec", "required"),
    [
        ({}, set()),
        ({"hostNetwork": True}, set()),
        ({"hostNetwork": True, "hostUsers": True}, set()),
        ({"hostUsers": False}, set()),
        ({"hostNetwork": True, "hostUsers": False}, {USERNS}),
        ({"containers": [{**container(), **RESTARTS_ALL}]}, {RESTART}),
        ({"initContainers": [{**container(name="init"), **RESTARTS_ALL}]}, {RESTART}),
        ({"containers": [{**container(), "restartPolicyRules": [{"action": "Restart"}]}]}, set()),
    ],
)
def test_a_spec_asks_for_features_without_naming_them(spec: JsonObject, required: set[str]) -> None:
    asking = pod("p", spec=spec)
    assert asking.spec.required_features == required
    skips = Cluster().plugin(NodeDeclaredFeatures).pre_filter(CycleState(), asking).status.code is Code.SKIP
    assert skips is not bool(required)


def test_a_node_must_declare_all_of_them() -> None:
    declared = {"none": (), "one": (USERNS,), "other": ("Something",), "both": (RESTART, USERNS, "Something")}
    cluster = Cluster(*(decode_node(declaring(name, *features)) for name, features in declared.items()))
    spec = {"hostNetwork": True, "hostUsers": False, "containers": [{**container(), **RESTARTS_ALL}]}
    verdicts = cluster.verdicts(cluster.plugin(NodeDeclaredFeatures), pod("p", spec=spec))
    assert verdicts == {"none": REFUSED, "one": REFUSED, "other": REFUSED, "both": SUCCESS}


def test_a_node_that_declares_more_wakes_the_pod() -> None:
    plugin = Cluster().plugin(NodeDeclaredFeatures)
    waiting = pod("p", spec={"hostNetwork": True, "hostUsers": False})
    before, after = node("n"), decode_node(declaring("n", USERNS))
    event = (EventResource.NODE, Action.UPDATE_NODE_DECLARED_FEATURE)
    assert wakes(plugin, *event, waiting, before, after)
    assert not wakes(plugin, *event, waiting, after, before)
    assert wakes(plugin, EventResource.NODE, Action.ADD, waiting, None, after)
    assert not wakes(plugin, EventResource.NODE, Action.UPDATE_NODE_LABEL, waiting, before, after)
