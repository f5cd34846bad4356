"""The fields of the file outside profiles: defaults, values, and what is refused."""

import json

import pytest

from plugins.registry import BUILT_IN
from scheduler.config import ClientConnection, LeaderElection, default, load
from tests.config.files import HEAD, complaints, read


def test_an_empty_file_means_the_defaults() -> None:
    assert read() == default(BUILT_IN)


def test_the_defaults() -> None:
    made = default(BUILT_IN)
    assert (made.pod_initial_backoff_seconds, made.pod_max_backoff_seconds) == (1.0, 10.0)
    assert made.pod_max_in_unschedulable_seconds == 300.0
    assert made.leader_election == LeaderElection(True, 15.0, 10.0, 2.0, "berth", "berth-system")
    assert made.client_connection == ClientConnection("", 50.0, 100)
    assert (made.parallelism, made.percentage_of_nodes_to_score) == (16, None)
    assert (made.enable_profiling, made.delay_cache_until_active) == (True, False)
    assert [profile.scheduler_name for profile in made.profiles] == ["berth"]


def test_every_field_is_taken_over() -> None:
    made = read(
        """
parallelism: 4
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 3
podMaxBackoffSeconds: 60
enableProfiling: false
enableContentionProfiling: false
delayCacheUntilActive: true
clientConnection: {kubeconfig: /etc/kubeconfig, qps: 12.5, burst: 20, contentType: application/json}
leaderElection:
  leaderElect: false
  leaseDuration: 1m30s
  renewDeadline: 1.5m
  retryPeriod: 500ms
  resourceLock: leases
  resourceName: mine
  resourceNamespace: here
"""
    )
    assert (made.parallelism, made.percentage_of_nodes_to_score) == (4, 30)
    assert (made.pod_initial_backoff_seconds, made.pod_max_backoff_seconds) == (3.0, 60.0)
    assert not made.enable_profiling
    assert not made.enable_contention_profiling
    assert made.delay_cache_until_active
    assert made.client_connection == ClientConnection("/etc/kubeconfig", 12.5, 20)
    assert made.leader_election == LeaderElection(False, 90.0, 90.0, 0.5, "mine", "here")


def test_characters_may_be_written_as_json_escapes_them() -> None:
    made = read('leaderElection: {resourceName: "\\ud83d\\udea2", resourceNamespace: "\\ud83d"}').leader_election
    assert (made.resource_name, made.resource_namespace) == ("\U0001f6a2", "\ufffd")


def test_json_is_yaml() -> None:
    text = json.dumps({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}, indent=2)
    assert load(text, "file.json", BUILT_IN) == default(BUILT_IN)


@pytest.mark.parametrize(
    "text",
    [
        "percentageOfNodesToScore: null",
        "percentageOfNodesToScore:",
        "profiles: null",
        "profiles: [{plugins: null, pluginConfig: null}]",
        "leaderElection: {leaseDuration: 0s, resourceName: ''}",
        "clientConnection: {qps: 0, burst: 0}",
    ],
)
def test_null_and_zero_mean_the_default(text: str) -> None:
    assert read(text) == default(BUILT_IN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parallelism: 0", "parallelism: found 0, allowed: 1 and more"),
        ("parallelism: four", 'parallelism: found "four", allowed: an integer'),
        ("parallelism: 1.5", "parallelism: found 1.5, allowed: an integer"),
        ("enableProfiling: 1", "enableProfiling: found 1, allowed: true or false"),
        ("percentageOfNodesToScore: 101", "percentageOfNodesToScore: found 101, allowed: 0 to 100"),
        ("podInitialBackoffSeconds: 0", "podInitialBackoffSeconds: found 0, allowed: 1 and more"),
        (
            "podInitialBackoffSeconds: 20",
            "podMaxBackoffSeconds: found 10, allowed: podInitialBackoffSeconds (20) and more",
        ),
        ("clientConnection: {burst: -1}", "clientConnection.burst: found -1, allowed: 0 and more"),
        ("clientConnection: []", "clientConnection: found a list, allowed: a mapping"),
        ("profiles: {}", "profiles: found a mapping, allowed: a list"),
        (
            "leaderElection: {leaseDuration: soon}",
            'leaderElection.leaseDuration: found "soon", allowed: a duration such as 15s or 1m30s',
        ),
        (
            "leaderElection: {leaseDuration: 1d}",
            'leaderElection.leaseDuration: found "1d", allowed: a duration such as 15s or 1m30s',
        ),
        ("leaderElection: {retryPeriod: 2}", "leaderElection.retryPeriod: found 2, allowed: a string"),
        (
            "leaderElection: {renewDeadline: 15s}",
            "leaderElection.leaseDuration: found 15s, allowed: more than renewDeadline (15s)",
        ),
        (
            "leaderElection: {retryPeriod: 9s}",
            "leaderElection.renewDeadline: found 10s, allowed: more than 1.2 times retryPeriod (9s)",
        ),
        (
            "leaderElection: {resourceLock: endpoints}",
            'leaderElection.resourceLock: found "endpoints", allowed: leases',
        ),
        ("leaderElection: {leaderElects: true}", "leaderElection.leaderElects: unknown field, allowed: leaderElect, "),
        ("extenders: [{urlPrefix: 'http://x', verb: y}]", "extenders[0].verb: unknown field, allowed: urlPrefix, "),
        ("7: seven", "found a key that is no string, allowed: names of fields"),
    ],
)
def test_a_wrong_value_is_named_with_file_line_and_what_is_allowed(text: str, expected: str) -> None:
    lines = complaints(text)
    assert any(line.startswith(f"file.yaml:3: {expected}") or expected in line for line in lines)
    assert all(line.startswith("file.yaml:") for line in lines)


