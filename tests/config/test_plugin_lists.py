"""Which plugins run where: kube-scheduler's rules for defaults, multiPoint and the lists of extension points."""

import pytest

from plugins.registry import BUILT_IN
from scheduler.config import ConfigError, PluginRef, default, load
from scheduler.config.catalog import DEFAULT_PLUGINS, PLUGINS, WITHOUT_EFFECT
from scheduler.framework import EXTENSION_POINTS, Plugin, QueueSort
from tests.builders import JsonObject
from tests.config.files import HEAD, complaints, names, profile, read

VOLUMES = ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"]
OTHER_PODS = ["PodTopologySpread", "InterPodAffinity"]
FILTERS = [
    *("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"),
    *VOLUMES,
    *OTHER_PODS,
    "NodeDeclaredFeatures",
]
SCORES = [
    *("TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding"),
    *OTHER_PODS,
    *("NodeResourcesBalancedAllocation", "ImageLocality"),
]


def enabled(*plugins: str, **weights: int) -> JsonObject:
    listed: list[JsonObject] = [{"name": name} for name in plugins]
    return {"enabled": [*listed, *({"name": name, "weight": weight} for name, weight in weights.items())]}


def disabled(*plugins: str) -> JsonObject:
    return {"disabled": [{"name": name} for name in plugins]}


def test_the_defaults_are_kube_schedulers_as_far_as_there_are_the_plugins() -> None:
    made = default(BUILT_IN).profiles[0]
    assert names(made, "filter") == FILTERS
    assert made.plugins["score"] == (
        PluginRef("TaintToleration", 3),
        PluginRef("NodeAffinity", 2),
        PluginRef("NodeResourcesFit", 1),
        PluginRef("VolumeBinding", 1),
        PluginRef("PodTopologySpread", 2),
        PluginRef("InterPodAffinity", 2),
        PluginRef("NodeResourcesBalancedAllocation", 1),
        PluginRef("ImageLocality", 1),
    )
    assert names(made, "preFilter") == [
        *("NodeAffinity", "NodePorts", "NodeResourcesFit"),
        *VOLUMES,
        *OTHER_PODS,
        "NodeDeclaredFeatures",
    ]
    assert names(made, "preEnqueue") == ["SchedulingGates", "DefaultPreemption"]
    assert names(made, "postFilter") == ["DefaultPreemption"]
    assert names(made, "queueSort") == ["PrioritySort"]
    assert names(made, "bind") == ["DefaultBinder"]
    assert made.plugins.keys() == EXTENSION_POINTS.keys()


def test_a_default_is_replaced_in_place_and_loses_its_weight() -> None:
    made = profile({"multiPoint": enabled("TaintToleration", NodeResourcesFit=7)})
    assert names(made, "score") == SCORES
    weights = {ref.name: ref.weight for ref in made.plugins["score"]}
    assert (weights["TaintToleration"], weights["NodeAffinity"], weights["NodeResourcesFit"]) == (1, 2, 7)


def test_a_default_that_is_disabled_and_enabled_goes_to_the_end() -> None:
    made = profile({"multiPoint": {**enabled("NodeName"), **disabled("NodeName")}})
    assert names(made, "filter") == [*(name for name in FILTERS if name != "NodeName"), "NodeName"]


def test_a_default_can_be_disabled_everywhere() -> None:
    made = profile({"multiPoint": disabled("NodeAffinity")})
    assert all("NodeAffinity" not in names(made, point) for point in EXTENSION_POINTS)


def test_all_defaults_can_be_disabled() -> None:
    kept = enabled("DefaultBinder", "NodeResourcesFit", "PrioritySort")
    made = profile({"multiPoint": {**kept, **disabled("*")}})
    assert [names(made, point) for point in ("queueSort", "filter", "score", "bind")] == [
        ["PrioritySort"],
        ["NodeResourcesFit"],
        ["NodeResourcesFit"],
        ["DefaultBinder"],
    ]


def test_a_plugin_can_be_disabled_at_one_point() -> None:
    made = profile({"score": disabled("NodeResourcesFit")})
    assert names(made, "score") == [name for name in SCORES if name != "NodeResourcesFit"]
    assert names(made, "filter") == FILTERS


def test_the_list_of_a_point_comes_first_then_the_rest_of_multi_point() -> None:
    made = profile({"filter": enabled("NodePorts", "NodeName")})
    rest = [name for name in FILTERS if name not in ("NodePorts", "NodeName")]
    assert names(made, "filter") == ["NodePorts", "NodeName", *rest]


def test_what_only_the_list_of_a_point_has_comes_last() -> None:
    made = profile(
        {
            "multiPoint": disabled("NodeName"),
            "filter": enabled("NodeName", "NodePorts"),
        }
    )
    rest = [name for name in FILTERS if name not in ("NodePorts", "NodeName")]
    assert names(made, "filter") == ["NodePorts", *rest, "NodeName"]


def test_a_point_can_be_filled_anew() -> None:
    made = profile({"score": {**enabled(ImageLocality=5, NodeAffinity=0), **disabled("*")}})
    assert made.plugins["score"] == (PluginRef("ImageLocality", 5), PluginRef("NodeAffinity", 1))


