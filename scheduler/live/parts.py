"""The parts of the live driver, made and connected. Not here: what runs when (process.py)."""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry, ProcessCollector

from scheduler.api import Kind
from scheduler.config import Configuration
from scheduler.engine import Engine
from scheduler.framework import Plugin
from scheduler.live import clock
from scheduler.live.app import OperatorShell
from scheduler.live.calls import Line
from scheduler.live.client import HttpTransport
from scheduler.live.configuration import Configurator
from scheduler.live.credentials import Credentials
from scheduler.live.decisions import DecisionLog
from scheduler.live.dispatcher import Dispatcher
from scheduler.live.driver import Driver
from scheduler.live.election import Election
from scheduler.live.extenders import ExtenderCalls
from scheduler.live.informant import Informant
from scheduler.live.lease import Alone, Leadership, LeaseKeeper, new_identity
from scheduler.live.metrics import Metrics
from scheduler.live.observers import Observers
from scheduler.live.plugin_times import PluginTimes
from scheduler.live.preflight import needed_rights, wished_rights
from scheduler.live.problems import Problems
from scheduler.live.recorder import Recorder
from scheduler.live.rights import Right, Rights
from scheduler.live.scheduler_object import GROUP, PLURAL, VERSION, Glance, SchedulerSeen, StatusWriter
from scheduler.live.server import Address
from scheduler.live.vitals import Vitals
from scheduler.live.watches import Watches
from scheduler.messages import (
    Bind,
    CallExtender,
    Effect,
    EffectDone,
    LeadershipGained,
    LeadershipLost,
    RecordEvent,
)
from scheduler.objects import NodeDecoder, PodDecoder

