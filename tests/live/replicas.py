"""Replicas that contend for one Lease in virtual time, over a network that loses, delays and refuses what a test tells it to."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler.config import LeaderElection
from scheduler.live.election import Election, Lease, Read, Rest, Write
from scheduler.sandbox.clock import VirtualClock

SETTINGS = LeaderElection()


@dataclass(frozen=True)
class Trip:
    """How a call goes: seconds to the server (never, if None), and seconds back (never, if None)."""

    there: float | None = 0.01
    back: float | None = 0.01


LOST = Trip(there=None, back=None)
UNANSWERED = Trip(back=None)

Network = Callable[["Replica", Read | Write], Trip]


class LeaseStore:
    """What the API server has: one Lease, replaced only by who read its last version."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self.version = 0

    def apply(self, step: Read | Write) -> Lease | int | None:
        """The answer: the lease, None if there is none, or the status 409."""
        if isinstance(step, Read):
            return self.lease
        given = step.lease.metadata.get("resourceVersion")
        if step.exists != (self.lease is not None) or (self.lease and given != str(self.version)):
            return 409
        self.version += 1
        self.lease = Lease({**step.lease.metadata, "resourceVersion": str(self.version)}, step.lease.spec)
        return self.lease


class Replica:
    """One process. It ends its calls after the retry period, as `lease.py` does."""

    def __init__(self, name: str, world: "World", seed: int) -> None:
        self.name = name
        self.world = world
        self.election = Election(name, SETTINGS, random.Random(seed))
        self.wall_offset = timedelta()
        self.alive = True
        self._calls = 0
        self.go_on()

    @property
    def leads(self) -> bool:
        return self.alive and self.election.valid(self.world.clock.now)

    def wall(self) -> datetime:
        return self.world.clock.wall() + self.wall_offset

    def go_on(self) -> None:
        if not self.alive:
            return
        step = self.election.step(self.world.clock.now, self.wall())
        if isinstance(step, Rest):
            self.world.clock.at(step.until, self.go_on)
        else:
            self._send(step)

    def crash(self) -> None:
        self.alive = False

    def stop(self) -> None:
        """A graceful end: the last write is the release."""
        last = self.election.release(self.world.clock.now, self.wall())
        if last is not None:
            taken = self.world.store.apply(last)
            if isinstance(taken, Lease):
                self.election.written(taken, self.world.clock.now, self.world.clock.now)
        assert last is None or not self.leads
        self.alive = False

    def _send(self, step: Read | Write) -> None:
        clock = self.world.clock
        sent_at = clock.now
        self._calls += 1
        call = self._calls
        trip = self.world.network(self, step)

        def give_up() -> None:
            if self.alive and call == self._calls:
                self._calls += 1
                self.election.failed(sent_at, clock.now)
                self.go_on()

        def arrive() -> None:
            answer = self.world.store.apply(step)
            if trip.back is not None:
                clock.after(trip.back, lambda: take(answer))

        def take(answer: Lease | int | None) -> None:
            if not self.alive or call != self._calls:
                return
            self._calls += 1
            if isinstance(step, Read):
                assert not isinstance(answer, int)
                self.election.seen(answer, clock.now)
            elif isinstance(answer, Lease):
                self.election.written(answer, sent_at, clock.now)
            else:
                self.election.conflict(clock.now)
            self.go_on()

        if trip.there is not None:
            clock.after(trip.there, arrive)
        clock.after(SETTINGS.retry_period, give_up)


class World:
    """Replicas, store and network. Whatever happens, at most one replica leads at any time."""

    def __init__(self, *names: str) -> None:
        self.clock = VirtualClock()
        self.store = LeaseStore()
        self.network: Network = lambda replica, step: Trip()
        self.replicas = [Replica(name, self, seed) for seed, name in enumerate(names)]

    def run(self, seconds: float) -> None:
        end = self.clock.now + seconds
        while (due := self.clock.next_due()) is not None and due <= end:
            self.clock.now = max(self.clock.now, due)
            self.clock.run_due()
            leaders = self.leaders()
            assert len(leaders) <= 1, f"at {self.clock.now:.2f} s {leaders} lead"
        self.clock.now = end

    def leaders(self) -> list[str]:
        return [replica.name for replica in self.replicas if replica.leads]
