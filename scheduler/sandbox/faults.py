"""What goes wrong between scheduler and API: events late, lost, doubled or out of order; calls refused, slow or unanswered."""

from collections.abc import Callable
from dataclasses import dataclass, field

from scheduler.messages import (
    AwaitedEffect,
    Bind,
    BindVolume,
    CallExtender,
    DeletePod,
    MarkDisrupted,
    Outcome,
    PatchPodStatus,
    ReadPod,
    SelectNode,
)
from scheduler.sandbox.fields import JsonObject


@dataclass(frozen=True, slots=True)
class Delivery:
    """When a watch event arrives: once for each delay (seconds), never if there is none. One that may overtake does not wait
    for the events before it.
    """

    delays: tuple[float, ...] = (0.0,)
    may_overtake: bool = False


@dataclass(frozen=True, slots=True)
class CallPlan:
    """How a call goes: it reaches the server after `before` seconds if it is `carried_out`, and its answer, or `answer` in
    its stead, comes back `after` seconds later.
    """

    before: float = 0.0
    carried_out: bool = True
    answer: Outcome | None = None
    after: float = 0.0


EventTest = Callable[[str, str, JsonObject], bool]
CallTest = Callable[[AwaitedEffect], bool]


def any_event(resource: str, kind: str, obj: JsonObject) -> bool:  # noqa: ARG001  an EventTest
    """Every watch event."""
    return True


def pod_event(resource: str, kind: str, obj: JsonObject) -> bool:  # noqa: ARG001  an EventTest
    """Events of pods."""
    return resource == "pods"


def binding(effect: AwaitedEffect) -> bool:
    """Bindings."""
    return isinstance(effect, Bind)


def reading(effect: AwaitedEffect) -> bool:
    """Reads of a pod."""
    return isinstance(effect, ReadPod)


def patching(effect: AwaitedEffect) -> bool:
    """Status patches."""
    return isinstance(effect, PatchPodStatus)


def extending(effect: AwaitedEffect) -> bool:
    """Calls of extenders."""
    return isinstance(effect, CallExtender)


def marking(effect: AwaitedEffect) -> bool:
    """Patches that mark a victim of preemption."""
    return isinstance(effect, MarkDisrupted)


def deleting(effect: AwaitedEffect) -> bool:
    """Deletions of pods."""
    return isinstance(effect, DeletePod)


def volume_binding(effect: AwaitedEffect) -> bool:
    """Writes that start the binding of volumes."""
    return isinstance(effect, BindVolume | SelectNode)


@dataclass(slots=True)
class _EventRule:
    test: EventTest
    delivery: Delivery
    left: int


@dataclass(slots=True)
class _CallRule:
    test: CallTest
    plan: CallPlan
    left: int


@dataclass(slots=True)
class Faults:
    """Rules, newest first; without one that applies everything arrives at once and in order."""

    _events: list[_EventRule] = field(default_factory=list)
    _calls: list[_CallRule] = field(default_factory=list)

    def events(self, test: EventTest, delivery: Delivery, times: int = 2**31) -> None:
        """Deliver the next `times` events that pass the test like this."""
        self._events.insert(0, _EventRule(test, delivery, times))

    def calls(self, test: CallTest, plan: CallPlan, times: int = 2**31) -> None:
        """Let the next `times` calls that pass the test go like this."""
        self._calls.insert(0, _CallRule(test, plan, times))

    def clear(self) -> None:
        """From now on all is well."""
        self._events.clear()
        self._calls.clear()

    def delivery(self, resource: str, kind: str, obj: JsonObject) -> Delivery:
        """How this event arrives."""
        for rule in self._events:
            if rule.left and rule.test(resource, kind, obj):
                rule.left -= 1
                return rule.delivery
        return Delivery()

    def plan(self, effect: AwaitedEffect) -> CallPlan:
        """How this call goes."""
        for rule in self._calls:
            if rule.left and rule.test(effect):
                rule.left -= 1
                return rule.plan
        return CallPlan()
