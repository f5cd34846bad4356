"""Laws of all row rules, on clusters of any kind: what a rule says of a row depends on that row and on the pod's row key.

The runtime rests on both: it keeps results by row key, and refreshes only the rows that changed.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.registry import BUILT_IN
from scheduler.cache.rows import Rows
from scheduler.framework import CycleState, Node, Plugin, PodInfo, RowFilter, RowRule, RowScore
from tests.builders import JsonObject, container, node, pod, taint
from tests.plugins.cluster import Cluster

FILTERS = [name for name, plugin in BUILT_IN.items() if issubclass(plugin, RowFilter)]
SCORES = [name for name, plugin in BUILT_IN.items() if issubclass(plugin, RowScore)]
RULES = [name for name, plugin in BUILT_IN.items() if issubclass(plugin, RowRule)]
GPU = "nvidia.com/gpu"
ZONES = ("east", "west")
IMAGES = ("registry.example/app:1", "registry.example/db:2")

keys = st.sampled_from(("gpu", "node.kubernetes.io/unschedulable"))
taints = st.builds(taint, keys, st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule")))
images = st.builds(
    lambda name, mib: {"names": [name], "sizeBytes": mib * 2**20}, st.sampled_from(IMAGES), st.integers(1, 2000)
)
ports = st.builds(
    lambda number, ip: {"hostPort": number, "hostIP": ip}, st.sampled_from((80, 81)), st.sampled_from(("", "10.0.0.1"))
)
zones = st.sampled_from(ZONES)
tolerations = st.builds(
    lambda key, effect: {"key": key, "operator": "Exists", "effect": effect},
    keys,
    st.sampled_from(("", "NoSchedule", "PreferNoSchedule")),
)


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    made = []
    for i in range(draw(st.integers(1, 6))):
        made.append(
            node(
                f"n{i}",
                draw(st.sampled_from(("0", "1", "4"))),
                draw(st.sampled_from(("0", "1Gi", "8Gi"))),
                pods=draw(st.sampled_from(("0", "2", "110"))),
                labels={"zone": draw(zones)},
                taints=draw(st.lists(taints, max_size=2)),
                unschedulable=draw(st.booleans()),
                images=draw(st.lists(images, max_size=2)),
                resources={GPU: draw(st.sampled_from(("0", "2")))},
            )
        )
    return made


@st.composite
def pods(draw: st.DrawFn, name: str, on: str | None = None) -> PodInfo:
    term = st.builds(lambda zone: {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}, zones)
    affinity: JsonObject = {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": draw(st.integers(1, 100)), "preference": t} for t in draw(st.lists(term, max_size=2))
        ]
    }
    required = draw(st.lists(term, max_size=2))
    if required:
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": required}
    main = container(
        draw(st.sampled_from((None, "0", "500m", "2"))),
        draw(st.sampled_from((None, "1Gi", "3Gi"))),
        image=draw(st.sampled_from(IMAGES)),
        ports=draw(st.lists(ports, max_size=2)),
        resources=draw(st.sampled_from(({}, {GPU: "1"}))),
    )
    spec = {"affinity": {"nodeAffinity": affinity}, "tolerations": draw(st.lists(tolerations, max_size=2))}
    return pod(name, containers=[main], node=on, spec=spec)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    chosen = draw(nodes())
    bound = [draw(pods(f"b{i}", draw(st.sampled_from(chosen)).name)) for i in range(draw(st.integers(0, 6)))]
    return Cluster(*chosen, pods=bound)


def answers(plugin: Plugin, wanting: PodInfo, rows: Rows) -> list[object]:
    """What the rule says of each row."""
    said: list[object] = [()] * len(rows)
    if isinstance(plugin, RowFilter):
        verdicts = plugin.filter_rows(CycleState(), wanting, rows)
        said = [(verdicts.statuses[code - 1] if code else None) for code in verdicts.codes.tolist()]
    if isinstance(plugin, RowScore):
        said = list(zip(said, plugin.score_rows(CycleState(), wanting, rows).tolist(), strict=True))
    return said


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=40)
@given(cluster=clusters(), wanting=pods("p"), data=st.data())
def test_a_row_is_judged_by_itself(name: str, cluster: Cluster, wanting: PodInfo, data: st.DataObject) -> None:
    plugin = BUILT_IN[name](BUILT_IN[name].Args(), cluster.handle)
    rows = cluster.rows
    assert isinstance(rows, Rows)
    whole = answers(plugin, wanting, rows)
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True))
    part = rows.subset(np.array(chosen, np.int64))
    assert answers(plugin, wanting, part) == [whole[position] for position in chosen]


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=40)
@given(cluster=clusters(), one=pods("p"), other=pods("q"))
def test_pods_with_equal_row_keys_are_judged_alike(name: str, cluster: Cluster, one: PodInfo, other: PodInfo) -> None:
    plugin = BUILT_IN[name](BUILT_IN[name].Args(), cluster.handle)
    assert isinstance(plugin, RowRule)
    rows = cluster.rows
    assert isinstance(rows, Rows)
    key = plugin.row_key(one.template)
    hash(key)
    if key == plugin.row_key(other.template):
        assert answers(plugin, one, rows) == answers(plugin, other, rows)


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=40)
@given(cluster=clusters(), wanting=pods("p"))
def test_scores_are_from_0_to_100(name: str, cluster: Cluster, wanting: PodInfo) -> None:
    plugin = BUILT_IN[name](BUILT_IN[name].Args(), cluster.handle)
    assert isinstance(plugin, RowScore)
    scores = cluster.scores(plugin, wanting) or {}
    assert all(0 <= score <= 100 for score in scores.values())


@pytest.mark.parametrize("name", FILTERS)
def test_no_nodes_no_verdicts(name: str) -> None:
    cluster = Cluster()
    plugin = BUILT_IN[name](BUILT_IN[name].Args(), cluster.handle)
    assert isinstance(plugin, RowFilter)
    assert cluster.verdicts(plugin, pod("p", "1", containers=[container(ports=[{"hostPort": 80}])])) == {}