_SLOTS = 64
_EVENT_SLOTS = 8
_READING = len(Kind) + 8  # each kind that is followed holds a connection for its watch; others list and ask
_EVENTS_KEPT = 20_000
_ASK_AGAIN = 3.0
_STATUS_EVERY = 3.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: what the command line and the configuration file say. `namespace` is the only one that is scheduled in,
    or empty for all. `path` is the file that the configuration came from, looked at again every `look_again_at_file` seconds;
    `look_again` is how often (seconds) to look for the definition of berth's own resources.
    """

    configuration: Configuration
    plugins: Mapping[str, type[Plugin]]
    namespace: str
    address: Address
    seed: int
    look_again: float
    path: Path | None
    look_again_at_file: float


class Parts:
    """Everything that runs, for one process. Connects the engine with what acts in its name."""

    def __init__(self, options: Options, credentials: Credentials) -> None:
        election = options.configuration.leader_election
        rng = random.Random()  # noqa: S311  spreads retries; decisions have their own, seeded generator
        self.address = options.address
        self.registry = CollectorRegistry()
        self.problems = Problems()
        # Three sessions, so that nothing that hangs or crowds holds up the lease.
        watching, writing, leasing = (
            HttpTransport(credentials, connections=n) for n in (_READING, _SLOTS + _EVENT_SLOTS, 2)
        )
        self.transports = (watching, writing, leasing)
        metrics = Metrics(self.registry)
        observer = Observers(metrics, DecisionLog(clock.now), PluginTimes(self.registry, time.perf_counter))
        self.engine = Engine(options.configuration, options.plugins, options.seed, observer, options.namespace)
        self.driver = Driver(self.engine, self._perform, self._may_decide)
        self._options = options
        self.rights = Rights(
            watching,
            self._needed_rights(),
            wished_rights(options.namespace),
            self.problems,
            self.driver.wake,
            again=_ASK_AGAIN,
        )
        self.leadership = self._leadership(options.configuration, leasing, rng)
        pods, nodes = PodDecoder(self.engine.manifests), NodeDecoder(self.engine.manifests)
        line = Line(writing, metrics, self.problems, self.rights.doubt, rng)
        self.dispatcher = Dispatcher(line, pods, _SLOTS, self)
        self.extenders = ExtenderCalls(options.configuration.extenders, self, metrics, self.dispatcher.settled)
        self.recorder = Recorder(
            line, self.may_write, lambda: self.dispatcher.crowded, slots=_EVENT_SLOTS, capacity=_EVENTS_KEPT
        )
        self.watches = Watches(watching, pods, nodes, self.driver.feed)
        self.watches.follow(self.engine.kinds, self.engine.manifests)
        self.configurator = Configurator(
            options.configuration, options.path, options.plugins, self._reconfigure, every=options.look_again_at_file
        )
        self.informant = Informant(
            engine=self.engine,
            watches=self.watches,
            leadership=self.leadership,
            dispatcher=self.dispatcher,
            recorder=self.recorder,
            problems=self.problems,
            tasks={},
        )
        self.status_writer = StatusWriter(line, self.may_write, self._glance, every=_STATUS_EVERY)
        self.operator = OperatorShell(
            watching, credentials, election.resource_name, self._scheduler_seen, look_again=options.look_again
        )
        self.registry.register(Vitals(self.informant.reading))
        ProcessCollector(registry=self.registry)

    def _glance(self) -> Glance:
        return Glance(self.leadership.holder, self.engine.summary(), self.informant.ready(), self.configurator.verdict)

    # Configuration.

    async def look_for_configuration(self) -> None:
        """See whether the Scheduler object has one before anything is decided by another."""
        name = self._options.configuration.leader_election.resource_name
        await self.configurator.look(self.transports[0], f"/apis/{GROUP}/{VERSION}/{PLURAL}/{name}")
        self.driver.wake()

    def _scheduler_seen(self, scheduler: SchedulerSeen | None) -> None:
        self.configurator.object_seen(scheduler.configuration if scheduler else None)
        self.status_writer.seen(scheduler)

    def _reconfigure(self, configuration: Configuration) -> None:
        """All of it, or none."""
        know_extenders = self.extenders.know(configuration.extenders)
        self.driver.reconfigure(configuration)
        know_extenders()
        self.watches.follow(self.engine.kinds, self.engine.manifests)
        self.rights.need(self._needed_rights())

    def _needed_rights(self) -> Sequence[Right]:
        election = self._options.configuration.leader_election
        return needed_rights(self._options.namespace, election, self.engine.kinds)

    # In whose name the dispatcher acts.

    def may_write(self) -> bool:
        """Whether the lease is valid at this very moment."""
        return self.leadership.valid()

    def withdrawn(self, bind: Bind) -> str | None:
        """Why a Binding must not be sent any more."""
        return self.engine.withdrawn(bind)

    def report(self, done: EffectDone) -> None:
        """An effect has ended."""
        self.driver.feed([done])

    # Leadership.

    def _leadership(self, configuration: Configuration, transport: HttpTransport, rng: random.Random) -> Leadership:
        identity, settings = new_identity(), configuration.leader_election
        if not settings.leader_elect:
            return Alone(identity, self._gained)
        return LeaseKeeper(Election(identity, settings, rng), settings, transport, self._gained, self._lost)

    def _gained(self) -> None:
        """The last leader's last Bindings may not have come through a watch yet, so everything is listed afresh (BR-139)."""
        self.driver.feed([LeadershipGained()])
        self.watches.relist()
        self.recorder.pump()

    def _lost(self) -> None:
        self.driver.feed([LeadershipLost()])
        self.dispatcher.abort_writes()

    def _may_decide(self) -> bool:
        # Without a valid lease nothing can be sent, and a pod whose Binding was not sent is due again at once.
        known = self.rights.granted and self.configurator.asked
        return self.leadership.valid() and known and not self.informant.stopping

    # Between engine and writes.

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, RecordEvent):
            self.recorder.record(effect)
        elif isinstance(effect, CallExtender):
            self.extenders.submit(effect)
        else:
            self.dispatcher.submit(effect)
