"""The addedAffinity argument of NodeAffinity: a core/v1 NodeAffinity in the configuration file, checked as the API server
checks one in a pod.
"""

from collections.abc import Iterable, Iterator

from scheduler.framework import PluginArgs, PreferredTerm
from scheduler.matching import NodeSelector, NodeSelectorTerm, Operator, Requirement, int64
from scheduler.names import is_label_value, is_qualified_name

_OPERATORS = {operator.value: operator for operator in Operator}
_FIELD = "metadata.name"
_FIELD_OPERATORS = (Operator.IN, Operator.NOT_IN)


class RequirementArgs(PluginArgs, frozen=True):
    """A NodeSelectorRequirement."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def compiled(self) -> Requirement:
        """The requirement as it is matched."""
        return Requirement(self.key, _OPERATORS[self.operator], self.values)

    def label_problems(self) -> Iterator[str]:
        """What is wrong with it as a matchExpressions entry."""
        if not is_qualified_name(self.key):
            yield f'key: found "{self.key}", allowed: a label key such as example.com/name'
        if self.operator not in _OPERATORS:
            yield f'operator: found "{self.operator}", allowed: {", ".join(_OPERATORS)}'
            return
        match _OPERATORS[self.operator]:
            case Operator.IN | Operator.NOT_IN if not self.values:
                yield f"values: found none, allowed for {self.operator}: at least one"
            case Operator.EXISTS | Operator.DOES_NOT_EXIST if self.values:
                yield f"values: found {len(self.values)}, allowed for {self.operator}: none"
            case Operator.GT | Operator.LT if len(self.values) != 1 or int64(self.values[0]) is None:
                yield f"values: found {list(self.values)}, allowed for {self.operator}: one integer"
        for position, value in enumerate(self.values):
            if not is_label_value(value):
                yield f'values[{position}]: found "{value}", allowed: a label value (at most 63 letters, digits, -, _, .)'

    def field_problems(self) -> Iterator[str]:
        """What is wrong with it as a matchFields entry."""
        if self.key != _FIELD:
            yield f'key: found "{self.key}", allowed: {_FIELD}'
        if self.operator not in _FIELD_OPERATORS:
            yield f'operator: found "{self.operator}", allowed: {", ".join(_FIELD_OPERATORS)}'
        if len(self.values) != 1:
            yield f"values: found {len(self.values)}, allowed: exactly one"


class TermArgs(PluginArgs, frozen=True):
    """A NodeSelectorTerm."""

    match_expressions: tuple[RequirementArgs, ...] = ()
    match_fields: tuple[RequirementArgs, ...] = ()

    def compiled(self) -> NodeSelectorTerm:
        """The term as it is matched."""
        return NodeSelectorTerm(
            tuple(r.compiled() for r in self.match_expressions), tuple(r.compiled() for r in self.match_fields)
        )

    def problems(self) -> Iterable[str]:
        """What is wrong with its requirements."""
        for i, requirement in enumerate(self.match_expressions):
            yield from (f"matchExpressions[{i}].{problem}" for problem in requirement.label_problems())
        for i, requirement in enumerate(self.match_fields):
            yield from (f"matchFields[{i}].{problem}" for problem in requirement.field_problems())


class SelectorArgs(PluginArgs, frozen=True):
    """A NodeSelector."""

    node_selector_terms: tuple[TermArgs, ...]


class PreferredArgs(PluginArgs, frozen=True):
    """A PreferredSchedulingTerm."""

    weight: int
    preference: TermArgs


class AddedAffinity(PluginArgs, frozen=True):
    """A core/v1 NodeAffinity."""

    required_during_scheduling_ignored_during_execution: SelectorArgs | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredArgs, ...] = ()

    def required(self) -> NodeSelector | None:
        """What nodes must match."""
        given = self.required_during_scheduling_ignored_during_execution
        return None if given is None else NodeSelector(tuple(term.compiled() for term in given.node_selector_terms))

    def preferred(self) -> tuple[PreferredTerm, ...]:
        """What nodes are liked for."""
        given = self.preferred_during_scheduling_ignored_during_execution
        return tuple(PreferredTerm(p.weight, p.preference.compiled()) for p in given)

    def problems(self) -> Iterable[str]:
        """What is wrong with its terms."""
        required = self.required_during_scheduling_ignored_during_execution
        for i, term in enumerate(required.node_selector_terms if required else ()):
            path = f"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{i}]"
            yield from (f"{path}.{problem}" for problem in term.problems())
        for i, preferred in enumerate(self.preferred_during_scheduling_ignored_during_execution):
            path = f"preferredDuringSchedulingIgnoredDuringExecution[{i}]"
            if not 1 <= preferred.weight <= 100:
                yield f"{path}.weight: found {preferred.weight}, allowed: 1 to 100"
            yield from (f"{path}.preference.{problem}" for problem in preferred.preference.problems())
