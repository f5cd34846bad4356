"""A profile at work: its plugins, called point by point by the rules of the Scheduling Framework (KEP-624)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from scheduler.api import Kind
from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.config import ConfigError, Profile
from scheduler.framework import (
    SUCCESS,
    Bind,
    ClusterEvent,
    Code,
    CycleState,
    EventRegistration,
    Handle,
    NodeStatuses,
    PermitResult,
    Plugin,
    PodInfo,
    PostBind,
    PostFilter,
    PostFilterResult,
    PreEnqueue,
    PreFilterResult,
    QueueSort,
    RowRule,
    Status,
    error,
    unresolvable,
)
from scheduler.observer import Observer
from scheduler.runtime.answers import SortKeys, checked
from scheduler.runtime.filters import FilterRunner, NodeVerdicts
from scheduler.runtime.guard import Guard
from scheduler.runtime.hypotheses import Hypotheses
from scheduler.runtime.ranking import Ranking
from scheduler.runtime.rosters import Rosters, plugins_at
from scheduler.runtime.scores import ScoreRunner

LONGEST_PERMIT_WAIT = 15 * 60.0

_FEWEST_TO_FIND = 100


@dataclass(frozen=True, slots=True)
class PreFilterOutcome:
    """What all PreFilters together say: a status, and the only nodes to look at with the plugins that said so."""

    status: Status
    node_names: frozenset[str] | None = None
    narrowed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PostFilterOutcome:
    """What all PostFilters together say: a status, a node to nominate, and the plugins whose events wake the pod."""

    status: Status
    nominated_node: str | None = None
    waking: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Waits:
    """The Permit plugins that a pod waits for, with the longest wait of each in seconds."""

    timeouts: Mapping[str, float]


class PluginFaultError(ConfigError):
    """A plugin that cannot even be set up; nothing can be scheduled with it."""

    def __init__(self, plugin: str, method: str, exception: Exception) -> None:
        super().__init__([f'plugin "{plugin}": {method} failed: {type(exception).__name__}: {exception}'])


class ProfileRuntime:
    """The plugins of one profile. Whatever a plugin raises comes back as an error status.

    `crowded` keeps the verdicts of nodes with promised pods counted, `evictions` what evicting would do on nodes.
    """

    def __init__(
        self,
        profile: Profile,
        registry: Mapping[str, type[Plugin]],
        handle: Handle,
        *,
        table: NodeTable,
        observer: Observer,
        own_registrations: Mapping[str, Sequence[EventRegistration]],
    ) -> None:
        self.name = profile.scheduler_name
        self.profile = profile
        self._percentage = profile.percentage_of_nodes_to_score
        self._observer = observer
        self._guard = Guard(observer)
        names = dict.fromkeys(ref.name for refs in profile.plugins.values() for ref in refs)
        self._plugins = {name: _build(registry[name], profile.args.get(name), handle) for name in names}
        asked = {name: _registrations(plugin) for name, plugin in self._plugins.items()}
        self._registrations: Mapping[str, Sequence[EventRegistration]] = {**asked, **own_registrations}
        self._sort_keys = SortKeys()
        at = partial(plugins_at, profile, self._plugins)
        self._pre_enqueue = at("preEnqueue", PreEnqueue)
        self._queue_sort = at("queueSort", QueueSort)[0]
        self._post_filter = at("postFilter", PostFilter)
        self._bind = at("bind", Bind)
        self._post_bind = at("postBind", PostBind)
        self._rosters = Rosters(profile, self._plugins, self._guard)
        self._filters = FilterRunner(self._rosters, table, self._guard)
        self._scores = ScoreRunner(self._rosters, table, self._guard)
        self.crowded: Hypotheses[Status] = Hypotheses()
        self.evictions: Hypotheses[tuple[PodInfo, ...] | Status] = Hypotheses()

    def nodes_to_find(self, total: int) -> int:
        """How many feasible nodes are enough: all, unless the user set a percentage (numFeasibleNodesToFind)."""
        percentage = self._percentage
        if not percentage or percentage >= 100 or total < _FEWEST_TO_FIND:
            return total
        return max(total * int(percentage) // 100, _FEWEST_TO_FIND)

    def needs(self) -> frozenset[Kind]:
        """The kinds that some plugin reads beside pods and nodes."""
        return frozenset(kind.kind for plugin in self._plugins.values() for kind in plugin.needs)

    # The queue's questions.

    def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[object, ...]:
        """The place of a pod in the queue; a plugin that raises leaves the order to arrival."""

        def ask() -> tuple[float | str, ...]:
            return self._sort_keys.checked(self._queue_sort.sort_key(pod, queued_at))

        key = self._guard.call(self._queue_sort, "QueueSort", tuple, ask)
        return () if isinstance(key, Status) else key

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """The first refusal of PreEnqueue, or success."""
        for plugin in self._pre_enqueue:
            status = self._guard.call(plugin, "PreEnqueue", Status, partial(plugin.pre_enqueue, pod))
            if not status.ok:
                return _named(status, plugin)
        return SUCCESS

    def listens(self, plugin: str, event: ClusterEvent) -> bool:
        """Whether a plugin registered for an event."""
        return any(registration.covers(event) for registration in self._registrations.get(plugin, ()))

    def reads(self, plugin: str, pod: PodInfo) -> Hashable:
        """A row rule's key of the pod; for other plugins all that scheduling reads of it."""
        rule = self._plugins.get(plugin)
        if not isinstance(rule, RowRule):
            return pod.template.signature
        key = self._guard.call(rule, "QueueingHint", object, partial(_hashable_key, rule, pod))
        return pod.template.signature if key is None or isinstance(key, Status) else (plugin, key)

    def helps(self, plugin: str, event: ClusterEvent, pod: PodInfo, change: tuple[object, object]) -> bool:
        """Whether an event may cure a plugin's rejection; a hint that raises counts as yes."""
        for registration in self._registrations.get(plugin, ()):
            if not registration.covers(event):
                continue
            if registration.hint is None:
                return True
            ask = partial(registration.hint, pod, *change)
            answer = self._guard.call(self._plugins[plugin], "QueueingHint", bool, ask)
            if answer is not False:
                return True
        return False

    # The scheduling cycle, in order.

    def run_pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterOutcome:
        """Unschedulable lets the others run, UnschedulableAndUnresolvable and errors end it; node sets are intersected."""
        names: frozenset[str] | None = None
        narrowed: list[str] = []
        refusal = SUCCESS
        for plugin in self._rosters.of(pod.template).pre_filter:
            answer = self._guard.call(plugin, "PreFilter", PreFilterResult, partial(plugin.pre_filter, state, pod))
            status = answer if isinstance(answer, Status) else answer.status
            if status.code is Code.SKIP:
                state.skip_filter.add(plugin.name)
                continue
            if status.code is Code.UNSCHEDULABLE:
                refusal = _named(status, plugin)
                continue
            if isinstance(answer, Status) or not status.ok:
                return PreFilterOutcome(_named(status, plugin))
            if answer.node_names is not None:
                narrowed.append(plugin.name)
                names = answer.node_names if names is None else names & answer.node_names
                if not names:
                    return PreFilterOutcome(_nothing_left(narrowed), names, tuple(sorted(narrowed)))
        return PreFilterOutcome(refusal, names, tuple(sorted(narrowed)))

    def run_filters(self, state: CycleState, pod: PodInfo, rows: Rows) -> NodeVerdicts | Status:
        """The verdict of each row, or the error that ends the attempt."""
        return self._filters.run(state, pod, rows)

    def likeness(self, state: CycleState, pod: PodInfo) -> Hashable | None:
        """Equal for pods that no filter can tell apart; None if nothing can be said."""
        return self._filters.likeness(state, pod)

    async def run_post_filter(self, state: CycleState, pod: PodInfo, verdicts: NodeStatuses) -> PostFilterOutcome:
        """The first PostFilter that succeeds, fails for good or raises ends it; refusals are joined."""
        reasons: list[str] = []
        nominated: str | None = None
        waking: set[str] = set()
        for plugin in self._post_filter:
            answer = await self._guard.wait(
                plugin, "PostFilter", PostFilterResult, partial(plugin.post_filter, state, pod, verdicts)
            )
            if isinstance(answer, Status):
                return PostFilterOutcome(_named(answer, plugin))
            if answer.wakes:
                waking.add(plugin.name)
            if answer.status.code is not Code.UNSCHEDULABLE:
                return PostFilterOutcome(_named(answer.status, plugin), answer.nominated_node, frozenset(waking))
            reasons.extend(answer.status.reasons)
            nominated = answer.nominated_node if answer.nominated_node is not None else nominated
        return PostFilterOutcome(Status(Code.UNSCHEDULABLE, tuple(reasons)), nominated, frozenset(waking))

    def run_scores(self, state: CycleState, pod: PodInfo, rows: Rows) -> Ranking | Status:
        """PreScore, Score and NormalizeScore: the weighted total of each feasible row."""
        for plugin in self._rosters.of(pod.template).pre_score:
            status = self._guard.call(plugin, "PreScore", Status, partial(plugin.pre_score, state, pod, rows))
            if status.code is Code.SKIP:
                state.skip_score.add(plugin.name)
            elif not status.ok:
                return _named(status, plugin)
        return self._scores.run(state, pod, rows)

    def run_reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """All plugins in order, up to the first refusal."""
        for plugin in self._rosters.of(pod.template).reserve:
            status = self._guard.call(plugin, "Reserve", Status, partial(plugin.reserve, state, pod, node_name))
            if not status.ok:
                return _named(status, plugin)
        return SUCCESS

    def run_unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """All plugins in reverse; one that raises does not keep the others from their turn."""
        for plugin in reversed(self._rosters.of(pod.template).reserve):
            self._guard.call(plugin, "Unreserve", object, partial(plugin.unreserve, state, pod, node_name))

    def run_permit(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | Waits:
        """Success, the first refusal, or the plugins that must allow the pod before it is bound."""
        timeouts: dict[str, float] = {}
        for plugin in self._rosters.of(pod.template).permit:
            answer = self._guard.call(plugin, "Permit", PermitResult, partial(plugin.permit, state, pod, node_name))
            result = PermitResult(answer) if isinstance(answer, Status) else answer
            if result.status.code is Code.WAIT:
                # What is no number of seconds (NaN) is no shorter than the longest either.
                timeouts[plugin.name] = min(LONGEST_PERMIT_WAIT, result.timeout)
            elif not result.status.ok:
                return _named(result.status, plugin)
        return Waits(timeouts) if timeouts else SUCCESS

    # The binding cycle, in order.

    async def run_pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """All plugins in order, up to the first failure."""
        for plugin in self._rosters.of(pod.template).pre_bind:
            status = await self._guard.wait(plugin, "PreBind", Status, partial(plugin.pre_bind, state, pod, node_name))
            if status.code is Code.WAIT:
                # Only Bind may say that nothing was sent; here it would be tried again at once and for ever.
                status = error(f'PreBind plugin "{plugin.name}" returned Wait: {status.message}')
            if not status.ok:
                return _named(status, plugin)
        return SUCCESS

    async def run_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """The first plugin that does not Skip binds."""
        for plugin in self._bind:
            status = await self._guard.wait(plugin, "Bind", Status, partial(plugin.bind, state, pod, node_name))
            if status.code is not Code.SKIP:
                return status if status.ok else _named(status, plugin)
        return error("no bind plugin took the pod: all of them skipped")

    def run_post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Tell everybody."""
        for plugin in self._post_bind:
            self._guard.call(plugin, "PostBind", object, partial(plugin.post_bind, state, pod, node_name))


def _build(kind: type[Plugin], args: object, handle: Handle) -> Plugin:
    try:
        return kind(args if isinstance(args, kind.Args) else kind.Args(), handle)
    except Exception as exception:
        raise PluginFaultError(kind.name, "__init__", exception) from exception


def _registrations(plugin: Plugin) -> Sequence[EventRegistration]:
    try:
        return tuple(checked(registration, EventRegistration) for registration in plugin.events_to_register())
    except Exception as exception:
        raise PluginFaultError(plugin.name, "events_to_register", exception) from exception


def _hashable_key(rule: RowRule, pod: PodInfo) -> Hashable | None:
    key = rule.row_key(pod.template)
    hash(key)
    return key


def _named(status: Status, plugin: Plugin) -> Status:
    return Status(status.code, status.reasons, plugin.name)


def _nothing_left(narrowed: Sequence[str]) -> Status:
    if len(narrowed) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {narrowed[0]}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}] simultaneously")
