"""Results of a rule over all rows, kept per row key and refreshed only for the rows that changed since."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.framework import Facet, Status

# What one rule may keep, over all its row keys.
_MOST_BYTES = 64 * 2**20
_FEWEST_KEPT = 16
# So many changed rows are looked up by their amounts; for more, computing all at once is quicker.
_FEW = 24
_MOST_AMOUNTS = 4096

S = TypeVar("S", np.int64, np.int16)


@dataclass(slots=True)
class Kept(Generic[S]):
    """Values by row number, as of two positions in the table's journals. A filter's codes mean positions in `statuses`.
    `of_amounts` are the values of rows by what is allocatable and requested there, for rules that read nothing else.
    """

    values: NDArray[S]
    node_position: int
    usage_position: int
    statuses: list[Status] = field(default_factory=list)
    codes: dict[Status, int] = field(default_factory=dict)
    of_amounts: dict[Hashable, S] = field(default_factory=dict)


class RowCache(Generic[S]):
    """The kept results of one rule; the longest unused go when there are too many."""

    def __init__(self, table: NodeTable, facets: Facet, dtype: type[S]) -> None:
        self.reads_usage = bool(facets & (Facet.USAGE | Facet.AMOUNTS))
        self._reads_amounts_only = facets == Facet.AMOUNTS
        self._table = table
        self._dtype: type[S] = dtype
        self._kept: OrderedDict[Hashable, Kept[S]] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[[Rows, Kept[S]], NDArray[S]]) -> Kept[S]:
        """Up-to-date results for a key; `compute` is called for the rows that need it, if any."""
        kept = self.known(key)
        if kept is not None:
            return kept
        kept = self._kept.get(key)
        changed = None if kept is None else self._changed(kept)
        if kept is None or changed is None:
            return self._afresh(key, compute)
        rows = self._table.in_use(changed)
        kept.values[rows] = values = compute(Rows(self._table, rows, self._table), kept)
        if self._reads_amounts_only and len(rows) <= _FEW:
            self._remember(kept, rows.tolist(), values)
        self._stamp(kept)
        return kept

    def known(self, key: Hashable) -> Kept[S] | None:
        """Up-to-date results for a key, if nothing has to be computed for that."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        self._kept.move_to_end(key)
        changed = self._changed(kept)
        if changed is None or (changed and not self._recall(kept, changed)):
            return None
        self._stamp(kept)
        return kept

    def _changed(self, kept: Kept[S]) -> set[int] | None:
        """The rows that have to be looked at again; None for all."""
        if len(kept.values) != self._table.capacity:
            return None
        # A row that was freed and taken by another node shows in the node journal.
        usage = kept.usage_position if self.reads_usage else self._table.usage_journal.position
        return self._table.changed_since(kept.node_position, usage)

    def _recall(self, kept: Kept[S], rows: set[int]) -> bool:
        """Whether the values of all these rows are known from rows that were like them; they are then in place."""
        table = self._table
        if not self._reads_amounts_only or len(rows) > _FEW:
            return not any(table.infos[row] is not None for row in rows)
        for row in rows:
            if table.infos[row] is not None:
                value = kept.of_amounts.get(table.amounts(row))
                if value is None:
                    return False
                kept.values[row] = value
        return True

    def _remember(self, kept: Kept[S], rows: Iterable[int], values: NDArray[S]) -> None:
        if len(kept.of_amounts) > _MOST_AMOUNTS:
            kept.of_amounts.clear()
        for row, value in zip(rows, values, strict=True):
            kept.of_amounts[self._table.amounts(row)] = value

    def _afresh(self, key: Hashable, compute: Callable[[Rows, Kept[S]], NDArray[S]]) -> Kept[S]:
        kept: Kept[S] = Kept(np.zeros(self._table.capacity, self._dtype), 0, 0)
        rows = Rows.everything(self._table)
        kept.values[rows.index] = compute(rows, kept)
        self._stamp(kept)
        self._kept[key] = kept
        limit = max(_FEWEST_KEPT, _MOST_BYTES // kept.values.nbytes)
        while len(self._kept) > limit:
            self._kept.popitem(last=False)
        return kept

    def _stamp(self, kept: Kept[S]) -> None:
        kept.node_position = self._table.node_journal.position
        kept.usage_position = self._table.usage_journal.position
