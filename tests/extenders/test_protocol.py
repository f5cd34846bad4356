"""The protocol by itself: what is written, and what is made of whatever comes back."""

import json
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.config import Extender
from scheduler.extenders import answers, requests
from scheduler.extenders.answers import AnswerError, NamedVictims
from scheduler.extenders.interest import interested
from scheduler.framework import Node, PodInfo, Victims
from scheduler.objects import Manifests, NodeDecoder, PodDecoder
from tests.builders import container, node_json, pod_json

CACHED = Extender("e", "http://e/", node_cache_capable=True, weight=3)
WHOLE = Extender("e", "http://e", weight=3)
EVERYTHING = Manifests(waiting=frozenset({"berth"}), bound=True, nodes=True)


def pod(name: str, **fields: object) -> PodInfo:
    """A pod that is known whole."""
    metadata = {"uid": name, "resourceVersion": "1", "managedFields": [{"manager": "kubectl"}]}
    made = pod_json(name, metadata=metadata, **fields)  # type: ignore[arg-type]
    return PodDecoder(EVERYTHING).decode(msgspec.json.encode(made))


def node(name: str) -> Node:
    """A node that is known whole."""
    return NodeDecoder(EVERYTHING).decode(msgspec.json.encode(node_json(name)))


def sent(body: bytes) -> object:
    """A body as the extender reads it."""
    return json.loads(body)


def test_names_for_an_extender_with_a_cache_and_whole_nodes_for_others() -> None:
    nodes = [node("n1"), node("n2")]
    named, whole = (sent(requests.args_body(extender, pod("p"), nodes)) for extender in (CACHED, WHOLE))
    shown = json.loads(pod("p").manifest)
    assert named == {"Pod": shown, "Nodes": None, "NodeNames": ["n1", "n2"]}
    items = [json.loads(node.manifest) for node in nodes]
    assert whole == {"Pod": shown, "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}


def test_an_object_is_shown_as_informers_have_it() -> None:
    shown = json.loads(pod("p", node="n1").manifest)
    assert set(shown) == {"metadata", "spec"}
    assert set(shown["metadata"]) == {"name", "namespace", "uid", "resourceVersion"}


def test_victims_go_by_uid_to_an_extender_with_a_cache_and_whole_to_others() -> None:
    victim = pod("v", node="n1")
    candidates = {"n1": Victims((victim,), 2)}
    named, whole = (sent(requests.preemption_body(extender, pod("p"), candidates)) for extender in (CACHED, WHOLE))
    shown = json.loads(pod("p").manifest)
    meta = {"n1": {"Pods": [{"UID": "v"}], "NumPDBViolations": 2}}
    assert named == {"Pod": shown, "NodeNameToVictims": None, "NodeNameToMetaVictims": meta}
    pods = {"n1": {"Pods": [json.loads(victim.manifest)], "NumPDBViolations": 2}}
    assert whole == {"Pod": shown, "NodeNameToVictims": pods, "NodeNameToMetaVictims": None}


def test_a_url_has_one_slash_before_the_verb() -> None:
    assert requests.url(CACHED, "filter") == requests.url(WHOLE, "filter") == "http://e/filter"


@pytest.mark.parametrize("kept", [Manifests(), Manifests(waiting=frozenset({"other"})), Manifests(bound=True)])
def test_nothing_is_kept_that_nobody_is_shown(kept: Manifests) -> None:
    page = msgspec.json.encode({"metadata": {"resourceVersion": "7"}, "items": [pod_json("p")]})
    (found,), version, _ = PodDecoder(kept).decode_list(page)
    assert (found.name, found.manifest, version) == ("p", b"", "7")
    page = msgspec.json.encode({"metadata": {"resourceVersion": "7"}, "items": [node_json("n")]})
    assert NodeDecoder(kept).decode_list(page)[0][0].manifest == b""


def test_lists_and_events_keep_the_same() -> None:
    one = msgspec.json.encode(pod_json("p", node="n1"))
    page = b'{"metadata": {"resourceVersion": "7"}, "items": [%s]}' % one
    event = b'{"type": "ADDED", "object": %s}' % one
    decoder = PodDecoder(EVERYTHING)
    seen = decoder.decode_event(event).object
    assert seen is not None
    assert seen.manifest == decoder.decode_list(page)[0][0].manifest == decoder.decode(one).manifest != b""


def test_go_reads_keys_in_any_case_and_so_does_berth() -> None:
    body = b'{"nodenames": ["n1"], "FAILEDNODES": {"N2": "no"}, "failedAndUnresolvableNodes": null, "more": 1}'
    answer = answers.filtered(CACHED, body)
    assert (answer.node_names, answer.failed, answer.unresolvable) == (["n1"], {"N2": "no"}, {})


def test_whole_nodes_in_an_answer_count_by_name_unless_names_are_given_to_one_with_a_cache() -> None:
    body = b'{"Nodes": {"items": [{"metadata": {"name": "n1"}, "spec": {}}]}, "NodeNames": %s}'
    assert answers.filtered(WHOLE, body % b'["n2"]').node_names == ["n1"]
    assert answers.filtered(CACHED, body % b'["n2"]').node_names == ["n2"]
    assert answers.filtered(CACHED, body % b"null").node_names == ["n1"]


def test_scores_count_ten_times_their_weight_and_add_up() -> None:
    body = b'[{"Host": "n1", "Score": 2}, {"host": "n1", "score": 1}, {"Host": "n2"}, {"Host": "n3", "Score": -1}]'
    assert answers.scores(CACHED, body) == {"n1": 90, "n2": 0, "n3": -30}
    assert answers.scores(CACHED, b"null") == {}
    with pytest.raises(AnswerError, match="score of node n: found 1000000000000000, allowed: 0 to 10"):
        answers.scores(CACHED, b'[{"Host": "n", "Score": 1000000000000000}]')


def test_victims_come_back_by_uid() -> None:
    body = b'{"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "a"}], "NumPDBViolations": 1}, "n2": null}}'
    assert answers.candidates(body) == {"n1": NamedVictims(("a",), 1), "n2": NamedVictims((), 0)}


def test_an_error_is_what_the_extender_calls_one() -> None:
    for read in (lambda body: answers.filtered(CACHED, body), answers.check_bound):
        with pytest.raises(AnswerError, match=r"^no card left$"):
            read(b'{"Error": "no card left"}')
    answers.check_bound(b'{"Error": ""}')
    answers.check_bound(b"{}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["NodeNames", "Nodes", "items", "metadata", "name", "FailedNodes", "Error", "Host"])
            | st.sampled_from(["Score", "NodeNameToMetaVictims", "Pods", "UID", "NumPDBViolations", "n1"]),
            inner,
        )
    ),
)


