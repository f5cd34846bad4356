"""Configurations as kube-scheduler's users have them, and what they mean, spelled out by its rules of merging."""

from pathlib import Path

import msgspec
import pytest

from plugins.registry import BUILT_IN
from scheduler.config import Configuration, Profile, default, load
from scheduler.framework import PluginArgs
from tests.builders import JsonObject
from tests.config.files import names

SAMPLES = Path(__file__).parent / "samples"
FILTERS = [
    *("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"),
    *("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"),
    "NodeDeclaredFeatures",
]


def sample(name: str) -> Configuration:
    path = SAMPLES / f"{name}.yaml"
    return load(path.read_text(), str(path), BUILT_IN)


def only(name: str) -> Profile:
    (profile,) = sample(name).profiles
    return profile


def as_json(args: PluginArgs) -> JsonObject:
    made: JsonObject = msgspec.json.decode(msgspec.json.encode(args))
    return made


def scores(profile: Profile) -> list[tuple[str, int]]:
    return [(ref.name, ref.weight) for ref in profile.plugins["score"]]


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_each_is_taken_as_it_is(path: Path) -> None:
    load(path.read_text(), str(path), BUILT_IN)


def test_without_profiles_everything_is_as_by_default() -> None:
    made = sample("defaults")
    assert made.profiles == default(BUILT_IN).profiles
    assert names(made.profiles[0], "filter") == FILTERS
    assert scores(made.profiles[0]) == [
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodeResourcesFit", 1),
        ("VolumeBinding", 1),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
    ]
    assert made.client_connection.kubeconfig == "/etc/kubernetes/scheduler.conf"


def test_scores_that_are_listed_again_come_first_and_with_their_own_weight() -> None:
    profile = only("weights")
    assert scores(profile) == [
        ("ImageLocality", 10),
        ("TaintToleration", 2),
        ("NodeAffinity", 2),
        ("NodeResourcesFit", 1),
        ("VolumeBinding", 1),
        ("InterPodAffinity", 2),
    ]
    assert names(profile, "filter") == FILTERS


def test_a_default_in_multi_point_keeps_its_place_and_one_that_is_out_comes_last_where_it_is_listed() -> None:
    profile = only("multi_point")
    assert names(profile, "filter") == [*(name for name in FILTERS if name != "TaintToleration"), "TaintToleration"]
    assert scores(profile)[:2] == [("NodeAffinity", 7), ("NodeResourcesFit", 1)]
    assert "TaintToleration" not in names(profile, "score")
    assert names(profile, "postFilter") == []
    assert names(profile, "bind") == ["DefaultBinder"]


def test_several_profiles_have_names_plugins_and_shares_of_their_own() -> None:
    plain, unscored, grouped = sample("several_profiles").profiles
    assert [p.scheduler_name for p in (plain, unscored, grouped)] == ["default-scheduler", "unscored", "grouped"]
    assert [p.percentage_of_nodes_to_score for p in (plain, unscored, grouped)] == [50, 5, 50]
    assert names(unscored, "score") == names(unscored, "preScore") == []
    assert names(unscored, "filter") == FILTERS
    assert plain.plugins == grouped.plugins == default(BUILT_IN).profiles[0].plugins
    required = as_json(grouped.args["NodeAffinity"])["addedAffinity"]
    (term,) = required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "node-group", "operator": "In", "values": ["large"]}]


def test_packing_says_what_and_how() -> None:
    strategy = as_json(only("bin_packing").args["NodeResourcesFit"])["scoringStrategy"]
    assert strategy["type"] == "RequestedToCapacityRatio"
    assert strategy["resources"] == [{"name": "example.com/accelerator", "weight": 3}, {"name": "cpu", "weight": 1}]
    shape = strategy["requestedToCapacityRatio"]["shape"]
    assert shape == [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]


def test_defaults_that_are_written_out_are_the_defaults_and_what_has_no_effect_is_told() -> None:
    made = sample("all_arguments")
    (profile,) = made.profiles
    assert profile.plugins == default(BUILT_IN).profiles[0].plugins
    for name, args in profile.args.items():
        assert args == BUILT_IN[name].Args(), name
    assert [notice.partition(".yaml:")[2] for notice in made.notices] == [
        "10: profiles[0].plugins.multiPoint.enabled[0].name: DynamicResources has no effect, for berth does not have it yet",
        "14: profiles[0].pluginConfig[1]: DynamicResources has no effect, for berth does not have it yet",
    ]
