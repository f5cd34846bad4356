"""One write or read: when it is sent, how often it is tried, and what its answer means.

Only what certainly has changed nothing is tried again here: a connection that did not come about, 429, 401. Everything else
is an outcome, for the engine to settle. Not here: which call goes first (dispatcher.py), the bodies (scheduler/requests.py).
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from scheduler.live import clock
from scheduler.live.client import Response, Transport
from scheduler.live.errors import NoAnswerError
from scheduler.live.problems import Problems
from scheduler.live.rights import Right
from scheduler.messages import Refused, Unknown, Withdrawn
from scheduler.objects.stream import decode_status

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0

Gate = Callable[[], str | None]
"""Asked at the moment of sending: why a call must not be made (any more), or None."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request, the right it takes, and for how long (seconds) it is worth trying; `name` is its label in metrics."""

    name: str
    method: str
    path: str
    right: Right
    body: bytes | None = None
    content_type: str = JSON
    patience: float = float("inf")
    limit: float = 30.0


class CallObserver(Protocol):
    """Told of every request that was sent."""

    def called(self, name: str, result: str, seconds: float) -> None:
        """A request ended: `success`, `refused`, `throttled`, `unknown`, or `unsent` if there was no connection."""


@dataclass(frozen=True, slots=True)
class Line:
    """What all calls of one session share. `doubt` is told of a right that a 403 calls into question."""

    transport: Transport
    observer: CallObserver
    problems: Problems
    doubt: Callable[[Right], None]
    rng: random.Random


class Flight:
    """A call under way. If it is cancelled, `sent` says whether the server may have it."""

    def __init__(self, line: Line) -> None:
        self.sent = False
        self._line = line

    async def make(self, call: Call, gate: Gate) -> Response | Refused | Withdrawn | Unknown:
        """A successful response, or how it ended otherwise."""
        began, pause = clock.now(), _FIRST_PAUSE
        while True:
            reason = gate()
            if reason is not None:
                return Withdrawn(reason)
            answer = await self._once(call)
            if isinstance(answer, Response) and 200 <= answer.status < 300:
                return answer
            if not _worth_trying_again(answer):
                return _ended(answer)
            if clock.now() - began > call.patience:
                return _ended(answer)
            asked = answer.retry_after if isinstance(answer, Response) else None
            # A little later than asked, and not all at once.
            await asyncio.sleep((pause if asked is None else asked) + pause * self._line.rng.random())
            pause = min(_LONGEST_PAUSE, 2 * pause)

    async def _once(self, call: Call) -> Response | NoAnswerError:
        began = clock.now()
        self.sent = True
        try:
            answer: Response | NoAnswerError = await self._line.transport.call(
                call.method, call.path, body=call.body, content_type=call.content_type, limit=call.limit
            )
        except NoAnswerError as error:
            answer = error
        self.sent = False
        self._line.observer.called(call.name, _result(answer), clock.now() - began)
        if isinstance(answer, Response):
            denied = "the server does not accept them (HTTP 401)" if answer.status == 401 else None
            self._line.problems.tell("credentials", denied)
            if answer.status == 403:
                # Not every 403 is a missing right: nothing may be created in a namespace that is being deleted.
                self._line.doubt(call.right)
        return answer


def _worth_trying_again(answer: Response | NoAnswerError) -> bool:
    if isinstance(answer, Response):
        return answer.status in (401, 429)
    return not answer.sent


def _ended(answer: Response | NoAnswerError) -> Refused | Unknown:
    """What an answer that is no success says about the object."""
    if isinstance(answer, NoAnswerError):
        return Unknown(str(answer))
    status = decode_status(answer.body)
    if answer.status >= 500 and not _is_validation(answer.status, status.message):
        return Unknown(f"{status.message or status.reason or 'no message'} (HTTP {answer.status})")
    return Refused(answer.status, status.reason, status.message)


def _is_validation(code: int, message: str) -> bool:
    """A Binding with a bad target is refused with 500 instead of 422 (kubernetes #139488)."""
    return code == 500 and "target." in message and ("Required value" in message or "Unsupported value" in message)


def _result(answer: Response | NoAnswerError) -> str:
    if isinstance(answer, NoAnswerError):
        return "unknown" if answer.sent else "unsent"
    if answer.status == 429:
        return "throttled"
    if answer.status >= 500:
        return "unknown"
    return "success" if answer.status < 300 else "refused"