def test_without_an_election_its_settings_do_not_matter() -> None:
    assert not read("leaderElection: {leaderElect: false, renewDeadline: 20s}").leader_election.leader_elect


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "file.yaml: found nothing, allowed: a mapping with apiVersion and kind"),
        ("- a", "file.yaml: found a list, allowed: a mapping with apiVersion and kind"),
        ("a: [1", "file.yaml:1: not YAML: expected ',' or ']', but got '<stream end>'"),
        ("a: b: c", "file.yaml:1: not YAML: mapping values are not allowed here"),
        ("a: 1\n---\nb: 2", "file.yaml:2: not YAML: but found another document"),
        ("a: !secret x", "file.yaml:1: not YAML: could not determine a constructor for the tag '!secret'"),
        ("a: 2024-13-45", "file.yaml: not YAML: month must be in 1..12"),
        ("[" * 5000, "file.yaml: not YAML: maximum recursion depth exceeded"),
        ("kind: KubeSchedulerConfiguration", "file.yaml:1: apiVersion: required"),
    ],
)
def test_what_is_no_configuration_file_is_said_in_one_line(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=r"^file\.yaml") as raised:
        load(text, "file.yaml", BUILT_IN)
    assert str(raised.value).splitlines()[0].startswith(expected)
    assert len(str(raised.value).splitlines()) == 1


def test_other_versions_and_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="found") as raised:
        load("apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: Policy", "old.yaml", BUILT_IN)
    assert str(raised.value).splitlines() == [
        'old.yaml:1: apiVersion: found "kubescheduler.config.k8s.io/v1beta3", allowed: kubescheduler.config.k8s.io/v1',
        'old.yaml:2: kind: found "Policy", allowed: KubeSchedulerConfiguration',
    ]


def test_a_field_that_is_there_twice_is_named_with_both_lines() -> None:
    text = "parallelism: 1\nprofiles:\n- schedulerName: a\n  schedulerName: b\nparallelism: 2\n"
    assert complaints(text) == [
        "file.yaml:3: parallelism: found twice, in lines 3 and 7, allowed: once",
        "file.yaml:5: profiles[0].schedulerName: found twice, in lines 5 and 6, allowed: once",
    ]


def test_an_alias_is_what_it_stands_for() -> None:
    text = "profiles:\n- &a {schedulerName: a, percentageOfNodesToScore: 5}\n- <<: *a\n  schedulerName: b\n"
    assert [(p.scheduler_name, p.percentage_of_nodes_to_score) for p in read(text).profiles] == [("a", 5), ("b", 5)]


def test_a_file_that_contains_itself_is_refused() -> None:
    assert complaints("profiles: &p [*p]") == ["file.yaml:3: profiles[0]: found a list, allowed: a mapping"]


def test_all_problems_are_said_at_once_in_the_order_of_the_file() -> None:
    text = """paralelism: 4
profiles:
- schedulerName: a
  percentageOfNodesToScore: lots
  plugins:
    score:
      enabled:
      - ImageLocality
      - name: 5
      - name: NodeResourcesFitt
        weight: heavy
- schedulerName: a
podMaxBackoffSeconds: -1
"""
    assert [line.partition(", allowed")[0] for line in complaints(text)] == [
        "file.yaml:3: paralelism: unknown field",
        'file.yaml:6: profiles[0].percentageOfNodesToScore: found "lots"',
        'file.yaml:10: profiles[0].plugins.score.enabled[0]: found "ImageLocality"',
        "file.yaml:11: profiles[0].plugins.score.enabled[1].name: found 5",
        'file.yaml:12: profiles[0].plugins.score.enabled[2].name: found "NodeResourcesFitt"',
        'file.yaml:13: profiles[0].plugins.score.enabled[2].weight: found "heavy"',
        'file.yaml:14: profiles[1].schedulerName: found "a", the name of profiles[0] too',
        "file.yaml:15: podMaxBackoffSeconds: found -1",
    ]
    assert HEAD.count("\n") == 2
