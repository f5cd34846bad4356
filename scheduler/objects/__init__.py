"""API JSON to values: the only place that knows JSON paths. Lean structs decode just what scheduling reads."""

from scheduler.objects.followed import FOLLOWED, AnyDecoder, Followed
from scheduler.objects.manifests import Manifests
from scheduler.objects.nodes import NodeDecoder
from scheduler.objects.pods import PodDecoder
from scheduler.objects.stream import ApiStatus, WatchEvent

__all__ = ["FOLLOWED", "AnyDecoder", "ApiStatus", "Followed", "Manifests", "NodeDecoder", "PodDecoder", "WatchEvent"]
