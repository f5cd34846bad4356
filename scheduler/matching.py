"""Rules for matching: quantities, label selectors, node-selector terms, taints, tolerations. Pure values, no state."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from functools import lru_cache

import msgspec
from kubernetes.utils.quantity import parse_quantity

Labels = Mapping[str, str]

# The API's own pattern (apimachinery resource.Quantity). The library also takes NaN, "1_000", "1 Gi" and "1K".
_QUANTITY = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?", re.ASCII)
_INT64 = re.compile(r"[+-]?\d+", re.ASCII)


@lru_cache(maxsize=65_536)
def quantity(text: str) -> Decimal:
    """The exact value of a Kubernetes quantity ("100m", "1.5Gi", "129e6"). Raises ValueError naming the text."""
    if not _QUANTITY.fullmatch(text):
        raise ValueError(
            f"{text!r} is not a quantity: expected a number with an optional suffix such as m, k, M, Gi or e3"
        )
    value: Decimal = parse_quantity(text)
    return value


@lru_cache(maxsize=65_536)
def units(text: str) -> int:
    """A quantity in whole units (bytes, counts), rounded up as the API's Quantity.Value does."""
    return int(quantity(text).to_integral_value(ROUND_CEILING))


@lru_cache(maxsize=65_536)
def milli_units(text: str) -> int:
    """A quantity in thousandths (milli-CPU), rounded up as the API's Quantity.MilliValue does."""
    return int((quantity(text) * 1000).to_integral_value(ROUND_CEILING))


def int64(text: str) -> int | None:
    """What Go's ParseInt(text, 10, 64) gives; None where it fails."""
    if not _INT64.fullmatch(text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


class Operator(StrEnum):
    """Operators of label selectors and, with Gt and Lt, of node-selector requirements."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One condition on the value of one label or field (apimachinery labels.Requirement)."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def accepts(self, value: str | None) -> bool:
        """Whether a label with this value (None: the label is absent) meets the requirement."""
        match self.operator:
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case Operator.IN:
                return value is not None and value in self.values
            case Operator.NOT_IN:
                return value is None or value not in self.values
            case _:
                return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        """Gt and Lt: both sides are 64-bit integers, and the label's is on the left."""
        bound = int64(self.values[0]) if len(self.values) == 1 else None
        number = int64(value)
        if bound is None or number is None:
            return False
        return number > bound if self.operator is Operator.GT else number < bound

    def matches(self, labels: Labels) -> bool:
        """Whether these labels meet the requirement."""
        return self.accepts(labels.get(self.key))


class LabelSelector(msgspec.Struct, frozen=True, gc=False):
    """A compiled metav1.LabelSelector. Without requirements it matches everything; an absent selector is None."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Whether all requirements hold for these labels."""
        return all(requirement.matches(labels) for requirement in self.requirements)


class NodeSelectorTerm(msgspec.Struct, frozen=True, gc=False):
    """Requirements on labels and on metadata.name, all of which must hold. An empty term matches nothing."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, name: str, labels: Labels) -> bool:
        """Whether the node of this name and labels meets the term."""
        if not self.expressions and not self.fields:
            return False
        return all(r.matches(labels) for r in self.expressions) and all(r.accepts(name) for r in self.fields)


class NodeSelector(msgspec.Struct, frozen=True, gc=False):
    """Terms of which at least one must match (core/v1 NodeSelector). Without terms it matches nothing."""

    terms: tuple[NodeSelectorTerm, ...] = ()

    def matches(self, name: str, labels: Labels) -> bool:
        """Whether any term matches the node of this name and labels."""
        return any(term.matches(name, labels) for term in self.terms)


class Effect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


SCHEDULING_EFFECTS = frozenset({Effect.NO_SCHEDULE, Effect.NO_EXECUTE})


class Taint(msgspec.Struct, frozen=True, gc=False):
    """A node's taint."""

    key: str
    value: str
    effect: Effect


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """A pod's toleration. An empty key with Exists matches every taint; an empty effect matches every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        """core/v1 Toleration.ToleratesTaint; Lt and Gt are behind a gate that is off in 1.36, so they never match."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        return self.operator in ("", "Equal") and self.value == taint.value


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> list[Taint]:
    """The taints, of any effect, that none of the tolerations tolerates; in the order given."""
    return [taint for taint in taints if not any(t.tolerates(taint) for t in tolerations)]
