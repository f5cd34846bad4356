"""The constraints by which a pod is spread: its own, or default ones for the pods of a service or a controller."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from plugins.remembered import Remembered
from scheduler.api import ApiObject, Kind, ReplicaSet, ReplicationController, Service, StatefulSet
from scheduler.framework import Handle, PluginArgs, PodCount, PodInfo, PodTemplate, SpreadConstraint
from scheduler.matching import Labels, LabelSelector, Operator, Requirement

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
SYSTEM = "System"
LIST = "List"
_OWNERS: tuple[type[ApiObject], ...] = (Service, ReplicationController, ReplicaSet, StatefulSet)
_HARD = "DoNotSchedule"
_SOFT = "ScheduleAnyway"

SYSTEM_DEFAULTS = (SpreadConstraint(HOSTNAME, 3, False, None), SpreadConstraint(ZONE, 5, False, None))


class DefaultConstraint(PluginArgs, frozen=True):
    """A constraint for pods that have none. Its selector is that of the pod's services and controller."""

    topology_key: str = ""
    max_skew: int = 0
    when_unsatisfiable: str = ""
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None

    def problems(self) -> Iterable[str]:
        """Values that the API server would refuse in a pod."""
        if self.max_skew <= 0:
            yield f"maxSkew: found {self.max_skew}, allowed: more than 0"
        if not self.topology_key:
            yield "topologyKey: found none, allowed: a label such as topology.kubernetes.io/zone"
        if self.when_unsatisfiable not in (_HARD, _SOFT):
            yield f'whenUnsatisfiable: found "{self.when_unsatisfiable}", allowed: {_HARD}, {_SOFT}'
        if self.min_domains is not None and (self.min_domains <= 0 or self.when_unsatisfiable != _HARD):
            yield f"minDomains: found {self.min_domains}, allowed: more than 0, with {_HARD} only"
        for name, policy in (
            ("nodeAffinityPolicy", self.node_affinity_policy),
            ("nodeTaintsPolicy", self.node_taints_policy),
        ):
            if policy not in (None, "Honor", "Ignore"):
                yield f'{name}: found "{policy}", allowed: Honor, Ignore'

    def constraint(self) -> SpreadConstraint:
        """As in a pod, without a selector."""
        return SpreadConstraint(
            self.topology_key,
            self.max_skew,
            self.when_unsatisfiable == _HARD,
            None,
            1 if self.min_domains is None else self.min_domains,
            self.node_affinity_policy != "Ignore",
            self.node_taints_policy == "Honor",
        )


@dataclass(frozen=True)
class SelectedPods(PodCount):
    """Pods of one namespace that a selector matches. Those that are being deleted do not count (kubernetes #87621), nor does
    anything for an empty selector.
    """

    namespace: str
    selector: LabelSelector | None
    terminating: bool = False

    @property
    def namespaces(self) -> frozenset[str] | None:  # type: ignore[override]  # read only, as everything here
        """The one namespace."""
        return frozenset((self.namespace,))

    def of(self, template: PodTemplate) -> int:
        """1 for a pod that matches."""
        if self.selector is None or not self.selector.requirements:
            return 0
        return int(template.namespace == self.namespace and self.selector.matches(template.labels))


@dataclass(frozen=True, slots=True)
class Spread:
    """A constraint as it holds for one pod: with its keys merged into the selector, and what to count."""

    constraint: SpreadConstraint
    selector: LabelSelector | None
    count: SelectedPods

    def selects(self, labels: Labels) -> bool:
        """Whether pods with these labels are among those that are spread."""
        return self.selector is not None and self.selector.matches(labels)


Spreads = tuple[Spread, ...]


class Constraints:
    """Finds the constraints of pods."""

    def __init__(self, handle: Handle, defaults: tuple[SpreadConstraint, ...]) -> None:
        self._handle = handle
        self._defaults = defaults
        self._seen = [0] * len(_OWNERS)
        self._remembered: Remembered[tuple[Spreads, Spreads]] = Remembered()

    def of(self, pod: PodInfo, *, hard: bool) -> Spreads:
        """A pod's own constraints of this sort; if it has none of any, the default ones."""
        template = pod.template
        if not template.spec.spread and not self._defaults:
            return ()
        made_by = None if template.spec.spread else self._owners_version()
        found = self._remembered.get(template, made_by, lambda: self._all_of(template))
        return found[0 if hard else 1]

    def _all_of(self, template: PodTemplate) -> tuple[Spreads, Spreads]:
        """The hard ones and the others."""
        own = template.spec.spread
        selector = LabelSelector() if own else self._default_selector(template)
        if not own and not selector.requirements:
            return (), ()
        spreads = [_spread(each, each.selector if own else selector, template) for each in own or self._defaults]
        return tuple(s for s in spreads if s.constraint.hard), tuple(s for s in spreads if not s.constraint.hard)

    def _owners_version(self) -> Hashable:
        """Another one whenever a service or a controller has changed."""
        versions = []
        for number, kind in enumerate(_OWNERS):
            self._seen[number], _ = self._handle.changed(kind, self._seen[number])
            versions.append(self._seen[number])
        return tuple(versions)

    def _default_selector(self, template: PodTemplate) -> LabelSelector:
        """All labels by which the pod's services and its controller select it (helper.DefaultSelector)."""
        labels: dict[str, str] = {}
        for service in self._handle.all(Service):
            selector = service.selector
            if service.namespace == template.namespace and selector and _all_in(selector, template.labels):
                labels |= selector
        made_by = self._made_by(template)
        if isinstance(made_by, ReplicationController):
            labels |= made_by.selector or {}
        more = (
            made_by.selector.requirements if isinstance(made_by, ReplicaSet | StatefulSet) and made_by.selector else ()
        )
        return LabelSelector((*_equal_to(labels), *more))

    def _made_by(self, template: PodTemplate) -> ReplicationController | ReplicaSet | StatefulSet | None:
        controller = template.controller
        if controller is None:
            return None
        match controller.kind:
            case Kind.REPLICATION_CONTROLLER:
                return self._handle.find(ReplicationController, template.namespace, controller.name)
            case Kind.REPLICA_SET:
                return self._handle.find(ReplicaSet, template.namespace, controller.name)
            case _:
                return self._handle.find(StatefulSet, template.namespace, controller.name)


def _spread(constraint: SpreadConstraint, selector: LabelSelector | None, template: PodTemplate) -> Spread:
    """matchLabelKeys add the pod's own values; the API server has done so already for pods made by 1.34 or later."""
    keys = {key: template.labels[key] for key in constraint.match_label_keys if key in template.labels}
    if keys and selector is not None:
        selector = LabelSelector((*_equal_to(keys), *selector.requirements))
    return Spread(constraint, selector, SelectedPods(template.namespace, selector))


def _equal_to(labels: Labels) -> tuple[Requirement, ...]:
    return tuple(Requirement(key, Operator.IN, (value,)) for key, value in sorted(labels.items()))


def _all_in(selector: Labels, labels: Labels) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())
