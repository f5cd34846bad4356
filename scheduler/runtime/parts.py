"""One row rule's part in a standing: its kept results, brought up to date through the guard."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.rows import Rows
from scheduler.framework import CycleState, PodInfo, RowRule, Status
from scheduler.runtime.guard import Guard
from scheduler.runtime.row_cache import Kept, RowCache

S = TypeVar("S", np.int64, np.int16)
Compute = Callable[[CycleState, PodInfo, Rows, Kept[S]], NDArray[S]]


class KeptPart(Generic[S]):
    """A rule for pods with one row key. `kept` is None until the first `refresh`; `point` is the extension point for reports."""

    def __init__(self, plugin: RowRule, point: str, compute: Compute[S], cache: RowCache[S], key: Hashable) -> None:
        self.plugin = plugin
        self.point = point
        self.reads_usage = cache.reads_usage
        self.kept: Kept[S] | None = None
        self._compute: Compute[S] = compute
        self._cache: RowCache[S] = cache
        self._key = key

    def refresh(self, guard: Guard, state: CycleState, pod: PodInfo) -> bool | Status:
        """Whether the results are the same ones, brought up to date (False: made afresh); a status if the rule failed."""
        kept: Kept[S] | Status | None = self._cache.known(self._key)
        if kept is None:
            compute = partial(self._compute, state, pod)
            kept = guard.call(self.plugin, self.point, Kept, partial(self._cache.get, self._key, compute))
        if isinstance(kept, Status):
            return kept
        same = kept is self.kept
        self.kept = kept
        return same

    def values(self) -> NDArray[S]:
        """The results by row number."""
        if self.kept is None:
            raise LookupError(f"{self.plugin.name} has not been asked yet")
        return self.kept.values
