"""The node table: `NodeInfo` values and, beside them, columns; one row a node. Only this package knows the layout.

Rows are stable while a node lives and are used again afterwards. Rules read the table through `rows.Rows`.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from scheduler.cache.columns import IntColumns, InternedColumn, Journal, grown
from scheduler.cache.counts import PodCounts
from scheduler.cache.images import ImageIndex
from scheduler.cache.ports import PortIndex
from scheduler.cache.volumes import VolumeIndex
from scheduler.cache.what_if_counts import WhatIfCounts
from scheduler.framework import CPU, MEMORY, PODS, IntArray, Node, NodeInfo, PodInfo
from scheduler.matching import Taint

_FIRST_CAPACITY = 64


class NodeTable:
    """All nodes. `node_journal` tells which rows' node object changed, `usage_journal` on which rows pods came or
    went; `generation` is how many changes to either there had been when a row last changed.
    """

    def __init__(self) -> None:
        self.capacity = _FIRST_CAPACITY
        self.infos: list[NodeInfo | None] = [None] * self.capacity
        self.allocatable = IntColumns(self.capacity)
        self.requested = IntColumns(self.capacity)
        self.nonzero = IntColumns(self.capacity)
        self.cordoned: IntArray = np.zeros(self.capacity, np.int64)
        self.generation: IntArray = np.zeros(self.capacity, np.int64)
        self._changes = 0
        self.taints: InternedColumn[tuple[Taint, ...]] = InternedColumn(self.capacity)
        self.features: InternedColumn[frozenset[str]] = InternedColumn(self.capacity)
        self.ports = PortIndex()
        self.volumes = VolumeIndex()
        self.images = ImageIndex()
        self.counts: PodCounts | WhatIfCounts = PodCounts(self.capacity)
        self.node_journal = Journal()
        self.usage_journal = Journal()
        self._labels: dict[str, InternedColumn[str]] = {}
        self._row_of: dict[str, int] = {}
        self._unused = list(range(self.capacity - 1, -1, -1))
        self._live: IntArray | None = None
        self._borrowed: set[int] = set()
        self._amounts: dict[int, tuple[int, Hashable]] = {}

    def __len__(self) -> int:
        return len(self._row_of)

    def row_of(self, name: str) -> int | None:
        """The row of the node of this name."""
        return self._row_of.get(name)

    def known_row(self, name: str) -> int:
        """The row of a node that must be known."""
        return self._row_of[name]

    def info(self, row: int) -> NodeInfo:
        """The node on a row that is in use."""
        info = self.infos[row]
        if info is None:
            raise LookupError(f"row {row} holds no node")
        return info

    def by_name(self, name: str) -> NodeInfo | None:
        """The node of this name."""
        row = self._row_of.get(name)
        return None if row is None else self.infos[row]

    def live(self) -> IntArray:
        """The rows in use, ascending."""
        if self._live is None:
            self._live = np.array(sorted(self._row_of.values()), np.int64)
        return self._live

    def in_use(self, rows: Iterable[int]) -> IntArray:
        """Those of these rows that hold a node, ascending."""
        return np.array(sorted(row for row in rows if self.infos[row] is not None), np.int64)

    def amounts(self, row: int) -> Hashable:
        """All that is allocatable on a row and all that is requested, as one value; equal values mean equal amounts."""
        generation = int(self.generation[row])
        known = self._amounts.get(row)
        if known is None or known[0] != generation:
            columns = (*self.allocatable.columns(), *self.requested.columns(), *self.nonzero.columns())
            known = self._amounts[row] = (generation, tuple([column.item(row) for column in columns]))
        return known[1]

    def label(self, key: str) -> InternedColumn[str]:
        """The column of a label key; made when first asked for, kept up to date from then on."""
        column = self._labels.get(key)
        if column is None:
            column = self._labels[key] = InternedColumn(self.capacity)
            for name, row in self._row_of.items():
                info = self.infos[row]
                if info is not None and info.name == name:
                    column.set(row, info.node.labels.get(key))
        return column

    def put(self, node: Node) -> Node | None:
        """Add a node, or take over a change of it; its pods stay. Answers the node as it was."""
        row = self._row_of.get(node.name)
        if row is None:
            row = self._take_row()
            self._row_of[node.name] = row
            self._live = None
            self.infos[row] = NodeInfo(node)
            old = None
        else:
            info = self.info(row)
            old = info.node
            info.node = node
        self._write_node(row, old, node)
        self._note(self.node_journal, row)
        return old

    def remove(self, name: str) -> NodeInfo | None:
        """Take a node out, with its pods."""
        row = self._row_of.pop(name, None)
        if row is None:
            return None
        info = self.info(row)
        for pod in info.pods.values():
            self.ports.remove(row, pod.spec.host_ports)
            self.volumes.remove(row, pod)
            self.counts.remove(row, pod)
        self.images.drop(row, info.node.images)
        for columns in (self.allocatable, self.requested, self.nonzero):
            columns.clear_row(row)
        for column in self._labels.values():
            column.set(row, None)
        self.taints.set(row, None)
        self.features.set(row, None)
        self.cordoned[row] = 0
        self.infos[row] = None
        self._unused.append(row)
        self._live = None
        self._note(self.node_journal, row)
        return info

    def changed_since(self, node_position: int, usage_position: int) -> set[int] | None:
        """The rows whose node or whose pods changed after these positions of the journals; None if that is not known any more."""
        rows = self.node_journal.since(node_position)
        more = self.usage_journal.since(usage_position)
        return None if rows is None or more is None else rows | more

    def add_pod(self, name: str, pod: PodInfo) -> None:
        """Count a pod on the node of this name, which must be known."""
        row = self._row_of[name]
        info = self._come(row, pod)
        self._write_usage(row, info, pod)

    def remove_pod(self, name: str, uid: str) -> PodInfo:
        """Count a pod no more on the node of this name, which must hold it."""
        row = self._row_of[name]
        pod = self.info(row).pods[uid]
        info = self._go(row, pod)
        self._write_usage(row, info, pod)
        return pod

    def add_pods(self, pods: Iterable[tuple[int, PodInfo]]) -> None:
        """Count many pods at once, each on a row; for what-if questions about many nodes."""
        self._write_usages([(row, pod, self._come(row, pod)) for row, pod in pods])

    def remove_pods(self, pods: Iterable[tuple[int, PodInfo]]) -> None:
        """Count many pods no more, each on the row that holds it."""
        self._write_usages([(row, pod, self._go(row, pod)) for row, pod in pods])

    def scratch(self, rows: IntArray) -> "NodeTable":
        """A table of its own with copies of some rows, renumbered in this order, for what-if questions.

        Pods may come and go there. Its nodes stay as they are: what is known of them is shared where it can be.
        """
        copy = NodeTable()
        copy.capacity = len(rows)
        copy.infos = [self.infos[row] for row in rows.tolist()]
        copy._borrowed = set(range(len(rows)))
        copy._row_of = {info.node.name: row for row, info in enumerate(copy.infos) if info is not None}
        copy.allocatable, copy.requested, copy.nonzero = (
            columns.at(rows) for columns in (self.allocatable, self.requested, self.nonzero)
        )
        copy.cordoned, copy.generation = self.cordoned[rows], self.generation[rows]
        copy.taints = self.taints.at(rows)
        copy.ports = self.ports.at(rows)
        copy.volumes = self.volumes.at(rows)
        copy.features = self.features.at(rows)
        copy.images = self.images.at(rows, self.capacity)
        copy.counts = WhatIfCounts(self.counts, rows)
        copy._labels = {key: column.at(rows) for key, column in self._labels.items()}
        copy._unused = []
        copy._changes = self._changes
        return copy

    # A pod comes or goes: first the exact sums of the node, then the columns, which hold at most an int64, whatever users write
    # into their pods.

    def _come(self, row: int, pod: PodInfo) -> NodeInfo:
        info = self._own(row)
        info.pods[pod.uid] = pod
        self.ports.add(row, pod.spec.host_ports)
        self.volumes.add(row, pod)
        self.counts.add(row, pod)
        _tally(info, pod, 1)
        return info

    def _go(self, row: int, pod: PodInfo) -> NodeInfo:
        info = self._own(row)
        del info.pods[pod.uid]
        self.ports.remove(row, pod.spec.host_ports)
        self.volumes.remove(row, pod)
        self.counts.remove(row, pod)
        _tally(info, pod, -1)
        return info

    def _own(self, row: int) -> NodeInfo:
        """The node of a row, to be changed: a scratch table copies what it changes."""
        info = self.info(row)
        if row in self._borrowed:
            self._borrowed.discard(row)
            info = self.infos[row] = replace(info, pods=dict(info.pods), requested=dict(info.requested))
        return info

    def _write_usage(self, row: int, info: NodeInfo, pod: PodInfo) -> None:
        for resource in pod.usage.amounts:
            self.requested.set(resource, row, info.requested[resource])
        self.requested.set(PODS, row, len(info.pods))
        self.nonzero.set(CPU, row, info.nonzero_cpu)
        self.nonzero.set(MEMORY, row, info.nonzero_memory)
        self._note(self.usage_journal, row)

    def _write_usages(self, changes: Sequence[tuple[int, PodInfo, NodeInfo]]) -> None:
        """The same for many rows, column by column."""
        by_row = {row: info for row, _, info in changes}
        rows, infos = np.fromiter(by_row, np.int64, len(by_row)), list(by_row.values())
        for resource in {resource for _, pod, _ in changes for resource in pod.usage.amounts}:
            self.requested.set_all(resource, rows, [info.requested.get(resource, 0) for info in infos])
        self.requested.set_all(PODS, rows, [len(info.pods) for info in infos])
        self.nonzero.set_all(CPU, rows, [info.nonzero_cpu for info in infos])
        self.nonzero.set_all(MEMORY, rows, [info.nonzero_memory for info in infos])
        for row in by_row:
            self._note(self.usage_journal, row)

    def _note(self, journal: Journal, row: int) -> None:
        journal.note(row, self.capacity)
        self._changes += 1
        self.generation[row] = self._changes

    def _write_node(self, row: int, old: Node | None, node: Node) -> None:
        for resource in (old.allocatable if old else {}).keys() - node.allocatable.keys():
            self.allocatable.set(resource, row, 0)
        for resource, amount in node.allocatable.items():
            self.allocatable.set(resource, row, amount)
        for key, column in self._labels.items():
            column.set(row, node.labels.get(key))
        self.taints.set(row, node.taints or None)
        self.features.set(row, node.declared_features or None)
        self.cordoned[row] = node.unschedulable
        if old is None or old.images != node.images:
            self.images.drop(row, old.images if old else ())
            self.images.put(row, node.images)

    def _take_row(self) -> int:
        if not self._unused:
            self._grow()
        return self._unused.pop()

    def _grow(self) -> None:
        old, self.capacity = self.capacity, 2 * self.capacity
        self.infos.extend([None] * old)
        for columns in (self.allocatable, self.requested, self.nonzero):
            columns.grow(self.capacity)
        for column in self._labels.values():
            column.grow(self.capacity)
        self.taints.grow(self.capacity)
        self.features.grow(self.capacity)
        self.counts.grow(self.capacity)
        self.cordoned = grown(self.cordoned, self.capacity)
        self.generation = grown(self.generation, self.capacity)
        self._unused.extend(range(self.capacity - 1, old - 1, -1))


def _tally(info: NodeInfo, pod: PodInfo, sign: int) -> None:
    usage, requested = pod.usage, info.requested
    for resource, amount in usage.amounts.items():
        requested[resource] = requested.get(resource, 0) + sign * amount
    info.nonzero_cpu += sign * usage.nonzero_cpu
    info.nonzero_memory += sign * usage.nonzero_memory
