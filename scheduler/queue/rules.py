"""What the queue asks of a profile's plugins."""

from collections.abc import Hashable
from typing import Protocol

from scheduler.framework import ClusterEvent, PodInfo, Status
from scheduler.queue.heap import SortKey


class QueueRules(Protocol):
    """A profile, as the queue sees it. None of these raise: a plugin's exception is dealt with behind them."""

    def sort_key(self, pod: PodInfo, queued_at: float) -> SortKey:
        """The place of a pod in the order of the queue."""

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Whether the pod may become active; a rejection names its plugin."""

    def listens(self, plugin: str, event: ClusterEvent) -> bool:
        """Whether the plugin has registered for the event."""

    def reads(self, plugin: str, pod: PodInfo) -> Hashable:
        """What the plugin looks at of a pod: pods alike in it get the same answer from `helps`."""

    def helps(self, plugin: str, event: ClusterEvent, pod: PodInfo, change: tuple[object, object]) -> bool:
        """Whether the event (with the object before and after it) may cure the plugin's rejection of the pod."""