def test_the_weight_at_the_point_beats_that_of_multi_point() -> None:
    made = profile({"multiPoint": enabled(ImageLocality=5), "score": enabled(ImageLocality=9, TaintToleration=0)})
    weights = {ref.name: ref.weight for ref in made.plugins["score"]}
    assert (weights["ImageLocality"], weights["TaintToleration"]) == (9, 1)


@pytest.mark.parametrize("name", sorted(PLUGINS - BUILT_IN.keys() - WITHOUT_EFFECT))
def test_a_plugin_that_berth_does_not_have_yet_can_be_disabled_and_not_enabled(name: str) -> None:
    assert names(profile({"multiPoint": disabled(name), "filter": disabled(name)}), "filter") == FILTERS
    for point in ("multiPoint", "filter"):
        assert complaints(f"profiles: [{{plugins: {{{point}: {{enabled: [{{name: {name}}}]}}}}}}]") == [
            (
                f'file.yaml:3: profiles[0].plugins.{point}.enabled[0].name: found "{name}", which berth does not have yet, '
                "allowed: in `disabled` only"
            )
        ]
    assert complaints(f"profiles: [{{pluginConfig: [{{name: {name}, args: {{}}}}]}}]") == [
        (
            f'file.yaml:3: profiles[0].pluginConfig[0].name: found "{name}", which berth does not have yet, '
            "allowed: in `disabled` only"
        )
    ]


def test_a_plugin_that_is_gone_can_be_disabled_and_not_enabled() -> None:
    assert names(profile({"filter": disabled("EBSLimits")}), "filter") == FILTERS
    (line,) = complaints("profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]")
    assert 'found "EBSLimits", which kube-scheduler has removed' in line


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        ("score: {enabled: [{name: NodePorts}]}", 'score.enabled[0].name: found "NodePorts", which does not implement'),
        ("filter: {enabled: [{name: NodeNam}]}", 'filter.enabled[0].name: found "NodeNam", allowed: DefaultBinder, '),
        ("filter: {disabled: [{name: NodeNam}]}", 'filter.disabled[0].name: found "NodeNam", allowed: * or Default'),
        (
            "multiPoint: {enabled: [{name: NodeName}, {name: NodeName}]}",
            'multiPoint.enabled[1].name: found "NodeName" again, allowed: once in a list',
        ),
        ("score: {enabled: [{name: ImageLocality, weight: -1}]}", "score.enabled[0].weight: found -1, allowed: 0 "),
        ("queueSort: {disabled: [{name: '*'}]}", "queueSort: found none, allowed: exactly one plugin"),
        ("bind: {disabled: [{name: DefaultBinder}]}", "bind: found none, allowed: at least one plugin"),
        ("filters: {}", "filters: unknown field, allowed: multiPoint, preEnqueue, queueSort, "),
        (
            "placementScore: {enabled: [{name: NodeResourcesFit}]}",
            'placementScore.enabled[0]: found "NodeResourcesFit", allowed: none, for berth does not have placementScore',
        ),
    ],
)
def test_lists_that_cannot_be(plugins: str, expected: str) -> None:
    (line,) = complaints(f"profiles: [{{plugins: {{{plugins}}}}}]")
    assert line.startswith(f"file.yaml:3: profiles[0].plugins.{expected}")


def test_two_queue_sorts_are_one_too_many() -> None:
    class Oldest(QueueSort):
        name = "Oldest"

        def sort_key(self, pod: object, queued_at: float) -> tuple[float | str, ...]:
            return (queued_at,)

    registry: dict[str, type[Plugin]] = {**BUILT_IN, "Oldest": Oldest}
    both = "profiles: [{plugins: {queueSort: {enabled: [{name: Oldest}]}}}]"
    with pytest.raises(ConfigError, match="found PrioritySort, Oldest, allowed: exactly one plugin"):
        load(HEAD + both, "file.yaml", registry)
    instead = "profiles: [{plugins: {queueSort: {enabled: [{name: Oldest}], disabled: [{name: PrioritySort}]}}}]"
    assert names(load(HEAD + instead, "file.yaml", registry).profiles[0], "queueSort") == ["Oldest"]


def test_the_catalog_names_each_plugin_once() -> None:
    listed = [ref.name for ref in DEFAULT_PLUGINS]
    assert len(set(listed)) == len(listed)
    assert set(BUILT_IN) <= set(listed)


def test_a_plugin_that_comes_later_is_found_at_its_place_among_the_defaults() -> None:
    registry = {**BUILT_IN, "DynamicResources": BUILT_IN["TaintToleration"]}
    scores = default(registry).profiles[0].plugins["score"]
    place = SCORES.index("NodeResourcesBalancedAllocation")
    assert [ref.name for ref in scores] == [*SCORES[:place], "DynamicResources", *SCORES[place:]]
    assert PluginRef("DynamicResources", 2) in scores
    assert read().profiles[0].plugins["score"] != scores
