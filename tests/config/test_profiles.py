"""Profiles: names, arguments, and what all of them share."""

import json

import pytest

from plugins.node_resources_fit import NodeResourcesFitArgs
from plugins.registry import BUILT_IN
from plugins.scoring_strategy import ScoringStrategy
from scheduler.config import load
from scheduler.framework import Plugin, PluginArgs, PodInfo, QueueSort
from tests.config.files import HEAD, complaints, profile, read


def test_a_single_profile_may_leave_its_name_out() -> None:
    assert [made.scheduler_name for made in read("profiles: [{}]").profiles] == ["berth"]
    assert [made.scheduler_name for made in read("profiles: []").profiles] == ["berth"]


def test_several_profiles_have_names_of_their_own() -> None:
    text = "profiles: [{schedulerName: a}, {schedulerName: b}]"
    assert [made.scheduler_name for made in read(text).profiles] == ["a", "b"]
    assert complaints("profiles:\n- schedulerName: a\n- {}\n- schedulerName: a\n") == [
        "file.yaml:5: profiles[1].schedulerName: required, for there are 3 profiles",
        'file.yaml:6: profiles[2].schedulerName: found "a", the name of profiles[0] too, allowed: a name of its own',
    ]


@pytest.mark.parametrize(
    ("everywhere", "here", "expected"),
    [("null", "null", None), ("30", "null", 30), ("30", "50", 50), ("30", "0", 0), ("null", "50", 50)],
)
def test_a_profile_may_have_its_own_percentage(everywhere: str, here: str, expected: int | None) -> None:
    made = read(f"percentageOfNodesToScore: {everywhere}\nprofiles: [{{percentageOfNodesToScore: {here}}}]")
    assert made.profiles[0].percentage_of_nodes_to_score == expected


def test_arguments_are_of_the_plugins_type_and_filled_up_with_defaults() -> None:
    given = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "NodeResourcesFitArgs",
        "ignoredResources": ["a.b/c"],
    }
    made = profile({}, args=[{"name": "NodeResourcesFit", "args": given}])
    assert made.args == {
        "NodeResourcesFit": NodeResourcesFitArgs(
            ignored_resources=("a.b/c",), scoring_strategy=ScoringStrategy("LeastAllocated")
        )
    }


@pytest.mark.parametrize("args", [", args: {}", ", args: null", ""])
def test_no_arguments_are_the_defaults(args: str) -> None:
    made = read(f"profiles: [{{pluginConfig: [{{name: NodeResourcesFit{args}}}]}}]")
    assert made.profiles[0].args == {"NodeResourcesFit": NodeResourcesFitArgs()}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "Most"}}},
            (
                '.args.scoringStrategy.type: found "Most", '
                "allowed: LeastAllocated, MostAllocated, RequestedToCapacityRatio"
            ),
        ),
        (
            {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated", "shape": []}}},
            ".args.scoringStrategy.shape: unknown field, allowed: type, resources, requestedToCapacityRatio",
        ),
        (
            {"name": "NodeResourcesFit", "args": {"kind": "NodeAffinityArgs"}},
            '.args.kind: found "NodeAffinityArgs", allowed: NodeResourcesFitArgs',
        ),
        (
            {"name": "NodeResourcesFit", "args": {"apiVersion": "v1"}},
            '.args.apiVersion: found "v1", allowed: kubescheduler.config.k8s.io/v1',
        ),
        ({"name": "NodeResourcesFit", "args": [1]}, ".args: found a list, allowed: a mapping"),
        ({"name": "NodePorts", "args": {"range": 1}}, ".args.range: unknown field, allowed: none"),
        ({"name": "Nobody"}, '.name: found "Nobody", allowed: DefaultBinder, '),
        (
            {"name": "NodeAffinity", "args": {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}},
            ".args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: required",
        ),
    ],
)
def test_arguments_that_cannot_be(config: object, expected: str) -> None:
    (line,) = complaints(f"profiles: [{{pluginConfig: [{json.dumps(config)}]}}]")
    assert line.startswith(f"file.yaml:3: profiles[0].pluginConfig[0]{expected}")


def test_a_plugin_has_one_set_of_arguments() -> None:
    (line,) = complaints("profiles:\n- pluginConfig:\n  - name: NodePorts\n  - name: NodePorts\n")
    assert line == 'file.yaml:6: profiles[0].pluginConfig[1].name: found "NodePorts" again, allowed: once'


class OldestArgs(PluginArgs, frozen=True):
    """Arguments of `Oldest`."""

    grace: int = 0


class Oldest(QueueSort):
    """Another order of the queue."""

    name = "Oldest"
    Args = OldestArgs

    def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[float | str, ...]:
        return (queued_at,)


def oldest_first(name: str, grace: int) -> object:
    return {
        "schedulerName": name,
        "plugins": {"queueSort": {"enabled": [{"name": "Oldest"}], "disabled": [{"name": "PrioritySort"}]}},
        "pluginConfig": [{"name": "Oldest", "args": {"grace": grace}}],
    }


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (oldest_first("b", 1), None),
        (oldest_first("b", 2), "profiles[1].pluginConfig: found other arguments of Oldest than profiles[0]"),
        (
            {"schedulerName": "b"},
            "profiles[1].plugins.queueSort: found PrioritySort, allowed: as in profiles[0] (Oldest)",
        ),
    ],
)
def test_all_profiles_share_one_queue_sort_with_the_same_arguments(second: object, expected: str | None) -> None:
    text = HEAD + "profiles: " + json.dumps([oldest_first("a", 1), second])
    registry: dict[str, type[Plugin]] = {**BUILT_IN, "Oldest": Oldest}
    if expected is None:
        assert len(load(text, "file.yaml", registry).profiles) == 2
    else:
        with pytest.raises(ValueError, match="profiles") as raised:
            load(text, "file.yaml", registry)
        assert expected in str(raised.value)
