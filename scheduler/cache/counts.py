"""How many pods of a kind are on each row, for every kind that somebody asks about; kept up to date as pods come and go.

Pods of one template are one group: a count is worked out once for the group, and a pod that comes or goes changes the columns
that its group adds to. No count is made by walking all pods: a new column adds up groups, and only those that may matter to it.
"""

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from scheduler.cache.columns import grown
from scheduler.framework import IntArray, PodCount, PodInfo, PodTemplate, TermKind

# What the columns of a table may take, and how many there may always be.
_MOST_BYTES = 64 * 2**20
_FEWEST = 64

GroupKey = tuple[PodTemplate, bool]


@dataclass(slots=True, eq=False)
class Column:
    """The numbers by row. One that was dropped is no longer added to."""

    numbers: IntArray
    dropped: bool = False


@dataclass(slots=True, eq=False)
class Group:
    """The pods of one template, or those of them that are being deleted: how many on each row, and what each adds to which
    column.
    """

    template: PodTemplate
    terminating: bool
    rows: dict[int, int] = field(default_factory=dict)
    adds: list[tuple[Column, int]] = field(default_factory=list)

    def adds_to(self, count: PodCount) -> int:
        """What each of the pods adds to a count."""
        return count.adds(self.template, terminating=self.terminating)


class PodCounts:
    """The counts of one node table."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._groups: dict[GroupKey, Group] = {}
        self._by_namespace: dict[str, dict[GroupKey, Group]] = {}
        self._by_kind: dict[TermKind, dict[GroupKey, Group]] = {kind: {} for kind in TermKind}
        self._keys: dict[TermKind, Counter[str]] = {kind: Counter() for kind in TermKind}
        self._columns: OrderedDict[PodCount, Column] = OrderedDict()

    def add(self, row: int, pod: PodInfo) -> None:
        """A pod came to a row."""
        group = self._groups.get((pod.template, pod.terminating)) or self._new_group(pod)
        group.rows[row] = group.rows.get(row, 0) + 1
        for column, number in group.adds:
            column.numbers[row] += number

    def remove(self, row: int, pod: PodInfo) -> None:
        """A pod left a row."""
        group = self._groups[pod.template, pod.terminating]
        left = group.rows[row] - 1
        if left:
            group.rows[row] = left
        else:
            del group.rows[row]
        for column, number in group.adds:
            column.numbers[row] -= number
        if not group.rows:
            self._drop_group(group)

    def topology_keys(self, kind: TermKind) -> Collection[str]:
        """The topology keys in the terms of a kind that pods have."""
        return self._keys[kind].keys()

    def column(self, count: PodCount) -> IntArray:
        """The numbers by row, to read."""
        column = self._columns.get(count)
        if column is None:
            column = self._columns[count] = self._new_column(count)
            self._trim()
        else:
            self._columns.move_to_end(count)
        return column.numbers

    def more(self, count: PodCount) -> IntArray | None:  # noqa: ARG002
        """These rows are the cluster's."""
        return None

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self._capacity = capacity
        for column in self._columns.values():
            column.numbers = grown(column.numbers, capacity)

    def validate(self, pods: Iterable[tuple[int, PodInfo]]) -> None:
        """Compare everything with a fresh count; AssertionError names the first difference."""
        fresh = PodCounts(self._capacity)
        for row, pod in pods:
            fresh.add(row, pod)
        mine, theirs = ({key: g.rows for key, g in counts._groups.items()} for counts in (self, fresh))  # noqa: SLF001
        assert mine == theirs, "pods by template are counted wrongly"
        assert self._keys == fresh._keys, "topology keys in use are counted wrongly"
        for count, column in self._columns.items():
            assert (column.numbers == fresh.column(count)).all(), f"{count} is off"

    def _new_group(self, pod: PodInfo) -> Group:
        key = (pod.template, pod.terminating)
        group = self._groups[key] = Group(pod.template, pod.terminating)
        self._by_namespace.setdefault(pod.namespace, {})[key] = group
        for kind in TermKind:
            terms = pod.spec.pod_terms(kind)
            if terms:
                self._by_kind[kind][key] = group
                self._keys[kind].update(term.topology_key for term, _ in terms)
        for count, column in self._columns.items():
            number = group.adds_to(count)
            if number:
                group.adds.append((column, number))
        return group

    def _drop_group(self, group: Group) -> None:
        key = (group.template, group.terminating)
        del self._groups[key]
        in_namespace = self._by_namespace[group.template.namespace]
        del in_namespace[key]
        if not in_namespace:
            del self._by_namespace[group.template.namespace]
        for kind in TermKind:
            if self._by_kind[kind].pop(key, None) is not None:
                keys = self._keys[kind]
                keys.subtract(term.topology_key for term, _ in group.template.spec.pod_terms(kind))
                self._keys[kind] = +keys

    def _new_column(self, count: PodCount) -> Column:
        column = Column(np.zeros(self._capacity, np.int64))
        for group in self._candidates(count):
            number = group.adds_to(count)
            if number:
                group.adds.append((column, number))
                for row, pods in group.rows.items():
                    column.numbers[row] += number * pods
        return column

    def _candidates(self, count: PodCount) -> Iterable[Group]:
        """The groups that may add to a count."""
        if count.carrying is not None:
            return self._by_kind[count.carrying].values()
        if count.namespaces is None:
            return self._groups.values()
        return [group for name in count.namespaces for group in self._by_namespace.get(name, {}).values()]

    def _trim(self) -> None:
        most = max(_FEWEST, _MOST_BYTES // (8 * self._capacity))
        if len(self._columns) <= most:
            return
        # Many at once, for every group has to be told.
        for _ in range(len(self._columns) - most // 2):
            _, column = self._columns.popitem(last=False)
            column.dropped = True
        for group in self._groups.values():
            group.adds = [(column, number) for column, number in group.adds if not column.dropped]
