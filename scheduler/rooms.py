"""Room that was made for a pod on a node, and lost: two schedulers must not evict each other's pods for days.

Nominations bind nobody but their own scheduler, so that another one may fill the room before the pod gets it. The pod then waits
before it has more pods evicted there, longer each time; other nodes are open to it all the while.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from scheduler.framework import NodeInfo, PodInfo

FIRST_PAUSE = 10.0
LONGEST_PAUSE = 300.0


@dataclass(slots=True)
class Room:
    """Whom the pod left on the node when it had room made there, how often that was lost and to which scheduler, and until when
    it waits; `told` whoever sees to it that it is tried again then.
    """

    others: Collection[str]
    lost: int = 0
    until: float = 0.0
    taken_by: str = ""
    told: bool = False


class Rooms:
    """By pod and node."""

    def __init__(self) -> None:
        self._rooms: dict[str, dict[str, Room]] = {}

    def make(self, uid: str, info: NodeInfo, victims: Collection[str]) -> None:
        """Pods are being evicted from this node for a pod."""
        room = self._rooms.setdefault(uid, {}).setdefault(info.name, Room(()))
        room.others = info.pods.keys() - set(victims)

    def forget(self, uid: str) -> None:
        """The pod has a node, or is gone."""
        self._rooms.pop(uid, None)

    def made(self, uid: str) -> Iterator[str]:
        """The nodes on which room was made for a pod."""
        return iter(self._rooms.get(uid, {}))

    def look(self, uid: str, info: NodeInfo, own: Collection[str], now: float) -> Room | None:
        """The room on a node if it was lost and the pod has to wait; `own` are the names of the schedulers that this one is."""
        room = self._rooms[uid][info.name]
        if room.until <= now and (thief := _newcomer(info, room, own)) is not None:
            room.lost += 1
            room.told = False
            room.taken_by = thief.spec.scheduler_name
            room.others = frozenset(info.pods)
            room.until = now + min(LONGEST_PAUSE, FIRST_PAUSE * float(1 << min(room.lost - 1, 16)))
        return room if room.until > now else None


def _newcomer(info: NodeInfo, room: Room, own: Collection[str]) -> PodInfo | None:
    """A pod of another scheduler that has come since."""
    for uid, pod in info.pods.items():
        if uid not in room.others and pod.spec.scheduler_name not in own:
            return pod
    return None
