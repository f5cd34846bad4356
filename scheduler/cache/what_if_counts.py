"""Counts of hypothetical rows: those of the table they were copied from, and what came and went since."""

from collections.abc import Collection
from typing import Protocol

import numpy as np

from scheduler.framework import IntArray, PodCount, PodInfo, TermKind


class CountSource(Protocol):
    """Where counts come from: a table of real nodes, or a hypothetical one made of it."""

    def column(self, count: PodCount) -> IntArray:
        """The numbers by row."""

    def more(self, count: PodCount) -> IntArray | None:
        """How much more each row has than in the cluster; None if the rows are the cluster's."""

    def topology_keys(self, kind: TermKind) -> Collection[str]:
        """The topology keys in terms of a kind that pods in the cluster have."""


class WhatIfCounts:
    """Nothing is counted until somebody asks: most pods do not care about others."""

    def __init__(self, base: CountSource, rows: IntArray) -> None:
        self._base = base
        self._rows = rows
        self._changes: list[tuple[int, PodInfo, int]] = []

    def add(self, row: int, pod: PodInfo) -> None:
        """A pod came to a row."""
        self._changes.append((row, pod, 1))

    def remove(self, row: int, pod: PodInfo) -> None:
        """A pod left a row."""
        self._changes.append((row, pod, -1))

    def column(self, count: PodCount) -> IntArray:
        """The numbers by row."""
        return self._base.column(count)[self._rows] + self._changed(count)

    def more(self, count: PodCount) -> IntArray:
        """How much more each row has than the same node has in the cluster."""
        before = self._base.more(count)
        changed = self._changed(count)
        return changed if before is None else before[self._rows] + changed

    def topology_keys(self, kind: TermKind) -> Collection[str]:
        """Those of the cluster: what is hypothetical makes no new ones."""
        return self._base.topology_keys(kind)

    def grow(self, capacity: int) -> None:
        """Raises ValueError: a hypothetical table has the rows it was made of, and no others."""
        raise ValueError(f"found {capacity} rows, allowed: the {len(self._rows)} that were copied")

    def _changed(self, count: PodCount) -> IntArray:
        changed = np.zeros(len(self._rows), np.int64)
        for row, pod, sign in self._changes:
            changed[row] += sign * count.adds(pod.template, terminating=pod.terminating)
        return changed
