"""Asks both schedulers about the pods of a cluster, and says where they differ."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from scheduler.config import Configuration
from tests.builders import JsonObject
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

    def __str__(self) -> str:
        name = self.cluster.asked[0]["metadata"]["name"]
        verdicts = [f"kube-scheduler: {self.theirs}", f"berth: {self.mine}"]
        return "\n".join([f"seed {self.cluster.seed}, pod {name}: {self.what}", *verdicts])


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
    bound = list(cluster.running)
    stage.raise_cluster(cluster)
    try:
        for pod in cluster.asked:
            difference = _ask(stage, configuration, replace(cluster, running=tuple(bound), asked=(pod,)), coverage)
            if difference is not None:
                yield difference
                return
            placed = stage.facts().pods
            nodes = {info.name: info.node_name for info in placed}
            if node := nodes.get(pod["metadata"]["name"]):
                bound.append({**pod, "spec": {**pod["spec"], "nodeName": node}})
    finally:
        stage.clear(cluster)


def _ask(stage: Stage, configuration: Configuration, cluster: Cluster, coverage: Coverage) -> Difference | None:
    """A pod that stays on its node is there for the next ones; one that was not placed goes."""
    (pod,) = cluster.asked
    found: Difference | None = None
    for attempt in range(_TRIES):
        facts = stage.facts()
        created = stage.create_pod(pod)
        mine = answer(configuration, facts, stage.decode(created))
        theirs = stage.verdict(pod["metadata"]["name"], mine.verdict.victims)
        what = _what_differs(theirs, mine)
        if what is None:
            coverage.note(mine)
            if not _is_placed(theirs, cluster):
                stage.remove_pod(pod["metadata"]["name"])
            return None
        found = Difference(cluster, what, theirs, mine)
        stage.remove_pod(pod["metadata"]["name"])
        if theirs.victims:
            break
        assert attempt < _TRIES
    return found


def _is_placed(verdict: Verdict, cluster: Cluster) -> bool:
    return any(node["metadata"]["name"] == verdict.decision for node in cluster.nodes)


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
        *("PodTopologySpread", "InterPodAffinity"),
    }
)
SCORING = frozenset(
    {
        *("TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality"),
        *("PodTopologySpread", "InterPodAffinity"),
    }
)


def without(items: tuple[JsonObject, ...], position: int) -> tuple[JsonObject, ...]:
    """All but one."""
    return items[:position] + items[position + 1 :]
