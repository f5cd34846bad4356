"""What holds whatever happens: a list and the watch from it always add up to the next list."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.fields import JsonObject, name_of, version_of
from scheduler.sandbox.patches import MERGE_PATCH
from scheduler.sandbox.watch import WatchEvent
from tests.sandbox.builders import ToldClock, binding, pod

NAMES = ("a", "b", "c")
SELECTORS = st.sampled_from(
    [
        ("", ""),
        ("team=x", ""),
        ("team notin (x)", ""),
        ("", "spec.nodeName="),
        ("", "spec.nodeName=n1,status.phase!=Failed"),
        ("team", "metadata.name!=b"),
    ]
)
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["create", "bind", "delete", "kill", "fail", "label", "unlabel"]), st.sampled_from(NAMES)
    ),
    max_size=25,
)


def act(cluster: Cluster, action: str, name: str) -> None:
    """One thing that happens to a pod; what the API refuses does not happen."""
    try:
        match action:
            case "create":
                cluster.create("pods", pod(name))
            case "bind":
                cluster.bind("default", name, binding(name, "n1"))
            case "delete":
                cluster.delete("pods", "default", name)
            case "kill":
                cluster.delete("pods", "default", name, grace_period=0)
            case "fail":
                cluster.patch(
                    "pods", "default", name, {"status": {"phase": "Failed"}}, MERGE_PATCH, subresource="status"
                )
            case "label":
                cluster.patch("pods", "default", name, {"metadata": {"labels": {"team": "x"}}}, MERGE_PATCH)
            case "unlabel":
                cluster.patch("pods", "default", name, {"metadata": {"labels": {"team": None}}}, MERGE_PATCH)
    except ApiError as refusal:
        if refusal.code not in {404, 409}:
            raise


def follow(state: dict[str, JsonObject], events: list[WatchEvent]) -> None:
    """Apply events to what is known, as a client does; an event that does not fit is a fault."""
    for event in events:
        assert isinstance(event.object, dict)
        name = name_of(event.object)
        assert (name in state) == (event.type != "ADDED"), event
        if event.type == "DELETED":
            del state[name]
        else:
            state[name] = event.object


@given(ACTIONS, ACTIONS, SELECTORS)
def test_a_list_and_its_watch_add_up_to_the_next_list(
    before: list[tuple[str, str]], after: list[tuple[str, str]], selectors: tuple[str, str]
) -> None:
    labels, fields = selectors
    cluster = Cluster(ToldClock())
    for action, name in before:
        act(cluster, action, name)
    items, version, _ = cluster.list("pods", label_selector=labels, field_selector=fields)
    for action, name in after:
        act(cluster, action, name)
    state = {name_of(item): item for item in items}
    follow(state, cluster.watch("pods", version, label_selector=labels, field_selector=fields).drain())
    assert list(state.values()) == unordered(
        cluster.list("pods", label_selector=labels, field_selector=fields)[0], state
    )


def unordered(items: list[JsonObject], like: dict[str, JsonObject]) -> list[JsonObject]:
    """The same items, in the order in which the other state came to know them."""
    assert len(items) == len(like)
    by_name = {name_of(item): item for item in items}
    return [by_name[name] for name in like]


@given(ACTIONS, ACTIONS, st.integers(1, 3))
def test_pages_show_the_moment_of_the_first(
    before: list[tuple[str, str]], between: list[tuple[str, str]], limit: int
) -> None:
    cluster = Cluster(ToldClock())
    for action, name in before:
        act(cluster, action, name)
    whole = cluster.list("pods")[0]
    items, version, token = cluster.list("pods", limit=limit)
    for action, name in between:
        act(cluster, action, name)
    while token:
        page, same_version, token = cluster.list("pods", limit=limit, continue_=token)
        assert same_version == version
        items += page
    assert items == whole


@given(ACTIONS)
def test_versions_grow_with_every_change_and_no_change_is_silent(actions: list[tuple[str, str]]) -> None:
    cluster = Cluster(ToldClock())
    watch = cluster.watch("pods", cluster.revision)
    last = cluster.revision
    for action, name in actions:
        act(cluster, action, name)
        seen = [int(version_of(event.object)) for event in watch.drain() if isinstance(event.object, dict)]
        assert seen == list(range(last + 1, cluster.revision + 1))
        last = cluster.revision


@given(ACTIONS)
def test_the_same_requests_give_the_same_bytes(actions: list[tuple[str, str]]) -> None:
    def history() -> bytes:
        cluster = Cluster(ToldClock(), seed=7)
        watch = cluster.watch("pods", 1)
        for action, name in actions:
            act(cluster, action, name)
        return msgspec.json.encode(watch.drain())

    assert history() == history()
