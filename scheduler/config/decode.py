"""Trees to typed values, strictly. The decoder stops at the first problem; here what it stumbles over is taken out and it is
asked again, until all problems are known.
"""

import re
from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import inspect

from scheduler.config.document import Tree, joined, shown, steps
from scheduler.config.problems import Problems

Step = str | int
T = TypeVar("T", bound=msgspec.Struct)

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_WRONG = re.compile(r"Expected `(.*)`, got `(.*)`")
_WORDS = {
    "object": "a mapping",
    "array": "a list",
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
}


def decode(tree: Tree, kind: type[T], path: str, problems: Problems) -> T | None:
    """The tree as this type; None if too little of it is sound. Fields that are null are as if they were absent."""
    decoder = _Decoder(tree, kind, problems.in_file(path), problems)
    while True:
        try:
            return msgspec.convert(tree, kind)
        except msgspec.ValidationError as error:
            if not decoder.excuse(str(error)):
                return None


class _Decoder:
    """One tree on its way to a type. `_numbers` has, for lists that lost items, where what is left of them stood."""

    def __init__(self, tree: Tree, kind: type[msgspec.Struct], path: str, problems: Problems) -> None:
        self._tree = tree
        self._kind = kind
        self._path = path
        self._problems = problems
        self._taken_out: set[str] = set()
        self._numbers: dict[int, list[int]] = {}

    def excuse(self, complaint: str) -> bool:
        """Report a complaint and take its cause out of the tree; False if that is the tree itself."""
        message, _, place = complaint.partition(" - at ")
        way: list[Step] = list(steps(place.rpartition(" in ")[2].strip("`").removeprefix("$")))
        if unknown := _UNKNOWN.fullmatch(message):
            allowed = ", ".join(_fields(self._kind, way)) or "none"
            way.append(unknown[1])
            self._report(way, f"unknown field, allowed: {allowed}")
        elif missing := _MISSING.fullmatch(message):
            # A field that was taken out has been complained about already.
            if self._name([*way, missing[1]]) not in self._taken_out:
                self._report([*way, missing[1]], "required")
        elif place.startswith("`key` in"):
            self._report(way, "found a key that is no string, allowed: names of fields")
        else:
            self._report_value(way, message)
        return self._take_out(way)

    def _report_value(self, way: Sequence[Step], message: str) -> None:
        found = self._at(way)
        if found is None and way and isinstance(way[-1], str):
            return  # a field that is null counts as absent
        wrong = _WRONG.fullmatch(message)
        self._report(way, f"found {shown(found)}, allowed: {_words(wrong[1])}" if wrong else message)

    def _report(self, way: Sequence[Step], text: str) -> None:
        self._problems.add_in_file(self._name(way), text)

    def _take_out(self, way: Sequence[Step]) -> bool:
        if not way:
            return False
        self._taken_out.add(self._name(way))
        container, last = self._at(way[:-1]), way[-1]
        if isinstance(container, list) and isinstance(last, int):
            del self._numbers_of(container, way[:-1])[last], container[last]
        elif isinstance(container, dict):
            del container[last]
        return True

    def _numbers_of(self, items: list[Tree], way: Sequence[Step]) -> list[int]:
        numbers = self._numbers.get(id(items))
        if numbers is None:
            name = self._name(way)
            numbers = self._numbers[id(items)] = list(range(len(items)))
            self._problems.renumber(name, numbers)
        return numbers

    def _at(self, way: Sequence[Step]) -> Tree:
        value = self._tree
        for step in way:
            value = _inside(value, step)
        return value

    def _name(self, way: Sequence[Step]) -> str:
        """The path as it is in the file, where no list has lost an item."""
        name, value = self._path, self._tree
        for step in way:
            numbers = self._numbers.get(id(value))
            name = joined(name, numbers[step] if numbers and isinstance(step, int) else step)
            value = _inside(value, step)
        return name


def _inside(value: Tree, step: Step) -> Tree:
    if isinstance(value, list) and isinstance(step, int):
        return value[step]
    return value.get(step) if isinstance(value, dict) else None


def _fields(kind: type[msgspec.Struct], way: Sequence[Step]) -> list[str]:
    """The fields that a mapping at this place may have."""
    info: inspect.Type = inspect.type_info(kind)
    for step in way:
        match info:
            case inspect.StructType(fields=fields):
                info = next(field.type for field in fields if field.encode_name == step)
            case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
                info = item
        if isinstance(info, inspect.UnionType):
            info = next(option for option in info.types if not isinstance(option, inspect.NoneType))
    return [field.encode_name for field in info.fields] if isinstance(info, inspect.StructType) else []


def _words(expected: str) -> str:
    return " or ".join(_WORDS.get(word, word) for word in expected.split(" | ") if word != "null")
