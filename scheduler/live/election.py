"""Leader election over one Lease as a state machine: what to ask the server next, and whether this replica leads.

It is told the time and does no input or output; `lease.py` carries out its steps. Expiry is judged by the own monotonic
clock alone: a lease has expired for others when its content has not changed for its duration *as they watched it*
(client-go leaderelection, KEP-589), so wall clocks may be wrong on either side.
"""

import math
import random
from dataclasses import dataclass
from datetime import datetime

import msgspec

from scheduler.config import LeaderElection
from scheduler.timestamps import micro_time

# Those who wait look again after one to a bit more than two retry periods, so that they do not all do so at once.
_JITTER = 1.2


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """coordination.k8s.io/v1 LeaseSpec; times are metav1.MicroTime. `strategy` and `preferred_holder` are kept as found."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(msgspec.Struct, frozen=True):
    """A Lease. Metadata is kept as it was read, and with it the resourceVersion that every update carries."""

    metadata: dict[str, object]
    spec: LeaseSpec

    @property
    def holder(self) -> str:
        """Who holds it; empty for nobody."""
        return self.spec.holder_identity or ""


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing to do until then."""

    until: float


@dataclass(frozen=True, slots=True)
class Read:
    """GET the lease; answer with `seen` or `failed`."""


@dataclass(frozen=True, slots=True)
class Write:
    """PUT the lease, or POST it if it does not exist yet; answer with `written`, `conflict` or `failed`."""

    lease: Lease
    exists: bool


Step = Rest | Read | Write


class Election:
    """One replica's view of the lease.

    The states and what leads from one to the next::

        unread --seen--> held by another --(unchanged for its duration)--> takeable --written--> held by me
           ^                  |                                                ^                    |
           `-- conflict, failed, and each look again --------------------------'---- renewed -------'

    Whatever fails only makes `valid` run out; nothing but a successful write prolongs it.
    """

    def __init__(self, identity: str, settings: LeaderElection, rng: random.Random) -> None:
        self.identity = identity
        self._settings = settings
        self._rng = rng
        self._known: Lease | None = None
        self._changed_at = -math.inf
        self._current = False
        self._conflicts = 0
        self._rest_until = -math.inf
        self.valid_until = -math.inf

    @property
    def holder(self) -> str:
        """Who held the lease when it was last seen; empty for nobody."""
        return self._known.holder if self._known else ""

    def valid(self, now: float) -> bool:
        """Whether this replica may write: it renewed the lease less than the renew deadline ago, counted from when that was
        sent. Others count the longer lease duration from a later moment, so they cannot hold it at the same time.
        """
        return now < self.valid_until

    def step(self, now: float, wall: datetime) -> Step:
        """What to do now. `wall` is written into the lease for people to read, and decides nothing."""
        if now < self._rest_until:
            return Rest(self._rest_until)
        return Write(self._renewed(now, wall), self._known is not None) if self._current else Read()

    def seen(self, lease: Lease | None, now: float) -> None:
        """The server's answer to a read; None if there is no lease."""
        if lease is None or lease.holder != self.identity:
            self.valid_until = -math.inf
        if lease is not None and (self._known is None or self._known.spec != lease.spec):
            self._changed_at = now
        self._known = lease
        self._current = self._takeable(now)
        if not self._current:
            self._pause(now)

    def written(self, lease: Lease, sent_at: float, now: float) -> None:
        """The server took what was sent at `sent_at`; `lease` is what it answered."""
        self._known = lease
        self._changed_at = now
        self._current = True
        self._conflicts = 0
        self.valid_until = -math.inf if lease.holder != self.identity else sent_at + self._settings.renew_deadline
        self._rest_until = sent_at + self._settings.retry_period

    def conflict(self, now: float) -> None:
        """Somebody else wrote first: read again, at once if this is the first time in a row."""
        self._current = False
        self._conflicts += 1
        if self._conflicts > 1:
            self._pause(now)

    def failed(self, sent_at: float, now: float) -> None:
        """No answer, or none of use: what was sent may or may not have been taken."""
        self._current = False
        if self.valid(now):
            self._rest_until = sent_at + self._settings.retry_period
        else:
            self._pause(now)

    def release(self, now: float, wall: datetime) -> Write | None:
        """The last write of a replica that stops and still leads, so that another may begin at once."""
        if not self._current or self._known is None or not self.valid(now):
            return None
        self.valid_until = -math.inf
        stamp = micro_time(wall)
        spec = msgspec.structs.replace(
            self._known.spec, holder_identity="", lease_duration_seconds=1, acquire_time=stamp, renew_time=stamp
        )
        return Write(Lease(self._known.metadata, spec), exists=True)

    def _takeable(self, now: float) -> bool:
        if self._known is None or self._known.holder in ("", self.identity):
            return True
        duration = self._known.spec.lease_duration_seconds or self._settings.lease_duration
        return now >= self._changed_at + duration

    def _renewed(self, now: float, wall: datetime) -> Lease:
        settings = self._settings
        stamp = micro_time(wall)
        known = self._known
        if known is None:
            metadata: dict[str, object] = {"name": settings.resource_name, "namespace": settings.resource_namespace}
            return Lease(metadata, LeaseSpec(self.identity, self._duration(), stamp, stamp, 0))
        transitions = known.spec.lease_transitions or 0
        spec = msgspec.structs.replace(
            known.spec,
            holder_identity=self.identity,
            lease_duration_seconds=self._duration(),
            acquire_time=known.spec.acquire_time if self.valid(now) else stamp,
            renew_time=stamp,
            lease_transitions=transitions if known.holder == self.identity else transitions + 1,
        )
        return Lease(known.metadata, spec)

    def _duration(self) -> int:
        """Whole seconds are all a Lease can say; rounded up, for others must not take it too early."""
        return math.ceil(self._settings.lease_duration)

    def _pause(self, now: float) -> None:
        self._rest_until = now + self._settings.retry_period * (1 + _JITTER * self._rng.random())
