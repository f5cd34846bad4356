"""Writes and reads of volumes and claims as calls of the API, and what their answers say."""

from typing import TypeAlias

import msgspec

from scheduler.api import Kind
from scheduler.live.calls import MERGE_PATCH, Call
from scheduler.live.client import Response
from scheduler.live.rights import Right
from scheduler.messages import BindVolume, FoundObject, ReadObject, Refused, SelectNode, Unknown, VolumeCall, Withdrawn
from scheduler.objects import FOLLOWED
from scheduler.requests import claim_patch, selected_node_patch

PATCH_VOLUME = Right("patch", "persistentvolumes")
PATCH_CLAIM = Right("patch", "persistentvolumeclaims")

Answer: TypeAlias = Response | Refused | Withdrawn | Unknown

# An attempt that cannot write waits for its next turn; a read is asked for again.
_PATIENCE = 10.0


def volume_call(effect: VolumeCall) -> Call:
    """The request."""
    match effect:
        case BindVolume():
            path = _path(Kind.PERSISTENT_VOLUME, "", effect.name)
            body = msgspec.json.encode(claim_patch(effect))
            return Call("volume_binding", "PATCH", path, PATCH_VOLUME, body, MERGE_PATCH, _PATIENCE)
        case SelectNode():
            path = _path(Kind.PERSISTENT_VOLUME_CLAIM, effect.namespace, effect.name)
            body = msgspec.json.encode(selected_node_patch(effect))
            return Call("volume_binding", "PATCH", path, PATCH_CLAIM, body, MERGE_PATCH, _PATIENCE)
        case ReadObject():
            followed = FOLLOWED[effect.kind]
            path = _path(effect.kind, effect.namespace, effect.name)
            return Call("object_read", "GET", path, Right("get", followed.plural, followed.group), patience=_PATIENCE)


def object_found(effect: VolumeCall, answer: Answer) -> FoundObject | Refused | Withdrawn | Unknown:
    """The object as it is now; None if none of this UID exists."""
    if isinstance(effect, ReadObject) and isinstance(answer, Refused) and answer.code == 404:
        return FoundObject(None)
    if not isinstance(answer, Response):
        return answer
    try:
        found = FOLLOWED[_kind(effect)].decoder().decode(answer.body)
    except msgspec.DecodeError as error:
        return Unknown(f"the answer is no {_kind(effect)}: {error}")
    return FoundObject(found if found.uid == effect.uid else None)


def _kind(effect: VolumeCall) -> Kind:
    match effect:
        case BindVolume():
            return Kind.PERSISTENT_VOLUME
        case SelectNode():
            return Kind.PERSISTENT_VOLUME_CLAIM
        case ReadObject(kind=kind):
            return kind


def _path(kind: Kind, namespace: str, name: str) -> str:
    return FOLLOWED[kind].at(namespace, name)
