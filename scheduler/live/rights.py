"""Rights as people grant them, and whether this account has them: the API server itself is asked."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import structlog

from scheduler.live.client import Transport
from scheduler.live.errors import NoAnswerError
from scheduler.live.problems import Problems

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_BETWEEN = 0.5

log = structlog.get_logger("berth.rights")


@dataclass(frozen=True, slots=True)
class Right:
    """What an account must be allowed to do; prints as `create pods/binding in all namespaces`. An empty namespace means
    all of them, an empty name every object.
    """

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        resource, slash, subresource = self.resource.partition("/")
        full = f"{resource}.{self.group}" if self.group else resource
        named = f" {self.name}" if self.name else ""
        where = f"in namespace {self.namespace}" if self.namespace else "in all namespaces"
        return f"{self.verb} {full}{slash}{subresource}{named} {where}"


class Review(msgspec.Struct, frozen=True):
    """The verdict in a SelfSubjectAccessReview."""

    allowed: bool = False


class Reviewed(msgspec.Struct, frozen=True):
    """The answer to a posted SelfSubjectAccessReview (authorization.k8s.io/v1)."""

    status: Review


_ANSWER = msgspec.json.Decoder(Reviewed)


class Rights:
    """Asks for each right once, for a missing one again every `again` seconds, and for one that is in doubt at once.

    What is missing is told as a problem under the right itself; without `wished` rights berth works all the same.
    `all_granted` is set while no needed right is missing; `changed` is called when that begins or ends.
    """

    def __init__(
        self,
        transport: Transport,
        needed: Sequence[Right],
        wished: Sequence[Right],
        problems: Problems,
        changed: Callable[[], None],
        *,
        again: float,
    ) -> None:
        self._transport = transport
        self._changed = changed
        self._again = again
        self._wished = frozenset(wished)
        self._problems = problems
        self._needed = set(needed)
        self._open = set(needed)
        self._doubted = asyncio.Event()
        self._unmet: set[Right] = set()
        self.all_granted = asyncio.Event()
        self._doubts: set[Right] = {*needed, *wished}

    @property
    def granted(self) -> bool:
        """Whether all needed rights are known to be there."""
        return not self._open

    def need(self, rights: Iterable[Right]) -> None:
        """These are needed too from now on."""
        added = [right for right in rights if right not in self._needed]
        self._needed.update(added)
        self._open.update(added)
        for right in added:
            self.doubt(right)

    def doubt(self, right: Right) -> None:
        """The server refused something that takes this right."""
        self._doubts.add(right)
        self._doubted.set()

    async def run(self) -> None:
        """Keep asking until cancelled."""
        while True:
            asked, self._doubts = sorted(self._doubts, key=str), set()
            for right in asked:
                self._take(right, await self._ask(right))
            # A namespace that is being deleted refuses in quick succession.
            await asyncio.sleep(_BETWEEN)
            if not self._doubts:
                self._doubted.clear()
                await self._wait()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(None if self.granted else self._again):
                await self._doubted.wait()
        except TimeoutError:
            self._doubts |= self._open

    def _take(self, right: Right, problem: str | None) -> None:
        if right in self._wished:
            if problem is not None and right not in self._unmet:
                log.warning("berth works without, but less is told", right=str(right), problem=problem)
            (self._unmet.discard if problem is None else self._unmet.add)(right)
            return
        self._problems.tell(f"right {right}", problem)
        (self._open.discard if problem is None else self._open.add)(right)
        if self.granted != self.all_granted.is_set():
            (self.all_granted.set if self.granted else self.all_granted.clear)()
            self._changed()

    async def _ask(self, right: Right) -> str | None:
        """Why the right is not known to be there, or None."""
        resource, _, subresource = right.resource.partition("/")
        attributes = {
            "verb": right.verb,
            "group": right.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": right.namespace,
            "name": right.name,
        }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        try:
            response = await self._transport.call("POST", _REVIEWS, body=msgspec.json.encode(body), limit=10.0)
            if response.status != 201:
                return f"not known: HTTP {response.status}"
            allowed = _ANSWER.decode(response.body).status.allowed
        except (NoAnswerError, msgspec.DecodeError) as error:
            return f"not known: {error}"
        return None if allowed else "missing; grant it to berth's account"
