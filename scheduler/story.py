"""What happened to each pod and why, in order; for people who ask."""

from collections import OrderedDict, deque

import msgspec


class StoryLine(msgspec.Struct, frozen=True):
    """One thing that happened, at a time of the driver's monotonic clock (seconds)."""

    at: float
    what: str
    detail: str


class Stories:
    """The last lines of the pods that were last heard of."""

    def __init__(self, most_pods: int, most_lines: int) -> None:
        self._most_pods = most_pods
        self._most_lines = most_lines
        self._lines: OrderedDict[str, deque[StoryLine]] = OrderedDict()

    def tell(self, uid: str, at: float, what: str, detail: str = "") -> None:
        """Add a line; a repetition of the last line only moves its time."""
        lines = self._lines.get(uid)
        if lines is None:
            lines = self._lines[uid] = deque(maxlen=self._most_lines)
            if len(self._lines) > self._most_pods:
                self._lines.popitem(last=False)
        else:
            self._lines.move_to_end(uid)
        line = StoryLine(at, what, detail)
        if lines and (lines[-1].what, lines[-1].detail) == (what, detail):
            lines[-1] = line
        else:
            lines.append(line)

    def of(self, uid: str) -> list[StoryLine]:
        """The lines of a pod, oldest first."""
        return list(self._lines.get(uid, ()))
