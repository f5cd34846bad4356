"""All that the engine knows, in one place with one owner; what is observed changes it here.

The cycle decides over it, the engine feeds it. Nothing here calls a plugin's rule except through the queue.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from scheduler.api import ApiObject, Kind
from scheduler.cache.cache import Cache
from scheduler.cache.holds import NodeHolds
from scheduler.cache.objects import ObjectStore
from scheduler.changes import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
    node_changes,
    object_event,
    pod_changes,
)
from scheduler.config import Extender
from scheduler.framework import Action, ClusterEvent, EventRegistration, EventResource, Node, PodInfo
from scheduler.messages import Effect
from scheduler.observer import Observer
from scheduler.permits import Permits
from scheduler.queue.backoff import Backoff
from scheduler.queue.nominator import Nominator
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.rooms import Rooms
from scheduler.runtime.profile import ProfileRuntime
from scheduler.story import Stories
from scheduler.waits import ChangeWaits

# Stand-ins for a plugin where the scheduler itself refuses a pod, with the events that may cure it.
NO_NODES = "NoNodes"
KUBELET_REFUSAL = "KubeletRefusal"
UNREADABLE_POD = "UnreadablePod"
EXTENDER = "Extender"
OWN_REGISTRATIONS: Mapping[str, tuple[EventRegistration, ...]] = {
    NO_NODES: (EventRegistration(EventResource.NODE, Action.ADD),),
    KUBELET_REFUSAL: (
        EventRegistration(EventResource.NODE, Action.ALL),
        EventRegistration(EventResource.ASSIGNED_POD, Action.ALL),
    ),
    UNREADABLE_POD: (),
    # An extender cannot say what would change its mind.
    EXTENDER: (EventRegistration(EventResource.ANY, Action.ALL),),
}
PAUSE_OVER = ClusterEvent(EventResource.NODE, Action.UPDATE_OTHER, "PreemptionPauseOver")
HOLD_OVER = ClusterEvent(EventResource.NODE, Action.UPDATE_OTHER, "NodeHoldOver")

_TOMBSTONES = 8192
_RECONFIGURED = "the configuration has changed"
_REFUSAL_REASONS = frozenset(
    {
        "UnexpectedAdmissionError",
        "TopologyAffinityError",
        "NodeAffinity",
        "NodeName",
        "NodePorts",
        "TaintToleration",
        "NodeUnschedulable",
        "InvalidNodeInfo",
        "PodOSSelectorNodeLabelDoesNotMatch",
        "PodOSNotSupported",
    }
)


def is_refusal(pod: PodInfo) -> bool:
    """Whether a pod has failed because its kubelet did not admit it (pkg/kubelet/lifecycle: OutOfcpu and the like)."""
    return pod.phase == "Failed" and (pod.phase_reason.startswith("OutOf") or pod.phase_reason in _REFUSAL_REASONS)


@dataclass(slots=True)
class Preemption:
    """Evictions for a pod under way on a node; `last` is the last victim once only that one is left."""

    node_name: str
    last: PodInfo | None = None


@dataclass(slots=True)
class State:
    """Queue, cache, promises and the means to decide. `now` is the time of the fact or advance under way. `deciding` is set while
    a scheduling cycle relies on nothing changing under it, `consulting` while a pod is with the extenders. `others` are the
    waiting pods that are somebody else's to schedule, by UID: another configuration may make them ours.
    """

    queue: SchedulingQueue
    profiles: Mapping[str, ProfileRuntime]
    cache: Cache
    observer: Observer
    rng: np.random.Generator
    extenders: Sequence[Extender] = ()
    namespace: str = ""
    now: float = 0.0
    others: dict[str, PodInfo] = field(default_factory=dict)
    objects: ObjectStore = field(default_factory=ObjectStore)
    nominator: Nominator = field(default_factory=Nominator)
    holds: NodeHolds = field(default_factory=NodeHolds)
    stories: Stories = field(default_factory=lambda: Stories(most_pods=10_000, most_lines=32))
    effects: list[Effect] = field(default_factory=list)
    effect_ids: "count[int]" = field(default_factory=lambda: count(1))
    unstarted: OrderedDict[str, str] = field(default_factory=OrderedDict)
    patches: dict[int, tuple[str, str]] = field(default_factory=dict)
    permits: Permits = field(default_factory=Permits)
    waits: ChangeWaits = field(default_factory=ChangeWaits)
    preemptions: dict[str, Preemption] = field(default_factory=dict)
    rooms: Rooms = field(default_factory=Rooms)
    preparing: set[str] = field(default_factory=set)
    cancelled: list[tuple[str, str]] = field(default_factory=list)
    deciding: bool = False
    consulting: bool = False
    next_start: int = 0
    bound_here: int = 0
    bound_after_flush: int = 0
    refused: int = 0
    last_decision: str = ""
    _gone: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def emit(self, effect: Effect) -> None:
        """Ask the driver to do something."""
        self.effects.append(effect)

    def tell(self, pod: PodInfo, what: str, detail: str = "") -> None:
        """Add to a pod's story."""
        self.stories.tell(pod.uid, self.now, what, detail)

    def wake(self, event: ClusterEvent, old: object, new: object) -> None:
        """A cluster event: queue the pods that it may help."""
        self.queue.wake(event, (old, new), self.now)

    def promised(self, pod: PodInfo) -> Mapping[str, Sequence[PodInfo]]:
        """By node the pods that were promised it and count against this pod: those of at least its priority."""
        promised = self.nominator.uids()
        # What was placed since is counted on its node already.
        counted_anyway = {pod.uid} & promised | self.cache.placed(promised)
        at_least = self.nominator.at_least(pod.spec.priority)
        if not counted_anyway:
            return at_least
        counted = dict(at_least)
        for name in {self.nominator.node_of(uid) for uid in counted_anyway} & counted.keys():
            counted[name] = tuple(other for other in counted[name] if other.uid not in counted_anyway)
            if not counted[name]:
                del counted[name]
        return counted

    def preempting(self, uid: str) -> bool:
        """Whether evictions for a pod are under way. Once the last victim is seen to go, its end is the event that counts."""
        under_way = self.preemptions.get(uid)
        if under_way is None or under_way.last is None:
            return under_way is not None
        placement = self.cache.placement(under_way.last.uid)
        return placement is not None and not placement.pod.terminating

    def cancel(self, uid: str, reason: str) -> bool:
        """A pod in PreBind must not be bound; False if it is not there."""
        if uid not in self.preparing:
            return False
        self.preparing.discard(uid)
        self.cancelled.append((uid, reason))
        return True

    def take_over(
        self, profiles: Mapping[str, ProfileRuntime], extenders: Sequence[Extender], backoff: Backoff
    ) -> None:
        """Decide by other profiles from now on. Pods that nobody here serves any more leave, pods that somebody does now come."""
        asked_differently = tuple(extenders) != tuple(self.extenders)
        changed = {name for name, runtime in profiles.items() if self.profiles.get(name) is not runtime}
        stopped = {*(profiles if asked_differently else changed), *(self.profiles.keys() - profiles.keys())}
        self.profiles, self.extenders = profiles, extenders
        for pod in self.permits.pods():
            if pod.spec.scheduler_name in stopped:
                # The plugin that would allow it is not there any more.
                self.permits.reject(pod.uid, _RECONFIGURED)
        for entry in self.queue.reconfigure(profiles, stopped, backoff, self.now):
            for pod in entry.members.values():
                self.cancel(pod.uid, _RECONFIGURED)
                self.others[pod.uid] = pod
                self._see_promise(pod)
                self.tell(pod, "left", f"no profile is named {entry.profile} any more")
        for uid in list(self.others):
            self.adopt(uid)

    def serves(self, pod: PodInfo) -> bool:
        """Whether the pod is ours to schedule."""
        return pod.spec.scheduler_name in self.profiles and self.namespace in ("", pod.namespace)

    def adopt(self, uid: str) -> None:
        """Queue a pod that has become ours, unless an earlier attempt for it has not ended yet."""
        pod = self.others.get(uid)
        if pod is not None and self.serves(pod) and not self.cache.placement(uid):
            del self.others[uid]
            self._see_waiting(pod)

    # Pods.

    def see_pod(self, pod: PodInfo) -> None:
        """A pod was added or has changed."""
        known = self._known(pod.uid)
        if pod.uid in self._gone or (known is not None and not _newer(pod, known)):
            return
        if pod.terminal:
            self._finish(pod)
        elif pod.node_name:
            self._see_bound(pod)
        else:
            self._see_waiting(pod)

    def lose_pod(self, uid: str) -> PodInfo | None:
        """A pod is gone: deleted, or finished. Harmless for a pod never seen. Answers the pod if it was bound here and had
        not been seen to run, for then its kubelet may have refused it.
        """
        self._bury(uid)
        self.others.pop(uid, None)
        entry = self.queue.remove(uid)
        promised = self.nominator.node_of(uid)
        self.nominator.clear(uid)
        self.permits.reject(uid, "the pod is gone")
        self.rooms.forget(uid)
        placement = self.cache.drop(uid)
        self.waits.changed(Kind.POD, "", uid)
        unstarted = self.unstarted.pop(uid, None)
        if placement is not None:
            self.holds.release(placement.node_name, self.now)
            self.wake(ASSIGNED_POD_DELETE, placement.pod, None)
            self._reconsider_promises(placement.node_name)
        elif entry is not None and promised:
            self.queue.wake(ASSIGNED_POD_DELETE, (entry.lead, None), self.now, at_most=entry.lead.spec.priority)
        return placement.pod if placement is not None and unstarted is not None else None

    def _reconsider_promises(self, node_name: str) -> None:
        """When the last victim has gone, those the node was promised take it, or the promise was in vain and is taken back."""
        promised = list(self.nominator.on(node_name))
        info = self.cache.nodes.by_name(node_name)
        if not promised or info is None or any(pod.preempted and pod.terminating for pod in info.pods.values()):
            return
        for pod in promised:
            self.queue.reconsider(pod.uid, ASSIGNED_POD_DELETE, self.now)

    def note_refusal(self, pod: PodInfo, node_name: str) -> None:
        """A kubelet has refused a pod that was bound to it: count it, and wait for fresh facts about that node."""
        self.refused += 1
        self.holds.refuse(node_name, self.now)
        self.tell(pod, "refused by kubelet", f"{node_name}: {pod.phase_reason}")
        self.observer.kubelet_refused(pod, pod.phase_reason)

    def _finish(self, pod: PodInfo) -> None:
        placement = self.cache.placement(pod.uid)
        was_bound_here = pod.uid in self.unstarted
        self.lose_pod(pod.uid)
        if placement is not None and (was_bound_here or placement.pod.phase == "Pending") and is_refusal(pod):
            self.note_refusal(pod, placement.node_name)

    def _see_bound(self, pod: PodInfo) -> None:
        self.queue.remove(pod.uid)
        self.rooms.forget(pod.uid)
        self.others.pop(pod.uid, None)
        promised = self.nominator.clear(pod.uid)
        self.permits.reject(pod.uid, f"the pod was bound to {pod.node_name} meanwhile")
        before = self.cache.put(pod)
        self.waits.changed(Kind.POD, "", pod.uid)
        if before is None:
            self.holds.release(pod.node_name, self.now)
        if pod.phase == "Running" and self.unstarted.pop(pod.uid, None) is not None:
            self.holds.settle(pod.node_name)
        if before is not None and before.node_name != pod.node_name:
            self.observer.anomaly("pod moved", f"{pod.key} was counted on {before.node_name}, is on {pod.node_name}")
            self.wake(ASSIGNED_POD_DELETE, before.pod, None)
        if before is None or not before.pod.node_name:
            self.wake(ASSIGNED_POD_ADD, None, pod)
        else:
            for event in pod_changes(before.pod, pod, EventResource.ASSIGNED_POD):
                self.wake(event, before.pod, pod)
        if promised:
            self.wake(ASSIGNED_POD_DELETE, pod, None)

    def _see_waiting(self, pod: PodInfo) -> None:
        placement = self.cache.placement(pod.uid)
        if placement is not None and not self.cache.is_assumed(pod.uid):
            self.observer.anomaly("pod lost its node", f"{pod.key} was on {placement.node_name} and is on none")
            self.cache.drop(pod.uid)
            self.wake(ASSIGNED_POD_DELETE, placement.pod, None)
            placement = None
        if not self.serves(pod):
            self.others[pod.uid] = pod
            self._see_promise(pod)
            return
        entry = self.queue.get(pod.uid)
        if entry is None:
            if not pod.terminating and placement is None:
                self._see_promise(pod)
                self.queue.add(pod, self.now)
                self.tell(pod, "queued")
            elif placement is not None:
                # An attempt from before it was somebody else's has not ended yet.
                self.others[pod.uid] = pod
            return
        known = entry.members[pod.uid]
        self._see_promise(pod)
        if placement is not None:
            self.cache.reassume(pod)
            for event in pod_changes(placement.pod, pod, EventResource.ASSIGNED_POD):
                self.wake(event, placement.pod, pod)
        self.queue.update(pod, pod_changes(known, pod, EventResource.UNSCHEDULED_POD), self.now)
        if known.problem and not pod.problem:
            self.queue.activate(pod.uid, self.now)
        if pod.terminating and placement is None:
            # It needs no node any more. If it is being tried, the attempt ends when it finds it gone from the queue.
            self.queue.remove(pod.uid)
        if pod.terminating:
            self.permits.reject(pod.uid, "the pod is being deleted")

    def _see_promise(self, pod: PodInfo) -> None:
        """Nominations count, also those of other schedulers; for their pods the status is all there is to go by."""
        if pod.terminating or (not pod.nominated_node and not self.serves(pod)):
            self.take_back(pod)
        elif self.nominator.observe(pod):
            self._wake_for_promise(pod)

    def take_back(self, pod: PodInfo) -> bool:
        """A pod is not promised a node any more, which may help those it was kept from; False if it was promised none."""
        cleared = self.nominator.clear(pod.uid)
        if cleared:
            self._wake_for_promise(pod)
        return cleared

    def _wake_for_promise(self, pod: PodInfo) -> None:
        self.queue.wake(ASSIGNED_POD_DELETE, (pod, None), self.now, at_most=pod.spec.priority, excluding=pod.uid)

    # Nodes.

    def see_node(self, node: Node) -> None:
        """A node was added or has changed."""
        known = self.cache.nodes.by_name(node.name)
        if node.uid in self._gone or (
            known is not None and known.node.uid == node.uid and not _newer(node, known.node)
        ):
            return
        if known is not None and known.node.uid != node.uid:
            self.lose_node(node.name, known.node.uid)
        old = self.cache.put_node(node)
        self.waits.changed(Kind.NODE, "", node.name)
        self.holds.release(node.name, self.now)
        if old is None:
            self.wake(NODE_ADD, None, node)
            return
        for event in node_changes(old, node):
            self.wake(event, old, node)

    def lose_node(self, name: str, uid: str) -> None:
        """The node of this UID is gone; harmless if it is not known, or another one has its name."""
        self._bury(uid)
        known = self.cache.nodes.by_name(name)
        if known is None or known.node.uid != uid:
            return
        self.holds.settle(name)
        old = self.cache.drop_node(name)
        self.waits.changed(Kind.NODE, "", name)
        if old is not None:
            self.wake(NODE_DELETE, old, None)

    # Objects of other kinds.

    def see_object(self, obj: ApiObject) -> None:
        """An object was added or has changed."""
        known = self.objects.named(obj.kind, obj.namespace, obj.name)
        if obj.uid in self._gone or (known is not None and known.uid == obj.uid and not _newer(obj, known)):
            return
        if known is not None and known.uid != obj.uid:
            self.lose_object(known.kind, known.uid, known.namespace, known.name)
            known = None
        self.objects.put(obj)
        self.waits.changed(obj.kind, obj.namespace, obj.name)
        self.wake(object_event(obj.kind, Action.ADD if known is None else Action.UPDATE_OTHER), known, obj)

    def lose_object(self, kind: Kind, uid: str, namespace: str, name: str) -> None:
        """The object of this UID is gone; harmless if it is not known, or another one has its name."""
        self._bury(uid)
        known = self.objects.named(kind, namespace, name)
        if known is not None and known.uid == uid:
            self.objects.drop(known)
            self.waits.changed(kind, namespace, name)
            self.wake(object_event(kind, Action.DELETE), known, None)

    def _known(self, uid: str) -> PodInfo | None:
        """The version of a pod that is known: what comes late, or once more, must not undo it."""
        placement = self.cache.placement(uid)
        if placement is not None:
            return placement.pod
        entry = self.queue.get(uid)
        return self.others.get(uid) if entry is None else entry.members.get(uid)

    def _bury(self, uid: str) -> None:
        """A UID never comes back: what is still heard of it is late."""
        self._gone[uid] = None
        if len(self._gone) > _TOMBSTONES:
            self._gone.popitem(last=False)


def _newer(seen: PodInfo | Node | ApiObject, known: PodInfo | Node | ApiObject) -> bool:
    """Whether this version of an object is later than the known one (resource versions are comparable: KEP-5504), or the same
    one seen whole for the first time.
    """
    if seen.resource_version == known.resource_version:
        return bool(_manifest(seen)) and not _manifest(known)
    if seen.resource_version.isdigit() and known.resource_version.isdigit():
        return int(seen.resource_version) > int(known.resource_version)
    return True


def _manifest(obj: PodInfo | Node | ApiObject) -> bytes:
    return b"" if isinstance(obj, ApiObject) else obj.manifest
