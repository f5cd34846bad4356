"""Why a pod fits nowhere, counted per reason (kube-scheduler's FitError and Diagnosis)."""

from collections import Counter
from dataclasses import dataclass, field

from scheduler.framework import Code, Status, nodes_available

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
        """The line users know, with what PostFilter adds to it; a refusal by PreFilter stands for all nodes."""
        if self.pre_filter is not None:
            text = nodes_available(self.node_total, ())
            text += f" {self.pre_filter.message}." if self.pre_filter.message else ""
        else:
            absent = () if self.absent is None else (self.absent,)
            text = nodes_available(self.node_total, (*self.counts.items(), *absent))
        return f"{text} {self.post_filter}" if self.post_filter else text
