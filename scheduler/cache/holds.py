"""Nodes whose kubelet has just refused a pod: what it knows is not yet known here, so they wait for fresh facts."""

from dataclasses import dataclass

FIRST_HOLD = 10.0
LONGEST_HOLD = 300.0


@dataclass(slots=True)
class Hold:
    """Until when a node is passed over, and how often in a row its kubelet has refused."""

    until: float
    refusals: int
    told: bool = False


class NodeHolds:
    """Held nodes by name.

    A kubelet refuses what the cache thought would fit when it has seen pods that are not here yet, or has not let go of pods
    that are gone here. A hold ends with the next fact about the node; without one it ends by itself, later each time.
    """

    def __init__(self) -> None:
        self._holds: dict[str, Hold] = {}

    def refuse(self, node_name: str, now: float) -> None:
        """A kubelet has refused a pod."""
        hold = self._holds.setdefault(node_name, Hold(now, 0))
        hold.refusals += 1
        hold.told = False
        hold.until = now + min(LONGEST_HOLD, FIRST_HOLD * float(1 << min(hold.refusals - 1, 16)))

    def release(self, node_name: str, now: float) -> bool:
        """A fact about the node has come; False if it was not held."""
        hold = self._holds.get(node_name)
        if hold is None or hold.until <= now:
            return False
        hold.until = now
        return True

    def settle(self, node_name: str) -> None:
        """A pod runs there, or the node is gone: earlier refusals count no more."""
        self._holds.pop(node_name, None)

    def held(self, now: float) -> list[str]:
        """The nodes to pass over now."""
        return [name for name, hold in self._holds.items() if hold.until > now]

    def expire(self, now: float) -> bool:
        """Whether a hold has ended by itself since this was last asked."""
        over = [hold for hold in self._holds.values() if hold.until <= now and not hold.told]
        for hold in over:
            hold.told = True
        return bool(over)

    def ends_after(self, now: float) -> float | None:
        """When the next hold ends by itself."""
        return min((hold.until for hold in self._holds.values() if hold.until > now), default=None)
