"""The queue by itself: order, backoff, events that came meanwhile (bug reports BR-019, 023, 024, 032, 168)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.changes import ASSIGNED_POD_DELETE, NODE_ADD
from scheduler.framework import (
    SUCCESS,
    Action,
    ClusterEvent,
    EventResource,
    PodInfo,
    PodSpec,
    PodTemplate,
    Resources,
    Status,
    unschedulable,
)
from scheduler.observer import Observer
from scheduler.queue.backoff import Backoff
from scheduler.queue.entry import Part, QueueEntry
from scheduler.queue.scheduling_queue import SchedulingQueue

FIT = frozenset({"Fit"})
NOBODY: frozenset[str] = frozenset()
OWN_UPDATE = ClusterEvent(EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL, "UnschedulablePodLabelUpdate")
NOTHING = Resources({})


def pod(uid: str, priority: int = 0, gates: tuple[str, ...] = (), signature: int = 1, created: float = 0.0) -> PodInfo:
    spec = PodSpec("berth", priority, "", NOTHING, (), None, (), (), (), (), 1, gates)
    template = PodTemplate(signature, "default", {}, spec)
    return PodInfo(uid, uid, template, NOTHING, "", "", "Pending", "", False, False, created, 0.0, 1, "1", None, None)


class PriorityRules:
    """By priority, then by arrival; pods with gates wait; Fit is helped by nodes and by pods that go."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[object, ...]:
        return (-pod.spec.priority, queued_at)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        if pod.spec.scheduling_gates:
            return Status(unschedulable().code, ("waiting for gates",), "Gates")
        return SUCCESS

    def listens(self, plugin: str, event: ClusterEvent) -> bool:
        if plugin == "Gates":
            return event.resource is EventResource.UNSCHEDULED_POD
        return event.resource is EventResource.NODE or plugin == "Fit"

    def reads(self, plugin: str, pod: PodInfo) -> int:
        return pod.template.signature

    def helps(self, plugin: str, event: ClusterEvent, pod: PodInfo, change: tuple[object, object]) -> bool:
        self.asked.append((plugin, pod.uid))
        if plugin == "Fit":
            return event in (NODE_ADD, ASSIGNED_POD_DELETE)
        return plugin == "Starter" and event is NODE_ADD


@pytest.fixture
def rules() -> PriorityRules:
    return PriorityRules()


@pytest.fixture
def queue(rules: PriorityRules) -> SchedulingQueue:
    return SchedulingQueue({"berth": rules}, Backoff(1.0, 10.0), 300.0, Observer())


def popped(queue: SchedulingQueue, now: float) -> QueueEntry:
    entry = queue.pop(now)
    assert entry is not None
    queue.validate()
    return entry


def part_of(queue: SchedulingQueue, uid: str) -> Part:
    entry = queue.get(uid)
    assert entry is not None
    return entry.part


def test_higher_priority_goes_first_then_who_came_first(queue: SchedulingQueue) -> None:
    queue.add(pod("early"), 1.0)
    queue.add(pod("late"), 2.0)
    queue.add(pod("urgent", priority=10), 3.0)
    assert [popped(queue, 4.0).key for _ in range(3)] == ["urgent", "early", "late"]


def test_pods_that_came_at_once_go_in_order_of_creation(queue: SchedulingQueue) -> None:
    queue.add(pod("younger", created=20.0), 1.0)
    queue.add(pod("older", created=10.0), 1.0)
    assert popped(queue, 1.0).key == "older"


def test_failed_pods_keep_their_order_and_a_new_one_waits_behind_them(queue: SchedulingQueue) -> None:
    for at, uid in enumerate("abc"):
        queue.add(pod(uid), float(at))
    for at in range(3):
        queue.fail(popped(queue, 10.0 + at), FIT, NOBODY, 10.0 + at)
    queue.wake(ASSIGNED_POD_DELETE, (None, None), 30.0)
    queue.add(pod("d"), 30.0)
    assert [popped(queue, 30.0).key for _ in range(4)] == ["a", "b", "c", "d"]


def test_backoff_doubles_up_to_the_longest_and_is_not_forgotten(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    now, waits = 0.0, []
    for _ in range(7):
        entry = popped(queue, now)
        now += 12.0  # a cycle that takes longer than the longest backoff
        queue.fail(entry, NOBODY, NOBODY, now)
        deadline = queue.next_deadline()
        assert deadline is not None
        waits.append(deadline - now - 1.0)  # a wait ends with the second in which it is over
        now = deadline
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]


