"""Why a pod fits nowhere, counted per reason (kube-scheduler's FitError and Diagnosis)."""

from collections import Counter
from dataclasses import dataclass, field

from scheduler.framework import Code, Status

NO_NODES_MESSAGE = "no nodes available to schedule pods"


@dataclass(slots=True)
class Diagnosis:
    """The verdicts of an attempt over all nodes.

    `counts` holds how many nodes gave each verdict, `absent` the verdict of the nodes that PreFilter ruled out and how many
    they are. If PreFilter refused the pod, `pre_filter` says so and stands for all nodes. `post_filter` is what PostFilter
    adds to the message.
    """

    node_total: int
    counts: Counter[Status] = field(default_factory=Counter)
    absent: tuple[Status, int] | None = None
    pre_filter: Status | None = None
    post_filter: str = ""
    rejectors: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)

    def blame(self, status: Status) -> None:
        """Remember the plugin of a verdict, so that events that may cure it wake the pod."""
        if not status.plugin:
            return
        (self.pending if status.code is Code.PENDING else self.rejectors).add(status.plugin)

    def message(self) -> str:
        """The line users know: `0/5 nodes are available: 1 Insufficient cpu, 4 node(s) were unschedulable.`

        Reasons are sorted as text with the number in front, as kube-scheduler does; a node counts for each reason of the
        plugin that refused it first.
        """
        text = f"0/{self.node_total} nodes are available:"
        reasons = self.pre_filter.message if self.pre_filter is not None else ", ".join(self._histogram())
        if reasons:
            text += f" {reasons}."
        if self.post_filter:
            text += f" {self.post_filter}"
        return text

    def _histogram(self) -> list[str]:
        totals: Counter[str] = Counter()
        for status, nodes in self.counts.items():
            for reason in status.reasons:
                totals[reason] += nodes
        if self.absent is not None:
            status, nodes = self.absent
            for reason in status.reasons:
                totals[reason] += nodes
        return sorted(f"{nodes} {reason}" for reason, nodes in totals.items())
