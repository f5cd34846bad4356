"""The scheduling queue (kube-scheduler 1.36, backend/queue): active, backoff, unschedulable and gated entries.

    new --------------------------> active --pop--> in flight --fail--> unschedulable --event--> backoff --> active
     \\--PreEnqueue refuses--> gated --event--/        |                                            ^
                                                      \\--fail, and an event came meanwhile--------/

Entries that fail with an error go to backoff; those whose rejecting plugin is Pending skip it. With nothing active, an entry
in backoff after a rejection (not after an error) is popped early. Hints are asked once for all entries that the same
plugins refused and that are alike in what these plugins read.
"""

from collections import Counter, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import count
from typing import NamedTuple

from scheduler.framework import Action, ClusterEvent, EventResource, PodInfo
from scheduler.observer import Observer
from scheduler.queue.backoff import Backoff
from scheduler.queue.entry import Part, QueueEntry, SeenEvent
from scheduler.queue.heap import EntryHeap
from scheduler.queue.in_flight import InFlight
from scheduler.queue.index import EntryIndex
from scheduler.queue.rules import QueueRules

POD_ADD = "PodAdd"
ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF = "PopFromBackoffQ"
NOT_SENT = "BindingNotSent"
FORCE_ACTIVATE = ClusterEvent(EventResource.ANY, Action.ALL, "ForceActivate")
UNSCHEDULABLE_TIMEOUT = ClusterEvent(EventResource.ANY, Action.ALL, "UnschedulableTimeout")
CONFIGURATION_CHANGED = ClusterEvent(EventResource.ANY, Action.ALL, "ConfigurationChanged")

# An entry that has been active for this long without an attempt is tried next, at most once in this many pops, whatever
# stands above it: high priorities that keep coming back cannot keep a low one from ever being tried.
STARVING_AFTER = 30.0
STARVING_SHARE = 10

_FLUSH_EVERY = 30.0


class Move(Enum):
    """What becomes of an entry that an event may have helped."""

    STAY = 0
    AFTER_BACKOFF = 1
    AT_ONCE = 2


class Cause(NamedTuple):
    """Who refused: the plugins of a profile."""

    profile: str
    rejectors: frozenset[str]
    pending: frozenset[str]


