"""A scheduler process, put together and run: credentials, watches, lease, engine, writes, health.

Standbys do everything but decide. What ends for good ends the process, for a scheduler with a dead watch is worse than none.
"""

import asyncio
import random
import signal
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

import structlog
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from scheduler.config import Configuration
from scheduler.engine import Engine
from scheduler.framework import Plugin
from scheduler.live import clock, dispatcher, recorder
from scheduler.live.calls import Line
from scheduler.live.client import HttpTransport
from scheduler.live.credentials import Credentials
from scheduler.live.decisions import DecisionLog
from scheduler.live.dispatcher import Dispatcher
from scheduler.live.driver import Driver
from scheduler.live.election import Election
from scheduler.live.errors import NoAnswerError, SetupError
from scheduler.live.lease import LeaseKeeper, new_identity
from scheduler.live.metrics import Metrics
from scheduler.live.observers import Observers
from scheduler.live.problems import Problems
from scheduler.live.recorder import Recorder
from scheduler.live.reflector import Patience, Reflector
from scheduler.live.rights import Right, Rights
from scheduler.live.server import Account, Address, Check, Told, serve
from scheduler.live.sources import nodes, pods
from scheduler.live.vitals import Reading, Vitals
from scheduler.messages import Bind, Effect, EffectDone, LeadershipGained, LeadershipLost, RecordEvent
from scheduler.objects import PodDecoder
from scheduler.objects.stream import decode_status

BIND_SLOTS = 32
EVENT_SLOTS = 8
EVENTS_KEPT = 20_000
DRAIN_SECONDS = 5.0
ASK_AGAIN_SECONDS = 10.0

