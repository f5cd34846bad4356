"""The parts of the live driver, made and connected. Not here: what runs when (process.py)."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, ProcessCollector

from scheduler.api import Kind
from scheduler.config import Configuration
from scheduler.engine import Engine
from scheduler.framework import Plugin
from scheduler.live import clock, sources
from scheduler.live.app import OperatorShell
from scheduler.live.calls import Line
from scheduler.live.client import HttpTransport
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
from scheduler.live.preflight import needed_rights, wished_rights
from scheduler.live.problems import Problems
from scheduler.live.recorder import Recorder
from scheduler.live.reflector import AnyReflector, Patience, Reflector
from scheduler.live.rights import Rights
from scheduler.live.scheduler_object import Glance, StatusWriter
from scheduler.live.server import Address
from scheduler.live.vitals import Vitals
from scheduler.messages import (
    Bind,
    CallExtender,
    Effect,
    EffectDone,
    Fact,
    LeadershipGained,
    LeadershipLost,
    PodSeen,
    RecordEvent,
)
from scheduler.objects import PodDecoder

_SLOTS = 64
_EVENT_SLOTS = 8
_READING = len(Kind) + 8  # each kind that is followed holds a connection for its watch; others list and ask
_EVENTS_KEPT = 20_000
_ASK_AGAIN = 3.0
_STATUS_EVERY = 3.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: what the command line and the configuration file say. `namespace` is the only one that is scheduled in,
    or empty for all. `look_again` is how often (seconds) to look for the definition of berth's own resources.
    """

    configuration: Configuration
    plugins: Mapping[str, type[Plugin]]
    namespace: str
    address: Address
    seed: int
    look_again: float


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
        observer = Observers(metrics, DecisionLog(clock.now))
        self.engine = Engine(options.configuration, options.plugins, options.seed, observer)
        self.driver = Driver(self.engine, self._perform, self._may_decide)
        self.rights = Rights(
            watching,
            needed_rights(options.namespace, election, self.engine.kinds),
            wished_rights(options.namespace),
            self.problems,
            self.driver.wake,
            again=_ASK_AGAIN,
        )
        self.leadership = self._leadership(options.configuration, leasing, rng)
        pods = PodDecoder(self.engine.manifests)
        line = Line(writing, metrics, self.problems, self.rights.doubt, rng)
        self.dispatcher = Dispatcher(line, pods, _SLOTS, self)
        self.extenders = ExtenderCalls(options.configuration.extenders, self, metrics, self.dispatcher.settled)
        self.recorder = Recorder(
            line, self.may_write, lambda: self.dispatcher.crowded, slots=_EVENT_SLOTS, capacity=_EVENTS_KEPT
        )
        self._profiles = frozenset(profile.scheduler_name for profile in options.configuration.profiles)
        self._namespace = options.namespace
        self._watching = False
        others = sorted(self.engine.kinds - {Kind.POD, Kind.NODE})
        self.reflectors: Sequence[AnyReflector] = (
            Reflector(sources.pods(pods), watching, Patience(), self._deliver),
            Reflector(sources.nodes(self.engine.manifests), watching, Patience(), self._deliver),
            *(Reflector(sources.others(kind), watching, Patience(), self._deliver) for kind in others),
        )
        self.informant = Informant(
            engine=self.engine,
            reflectors=self.reflectors,
            leadership=self.leadership,
            dispatcher=self.dispatcher,
            recorder=self.recorder,
            problems=self.problems,
            tasks={},
        )
        self.status_writer = StatusWriter(line, self.may_write, self._glance, every=_STATUS_EVERY)
        self.operator = OperatorShell(
            watching, credentials, election.resource_name, self.status_writer.seen, look_again=options.look_again
        )
        self.registry.register(Vitals(self.informant.reading))
        ProcessCollector(registry=self.registry)

    def _glance(self) -> Glance:
        return Glance(self.leadership.holder, self.engine.summary(), self.informant.ready())

    def start_reflectors(self) -> Sequence[AnyReflector]:
        """Those to run; from now on leadership means listing again what they know."""
        self._watching = True
        return self.reflectors

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
        if self._watching:
            for reflector in self.reflectors:
                reflector.relist()
        self.recorder.pump()

    def _lost(self) -> None:
        self.driver.feed([LeadershipLost()])
        self.dispatcher.abort_writes()

    def _may_decide(self) -> bool:
        # Without a valid lease nothing can be sent, and a pod whose Binding was not sent is due again at once.
        return self.leadership.valid() and self.rights.granted and not self.informant.stopping

    # Between watches, engine and writes.

    def _deliver(self, facts: Sequence[Fact]) -> None:
        self.driver.feed([fact for fact in facts if self._concerns_us(fact)] if self._namespace else facts)

    def _concerns_us(self, fact: Fact) -> bool:
        """Pods of other namespaces are not scheduled; but once they have a node, they count."""
        match fact:
            case PodSeen(pod=pod):
                mine = pod.namespace == self._namespace
                return mine or bool(pod.node_name) or pod.spec.scheduler_name not in self._profiles
        return True

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, RecordEvent):
            self.recorder.record(effect)
        elif isinstance(effect, CallExtender):
            self.extenders.submit(effect)
        else:
            self.dispatcher.submit(effect)
