"""Counts of pods by what is asked about them, after any history and in worlds that do not exist."""

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler.cache.cache import Cache
from scheduler.cache.rows import Rows
from scheduler.framework import PodCount, PodTemplate, TermKind
from tests.builders import JsonObject, node, pod

APPS = ("a", "b", "c")


@dataclass(frozen=True)
class OfApp(PodCount):
    """Pods of one app; the length of its name, so that sums are not just numbers of pods."""

    app: str
    terminating: bool = True
    namespaces: frozenset[str] | None = None
    carrying: TermKind | None = None

    def of(self, template: PodTemplate) -> int:
        return 2 if template.labels.get("app") == self.app else 0


def anti_affinity(key: str) -> JsonObject:
    term = {"topologyKey": key, "labelSelector": {}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


SPECS: list[JsonObject] = [{}, anti_affinity("zone"), anti_affinity("rack")]
COUNTS = [
    *(OfApp(app) for app in APPS),
    OfApp("a", terminating=False),
    OfApp("a", namespaces=frozenset({"one"})),
    OfApp("b", namespaces=frozenset({"one", "two"})),
    OfApp("a", carrying=TermKind.REQUIRED_ANTI_AFFINITY),
]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["pod", "pod", "pod", "gone", "node", "no node", "ask"]),
        st.integers(0, 30),
        st.integers(0, 200),
    ),
    max_size=80,
)


class History:
    """A cache to which things happen."""

    def __init__(self) -> None:
        self.cache = Cache()
        self._version = 0

    def step(self, what: str, number: int, more: int) -> None:
        self._version += 1
        name = f"n{more % 80}"
        match what:
            case "node":
                self.cache.put_node(node(name))
            case "no node":
                self.cache.drop_node(name)
            case "ask":
                self.cache.nodes.counts.column(COUNTS[more % len(COUNTS)])
            case "gone":
                self.cache.drop(f"u{number}")
            case _:
                meta: JsonObject = {"uid": f"u{number}", "resourceVersion": str(self._version)}
                if more % 5 == 0:
                    meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                self.cache.put(
                    pod(
                        f"p{number}",
                        namespace=("one", "two")[more % 2],
                        node=name,
                        labels={"app": APPS[more % 3]},
                        metadata=meta,
                        spec=SPECS[more % 7 % 3],
                    )
                )


@given(STEPS)
def test_counts_are_what_they_would_be_if_made_afresh(steps: list[tuple[str, int, int]]) -> None:
    history = History()
    for step in steps:
        history.step(*step)
    history.cache.validate()
    for count in COUNTS:
        history.cache.nodes.counts.column(count)
    history.cache.validate()
    keys = set(history.cache.nodes.counts.topology_keys(TermKind.REQUIRED_ANTI_AFFINITY))
    table = history.cache.nodes
    pods = [p for row in table.live().tolist() for p in table.info(row).pods.values()]
    assert keys == {term.topology_key for p in pods for term in p.spec.pod_anti_affinity}


@given(STEPS, st.lists(st.tuples(st.booleans(), st.integers(0, 30), st.integers(0, 200)), max_size=10))
def test_a_world_that_does_not_exist_counts_as_if_it_did(
    steps: list[tuple[str, int, int]], changes: list[tuple[bool, int, int]]
) -> None:
    history = History()
    for name in ("n0", "n1", "n2"):
        history.cache.put_node(node(name))
    for step in steps:
        history.step(*step)
    table = history.cache.nodes
    first = table.scratch(table.live()[: len(table) - 1])
    whatif = first.scratch(first.live())
    for turn, (comes, _, more) in enumerate(changes):
        if not len(whatif):
            break
        row = int(whatif.live()[more % len(whatif)])
        info = whatif.info(row)
        if comes:
            whatif.add_pod(info.name, pod(f"new{turn}", labels={"app": APPS[more % 3]}))
        elif info.pods:
            whatif.remove_pod(info.name, next(iter(info.pods)))
    rows = Rows(whatif, whatif.live(), table)
    for count in COUNTS:
        pods = [whatif.info(row).pods.values() for row in whatif.live().tolist()]
        expected = [
            sum(
                count.of(p.template)
                for p in on
                if (count.terminating or not p.terminating)
                and (count.namespaces is None or p.namespace in count.namespaces)
                and (count.carrying is None or p.spec.pod_anti_affinity)
            )
            for on in pods
        ]
        assert rows.pods_counted(count).tolist() == expected
        added = rows.pods_more(count)
        assert added is not None
        real = Rows(table, np.array([table.known_row(name) for name in rows.names()], np.int64), table)
        assert (real.pods_counted(count) + added).tolist() == expected
    history.cache.validate()


def test_columns_that_nobody_asks_about_any_more_are_given_up() -> None:
    history = History()
    history.step("node", 0, 1)
    history.step("pod", 1, 1)
    counts = history.cache.nodes.counts
    for i in range(200_000 // 8):
        counts.column(OfApp(f"app{i}"))
    history.step("pod", 2, 1)
    assert counts.column(OfApp("b"))[history.cache.nodes.known_row("n1")] == 4
    history.cache.validate()
