"""extenders of a configuration file."""

import json
from base64 import b64encode

import pytest

from plugins.node_resources_fit import NodeResourcesFitArgs
from scheduler.config import Extender, ExtenderTls
from tests.builders import JsonObject
from tests.config.files import complaints, read

URL = "http://extender.example:8888"
PEM = b64encode(b"PEM").decode()


def extenders(*items: JsonObject) -> str:
    """The field, with these extenders; their URL goes without saying."""
    return f"extenders: {json.dumps([{'urlPrefix': URL, **item} for item in items])}"


def test_an_extender_means_what_it_says() -> None:
    text = extenders(
        {
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "preemptVerb": "preempt",
            "bindVerb": "bind",
            "weight": 5,
            "httpTimeout": "1m30s",
            "nodeCacheCapable": True,
            "managedResources": [{"name": "example.com/gpu"}],
            "ignorable": True,
        }
    )
    expected = Extender(
        URL, URL, "filter", "prioritize", "preempt", "bind", 5, 90.0, True, frozenset({"example.com/gpu"}), True
    )
    assert list(read(text).extenders) == [expected]


def test_defaults_are_those_of_kube_scheduler() -> None:
    assert list(read(extenders({})).extenders) == [Extender(URL, URL, timeout=5.0)]
    assert list(read(extenders({"httpTimeout": "0s"})).extenders) == [Extender(URL, URL, timeout=5.0)]


def test_those_that_may_be_ignored_come_last() -> None:
    made = read(extenders({"urlPrefix": "http://a", "ignorable": True}, {"urlPrefix": "http://b"})).extenders
    assert [extender.url_prefix for extender in made] == ["http://b", "http://a"]


def test_extenders_that_share_a_url_are_told_apart() -> None:
    made = read(extenders({"filterVerb": "a"}, {"filterVerb": "b"})).extenders
    assert [extender.name for extender in made] == [f"{URL} (1)", f"{URL} (2)"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ExtenderTls(verify=True)),
        ({"enableHTTPS": True}, ExtenderTls(verify=False)),
        ({"enableHTTPS": True, "tlsConfig": {"caFile": "/ca"}}, ExtenderTls(verify=True, ca_file="/ca")),
        ({"tlsConfig": {"insecure": True}}, ExtenderTls(verify=False)),
        ({"tlsConfig": {"serverName": "x"}}, ExtenderTls(verify=True, server_name="x")),
        (
            {"tlsConfig": {"caFile": "/ca", "caData": PEM, "certFile": "/c", "keyFile": "/k", "keyData": PEM}},
            ExtenderTls(verify=True, ca=b"PEM", certificate_file="/c", key=b"PEM"),
        ),
    ],
)
def test_tls_is_as_in_kube_scheduler(fields: JsonObject, expected: ExtenderTls) -> None:
    assert read(extenders(fields)).extenders[0].tls == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"urlPrefix": ""}], 'extenders[0].urlPrefix: found "", allowed: a URL such as http://'),
        ([{"urlPrefix": "extender:80"}], 'extenders[0].urlPrefix: found "extender:80", allowed: a URL such as http://'),
        ([{}, {"prioritizeVerb": "p"}], "extenders[1].weight: found 0, allowed: 1 and more"),
        ([{"prioritizeVerb": "p", "weight": -1}], "extenders[0].weight: found -1, allowed: 1 and more"),
        (
            [{"bindVerb": "b"}, {}, {"bindVerb": "c"}],
            'extenders[2].bindVerb: found "c", allowed: none, for extenders[0]',
        ),
        ([{"httpTimeout": "5"}], 'extenders[0].httpTimeout: found "5", allowed: a duration such as 15s'),
        ([{"httpTimeout": "-5s"}], 'extenders[0].httpTimeout: found "-5s", allowed: a duration such as 15s'),
        (
            [{"managedResources": [{"name": "cpu"}]}],
            'extenders[0].managedResources[0].name: found "cpu", allowed: an ext',
        ),
        (
            [{"managedResources": [{"name": "a.b/c"}]}, {"managedResources": [{"name": "a.b/c"}]}],
            'extenders[1].managedResources[0].name: found "a.b/c" again, allowed: once among all extenders',
        ),
        (
            [{"tlsConfig": {"insecure": True, "caFile": "x"}}],
            "extenders[0].tlsConfig.insecure: found true, allowed: fal",
        ),
        ([{"tlsConfig": {"certFile": "x"}}], "extenders[0].tlsConfig: found a certificate without a key"),
        (
            [{"tlsConfig": {"caData": "#"}}],
            "extenders[0].tlsConfig.caData: found something else, allowed: PEM in base64",
        ),
        ([{"weight": "5"}], 'extenders[0].weight: found "5", allowed: an integer'),
    ],
)
def test_what_kube_scheduler_refuses_is_refused(items: list[JsonObject], expected: str) -> None:
    assert any(line.startswith(f"file.yaml:3: {expected}") for line in complaints(extenders(*items)))


def test_an_extender_needs_a_url() -> None:
    assert complaints("extenders: [{filterVerb: f}]") == ["file.yaml:3: extenders[0].urlPrefix: required"]


def test_resources_ignored_by_the_scheduler_take_the_place_of_those_of_the_plugin_in_every_profile() -> None:
    """kube-scheduler's buildExtenders replaces the list; the other arguments stay."""
    own = {"name": "NodeResourcesFit", "args": {"ignoredResources": ["a.b/c"], "ignoredResourceGroups": ["g.example"]}}
    profiles = [{"schedulerName": "one", "pluginConfig": [own]}, {"schedulerName": "two"}]
    managed = [{"name": "x.y/gpu", "ignoredByScheduler": True}, {"name": "x.y/seen"}]
    made = read(f"profiles: {json.dumps(profiles)}\n{extenders({'managedResources': managed})}").profiles
    args = [profile.args["NodeResourcesFit"] for profile in made]
    first, second = (one for one in args if isinstance(one, NodeResourcesFitArgs))
    assert first.ignored_resources == second.ignored_resources == ("x.y/gpu",)
    assert first.ignored_resource_groups == ("g.example",)
