"""What rules work out once for all pods of a template."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from scheduler.framework import PodTemplate

_MOST = 2048

V = TypeVar("V")


class Remembered(Generic[V]):
    """Values by template, each as of a version of what it was made from; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._known: dict[PodTemplate, tuple[Hashable, V]] = {}

    def get(self, template: PodTemplate, version: Hashable, make: Callable[[], V]) -> V:
        """The value as of this version, made if there is none."""
        known = self._known.get(template)
        if known is None or known[0] != version:
            if known is None and len(self._known) >= _MOST:
                del self._known[next(iter(self._known))]
            known = self._known[template] = (version, make())
        return known[1]
