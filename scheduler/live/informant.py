"""Answers to what is asked over HTTP, from the running parts."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from scheduler.engine import Engine
from scheduler.live import clock
from scheduler.live.dispatcher import Dispatcher
from scheduler.live.lease import Leadership
from scheduler.live.problems import Problems
from scheduler.live.recorder import Recorder
from scheduler.live.server import Account, Check, Told
from scheduler.live.vitals import Reading
from scheduler.live.watches import Watches


@dataclass(slots=True)
class Informant:
    """The parts, and the tasks they run in, by name. `stopping` is set once the process is on its way out; `started` is a time
    of the event loop.
    """

    engine: Engine
    watches: Watches
    leadership: Leadership
    dispatcher: Dispatcher
    recorder: Recorder
    problems: Problems
    tasks: dict[str, "asyncio.Task[None]"]
    stopping: bool = False
    started: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    def alive(self) -> Sequence[Check]:
        """Whether everything that must run does."""
        return [Check(name, "it has ended" if task.done() else None) for name, task in self.tasks.items()]

    def ready(self) -> Sequence[Check]:
        """Whether berth has all it needs. A standby is ready too: it could take over."""
        lines = self.problems.lines()
        unsure = self.leadership.valid() and not self.engine.ready
        return [
            *(Check(f"{reflector.source.kind} watch", reflector.problem) for reflector in self.watches.reflectors),
            Check("lease", self.leadership.problem),
            Check("rights and credentials", "; ".join(lines) or None),
            Check("deciding", "everything is being listed afresh" if unsure else None),
            Check("shutdown", "stopping" if self.stopping else None),
        ]

    def why(self, namespace: str, name: str) -> Account | None:
        """A pod's story."""
        pod = self.engine.find_pod(namespace, name)
        if pod is None:
            return None
        now, wall = clock.now(), clock.wall()
        lines = self.engine.story(pod.uid)
        story = [Told(wall - timedelta(seconds=now - line.at), line.what, line.detail) for line in lines]
        return Account(namespace, name, pod.uid, pod.node_name, story)

    def reading(self) -> Reading:
        """What metrics read off."""
        now = asyncio.get_running_loop().time()
        waiting = {**self.dispatcher.queued(), "event": self.recorder.queued}
        ages = {r.source.kind.value: now - max(r.last_heard, self.started) for r in self.watches.reflectors}
        return Reading(
            summary=self.engine.summary(),
            staleness=ages,
            waiting_calls=waiting,
            dropped_events=self.recorder.dropped,
            leading=self.leadership.valid(),
        )
