"""A set of node rows as the rules see it: the `NodeRows` of the framework over a node table."""

from collections.abc import Collection, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler.api import Disk
from scheduler.cache.nodes import NodeTable
from scheduler.framework import CPU, MEMORY, BoolArray, HostPort, IntArray, NodeInfo, PodCount
from scheduler.matching import NodeSelector, NodeSelectorTerm, Operator, Requirement, Toleration, untolerated

Scalar = TypeVar("Scalar", bound=np.generic)


class Rows:
    """Some rows of a table, in the order of `index`, which is ascending. `cluster` is the table that whole-cluster questions
    are about, which differs from `table` when the rows are hypothetical.
    """

    __slots__ = ("_slice", "cluster", "index", "table")

    def __init__(self, table: NodeTable, index: IntArray, cluster: NodeTable) -> None:
        self.table = table
        self.index = index
        self.cluster = cluster
        # Rows 0..n-1 in order, the usual case, are read as views instead of copies.
        whole = index is table.live() and (len(index) == 0 or int(index[-1]) == len(index) - 1)
        self._slice = slice(0, len(index)) if whole else None

    @staticmethod
    def everything(table: NodeTable) -> "Rows":
        """All nodes of a table."""
        return Rows(table, table.live(), table)

    def __len__(self) -> int:
        return len(self.index)

    def take(self, column: NDArray[Scalar]) -> NDArray[Scalar]:
        """The entries of a column (by row number) that belong to this set."""
        return column[self._slice] if self._slice is not None else column[self.index]

    def subset(self, positions: IntArray) -> "Rows":
        """The rows at these positions of this set."""
        return Rows(self.table, self.index[positions], self.cluster)

    def names(self) -> Sequence[str]:
        """Node names."""
        return [self.table.info(row).name for row in self.index.tolist()]

    def position_of(self, name: str) -> int | None:
        """Where in this set the node of this name is."""
        row = self.table.row_of(name)
        if row is None:
            return None
        position = int(np.searchsorted(self.index, row))
        return position if position < len(self.index) and int(self.index[position]) == row else None

    def positions_of(self, names: Collection[str]) -> list[int]:
        """Where in this set the nodes of these names are, -1 for those that are not in it."""
        if not len(self.index):
            return [-1] * len(names)
        rows = np.fromiter(
            (-1 if (row := self.table.row_of(name)) is None else row for name in names), np.int64, len(names)
        )
        positions = np.minimum(np.searchsorted(self.index, rows), len(self.index) - 1)
        found: list[int] = np.where(self.index[positions] == rows, positions, -1).tolist()
        return found

    def node(self, position: int) -> NodeInfo:
        """The node at this position."""
        return self.table.info(int(self.index[position]))

    def allocatable(self, resource: str) -> IntArray:
        """Allocatable of a resource."""
        return self.take(self.table.allocatable.get(resource))

    def requested(self, resource: str) -> IntArray:
        """Requested of a resource."""
        return self.take(self.table.requested.get(resource))

    def nonzero_requested(self, resource: str) -> IntArray:
        """Requested, with defaults for cpu and memory."""
        columns = self.table.nonzero if resource in (CPU, MEMORY) else self.table.requested
        return self.take(columns.get(resource))

    def unschedulable(self) -> BoolArray:
        """Cordoned nodes."""
        return np.not_equal(self.take(self.table.cordoned), 0)

    def named(self, name: str) -> BoolArray:
        """Where the node has this name."""
        row = self.table.row_of(name)
        return np.equal(self.index, -1 if row is None else row)

    def meets(self, requirement: Requirement) -> BoolArray:
        """Where a label requirement holds."""
        column = self.table.label(requirement.key)
        ids = self.take(column.ids)
        match requirement.operator:
            case Operator.IN:
                return np.isin(ids, [column.id_of(value) for value in requirement.values])
            case Operator.NOT_IN:
                return np.isin(ids, [column.id_of(value) for value in requirement.values], invert=True)
            case Operator.EXISTS:
                return np.not_equal(ids, 0)
            case Operator.DOES_NOT_EXIST:
                return np.equal(ids, 0)
            case _:
                return column.where(requirement.accepts, ids)

    def matching(self, selector: NodeSelector) -> BoolArray:
        """Where a node selector matches."""
        matches = np.zeros(len(self), np.bool_)
        for term in selector.terms:
            matches |= self.matching_term(term)
        return matches

    def matching_term(self, term: NodeSelectorTerm) -> BoolArray:
        """Where one term matches."""
        if not term.expressions and not term.fields:
            return np.zeros(len(self), np.bool_)
        matches = np.ones(len(self), np.bool_)
        for requirement in term.expressions:
            matches &= self.meets(requirement)
        for requirement in term.fields:
            matches &= self._names_meet(requirement)
        return matches

    def _names_meet(self, requirement: Requirement) -> BoolArray:
        """metadata.name, the only field; In with one value and NotIn with one value are all the API allows."""
        if requirement.operator in (Operator.IN, Operator.NOT_IN):
            rows = [-1 if (row := self.table.row_of(name)) is None else row for name in requirement.values]
            return np.isin(self.index, rows, invert=requirement.operator is Operator.NOT_IN)
        return np.fromiter((requirement.accepts(name) for name in self.names()), np.bool_, len(self))

    def untolerated(self, tolerations: tuple[Toleration, ...], effects: frozenset[str]) -> IntArray:
        """How many taints of these effects are not tolerated."""
        column = self.table.taints
        counts = np.fromiter(
            (
                len(untolerated((t for t in taints or () if t.effect in effects), tolerations))
                for taints in column.values
            ),
            np.int64,
            len(column.values),
        )
        return counts[self.take(column.ids)]

    def label_ids(self, key: str) -> IntArray:
        """A number for the value of a label; 0 where it is missing."""
        return self._in_cluster(self.cluster.label(key).ids)

    def pods_counted(self, count: PodCount) -> IntArray:
        """The count of each node."""
        return self.take(self.table.counts.column(count))

    def pods_more(self, count: PodCount) -> IntArray | None:
        """How much more each hypothetical row has than its node in the cluster."""
        more = self.table.counts.more(count)
        return None if more is None else self.take(more)

    def _in_cluster(self, column: NDArray[Scalar]) -> NDArray[Scalar]:
        """The entries of a column of the whole cluster that belong to the nodes of this set."""
        if self.table is self.cluster:
            return self.take(column)
        return column[[self.cluster.known_row(name) for name in self.names()]]

    def port_conflicts(self, ports: tuple[HostPort, ...]) -> BoolArray:
        """Where a host port is taken."""
        return self.take(self.table.ports.conflicts(ports, self.table.capacity))

    def hypothetical(self) -> bool:
        """Whether the table is a scratch table."""
        return self.table is not self.cluster

    def node_version(self) -> int:
        """How many changes there have been to nodes."""
        return self.cluster.node_journal.position

    def generations(self) -> IntArray:
        """Generations of the rows."""
        return self.take(self.table.generation)

    def claim_users(self, namespace: str, claim: str) -> IntArray:
        """Uses of a claim in the cluster with only this row replaced."""
        key = (namespace, claim)
        elsewhere = self.cluster.volumes.users(key)
        total = sum(elsewhere.values())
        if self.table is self.cluster:
            return np.full(len(self), total, np.int64)
        here = self.table.volumes.users(key)
        counts = np.full(len(self), total, np.int64)
        for position, row in enumerate(self.index.tolist()):
            home = self.cluster.row_of(self.table.info(row).name)
            counts[position] += here.get(row, 0) - (elsewhere.get(home, 0) if home is not None else 0)
        return counts

    def claims_at(self, position: int) -> Collection[tuple[str, str]]:
        """The claims in use on a node."""
        return self.table.volumes.claims_on(int(self.index[position]))

    def disks_at(self, position: int) -> Collection[Disk]:
        """The in-tree disks in use on a node."""
        return self.table.volumes.disks_on(int(self.index[position]))

    def disk_conflicts(self, disks: Collection[Disk]) -> BoolArray:
        """Where a disk is taken."""
        return self.take(self.table.volumes.conflicts(disks, self.table.capacity))

    def labels(self, key: str) -> tuple[IntArray, Sequence[str | None]]:
        """A label's values, interned."""
        column = self.table.label(key)
        return self.take(column.ids), column.values

    def declaring(self, features: frozenset[str]) -> BoolArray:
        """Where all of these features are declared."""
        column = self.table.features
        return column.where(lambda declared: features <= (declared or frozenset()), self.take(column.ids))

    def image_size(self, image: str) -> IntArray:
        """Size of an image where it is."""
        return self.take(self.table.images.sizes(image, self.table.capacity))

    def image_spread(self, image: str) -> int:
        """How many nodes hold the image."""
        return self.cluster.images.spread(image)

    def node_total(self) -> int:
        """How many nodes there are."""
        return len(self.cluster)