@given(JSON.map(msgspec.json.encode) | st.binary())
def test_whatever_comes_back_is_an_answer_or_an_error_that_says_so(body: bytes) -> None:
    for read in (
        lambda: answers.filtered(CACHED, body),
        lambda: answers.filtered(WHOLE, body),
        lambda: answers.scores(CACHED, body),
        lambda: answers.candidates(body),
        lambda: answers.check_bound(body),
    ):
        with suppress(AnswerError):
            read()


NAMES = st.text(max_size=5)


@given(st.lists(NAMES), st.dictionaries(NAMES, st.text()), st.dictionaries(NAMES, st.text()))
def test_what_an_extender_means_is_what_is_read(left: list[str], failed: dict[str, str], never: dict[str, str]) -> None:
    body = json.dumps({"NodeNames": left, "FailedNodes": failed, "FailedAndUnresolvableNodes": never}).encode()
    answer = answers.filtered(CACHED, body)
    assert (answer.node_names, answer.failed, answer.unresolvable) == (left, failed, never)


@pytest.mark.parametrize("where", ["containers", "initContainers"])
@pytest.mark.parametrize("how", ["requests", "limits"])
def test_interest_is_in_what_containers_request_or_limit(where: str, how: str) -> None:
    manager = Extender("e", "http://e", managed_resources=frozenset({"x.example/gpu"}))
    wants = {"name": "c", "image": "i", "resources": {how: {"x.example/gpu": "0"}}}
    assert interested([manager], pod("p", spec={where: [wants]})) == (manager,)
    assert interested([manager], pod("p", containers=[container("1")])) == ()
    assert interested([WHOLE], pod("p")) == (WHOLE,)
