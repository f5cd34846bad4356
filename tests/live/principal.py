"""In whose name a dispatcher does things in tests, and what it does them to."""

from itertools import count

from scheduler.live.dispatcher import Dispatcher
from scheduler.live.problems import Problems
from scheduler.live.rights import Right
from scheduler.messages import ApiCall, Bind, EffectDone, Outcome, PatchPodStatus, ReadPod
from scheduler.sandbox.fields import JsonObject, object_at, text_at
from tests.builders import pod_json
from tests.live.faulty import FaultyApi
from tests.live.waiting import eventually


class Engine:
    """In whose name things are done here: notes how they end, and says what a test wants said."""

    def __init__(self) -> None:
        self.lease = True
        self.unwanted: dict[str, str] = {}
        self.ended: dict[int, Outcome] = {}
        self.doubts: list[Right] = []
        self.calls: list[tuple[str, str]] = []
        self.problems = Problems()
        self._ids = count(1)

    def may_write(self) -> bool:
        return self.lease

    def withdrawn(self, bind: Bind) -> str | None:
        return self.unwanted.get(bind.uid)

    def report(self, done: EffectDone) -> None:
        assert done.effect_id not in self.ended
        self.ended[done.effect_id] = done.outcome

    def called(self, name: str, result: str, seconds: float) -> None:
        self.calls.append((name, result))

    def bind(self, pod: JsonObject, node: str, annotations: dict[str, str] | None = None) -> Bind:
        return Bind(next(self._ids), *identity(pod), node, annotations or {})

    def read(self, pod: JsonObject) -> ReadPod:
        return ReadPod(next(self._ids), *identity(pod))

    def patch(
        self, pod: JsonObject, message: str, *, transition: bool = True, nominated: str | None = None
    ) -> PatchPodStatus:
        uid, namespace, name = identity(pod)
        return PatchPodStatus(next(self._ids), uid, namespace, name, "Unschedulable", message, 1, transition, nominated)


def identity(pod: JsonObject) -> tuple[str, str, str]:
    metadata = object_at(pod, "metadata")
    return text_at(metadata, "uid"), text_at(metadata, "namespace"), text_at(metadata, "name")


def create(api: FaultyApi, *names: str) -> list[JsonObject]:
    return [api.cluster.create("pods", pod_json(name)) for name in names]


def stored(api: FaultyApi, name: str) -> JsonObject:
    return api.cluster.get("pods", "default", name)


async def outcome(engine: Engine, dispatcher: Dispatcher, effect: ApiCall) -> Outcome:
    dispatcher.submit(effect)
    await eventually(lambda: effect.effect_id in engine.ended, f"{effect} has ended")
    return engine.ended[effect.effect_id]
