"""Results of a rule over all rows, kept per row key and refreshed only for the rows that changed since."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
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

S = TypeVar("S", np.int64, np.int16)


@dataclass(slots=True)
class Kept(Generic[S]):
    """Values by row number, as of two positions in the table's journals. A filter's codes mean positions in `statuses`."""

    values: NDArray[S]
    node_position: int
    usage_position: int
    statuses: list[Status] = field(default_factory=list)
    codes: dict[Status, int] = field(default_factory=dict)


class RowCache(Generic[S]):
    """The kept results of one rule; the longest unused go when there are too many."""

    def __init__(self, table: NodeTable, facets: Facet, dtype: type[S]) -> None:
        self._table = table
        self._reads_usage = bool(facets & Facet.USAGE)
        self._dtype: type[S] = dtype
        self._kept: OrderedDict[Hashable, Kept[S]] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[[Rows, Kept[S]], NDArray[S]]) -> Kept[S]:
        """Up-to-date results for a key; `compute` is called for the rows that need it, if any."""
        kept = self._kept.get(key)
        if kept is None or len(kept.values) != self._table.capacity:
            return self._afresh(key, compute)
        self._kept.move_to_end(key)
        nodes, usage = kept.node_position, kept.usage_position
        if not self._reads_usage:
            # A row that was freed and taken by another node shows in the node journal.
            usage = self._table.usage_journal.position
        changed = self._table.changed_since(nodes, usage)
        if changed is None:
            return self._afresh(key, compute)
        rows = self._table.in_use(changed)
        if len(rows):
            kept.values[rows] = compute(Rows(self._table, rows, self._table), kept)
        self._stamp(kept)
        return kept

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
