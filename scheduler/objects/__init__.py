"""API JSON to values: the only place that knows JSON paths. Lean structs decode just what scheduling reads."""

from scheduler.objects.nodes import NodeDecoder
from scheduler.objects.pods import PodDecoder
from scheduler.objects.stream import ApiStatus, WatchEvent

__all__ = ["ApiStatus", "NodeDecoder", "PodDecoder", "WatchEvent"]