log = structlog.get_logger("berth")


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says. A namespace of None means all of them."""

    kubeconfig: str | None
    context: str | None
    namespace: str | None
    address: Address
    seed: int


class SchedulerProcess:
    """One replica. `run` returns when it was told to end, and raises when it cannot go on."""

    def __init__(self, options: Options, configuration: Configuration, registry: Mapping[str, type[Plugin]]) -> None:
        self._options = options
        self._election = configuration.leader_election
        self._credentials = Credentials(options.kubeconfig, options.context)
        self._watches = HttpTransport(self._credentials, connections=8)
        self._writes = HttpTransport(self._credentials, connections=BIND_SLOTS + EVENT_SLOTS)
        self._leases = HttpTransport(self._credentials, connections=2)
        self._problems = Problems()
        self._leading = False
        self._metrics_registry = _metrics_registry()
        self._metrics_registry.register(Vitals(self._reading))
        metrics = Metrics(self._metrics_registry)
        observers = Observers(metrics, DecisionLog(clock.now))
        self._engine = Engine(configuration, registry, options.seed, observers)
        self._driver = Driver(self._engine, self._perform)
        rng = random.Random(options.seed)  # noqa: S311  spreads retries, no secret
        self._keeper = LeaseKeeper(
            Election(new_identity(), self._election, rng), self._election, self._leases, self._gained, self._lost
        )
        self._rights = Rights(
            self._leases, _needed(options.namespace), _wished(), self._problems, again=ASK_AGAIN_SECONDS
        )
        line = Line(self._writes, metrics, self._problems, self._rights.doubt, rng)
        self._dispatcher = Dispatcher(line, PodDecoder(), BIND_SLOTS, self)
        self._recorder = Recorder(
            line, self.may_write, lambda: self._dispatcher.crowded, slots=EVENT_SLOTS, capacity=EVENTS_KEPT
        )
        self._reflectors = (
            Reflector(pods(options.namespace), self._watches, Patience(), self._driver.feed),
            Reflector(nodes(), self._watches, Patience(), self._driver.feed),
        )

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT. Raises SetupError if there is no way to begin."""
        await self._greet()
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        async with AsyncExitStack() as stack:
            for transport in (self._watches, self._writes, self._leases):
                stack.push_async_callback(transport.close)
            address = await stack.enter_async_context(serve(self._options.address, self, self._metrics_registry))
            profiles = list(self._engine.summary().profiles)
            log.info("started", health=f"{address.host}:{address.port}", profiles=profiles)
            await self._work_until(stop)

    async def _greet(self) -> None:
        """One call to the server, so that what is wrong with address, certificate or credentials is said at once."""
        connection = await self._credentials.load()
        try:
            answer = await self._leases.call("GET", "/version", limit=10.0)
        except NoAnswerError as error:
            raise SetupError(f"{connection.source}: {error}") from error
        if answer.status == 401:
            raise SetupError(f"{connection.source}: {connection.server} does not accept the credentials (HTTP 401)")
        if answer.status != 200:
            message = decode_status(answer.body).message
            raise SetupError(f"{connection.source}: {connection.server}/version: HTTP {answer.status} {message}")

    async def _work_until(self, stop: asyncio.Event) -> None:
        parts: list[Coroutine[object, object, None]] = [
            *(reflector.run() for reflector in self._reflectors),
            self._rights.run(),
            self._recorder.run(),
            self._lead_when_allowed(),
        ]
        stopping = asyncio.create_task(_wait(stop))
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
            if not stopping.done():
                await self._tell_what_ended(tasks)
        finally:
            await self._wind_down([stopping, *tasks])

    async def _tell_what_ended(self, tasks: list[asyncio.Task[None]]) -> None:
        """None of these may end: a live scheduler with a dead watch would decide on what is no longer so."""
        for task in tasks:
            if task.done():
                task.result()
        raise SetupError("a part of the scheduler ended that must not end")

    async def _wind_down(self, tasks: list[asyncio.Task[None]]) -> None:
        """Decide nothing more, let what was sent end, give the lease back."""
        log.info("ending")
        self._driver.stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._dispatcher.stop(DRAIN_SECONDS)
        await self._recorder.flush(DRAIN_SECONDS)
        if self._election.leader_elect:
            await self._keeper.release()

    async def _lead_when_allowed(self) -> None:
        """Without the rights to carry out what is decided nothing is decided, and another replica may."""
        await self._rights.wait_granted()
        if self._election.leader_elect:
            await self._keeper.run()
        else:
            self._gained()
            await asyncio.Event().wait()

    def _gained(self) -> None:
        """Leading: what is known may lack what the last leader did, so everything is listed afresh first."""
        self._leading = True
        self._driver.feed([LeadershipGained()])
        for reflector in self._reflectors:
            reflector.relist()
        self._recorder.pump()

    def _lost(self) -> None:
        self._leading = False
        self._driver.feed([LeadershipLost()])
        self._dispatcher.abort_writes()

    def may_write(self) -> bool:
        """At the moment of sending: with elections a valid lease, without them always."""
        return self._leading and (not self._election.leader_elect or self._keeper.valid())

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, RecordEvent):
            self._recorder.record(effect)
        else:
            self._dispatcher.submit(effect)

    def withdrawn(self, bind: Bind) -> str | None:
        """What the engine thinks of a Binding now."""
        return self._engine.withdrawn(bind)

    def report(self, done: EffectDone) -> None:
        """An effect has ended."""
        self._driver.feed([done])
        self._recorder.pump()

    # What people and probes ask.

    def alive(self) -> Sequence[Check]:
        """A lease that has run out and was not given up means that the loop has stood still for too long."""
        stuck = self._leading and self._election.leader_elect and not self._keeper.valid()
        return [Check("lease", "it has run out and was not given up" if stuck else None)]

    def ready(self) -> Sequence[Check]:
        """Standbys are ready too: they know everything and wait for their turn."""
        unknown = None if self._rights.granted else "not all of them are known to be there"
        checks = [Check("rights", "; ".join(self._problems.lines()) or unknown), Check("lease", self._keeper.problem)]
        checks += [Check(f"watch-{r.source.kind.lower()}", r.problem) for r in self._reflectors]
        waits = self._leading and not self._engine.ready
        idle = not self._leading and not self._election.leader_elect
        checks.append(
            Check("deciding", "not everything has been listed since it may decide" if waits or idle else None)
        )
        return checks

    def why(self, namespace: str, name: str) -> Account | None:
        """A pod's story in the time of day."""
        pod = self._engine.find_pod(namespace, name)
        if pod is None:
            return None
        wall, now = clock.wall(), clock.now()
        story = self._engine.story(pod.uid)
        told = [Told(wall - timedelta(seconds=now - line.at), line.what, line.detail) for line in story]
        return Account(pod.namespace, pod.name, pod.uid, pod.node_name, told)

    def _reading(self) -> Reading:
        now = asyncio.get_running_loop().time()
        return Reading(
            summary=self._engine.summary(),
            staleness={r.source.kind.value: now - r.last_heard for r in self._reflectors},
            waiting_calls=self._dispatcher.queued(),
            dropped_events=self._recorder.dropped,
            leading=self._leading,
        )


def _needed(namespace: str | None) -> list[Right]:
    """What scheduling takes."""
    where = namespace or ""
    rights = [Right(verb, "pods", namespace=where) for verb in ("get", "list", "watch")]
    rights += [Right(verb, "nodes") for verb in ("list", "watch")]
    rights += [Right(r.verb, r.resource, r.group, where) for r in (dispatcher.BIND, dispatcher.PATCH)]
    return rights


def _wished() -> list[Right]:
    """What berth can do without."""
    return [recorder.CREATE, recorder.PATCH]


def _metrics_registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
