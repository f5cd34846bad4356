"""What extenders are sent. The keys are the names of Go's fields, for the types of extender/v1 have no JSON tags; pods and nodes
inside are as the API server writes them.
"""

from collections.abc import Iterable, Mapping

import msgspec

from scheduler.config import Extender
from scheduler.framework import Node, PodInfo, Victims

_encode = msgspec.json.Encoder().encode


class Args(msgspec.Struct, rename="pascal"):
    """ExtenderArgs: names for an extender with a cache of nodes of its own, else whole nodes."""

    pod: msgspec.Raw
    nodes: "NodeList | None"
    node_names: list[str] | None


class NodeList(msgspec.Struct):
    """A v1 NodeList."""

    metadata: dict[str, str]
    items: list[msgspec.Raw]


class MetaPod(msgspec.Struct):
    """A victim by its UID."""

    uid: str = msgspec.field(name="UID")


class MetaVictims(msgspec.Struct, rename="pascal"):
    """The victims on a node, for an extender that knows pods."""

    pods: list[MetaPod]
    violations: int = msgspec.field(name="NumPDBViolations")


class WholeVictims(msgspec.Struct, rename="pascal"):
    """The victims on a node as whole pods."""

    pods: list[msgspec.Raw]
    violations: int = msgspec.field(name="NumPDBViolations")


class PreemptionArgs(msgspec.Struct, rename="pascal"):
    """ExtenderPreemptionArgs."""

    pod: msgspec.Raw
    victims: dict[str, WholeVictims] | None = msgspec.field(name="NodeNameToVictims")
    meta_victims: dict[str, MetaVictims] | None = msgspec.field(name="NodeNameToMetaVictims")


class BindingArgs(msgspec.Struct, rename="pascal"):
    """ExtenderBindingArgs."""

    pod_name: str
    pod_namespace: str
    pod_uid: str = msgspec.field(name="PodUID")
    node: str


def url(extender: Extender, verb: str) -> str:
    """Where a verb of the configuration is posted to."""
    return f"{extender.url_prefix.rstrip('/')}/{verb}"


def verb_of(extender: Extender, posted_to: str) -> str:
    """The verb of the configuration that a URL stands for."""
    return posted_to.removeprefix(url(extender, ""))


def args_body(extender: Extender, pod: PodInfo, nodes: Iterable[Node]) -> bytes:
    """The request of filter and prioritize: the pod, and the nodes it could go to."""
    whole = msgspec.Raw(pod.manifest)
    if extender.node_cache_capable:
        return _encode(Args(whole, None, [node.name for node in nodes]))
    return _encode(Args(whole, NodeList({}, [msgspec.Raw(node.manifest) for node in nodes]), None))


def preemption_body(extender: Extender, pod: PodInfo, candidates: Mapping[str, Victims]) -> bytes:
    """The request of preempt: the pod, and by node which pods would have to go."""
    whole = msgspec.Raw(pod.manifest)
    if extender.node_cache_capable:
        return _encode(PreemptionArgs(whole, None, {name: _meta(victims) for name, victims in candidates.items()}))
    return _encode(PreemptionArgs(whole, {name: _whole(victims) for name, victims in candidates.items()}, None))


def binding_body(pod: PodInfo, node_name: str) -> bytes:
    """The request of bind."""
    return _encode(BindingArgs(pod.name, pod.namespace, pod.uid, node_name))


def _meta(victims: Victims) -> MetaVictims:
    return MetaVictims([MetaPod(pod.uid) for pod in victims.pods], victims.violations)


def _whole(victims: Victims) -> WholeVictims:
    return WholeVictims([msgspec.Raw(pod.manifest) for pod in victims.pods], victims.violations)
