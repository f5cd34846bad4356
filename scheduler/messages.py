"""What goes into the engine and what comes out: facts, outcomes and effects, as plain values that can be written down.

Facts are observed by a driver and given to `Engine.handle`. Effects are answered by `Engine.advance`; the driver performs each
and reports its outcome as an `EffectDone` fact. None of them holds a clock reading: a driver stamps what it writes.
"""

from collections.abc import Mapping

import msgspec

from scheduler.api import ApiObject, ClaimReference, Kind
from scheduler.config import Configuration
from scheduler.framework import Node, PodInfo


class Message(msgspec.Struct, frozen=True, tag=True, tag_field="is_a"):
    """Base of all messages; the class name is the tag when written down."""


class PodSeen(Message, frozen=True):
    """A pod was added or has changed. The engine knows by UID which of the two."""

    pod: PodInfo


class PodGone(Message, frozen=True):
    """The pod of this UID is gone: deleted, or finished and out of the watch's selection."""

    uid: str


class NodeSeen(Message, frozen=True):
    """A node was added or has changed."""

    node: Node


class NodeGone(Message, frozen=True):
    """The node of this name and UID was deleted."""

    name: str
    uid: str


class ObjectSeen(Message, frozen=True):
    """An object of another kind was added or has changed."""

    object: ApiObject


class ObjectGone(Message, frozen=True):
    """The object of this kind, name and UID was deleted."""

    kind: Kind
    uid: str
    namespace: str
    name: str


class KindSynced(Message, frozen=True):
    """The first list of a kind, or a fresh one after `KindStale`, has been handed over completely."""

    kind: Kind


class KindStale(Message, frozen=True):
    """What is known of a kind may be out of date (a new lease, a long gap): no decisions until it is synced again."""

    kind: Kind


class LeadershipGained(Message, frozen=True):
    """This replica may decide. Sent after the lease is held, before the kinds are read afresh."""


class LeadershipLost(Message, frozen=True):
    """This replica must not decide any more; what was sent and not answered is settled by reading."""


class ConfigurationChanged(Message, frozen=True):
    """Decide by this configuration from now on."""

    configuration: Configuration


class Done(Message, frozen=True):
    """The effect was carried out."""


class Refused(Message, frozen=True):
    """The server answered, and its answer was no: nothing was changed."""

    code: int
    reason: str
    message: str


class Unknown(Message, frozen=True):
    """No answer, or one that says nothing (timeout, reset, 5xx after sending): it may or may not have been carried out."""

    message: str


class Withdrawn(Message, frozen=True):
    """Never sent: the lease was not valid, or the room was gone, at the moment of sending."""

    reason: str


class Found(Message, frozen=True):
    """Answer to `ReadPod`: the pod as the server has it, or None if no pod of this UID exists."""

    pod: PodInfo | None


class FoundObject(Message, frozen=True):
    """Answer to `ReadObject`, `BindVolume` and `SelectNode`: the object as the server has it, None if none of this UID exists."""

    object: ApiObject | None


class Answered(Message, frozen=True):
    """Answer to `CallExtender`, of whatever HTTP status."""

    status: int
    body: bytes


Outcome = Answered | Done | Refused | Unknown | Withdrawn | Found | FoundObject


class EffectDone(Message, frozen=True):
    """How an effect ended."""

    effect_id: int
    outcome: Outcome


ObjectFact = PodSeen | PodGone | NodeSeen | NodeGone | ObjectSeen | ObjectGone
Fact = ObjectFact | KindSynced | KindStale | LeadershipGained | LeadershipLost | ConfigurationChanged | EffectDone


class Bind(Message, frozen=True):
    """POST pods/binding. The UID is a precondition; the annotations reach the pod in the same write."""

    effect_id: int
    uid: str
    namespace: str
    name: str
    node_name: str
    annotations: Mapping[str, str]


class ReadPod(Message, frozen=True):
    """GET one pod, to settle an unknown outcome or to learn why a pod ended. Answered by `Found`, `Refused` or `Unknown`."""

    effect_id: int
    uid: str
    namespace: str
    name: str


class PatchPodStatus(Message, frozen=True):
    """Patch the PodScheduled condition to False with reason and message, and, if not None, status.nominatedNodeName.

    `observed_generation` is the generation of the pod the verdict is about. `transition` says that the condition's status
    changes, so that lastTransitionTime moves.
    """

    effect_id: int
    uid: str
    namespace: str
    name: str
    reason: str
    message: str
    observed_generation: int
    transition: bool
    nominated_node: str | None


class CallExtender(Message, frozen=True):
    """POST a JSON body to an extender (extender/v1). Answered by `Answered`, `Unknown` or `Withdrawn`, after `timeout` seconds at
    the latest.

    `extender` is its name in the configuration, `verb` one of filter, prioritize, preempt and bind, `url` where to post. A bind
    stands for `binding`, and is sent only if that would be.
    """

    effect_id: int
    uid: str
    extender: str
    verb: str
    url: str
    body: bytes
    timeout: float
    binding: Bind | None


class MarkDisrupted(Message, frozen=True):
    """Patch the DisruptionTarget condition of a pod that makes room for another to True, before it is deleted (KEP-3329)."""

    effect_id: int
    uid: str
    namespace: str
    name: str
    message: str
    observed_generation: int


class DeletePod(Message, frozen=True):
    """DELETE one pod, with the UID as a precondition and the grace that the pod asks for."""

    effect_id: int
    uid: str
    namespace: str
    name: str


class ClearNomination(Message, frozen=True):
    """Take back status.nominatedNodeName of a pod whose room a more important one is given. Nobody waits for its outcome."""

    effect_id: int
    uid: str
    namespace: str
    name: str


class BindVolume(Message, frozen=True):
    """Patch spec.claimRef of a PersistentVolume, which must not have changed since `resource_version`. `by_us` says that the
    volume was not meant for the claim before, so that the volume controller may undo it.
    """

    effect_id: int
    uid: str
    name: str
    resource_version: str
    claim: ClaimReference
    claim_version: str
    by_us: bool
    namespace: str = ""


class SelectNode(Message, frozen=True):
    """Patch a PersistentVolumeClaim, which must not have changed since `resource_version`: provision its volume for this node."""

    effect_id: int
    uid: str
    namespace: str
    name: str
    resource_version: str
    node_name: str


class ReadObject(Message, frozen=True):
    """GET one object, to settle an unknown outcome. Answered by `FoundObject`, `Refused` or `Unknown`."""

    effect_id: int
    kind: Kind
    uid: str
    namespace: str
    name: str


class RecordEvent(Message, frozen=True):
    """Record an Event about a pod (events.k8s.io/v1). Fire and forget: dropping one never delays scheduling."""

    uid: str
    namespace: str
    name: str
    type: str
    reason: str
    action: str
    note: str


PodCall = Bind | ReadPod | PatchPodStatus | MarkDisrupted | DeletePod | ClearNomination
VolumeCall = BindVolume | SelectNode | ReadObject
ApiCall = PodCall | VolumeCall
AwaitedEffect = ApiCall | CallExtender
Effect = AwaitedEffect | RecordEvent
