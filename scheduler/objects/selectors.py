"""Node-selector terms and label selectors: JSON to the values of `matching`."""

from scheduler.matching import LabelSelector, NodeSelectorTerm, Operator, Requirement
from scheduler.objects import wire

_OPERATORS = {operator.value: operator for operator in Operator}


def requirement(read: wire.Requirement, path: str) -> Requirement:
    """One requirement. Raises ValueError for an operator that does not exist."""
    operator = _OPERATORS.get(read.operator)
    if operator is None:
        raise ValueError(f"{path}[{read.key}].operator: found {read.operator!r}, allowed: {', '.join(_OPERATORS)}")
    return Requirement(read.key, operator, tuple(read.values or ()))


def term(read: wire.NodeSelectorTerm, path: str) -> NodeSelectorTerm:
    """One term."""
    expressions = tuple(requirement(r, f"{path}.matchExpressions") for r in read.match_expressions or ())
    fields = tuple(requirement(r, f"{path}.matchFields") for r in read.match_fields or ())
    return NodeSelectorTerm(expressions, fields)


def label_selector(read: wire.LabelSelector | None, path: str) -> LabelSelector | None:
    """A label selector; None where there is none. Raises ValueError for an operator that does not exist."""
    if read is None:
        return None
    labels = (Requirement(key, Operator.IN, (value,)) for key, value in sorted((read.match_labels or {}).items()))
    expressions = (requirement(r, f"{path}.matchExpressions") for r in read.match_expressions or ())
    return LabelSelector((*labels, *expressions))
