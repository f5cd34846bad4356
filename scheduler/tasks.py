"""Coroutines without an event loop: an attempt awaits an effect, a time or a permit, and the engine resumes it.

Nothing here knows asyncio, so an attempt behaves the same live and simulated.
"""

from collections.abc import Collection, Coroutine, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from scheduler.api import Kind
from scheduler.framework import PodInfo, Status
from scheduler.messages import AwaitedEffect, Outcome

R = TypeVar("R")


class Suspension(Generic[R]):
    """Something to wait for. Awaiting it hands it to whoever runs the coroutine, and answers what that sends back."""

    def __await__(self) -> Generator["Suspension[Any]", R, R]:
        return (yield self)


@dataclass(frozen=True, slots=True)
class Perform(Suspension[Outcome]):
    """Wait for the outcome of an effect."""

    effect: AwaitedEffect


@dataclass(frozen=True, slots=True)
class Turn(Suspension[None]):
    """Wait until a scheduling cycle may decide (again), and if it `consults`, until no other pod is with the extenders."""

    consults: bool


@dataclass(frozen=True, slots=True)
class Sleep(Suspension[None]):
    """Wait until this time."""

    until: float


@dataclass(frozen=True, slots=True)
class PermitWait(Suspension[Status]):
    """Wait until every plugin has allowed the pod, one refuses it, the time is over, or the pod is gone."""

    pod: PodInfo
    plugins: tuple[str, ...]
    until: float
    expires_by: str


@dataclass(frozen=True, slots=True)
class Together(Suspension[Sequence[Status]]):
    """Run these coroutines at the same time and wait until all have ended; one that breaks answers an error."""

    coroutines: Sequence[Coroutine[Suspension[Any], Any, Status]]


class CancelledError(Exception):
    """Raised where a PreBind plugin waits, if the attempt must not go on: the pod is to make room for another."""


@dataclass(frozen=True, slots=True)
class ChangeWait(Suspension[bool]):
    """Wait until one of these (kind, namespace, name) changes or goes; false if nothing has until this time."""

    names: Collection[tuple[Kind, str, str]]
    until: float
