"""Asks both schedulers about the pods of a cluster, and says where they differ."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import count

from scheduler.api import ApiObject
from scheduler.config import Configuration
from tests.parity.cluster import Cluster
from tests.parity.stage import Scores, Stage, Verdict
from tests.parity.subject import Answer, answer

# kube-scheduler learns of each kind of object by a stream of its own; what was made a moment ago it may not know yet.
_TRIES = 6


@dataclass(frozen=True)
class Difference:
    """A pod on which the schedulers differ, with the cluster as it was when they were asked."""

    cluster: Cluster
    what: str
    theirs: Verdict
    mine: Answer

    def told(self) -> str:
        """What differs, and the cluster to be looked at."""
        name = self.cluster.asked[0]["metadata"]["name"]
        verdicts = [f"kube-scheduler: {self.theirs}", f"berth: {self.mine}"]
        head = f"--- seed {self.cluster.seed}, pod {name}: {self.what}"
        return "\n".join([head, *verdicts, self.cluster.yaml()])


@dataclass
class Coverage:
    """How often each plugin rejected a node, and how often it scored a pod's nodes with something other than nothing."""

    rejected: Counter[str] = field(default_factory=Counter)
    scored: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    preempted: int = 0

    def note(self, mine: Answer) -> None:
        """Count an answer."""
        self.asked += 1
        self.preempted += bool(mine.verdict.victims)
        self.rejected.update(mine.rejections)
        self.scored.update({plugin for (plugin, _), score in mine.verdict.scores.items() if score})


def differences(
    stage: Stage, configuration: Configuration, cluster: Cluster, coverage: Coverage
) -> Iterable[Difference]:
    """Raise a cluster, ask about its pods one after another, and take it down again."""
    running = list(cluster.running)
    stage.raise_cluster(cluster)
    try:
        others = stage.others()
        for pod in cluster.asked:
            question = Question(replace(cluster, running=tuple(running), asked=(pod,)), others)
            answered = _ask(stage, configuration, question, coverage)
            if isinstance(answered, Difference):
                yield answered
                return
            if answered:
                running.append({**pod, "spec": {**pod["spec"], "nodeName": answered}})
    finally:
        stage.clear(cluster)


@dataclass(frozen=True)
class Question:
    """A cluster with one pod to ask about, and what there is in it beside nodes and pods."""

    cluster: Cluster
    others: list[ApiObject]


def _ask(stage: Stage, configuration: Configuration, question: Question, coverage: Coverage) -> Difference | str:
    """How they differ, or the node the pod is on from now on; a pod that was not placed goes."""
    cluster = question.cluster
    (pod,) = cluster.asked
    name = pod["metadata"]["name"]
    for attempt in count(1):
        facts = stage.facts(question.others)
        mine = answer(configuration, facts, stage.decode(stage.create_pod(pod)))
        theirs = stage.verdict(name, mine.verdict.victims)
        what = _what_differs(theirs, mine)
        if what is None:
            coverage.note(mine)
            if any(node["metadata"]["name"] == theirs.decision for node in cluster.nodes):
                return theirs.decision
        stage.remove_pod(name)
        if what is None:
            return ""
        if attempt == _TRIES or theirs.victims:
            return Difference(cluster, what, theirs, mine)
    raise AssertionError("the loop above ends by itself")


def _what_differs(theirs: Verdict, mine: Answer) -> str | None:
    own = mine.verdict
    if not mine.feasible:
        if theirs.decision != own.decision:
            return "the message, or that it fits nowhere"
        if (theirs.nominated, theirs.victims) != (own.nominated, own.victims):
            return "who is preempted"
        return None
    if theirs.decision not in mine.feasible:
        return "which nodes are feasible"
    if theirs.scores != own.scores:
        return f"the scores of {', '.join(sorted(_plugins_that_differ(theirs.scores, own.scores)))}"
    if _total(own.scores, theirs.decision) != _total(own.scores, own.decision):
        return "the total of the chosen node"
    return None


def _plugins_that_differ(theirs: Scores, mine: Scores) -> set[str]:
    return {
        plugin for plugin, node in theirs.keys() | mine.keys() if theirs.get((plugin, node)) != mine.get((plugin, node))
    }


def _total(scores: Scores, node: str) -> int:
    return sum(score for (_, scored), score in scores.items() if scored == node)


def unused(coverage: Coverage) -> list[str]:
    """The default plugins that have never rejected, or never scored, though they could."""
    return [
        *(f"{name} never rejected" for name in sorted(REJECTING) if not coverage.rejected[name]),
        *(f"{name} never scored" for name in sorted(SCORING) if not coverage.scored[name]),
        *(["DefaultPreemption never preempted"] if not coverage.preempted else []),
    ]


# Not NodeName: a pod that waits names no node.
REJECTING = frozenset(
    {
        *("NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"),
        *("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"),
        *("PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"),
    }
)
SCORING = frozenset(
    {
        *("TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality"),
        *("PodTopologySpread", "InterPodAffinity"),
    }
)
