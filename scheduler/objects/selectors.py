"""Node-selector terms: JSON to the values of `matching`."""

from scheduler.matching import NodeSelectorTerm, Operator, Requirement
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
