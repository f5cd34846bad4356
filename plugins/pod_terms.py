"""Terms about other pods: which pods they are about, and which terms of pods on nodes are about this one."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from scheduler.api import Namespace
from scheduler.framework import Handle, PodAffinityTerm, PodCount, PodInfo, PodTemplate, TermKind
from scheduler.matching import Labels, LabelSelector

Items = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Scope:
    """Namespaces (None: all) and a selector (None: of nothing): the pods that a term of a waiting pod is about."""

    namespaces: frozenset[str] | None
    selector: LabelSelector | None

    def covers(self, template: PodTemplate) -> bool:
        """Whether pods of this template are among them."""
        inside = self.namespaces is None or template.namespace in self.namespaces
        return inside and self.selector is not None and self.selector.matches(template.labels)


def scope_of(term: PodAffinityTerm, namespace: str, handle: Handle) -> Scope:
    """A term of a pod in this namespace, with the namespaces that its selector matches now."""
    names = term.namespaces | {namespace} if term.own_namespace else term.namespaces
    selector = term.namespace_selector
    if selector is None:
        return Scope(names, term.selector)
    if not selector.requirements:
        return Scope(None, term.selector)
    found = (other.name for other in handle.all(Namespace) if selector.matches(other.labels))
    return Scope(names.union(found), term.selector)


@dataclass(frozen=True)
class PodsInScopes(PodCount):
    """Pods that all of these terms are about."""

    scopes: tuple[Scope, ...]

    @property
    def namespaces(self) -> frozenset[str] | None:  # type: ignore[override]  # read only, as everything here
        """The namespaces of the first term: outside there is nothing to count."""
        return self.scopes[0].namespaces

    def of(self, template: PodTemplate) -> int:
        """1 for a pod that all terms are about."""
        return int(all(scope.covers(template) for scope in self.scopes))


@dataclass(frozen=True)
class TermsAbout(PodCount):
    """Terms of one kind and topology key, of pods on nodes, that are about pods like this one; each with its weight."""

    kind: TermKind
    topology_key: str
    namespace: str
    labels: Items
    namespace_labels: Items

    @property
    def carrying(self) -> TermKind | None:  # type: ignore[override]  # read only, as everything here
        """Only pods that have such terms."""
        return self.kind

    def of(self, template: PodTemplate) -> int:
        """The weights of a pod's terms that are about this one."""
        terms = template.spec.pod_terms(self.kind)
        return sum(
            weight for term, weight in terms if term.topology_key == self.topology_key and self._matches(term, template)
        )

    def _matches(self, term: PodAffinityTerm, template: PodTemplate) -> bool:
        inside = self.namespace in term.namespaces or (term.own_namespace and self.namespace == template.namespace)
        if not inside and term.namespace_selector is not None:
            inside = term.namespace_selector.matches(self._of_namespace)
        return inside and term.selector is not None and term.selector.matches(self._of_pod)

    @cached_property
    def _of_pod(self) -> Labels:
        return dict(self.labels)

    @cached_property
    def _of_namespace(self) -> Labels:
        return dict(self.namespace_labels)


def terms_about(pod: PodInfo, kind: TermKind, handle: Handle) -> Iterable[TermsAbout]:
    """What to count of the terms of a kind that pods on nodes have: one count for each topology key in use."""
    keys = handle.topology_keys(kind)
    if not keys:
        return []
    namespace = handle.find(Namespace, "", pod.namespace)
    labels, of_namespace = _items(pod.labels), _items(namespace.labels if namespace else {})
    return [TermsAbout(kind, key, pod.namespace, labels, of_namespace) for key in keys]


def _items(labels: Labels) -> Items:
    return frozenset(labels.items())
