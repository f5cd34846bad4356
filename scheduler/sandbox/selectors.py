"""Label and field selectors in the form that a query string has, and what both select together."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from scheduler.matching import LabelSelector, Operator, Requirement
from scheduler.sandbox.errors import bad_request
from scheduler.sandbox.fields import (
    Json,
    JsonObject,
    labels_of,
    objects_at,
    string_map_at,
    strings_at,
    text_at,
    value_at,
)
from scheduler.sandbox.identity import Key

FieldReader = Callable[[JsonObject], str]

_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?"
_SET = re.compile(rf"(?P<key>{_NAME})\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)")
_PRESENCE = re.compile(rf"(?P<absent>!\s*)?(?P<key>{_NAME})")
_COMPARISON = re.compile(rf"(?P<key>{_NAME})\s*(?P<op>==|=|!=|>|<)\s*(?P<value>[-A-Za-z0-9_.]*)")
_COMPARISONS = {
    "=": Operator.IN,
    "==": Operator.IN,
    "!=": Operator.NOT_IN,
    ">": Operator.GT,
    "<": Operator.LT,
}
_OUTSIDE_PARENTHESES = re.compile(r",(?![^(]*\))")
_FIELD_TERM = re.compile(r"(?P<field>[^=!\\]+?)\s*(?P<op>==|=|!=)\s*(?P<value>(?:\\.|[^\\=,])*)")
_FIELD_COMMA = re.compile(r"(?<!\\),")


class FieldTerm(NamedTuple):
    """One condition on one selectable field."""

    field: str
    read: FieldReader
    value: str
    equal: bool

    def matches(self, obj: JsonObject) -> bool:
        """Whether the field has, or with `!=` has not, the value."""
        return (self.read(obj) == self.value) == self.equal


class Selection(msgspec.Struct, frozen=True):
    """What a list or a watch asks for; the default asks for everything."""

    namespace: str | None = None
    labels: LabelSelector = LabelSelector()
    fields: tuple[FieldTerm, ...] = ()

    def matches(self, key: Key, obj: JsonObject) -> bool:
        """Whether the object under this key is asked for."""
        if self.namespace is not None and key.namespace != self.namespace:
            return False
        if not all(term.matches(obj) for term in self.fields):
            return False
        return not self.labels.requirements or self.labels.matches(labels_of(obj))

    @property
    def selects(self) -> bool:
        """Whether labels or fields narrow it down (then a list does not count what remains)."""
        return bool(self.labels.requirements or self.fields)


def parse_labels(text: str) -> LabelSelector:
    """A label selector such as `app=x,tier in (a, b),!legacy`. Raises ApiError 400 naming the part that is wrong."""
    parts = [part.strip() for part in _OUTSIDE_PARENTHESES.split(text)] if text.strip() else []
    return LabelSelector(tuple(_requirement(part) for part in parts))


def label_selector(obj: JsonObject) -> LabelSelector:
    """A metav1.LabelSelector from its JSON form; an empty one matches everything. Raises ApiError 400 for a wrong operator."""
    equal = [Requirement(key, Operator.IN, (value,)) for key, value in string_map_at(obj, "matchLabels").items()]
    try:
        expressions = [
            Requirement(text_at(e, "key"), Operator(text_at(e, "operator")), tuple(strings_at(e, "values")))
            for e in objects_at(obj, "matchExpressions")
        ]
    except ValueError as problem:
        raise bad_request(f"invalid label selector operator: {problem}") from None
    return LabelSelector((*equal, *expressions))


def parse_fields(text: str, readers: Mapping[str, FieldReader], supported: str) -> tuple[FieldTerm, ...]:
    """A field selector such as `spec.nodeName=n1,status.phase!=Failed` over the fields that can be read.

    `supported` is the error text for another field; `%s` in it stands for the field.
    """
    return tuple(_field_term(part.strip(), readers, supported) for part in _FIELD_COMMA.split(text) if part.strip())


def reader(*path: str) -> FieldReader:
    """Reads the field at a path as field selectors see it: empty when absent, Booleans in lower case."""

    def read(obj: JsonObject) -> str:
        return as_text(value_at(obj, *path))

    return read


def as_text(value: Json) -> str:
    """A JSON scalar as field selectors and names of columns compare it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _requirement(part: str) -> Requirement:
    if found := _SET.fullmatch(part):
        values = tuple(sorted({value.strip() for value in found["values"].split(",")}))
        return Requirement(found["key"], Operator.IN if found["op"] == "in" else Operator.NOT_IN, values)
    if found := _PRESENCE.fullmatch(part):
        return Requirement(found["key"], Operator.DOES_NOT_EXIST if found["absent"] else Operator.EXISTS)
    if found := _COMPARISON.fullmatch(part):
        return Requirement(found["key"], _COMPARISONS[found["op"]], (found["value"],))
    key, _, rest = part.partition(" ")
    found_text, expected = (rest.split()[0], "in, notin, =, ==, !=, gt, lt") if rest.split() else (key, "!, identifier")
    raise bad_request(f"unable to parse requirement: found '{found_text}', expected: {expected}")


def _field_term(part: str, readers: Mapping[str, FieldReader], supported: str) -> FieldTerm:
    found = _FIELD_TERM.fullmatch(part)
    if found is None:
        raise bad_request(f"invalid field selector: '{part}'; can't understand '{part}'")
    field = found["field"]
    read = readers.get(field)
    if read is None:
        raise bad_request(supported.replace("%s", field))
    value = re.sub(r"\\(.)", r"\1", found["value"])
    return FieldTerm(field, read, value, found["op"] != "!=")
