"""An extender that does as it is told and remembers what it was asked; in the same process or behind HTTP."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scheduler.messages import Answered

JsonObject = dict[str, Any]
URL = "http://extender.example:8888/v1"


@dataclass
class ScriptedExtender:
    """Each verb answers with what its function makes of the request; by default everything is fine.

    `asked` has the verb and the body of each call, in order.
    """

    filter: Callable[[JsonObject], object] = lambda body: {"NodeNames": body["NodeNames"]}
    prioritize: Callable[[JsonObject], object] = lambda body: []
    preempt: Callable[[JsonObject], object] = lambda body: {"NodeNameToMetaVictims": body["NodeNameToMetaVictims"]}
    bind: Callable[[JsonObject], object] = lambda body: {"Error": ""}
    status: int = 200
    asked: list[tuple[str, JsonObject]] = field(default_factory=list)

    def __call__(self, url: str, body: bytes) -> Answered:
        verb = url.rpartition("/")[2]
        request = json.loads(body)
        self.asked.append((verb, request))
        if self.status != 200:
            return Answered(self.status, b"out of order")
        answer = getattr(self, verb)(request)
        return Answered(200, answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def bodies(self, verb: str) -> list[JsonObject]:
        """What was posted to a verb."""
        return [body for name, body in self.asked if name == verb]

    def pods(self, verb: str) -> list[str]:
        """The names of the pods that a verb was asked about."""
        return [body["Pod"]["metadata"]["name"] for body in self.bodies(verb)]


def refusing(**reasons: str) -> Callable[[JsonObject], object]:
    """A filter that refuses these nodes, and says why."""

    def answer(body: JsonObject) -> JsonObject:
        left = [name for name in body["NodeNames"] if name not in reasons]
        return {"NodeNames": left, "FailedNodes": {n: r for n, r in reasons.items() if n in body["NodeNames"]}}

    return answer


def extender_config(**fields: object) -> JsonObject:
    """An item of `extenders` that keeps a cache of nodes."""
    return {"urlPrefix": URL, "nodeCacheCapable": True, **fields}
