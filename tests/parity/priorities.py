"""Random clusters that are full of pods of many priorities, so that a more important one has to preempt."""

from scheduler.api import Kind
from tests.builders import JsonObject, container, node_json, pod_json, taint
from tests.parity.worlds import World

LOW = (0, 10, 20, 30)
HIGH = 1000


class Priorities(World):
    """Every pod has started at another time, so that there is one best choice of victims. One pod is asked about: after it, pods
    are on their way out.
    """

    running_count = 36
    asked_count = 1

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._started = 0

    def objects(self) -> list[tuple[Kind, JsonObject]]:
        """Budgets that allow some disruptions, or none."""
        return [
            (
                Kind.POD_DISRUPTION_BUDGET,
                {
                    "metadata": {"name": f"budget-{app}"},
                    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
                    "status": {"disruptionsAllowed": self._draw.randint(0, 2)},
                },
            )
            for app in ("a", "b")
        ]

    def running(self, name: str, node: str) -> JsonObject:
        """A pod of low priority."""
        draw = self._draw
        self._started += 1
        started = f"2026-01-01T{self._started // 60:02}:{self._started % 60:02}:00Z"
        return pod_json(
            name,
            node=node,
            scheduler="nobody",
            labels={"app": draw.choice("abc")},
            priority=draw.choice(LOW),
            containers=[container(draw.choice(("500m", "900m", "1300m")), "256Mi")],
            status={"phase": "Running", "startTime": started},
        )

    def pod(self, name: str) -> JsonObject:
        """A pod of high priority that fits nowhere as it is."""
        draw = self._draw
        spec: JsonObject = {}
        if draw.random() < 0.3:
            spec["nodeSelector"] = {"zone": draw.choice(("east", "west"))}
        if draw.random() < 0.1:
            spec["preemptionPolicy"] = "Never"
        asked = draw.choice(("1500m", "2500m", "3500m", "5"))
        return pod_json(name, asked, "256Mi", scheduler="default-scheduler", priority=HIGH, spec=spec)

    def _node(self, name: str) -> JsonObject:
        draw = self._draw
        taints = [taint("k")] if draw.random() < 0.2 else None
        return node_json(name, "4", labels={"zone": draw.choice(("east", "west"))}, taints=taints)
