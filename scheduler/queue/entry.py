"""What the queue holds: an entry is one pod or one group of pods that are tried together."""

from dataclasses import dataclass, field
from enum import StrEnum

from scheduler.framework import ClusterEvent, PodInfo


class Part(StrEnum):
    """Where an entry is. The values of the first four are those of the metric pending_pods."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    IN_FLIGHT = "in_flight"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """A cluster event with the object before and after it."""

    event: ClusterEvent
    change: tuple[object, object]


@dataclass(slots=True, eq=False)
class QueueEntry:
    """A pod or a group in the queue (QueuedPodInfo). `key` is its UID; `members` are its pods by UID, at least one.

    `queued_at` moves with each return to the queue; `sequence` makes the order total. `rejectors` are the plugins that
    refused the last attempt, `pending` those that wait for something they have begun (they skip the backoff); both are empty
    after an error. `ticket` changes with every move, so that an outdated place in a heap is recognised; `shown` is the
    reason and message last written into each member's condition; `index_key` says under
    what the entry is indexed while it is unschedulable or gated.
    """

    key: str
    members: dict[str, PodInfo]
    queued_at: float
    sequence: int
    part: Part = Part.GONE
    ticket: int = 0
    attempts: int = 0
    unschedulable_count: int = 0
    error_count: int = 0
    first_admitted: float | None = None
    activated_at: float = 0.0
    backoff_until: float = -1.0
    rejectors: frozenset[str] = frozenset()
    pending: frozenset[str] = frozenset()
    gated_by: str = ""
    index_key: object = None
    flushed: bool = False
    shown: dict[str, tuple[str, str]] = field(default_factory=dict)
    log_start: int = 0
    own_events: list[SeenEvent] = field(default_factory=list)

    @property
    def lead(self) -> PodInfo:
        """The pod that stands for the entry where one must: in ordering, hints and messages."""
        return next(iter(self.members.values()))

    @property
    def profile(self) -> str:
        """The schedulerName all members share."""
        return self.lead.spec.scheduler_name
