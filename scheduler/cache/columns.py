"""Growable columns of the node table: integers, interned values, and the journal of changed rows."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from scheduler.framework import BoolArray, IntArray

INT64_MAX = 2**63 - 1


def grown(array: IntArray, capacity: int) -> IntArray:
    """The array with room for `capacity` rows, zero in the new ones."""
    larger = np.zeros(capacity, array.dtype)
    larger[: len(array)] = array
    return larger


class IntColumns:
    """One int64 column per resource name, all of the same length; a resource nobody has is all zero."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._zero = np.zeros(capacity, np.int64)
        self._zero.flags.writeable = False
        self._columns: dict[str, IntArray] = {}

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self._capacity = capacity
        self._zero = np.zeros(capacity, np.int64)
        self._zero.flags.writeable = False
        self._columns = {name: grown(column, capacity) for name, column in self._columns.items()}

    def get(self, name: str) -> IntArray:
        """The column of a resource, to read."""
        return self._columns.get(name, self._zero)

    def set(self, name: str, row: int, value: int) -> None:
        """Store one amount; more than an int64 holds is held as the largest."""
        self._writable(name)[row] = min(value, INT64_MAX)

    def set_all(self, name: str, rows: IntArray, values: Sequence[int]) -> None:
        """Store the amounts of several rows."""
        try:
            held = np.array(values, np.int64)
        except OverflowError:
            held = np.array([min(value, INT64_MAX) for value in values], np.int64)
        self._writable(name)[rows] = held

    def at(self, rows: IntArray) -> "IntColumns":
        """A copy of some rows, renumbered in this order."""
        copy = IntColumns(len(rows))
        copy._columns = {name: column[rows] for name, column in self._columns.items()}
        return copy

    def clear_row(self, row: int) -> None:
        """Set all amounts of a row to zero."""
        for column in self._columns.values():
            column[row] = 0

    def names(self) -> list[str]:
        """The resources that have a column."""
        return list(self._columns)

    def columns(self) -> Iterable[IntArray]:
        """The columns, in the order in which they came; there are ever more of them, never fewer."""
        return self._columns.values()

    def _writable(self, name: str) -> IntArray:
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = np.zeros(self._capacity, np.int64)
        return column


V = TypeVar("V", bound=Hashable)


class InternedColumn(Generic[V]):
    """A column of values of which few are distinct: rows hold small ids; id 0 means that the row has no value.

    Ids whose last row is gone are used again, so that a column stays as small as what is in use.
    """

    def __init__(self, capacity: int) -> None:
        self.ids: IntArray = np.zeros(capacity, np.int64)
        self.values: list[V | None] = [None]
        self._id_of: dict[V, int] = {}
        self._uses: list[int] = [0]
        self._unused: list[int] = []

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.ids = grown(self.ids, capacity)

    def set(self, row: int, value: V | None) -> None:
        """Store the value of a row."""
        old = int(self.ids[row])
        new = 0 if value is None else self._intern(value)
        if new == old:
            return
        self.ids[row] = new
        if new:
            self._uses[new] += 1
        if old:
            self._release(old)

    def at(self, rows: IntArray) -> "InternedColumn[V]":
        """Some rows, renumbered in this order, to read: the values are shared."""
        copy: InternedColumn[V] = InternedColumn(0)
        copy.ids = self.ids[rows]
        copy.values = self.values
        copy._id_of = self._id_of
        return copy

    def id_of(self, value: V) -> int:
        """The id of a value, or -1 if no row has it."""
        return self._id_of.get(value, -1)

    def where(self, accepts: Callable[[V | None], bool], ids: IntArray) -> BoolArray:
        """For each of these ids whether its value is accepted; asks once per distinct value."""
        verdicts = np.fromiter((accepts(value) for value in self.values), np.bool_, len(self.values))
        return verdicts[ids]

    def _intern(self, value: V) -> int:
        known = self._id_of.get(value)
        if known is not None:
            return known
        if self._unused:
            fresh = self._unused.pop()
            self.values[fresh] = value
        else:
            fresh = len(self.values)
            self.values.append(value)
            self._uses.append(0)
        self._id_of[value] = fresh
        return fresh

    def _release(self, identifier: int) -> None:
        self._uses[identifier] -= 1
        if self._uses[identifier]:
            return
        value = self.values[identifier]
        if value is not None:
            del self._id_of[value]
        self.values[identifier] = None
        self._unused.append(identifier)


class Journal:
    """The rows that changed, in order, so that whoever keeps results can refresh just those.

    A reader remembers `position` and later asks `since` it. What nobody can need any more is dropped; a reader that comes too
    late is told None and starts afresh.
    """

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._dropped = 0

    @property
    def position(self) -> int:
        """How many changes there have been."""
        return self._dropped + len(self._rows)

    def note(self, row: int, limit: int) -> None:
        """Record a change; at most `limit` changes are kept, for a reader that is further behind sees all rows anyway."""
        self._rows.append(row)
        if len(self._rows) > 2 * limit:
            del self._rows[:limit]
            self._dropped += limit

    def since(self, position: int) -> set[int] | None:
        """The rows that changed after this position; None if they are not known any more."""
        start = position - self._dropped
        return None if start < 0 else set(self._rows[start:])