class SchedulingQueue:
    """Everything that waits for a node. Each entry is in exactly one part at any time."""

    def __init__(
        self, rules: Mapping[str, QueueRules], backoff: Backoff, flush_after: float | None, observer: Observer
    ) -> None:
        self._rules = rules
        self._backoff = backoff
        self._flush_after = flush_after
        self._observer = observer
        self._entries: dict[str, QueueEntry] = {}
        self._active = EntryHeap()
        self._arrivals: deque[tuple[int, QueueEntry]] = deque()
        self._rejected_backoff = EntryHeap()
        self._error_backoff = EntryHeap()
        self._stuck: dict[Cause, EntryIndex[Hashable]] = {}
        self._gated: EntryIndex[tuple[str, str]] = EntryIndex()
        self._sizes: Counter[Part] = Counter()
        self._in_flight = InFlight()
        self._sequence = count(1)
        self._tickets = count(1)
        self._pops = 0
        self._last_flush = 0.0

    # A pod's entry is found by its own UID; a group's by the group's.

    def get(self, key: str) -> QueueEntry | None:
        """The entry of this key, in whatever part."""
        return self._entries.get(key)

    def sizes(self) -> dict[Part, int]:
        """How many entries each part holds."""
        return {part: self._sizes[part] for part in Part if part is not Part.GONE}

    def entries(self) -> Iterable[QueueEntry]:
        """All entries, to read."""
        return self._entries.values()

    def add(self, pod: PodInfo, now: float) -> QueueEntry:
        """Queue a pod that was not here."""
        entry = QueueEntry(pod.uid, {pod.uid: pod}, now, next(self._sequence))
        self._entries[entry.key] = entry
        self._admit(entry, Move.AT_ONCE, POD_ADD, now)
        return entry

    def update(self, pod: PodInfo, events: Sequence[ClusterEvent], now: float) -> None:
        """Take over a change of a waiting pod, and queue it if what changed may help it."""
        entry = self._entries[pod.uid]
        old = entry.members[pod.uid]
        entry.members[pod.uid] = pod
        change = (old, pod)
        match entry.part:
            case Part.IN_FLIGHT:
                entry.own_events.extend(SeenEvent(event, change) for event in events)
            case Part.ACTIVE:
                self._place(entry, Part.ACTIVE, now)
            case Part.BACKOFF:
                self._place(entry, Part.BACKOFF, now)
            case Part.GATED:
                self._retry_gate(entry, events, now)
            case Part.UNSCHEDULABLE:
                self._place(entry, Part.UNSCHEDULABLE, now)
                for event in events:
                    move = self._verdict(entry, SeenEvent(event, change))
                    if move is not Move.STAY:
                        self._admit(entry, move, event.label, now)
                        break

    def remove(self, key: str) -> QueueEntry | None:
        """An entry leaves for good: it was bound by somebody else, or is gone."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        if entry.part is Part.IN_FLIGHT:
            self._in_flight.done(entry)
        self._place(entry, Part.GONE, 0.0)
        return entry

    def pop(self, now: float) -> QueueEntry | None:
        """The entry to try next; it is in flight from now on, until `fail`, `remove` or `requeue`."""
        self._leave_backoff(now)
        entry = self._starving(now) or self._active.peek() or self._end_a_backoff_early(now)
        if entry is None:
            return None
        self._pops += 1
        entry.attempts += 1
        entry.backoff_until = -1.0
        self._place(entry, Part.IN_FLIGHT, now)
        self._in_flight.start(entry)
        return entry

    def fail(self, entry: QueueEntry, rejectors: frozenset[str], pending: frozenset[str], now: float) -> None:
        """An attempt failed: rejected by these plugins, or, if there are none, ended by an error."""
        if entry.part is not Part.IN_FLIGHT:
            return
        entry.rejectors = rejectors
        entry.pending = pending
        if rejectors or pending:
            entry.unschedulable_count += 1
            entry.error_count = 0
        else:
            entry.error_count += 1
        entry.queued_at = now
        entry.backoff_until = self._backoff.until(entry)
        entry.flushed = False
        move = self._verdict_in_flight(entry)
        self._in_flight.done(entry)
        self._admit(entry, move, ATTEMPT_FAILURE, now)

    def put_back(self, entry: QueueEntry, now: float) -> None:
        """An attempt ended without a verdict (nothing was sent): the entry is active again, where it was in the order."""
        self._in_flight.done(entry)
        entry.attempts -= 1
        self._admit(entry, Move.AT_ONCE, NOT_SENT, now)

    def wake(
        self,
        event: ClusterEvent,
        change: tuple[object, object],
        now: float,
        *,
        at_most: int | None = None,
        excluding: str | None = None,
    ) -> None:
        """Something happened in the cluster: queue what it may help.

        `at_most` leaves entries of higher priority alone; `excluding` is an entry that made the event itself.
        """
        seen = SeenEvent(event, change)
        self._in_flight.note(seen)
        for cause, stuck in list(self._stuck.items()):
            if not self._concerns(event, cause):
                continue
            for likeness in stuck.index_keys():
                first = stuck.first(likeness)
                move = Move.STAY if first is None else self._verdict(first, seen)
                if move is not Move.STAY:
                    for entry in stuck.group(likeness):
                        if entry.key != excluding and (at_most is None or entry.lead.spec.priority <= at_most):
                            self._admit(entry, move, event.label, now)
        for gate in self._gated.index_keys():
            if self._rules[gate[0]].listens(gate[1], event):
                for entry in self._gated.group(gate):
                    self._admit(entry, Move.AT_ONCE, event.label, now)

    def _concerns(self, event: ClusterEvent, cause: Cause) -> bool:
        """Whether any of the plugins that refused has registered for the event; most events concern few of what waits."""
        rules = self._rules[cause.profile]
        return any(rules.listens(plugin, event) for plugin in cause.rejectors | cause.pending)

    def activate(self, key: str, now: float) -> bool:
        """Make an entry active whatever refused it; False if it does not wait."""
        entry = self._entries.get(key)
        if entry is None or entry.part not in (Part.UNSCHEDULABLE, Part.BACKOFF, Part.GATED):
            return False
        self._admit(entry, Move.AT_ONCE, FORCE_ACTIVATE.label, now)
        return True

    def retry(self, key: str, now: float) -> None:
        """What the last attempt has begun went wrong after it: the entry is tried again as if it had ended with an error."""
        entry = self._entries.get(key)
        if entry is None or entry.part is Part.IN_FLIGHT:
            return
        self._place(entry, Part.GONE, now)
        entry.rejectors = entry.pending = frozenset()
        entry.error_count = max(1, entry.unschedulable_count)
        entry.queued_at = now
        entry.backoff_until = self._backoff.until(entry)
        self._admit(entry, Move.AFTER_BACKOFF, ATTEMPT_FAILURE, now)

    def ungate(self, key: str, event: ClusterEvent, now: float) -> None:
        """What has kept a gated entry out may be over: PreEnqueue is asked again."""
        entry = self._entries.get(key)
        if entry is not None and entry.part is Part.GATED:
            self._admit(entry, Move.AT_ONCE, event.label, now)

    def reconsider(self, key: str, event: ClusterEvent, now: float) -> None:
        """Something has happened that an unschedulable entry waits for, whatever the plugins say that refused it."""
        entry = self._entries.get(key)
        if entry is not None and entry.part is Part.UNSCHEDULABLE:
            self._admit(entry, Move.AFTER_BACKOFF, event.label, now)

    def reconfigure(
        self, rules: Mapping[str, QueueRules], changed: Collection[str], backoff: Backoff, now: float
    ) -> list[QueueEntry]:
        """Go by other rules from now on. What waits for the profiles that have `changed` is gated afresh and tried again, for its
        rejections were by the old ones. Answers the entries of profiles that are no more; they have left.
        """
        left = [entry for entry in self._entries.values() if entry.profile not in rules]
        for entry in left:
            self.remove(entry.key)
        self._rules, self._backoff = rules, backoff
        self._in_flight.note(SeenEvent(CONFIGURATION_CHANGED, (None, None)))
        waiting = [entry for entry in self._entries.values() if entry.part is not Part.IN_FLIGHT]
        moved = [entry for entry in waiting if entry.profile in changed or entry.part in (Part.ACTIVE, Part.BACKOFF)]
        # Places in another order cannot be compared with the old ones.
        self._active, self._rejected_backoff, self._error_backoff = EntryHeap(), EntryHeap(), EntryHeap()
        self._arrivals.clear()
        for entry in sorted(moved, key=lambda entry: entry.activated_at):
            part, since = entry.part, entry.activated_at
            if entry.profile not in changed:
                self._place(entry, part, now)
                continue
            move = Move.AT_ONCE if part in (Part.ACTIVE, Part.GATED) else Move.AFTER_BACKOFF
            self._place(entry, Part.GONE, now)
            self._admit(entry, move, CONFIGURATION_CHANGED.label, now)
            if part is Part.ACTIVE:
                entry.activated_at = since
        return left

    def next_deadline(self) -> float | None:
        """When `pop` may have something: 0 for at once, None for only after an event."""
        if self._active.peek() is not None or self._rejected_backoff.peek() is not None:
            return 0.0
        times = []
        if (head := self._error_backoff.peek()) is not None:
            times.append(Backoff.ends(head))
        if self._flush_after is not None and self._stuck:
            times.append(self._last_flush + _FLUSH_EVERY)
        return min(times, default=None)

    def validate(self) -> None:
        """Each entry is in one part, and each part holds what it says (INV-2)."""
        counted = Counter(entry.part for entry in self._entries.values())
        assert counted == +self._sizes, f"sizes of the parts are off: {counted} counted, {self._sizes} kept"
        stuck = {entry.key for entry in self._unschedulable()}
        gated = {entry.key for entry in self._gated}
        for key, entry in self._entries.items():
            assert (key in stuck) == (entry.part is Part.UNSCHEDULABLE), f"{key} is {entry.part} but in the wrong index"
            assert (key in gated) == (entry.part is Part.GATED), f"{key} is {entry.part} but in the wrong index"
            assert (key in self._in_flight.entries) == (entry.part is Part.IN_FLIGHT), f"{key} is {entry.part}"
        if not self._in_flight:
            assert self._in_flight.log_length == 0, "events are kept though nothing is in flight"

    def _admit(self, entry: QueueEntry, move: Move, event: str, now: float) -> None:
        """Put an entry where a move takes it; PreEnqueue has its say before active and backoff."""
        if move is Move.STAY:
            self._place(entry, Part.UNSCHEDULABLE, now)
        else:
            gate = self._gate(entry)
            if gate is not None:
                if entry.part is Part.GATED and entry.gated_by == gate:
                    return
                entry.gated_by = gate
                self._place(entry, Part.GATED, now)
            elif move is Move.AFTER_BACKOFF and not Backoff.over(entry, now):
                self._place(entry, Part.BACKOFF, now)
            else:
                if entry.first_admitted is None:
                    entry.first_admitted = now
                self._place(entry, Part.ACTIVE, now)
        self._observer.pod_queued(entry.part, event)

    def _gate(self, entry: QueueEntry) -> str | None:
        """The plugin that keeps an entry out of the active queue."""
        rules = self._rules[entry.profile]
        verdicts = (rules.pre_enqueue(pod) for pod in entry.members.values())
        return next((verdict.plugin for verdict in verdicts if not verdict.ok), None)

    def _end_a_backoff_early(self, now: float) -> QueueEntry | None:
        """With nothing active there is no reason to wait, except after an error."""
        while (entry := self._rejected_backoff.peek()) is not None:
            self._admit(entry, Move.AT_ONCE, POP_FROM_BACKOFF, now)
            if entry.part is Part.ACTIVE:
                return entry
        return None

    def _retry_gate(self, entry: QueueEntry, events: Iterable[ClusterEvent], now: float) -> None:
        rules = self._rules[entry.profile]
        for event in events:
            if rules.listens(entry.gated_by, event):
                self._admit(entry, Move.AT_ONCE, event.label, now)
                return

    def _verdict(self, entry: QueueEntry, seen: SeenEvent) -> Move:
        """Whether an event may help an entry, asking the plugins that refused it."""
        if seen.event.resource is EventResource.ANY:
            return Move.AFTER_BACKOFF
        rules = self._rules[entry.profile]
        verdict = Move.STAY
        for plugin in sorted(entry.rejectors | entry.pending):
            if rules.helps(plugin, seen.event, entry.lead, seen.change):
                if plugin in entry.pending:
                    return Move.AT_ONCE
                verdict = Move.AFTER_BACKOFF
        return verdict

    def _verdict_in_flight(self, entry: QueueEntry) -> Move:
        """Where a failed entry goes, considering what happened while it was tried."""
        if not entry.rejectors and not entry.pending:
            return Move.AFTER_BACKOFF
        events = self._in_flight.since(entry)
        if events is None:
            return Move.AFTER_BACKOFF
        moves = [self._verdict(entry, seen) for seen in events]
        return max(moves, key=lambda move: move.value, default=Move.STAY)

    def _leave_backoff(self, now: float) -> None:
        for heap in (self._rejected_backoff, self._error_backoff):
            while (entry := heap.peek()) is not None and Backoff.over(entry, now):
                self._admit(entry, Move.AT_ONCE, BACKOFF_COMPLETE, now)
        if self._flush_after is not None and now >= self._last_flush + _FLUSH_EVERY:
            self._last_flush = now
            self._flush(now - self._flush_after, now)

    def _flush(self, before: float, now: float) -> None:
        """The safety net: what has waited too long is tried again though no event said so."""
        overdue = [entry for entry in self._unschedulable() if entry.queued_at < before]
        for entry in overdue:
            entry.flushed = True
            self._admit(entry, Move.AFTER_BACKOFF, UNSCHEDULABLE_TIMEOUT.label, now)

    def _starving(self, now: float) -> QueueEntry | None:
        while self._arrivals and self._arrivals[0][1].ticket != self._arrivals[0][0]:
            self._arrivals.popleft()
        if not self._arrivals or self._pops % STARVING_SHARE:
            return None
        entry = self._arrivals[0][1]
        return entry if now - entry.activated_at > STARVING_AFTER else None

    def _place(self, entry: QueueEntry, part: Part, now: float) -> None:
        """The one way from part to part."""
        if entry.part is Part.UNSCHEDULABLE:
            self._release(entry)
        elif entry.part is Part.GATED:
            self._gated.discard(entry)
        self._sizes[entry.part] -= 1
        was, entry.part = entry.part, part
        self._sizes[part] += 1
        self._sizes[Part.GONE] = 0
        entry.ticket = next(self._tickets)
        match part:
            case Part.ACTIVE:
                if was is not Part.ACTIVE:
                    entry.activated_at = now
                self._active.push(self.order(entry), entry)
                self._active.compact(self._sizes[Part.ACTIVE])
                self._arrivals.append((entry.ticket, entry))
            case Part.BACKOFF:
                error = not entry.rejectors and not entry.pending
                heap = self._error_backoff if error else self._rejected_backoff
                heap.push((entry.backoff_until, *self.order(entry)), entry)
                heap.compact(self._sizes[Part.BACKOFF])
            case Part.UNSCHEDULABLE:
                cause = Cause(entry.profile, entry.rejectors, entry.pending)
                self._stuck.setdefault(cause, EntryIndex()).add(self._likeness(entry), entry)
            case Part.GATED:
                self._gated.add((entry.profile, entry.gated_by), entry)

    def _likeness(self, entry: QueueEntry) -> Hashable:
        """What the plugins that refused an entry read of it: entries alike in it are helped by the same events."""
        rules = self._rules[entry.profile]
        return tuple(rules.reads(plugin, entry.lead) for plugin in sorted(entry.rejectors | entry.pending))

    def _unschedulable(self) -> Iterator[QueueEntry]:
        for stuck in self._stuck.values():
            yield from stuck

    def _release(self, entry: QueueEntry) -> None:
        """Take an entry out from under what it was refused for; `rejectors` change only while it is in flight."""
        cause = Cause(entry.profile, entry.rejectors, entry.pending)
        stuck = self._stuck[cause]
        stuck.discard(entry)
        if not stuck:
            del self._stuck[cause]

    def order(self, entry: QueueEntry) -> tuple[object, ...]:
        """An entry's place in the order in which entries are tried; smaller is earlier."""
        lead = entry.lead
        return (self._rules[entry.profile].sort_key(lead, entry.queued_at), lead.created, entry.sequence)
