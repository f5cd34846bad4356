"""Finds the standing that a pod belongs to: pods that no row rule can tell apart share one."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.framework import PodInfo, PodTemplate, RowFilter, RowRule
from scheduler.runtime.guard import Guard
from scheduler.runtime.row_cache import RowCache
from scheduler.runtime.standing import FilterPart, Standing

KeptFilter: TypeAlias = "tuple[RowFilter, RowCache[np.int16]]"

# What the standings of one profile may take, at two numbers for each row, and how many there may always be.
_MOST_BYTES = 64 * 2**20
_BYTES_A_ROW = 16
_FEWEST = 16
# One filter is not worth joining.
_FEWEST_FILTERS = 2


def keys_of(rules: Sequence[RowRule], pod: PodInfo) -> tuple[Hashable, ...]:
    """What the first of these rules read of a pod, up to the first of which nothing is kept."""
    keys: list[Hashable] = []
    for rule in rules:
        try:
            key = rule.row_key(pod.template)
            hash(key)
        except Exception:  # noqa: BLE001  a plugin's fault is reported where the rule itself is run
            break
        if key is None:
            break
        keys.append(key)
    return tuple(keys)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the pods of a template belong, for these filters and as of a position of the node journal: `keys` of the first
    filters, of which the first `node_filters` look at nothing but nodes; and what their standings are found under.
    """

    nodes: int
    filters: Sequence[KeptFilter]
    keys: tuple[Hashable, ...]
    node_filters: int
    whole: Hashable
    of_nodes: Hashable


class Standings:
    """The standings of a profile; the longest unused go when there are too many.

    A pod that comes alone gains nothing by one, so a standing is made when the second pod of its kind comes. Until then it shares
    one of the first filters with all pods that are alike in what these read of nodes, whatever they request.
    """

    def __init__(self, table: NodeTable, part: Callable[[KeptFilter, Hashable], FilterPart], guard: Guard) -> None:
        self._table = table
        self._part = part
        self._guard = guard
        self._places: OrderedDict[PodTemplate, Place] = OrderedDict()
        self._standings: OrderedDict[Hashable, Standing | None] = OrderedDict()

    def find(self, filters: Sequence[KeptFilter], pod: PodInfo) -> Standing | None:
        """A standing of the first of these filters, as many as can have one; None if it is not worth while."""
        place = self._place(filters, pod)
        if len(place.keys) < _FEWEST_FILTERS:
            return None
        return self._find(place, place.whole, len(place.keys)) or self._find(place, place.of_nodes, place.node_filters)

    def reads(self, filters: Sequence[KeptFilter], pod: PodInfo) -> Hashable | None:
        """What all of these filters read of a pod; None if of one nothing is kept."""
        place = self._place(filters, pod)
        return place.whole if len(place.keys) == len(filters) else None

    def _find(self, place: Place, key: Hashable, size: int) -> Standing | None:
        if size < _FEWEST_FILTERS:
            return None
        if key not in self._standings:
            self._standings[key] = None
            _trim(self._standings, self._most())
            return None
        self._standings.move_to_end(key)
        standing = self._standings[key]
        if standing is None:
            parts = [self._part(kept, key) for kept, key in zip(place.filters[:size], place.keys, strict=False)]
            standing = self._standings[key] = Standing(self._table, parts, self._guard)
        return standing

    def _place(self, filters: Sequence[KeptFilter], pod: PodInfo) -> Place:
        nodes = self._table.node_journal.position
        place = self._places.get(pod.template)
        if place is None or place.nodes != nodes or place.filters is not filters:
            keys = keys_of([rule for rule, _ in filters], pod)
            place = self._places[pod.template] = _place(nodes, filters, keys)
            _trim(self._places, self._most())
        return place

    def _most(self) -> int:
        return max(_FEWEST, _MOST_BYTES // (self._table.capacity * _BYTES_A_ROW))


def _place(nodes: int, filters: Sequence[KeptFilter], keys: tuple[Hashable, ...]) -> Place:
    named = tuple((rule.name, key) for (rule, _), key in zip(filters, keys, strict=False))
    node_filters = 0
    for _, cache in filters[: len(keys)]:
        if cache.reads_usage:
            break
        node_filters += 1
    return Place(nodes, filters, keys, node_filters, named, named[:node_filters])


def _trim(kept: "OrderedDict[PodTemplate, Place] | OrderedDict[Hashable, Standing | None]", most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
