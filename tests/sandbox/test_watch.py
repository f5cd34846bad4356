"""What watchers see."""

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import Status
from scheduler.sandbox.fields import JsonObject, name_of, text_at, value_at, version_of
from scheduler.sandbox.patches import MERGE_PATCH
from scheduler.sandbox.watch import WatchEvent
from tests.sandbox.builders import binding, node, pod


def seen(events: list[WatchEvent]) -> list[tuple[str, str]]:
    return [(event.type, name_of(event.object)) for event in events if not isinstance(event.object, Status)]


def only(events: list[WatchEvent]) -> tuple[str, JsonObject]:
    (event,) = events
    assert not isinstance(event.object, Status)
    return event.type, event.object


def test_a_watch_goes_on_where_the_list_ended(cluster: Cluster) -> None:
    cluster.create("pods", pod("a"))
    items, version, _ = cluster.list("pods")
    cluster.create("pods", pod("b"))
    cluster.bind("default", "a", binding("a", "n1"))
    cluster.delete("pods", "default", "b")
    watch = cluster.watch("pods", version)
    assert [name_of(item) for item in items] == ["a"]
    assert seen(watch.drain()) == [("ADDED", "b"), ("MODIFIED", "a"), ("MODIFIED", "b"), ("DELETED", "b")]
    assert watch.drain() == []


def test_leaving_a_field_selector_is_a_deletion_that_shows_the_state_before(cluster: Cluster) -> None:
    cluster.create("pods", pod("a"))
    watch = cluster.watch("pods", cluster.revision, field_selector="status.phase!=Failed")
    failed = cluster.patch("pods", "default", "a", {"status": {"phase": "Failed"}}, MERGE_PATCH, subresource="status")
    kind, last = only(watch.drain())
    assert kind == "DELETED"
    assert text_at(last, "status", "phase") == "Pending"
    assert version_of(last) == version_of(failed)


def test_entering_a_selector_is_an_addition(cluster: Cluster) -> None:
    cluster.create("pods", pod("a"))
    on_node = cluster.watch("pods", cluster.revision, field_selector="spec.nodeName=n1")
    labelled = cluster.watch("pods", cluster.revision, label_selector="team in (x, y),!legacy")
    cluster.bind("default", "a", binding("a", "n1"))
    cluster.patch("pods", "default", "a", {"metadata": {"labels": {"team": "x"}}}, MERGE_PATCH)
    cluster.patch("pods", "default", "a", {"metadata": {"labels": {"legacy": ""}}}, MERGE_PATCH)
    assert seen(on_node.drain()) == [("ADDED", "a"), ("MODIFIED", "a"), ("MODIFIED", "a")]
    assert seen(labelled.drain()) == [("ADDED", "a"), ("DELETED", "a")]


def test_a_deletion_carries_the_version_of_the_deletion(cluster: Cluster) -> None:
    created = cluster.create("nodes", node("n1"))
    watch = cluster.watch("nodes", cluster.revision)
    cluster.delete("nodes", None, "n1")
    kind, last = only(watch.drain())
    assert kind == "DELETED"
    assert int(version_of(last)) == cluster.revision > int(version_of(created))


def test_a_pod_is_seen_marked_before_it_is_seen_gone(cluster: Cluster) -> None:
    cluster.create("pods", pod("a"))
    watch = cluster.watch("pods", cluster.revision)
    cluster.delete("pods", "default", "a")
    marked, gone = watch.drain()
    assert (marked.type, gone.type) == ("MODIFIED", "DELETED")
    assert not isinstance(marked.object, Status)
    assert value_at(marked.object, "metadata", "deletionGracePeriodSeconds") == 0


def test_a_compacted_version_ends_the_watch_with_410(cluster: Cluster) -> None:
    watch = cluster.watch("pods", cluster.revision)
    cluster.create("pods", pod("a"))
    cluster.compact()
    (event,) = watch.drain()
    assert isinstance(event.object, Status)
    assert (event.type, event.object.code, event.object.reason) == ("ERROR", 410, "Expired")
    assert watch.failed
    cluster.create("pods", pod("b"))
    assert watch.drain() == []


def test_a_write_that_changes_nothing_is_not_seen(cluster: Cluster) -> None:
    created = cluster.create("pods", pod("a"))
    watch = cluster.watch("pods", cluster.revision)
    same = cluster.update("pods", created)
    assert version_of(same) == version_of(created)
    assert watch.drain() == []


def test_a_watcher_is_woken_until_it_is_closed(cluster: Cluster) -> None:
    woken: list[str] = []
    watch = cluster.watch("pods", cluster.revision, wake=lambda: woken.append("wake"))
    cluster.create("nodes", {"metadata": {"name": "n1"}})
    assert woken == []
    cluster.create("pods", pod("a"))
    assert woken == ["wake"]
    watch.close()
    cluster.create("pods", pod("b"))
    assert woken == ["wake"]


def test_a_bookmark_moves_a_silent_watch_past_a_compaction(cluster: Cluster) -> None:
    watch = cluster.watch("pods", cluster.revision)
    cluster.create("nodes", {"metadata": {"name": "n1"}})
    assert watch.drain() == []
    kind, mark = only([cluster.bookmark("pods", watch)])
    assert (kind, int(version_of(mark))) == ("BOOKMARK", cluster.revision)
    cluster.compact()
    cluster.create("pods", pod("a"))
    assert seen(watch.drain()) == [("ADDED", "a")]


def test_objects_in_events_are_not_changed_by_later_writes(cluster: Cluster) -> None:
    watch = cluster.watch("pods", cluster.revision)
    cluster.create("pods", pod("a"))
    kind, added = only(watch.drain())
    cluster.bind("default", "a", binding("a", "n1"))
    assert kind == "ADDED"
    assert value_at(added, "spec", "nodeName") is None