def test_errors_and_rejections_are_counted_apart(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    queue.fail(popped(queue, 0.0), NOBODY, NOBODY, 0.0)
    entry = popped(queue, 5.0)
    queue.fail(entry, FIT, NOBODY, 5.0)
    assert (entry.error_count, entry.unschedulable_count) == (0, 1)


def test_an_error_is_waited_out_even_if_nothing_else_is_active(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    queue.fail(popped(queue, 0.0), NOBODY, NOBODY, 0.0)
    assert queue.pop(1.9) is None
    assert popped(queue, 2.0).key == "p"


def test_a_woken_pod_is_tried_early_when_nothing_else_is_active(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    queue.fail(popped(queue, 0.0), FIT, NOBODY, 0.0)
    queue.wake(NODE_ADD, (None, None), 0.1)
    assert part_of(queue, "p") is Part.BACKOFF
    assert popped(queue, 0.2).key == "p"


def test_only_events_that_help_wake_a_pod(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    queue.fail(popped(queue, 0.0), FIT, NOBODY, 0.0)
    queue.wake(ClusterEvent(EventResource.NODE, Action.UPDATE_NODE_LABEL, "label"), (None, None), 20.0)
    assert part_of(queue, "p") is Part.UNSCHEDULABLE
    queue.wake(NODE_ADD, (None, None), 20.0)
    assert part_of(queue, "p") is Part.ACTIVE


def test_a_hint_is_asked_once_for_pods_alike(queue: SchedulingQueue, rules: PriorityRules) -> None:
    for i in range(50):
        queue.add(pod(f"a{i}", signature=1), 0.0)
    queue.add(pod("b", signature=2), 0.0)
    for _ in range(51):
        queue.fail(popped(queue, 0.0), FIT, NOBODY, 0.0)
    rules.asked.clear()
    queue.wake(NODE_ADD, (None, None), 20.0)
    assert len(rules.asked) == 2
    assert queue.sizes()[Part.ACTIVE] == 51


def test_an_event_that_came_while_the_pod_was_tried_is_not_lost(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    entry = popped(queue, 0.0)
    queue.wake(NODE_ADD, (None, None), 0.1)
    queue.fail(entry, FIT, NOBODY, 0.2)
    assert part_of(queue, "p") is Part.BACKOFF


def test_an_event_from_before_the_attempt_does_not_count(queue: SchedulingQueue) -> None:
    queue.add(pod("first"), 0.0)
    queue.add(pod("second"), 0.0)
    first = popped(queue, 0.0)
    queue.wake(NODE_ADD, (None, None), 0.1)
    second = popped(queue, 0.2)
    queue.fail(second, FIT, NOBODY, 0.3)
    queue.fail(first, FIT, NOBODY, 0.3)
    assert part_of(queue, "second") is Part.UNSCHEDULABLE
    assert part_of(queue, "first") is Part.BACKOFF


def test_a_pending_plugin_skips_the_backoff(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    queue.fail(popped(queue, 0.0), FIT, frozenset({"Starter"}), 0.0)
    queue.wake(NODE_ADD, (None, None), 0.1)
    assert part_of(queue, "p") is Part.ACTIVE


def test_no_event_is_kept_once_nothing_is_in_flight(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    entry = popped(queue, 0.0)
    for _ in range(25_000):
        queue.wake(NODE_ADD, (None, None), 0.1)
    queue.fail(entry, FIT, NOBODY, 0.2)
    assert part_of(queue, "p") is Part.BACKOFF
    queue.validate()


def test_gated_pods_are_not_tried_and_a_change_of_their_own_lets_them_in(queue: SchedulingQueue) -> None:
    queue.add(pod("p", gates=("wait",)), 0.0)
    assert queue.pop(0.0) is None
    queue.wake(NODE_ADD, (None, None), 0.1)
    assert part_of(queue, "p") is Part.GATED
    queue.update(pod("p"), [OWN_UPDATE], 1.0)
    entry = popped(queue, 1.0)
    assert (entry.attempts, entry.first_admitted) == (1, 1.0)


def test_the_flush_is_a_safety_net_and_leaves_a_mark(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    queue.fail(popped(queue, 0.0), FIT, NOBODY, 0.0)
    assert queue.pop(299.0) is None
    assert popped(queue, 331.0).flushed


def test_a_low_priority_pod_is_tried_though_higher_ones_keep_coming_back(queue: SchedulingQueue) -> None:
    for i in range(200):
        queue.add(pod(f"high{i}", priority=100, signature=2), 0.0)
    queue.add(pod("low", priority=1), 0.0)
    now, tried = 0.0, False
    while now < 60.0 and not tried:
        entry = popped(queue, now)
        now += 0.1
        tried = entry.key == "low"
        queue.fail(entry, FIT, NOBODY, now)
        if round(now * 10) % 50 == 0:
            queue.wake(ASSIGNED_POD_DELETE, (None, None), now)
    assert tried


def test_an_attempt_that_sent_nothing_is_not_counted(queue: SchedulingQueue) -> None:
    queue.add(pod("p"), 0.0)
    queue.put_back(popped(queue, 0.0), 1.0)
    assert popped(queue, 1.0).attempts == 1


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "gate", "ungate", "pop", "fail", "error", "wake", "remove", "activate", "back", "later"]
        ),
        st.integers(0, 5),
    ),
    max_size=60,
)


@given(ACTIONS)
def test_whatever_happens_each_entry_is_in_one_part(actions: list[tuple[str, int]]) -> None:
    queue = SchedulingQueue({"berth": PriorityRules()}, Backoff(1.0, 10.0), 300.0, Observer())
    now = 0.0
    in_flight: list[QueueEntry] = []
    for action, number in actions:
        uid = f"p{number}"
        known = queue.get(uid)
        match action:
            case "add" | "gate" if known is None:
                queue.add(pod(uid, signature=number % 2, gates=("g",) if action == "gate" else ()), now)
            case "ungate" if known is not None:
                queue.update(pod(uid, signature=number % 2), [OWN_UPDATE], now)
            case "pop":
                entry = queue.pop(now)
                in_flight += [entry] if entry is not None else []
            case "fail" if in_flight:
                queue.fail(in_flight.pop(), FIT, NOBODY, now)
            case "error" if in_flight:
                queue.fail(in_flight.pop(), NOBODY, NOBODY, now)
            case "back" if in_flight:
                queue.put_back(in_flight.pop(), now)
            case "wake":
                queue.wake(NODE_ADD, (None, None), now)
            case "remove":
                queue.remove(uid)
                in_flight = [entry for entry in in_flight if entry.key != uid]
            case "activate":
                queue.activate(uid, now)
            case "later":
                now += number * 3.0
        queue.validate()
    assert sum(queue.sizes().values()) == len(list(queue.entries()))
