"""A cluster in an engine, as plugins see it."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec
import numpy as np

from plugins.registry import BUILT_IN
from scheduler.api import ApiObject
from scheduler.cache.rows import Rows
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.framework import (
    SUCCESS,
    Action,
    ClusterEvent,
    Code,
    CycleState,
    EventResource,
    Node,
    NodeRows,
    Plugin,
    PodInfo,
    PreFilter,
    PreScore,
    RowFilter,
    RowScore,
    Status,
)
from scheduler.handle import PluginHandle
from scheduler.messages import NodeSeen, ObjectSeen, PodSeen
from scheduler.observer import Observer

P = TypeVar("P", bound=Plugin)


class Cluster:
    """Nodes with the pods that are bound to them (`node=` of the pod), and objects of other kinds."""

    def __init__(self, *nodes: Node, pods: Iterable[PodInfo] = (), objects: Iterable[ApiObject] = ()) -> None:
        engine = Engine(default(BUILT_IN), BUILT_IN, 0, Observer())
        for node in nodes:
            engine.handle(NodeSeen(node), 0.0)
        for pod in pods:
            engine.handle(PodSeen(pod), 0.0)
        for obj in objects:
            engine.handle(ObjectSeen(obj), 0.0)
        self.handle = PluginHandle(engine)

    @property
    def rows(self) -> NodeRows:
        """All nodes."""
        return self.handle.rows()

    def without(self, node: str, *pods: str) -> NodeRows:
        """One node as it would be without some of its pods, as preemption asks."""
        rows = self.rows
        assert isinstance(rows, Rows)
        row = rows.table.known_row(node)
        scratch = rows.table.scratch(np.array([row], np.int64))
        for name in pods:
            scratch.remove_pod(node, name)
        return Rows(scratch, scratch.live(), rows.table)

    def plugin(self, kind: type[P], **args: object) -> P:
        """A plugin, configured as in a file."""
        read = msgspec.convert(args, kind.Args)
        assert not list(read.problems())
        return kind(read, self.handle)

    def verdicts(self, plugin: RowFilter, pod: PodInfo, rows: NodeRows | None = None) -> dict[str, Status]:
        """The filter's verdict by node, of all or of these; every node passes where PreFilter skips, none where it refuses."""
        rows = rows or self.rows
        state = CycleState()
        said = plugin.pre_filter(state, pod).status if isinstance(plugin, PreFilter) else SUCCESS
        if said.code is Code.SKIP:
            return dict.fromkeys(rows.names(), SUCCESS)
        if not said.ok:
            return dict.fromkeys(rows.names(), said)
        answer = plugin.filter_rows(state, pod, rows)
        statuses = (SUCCESS, *answer.statuses)
        return {name: statuses[code] for name, code in zip(rows.names(), answer.codes.tolist(), strict=True)}

    def scores(self, plugin: RowScore, pod: PodInfo) -> dict[str, int] | None:
        """The normalised score by node; None where PreScore skips."""
        state = CycleState()
        if isinstance(plugin, PreScore) and plugin.pre_score(state, pod, self.rows).code is Code.SKIP:
            return None
        scores = plugin.normalize_scores(state, pod, plugin.score_rows(state, pod, self.rows))
        return dict(zip(self.rows.names(), scores.tolist(), strict=True))


def problems(kind: type[Plugin], **args: object) -> list[str]:
    """What is wrong with arguments of the right types."""
    return list(msgspec.convert(args, kind.Args).problems())


def wakes(plugin: Plugin, resource: EventResource, action: Action, pod: PodInfo, old: object, new: object) -> bool:
    """Whether an event wakes a pod that the plugin has refused."""
    event = ClusterEvent(resource, action, "")
    registrations = [r for r in plugin.events_to_register() if r.covers(event)]
    return any(r.hint is None or r.hint(pod, old, new) for r in registrations)
