"""Resources: their names, their faces, and those that come and go with a definition."""

import pytest

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.fields import JsonObject, integer_at, name_of, text_at
from scheduler.sandbox.patches import MERGE_PATCH
from tests.sandbox.builders import pod


def definition(*versions: str, scope: str = "Namespaced") -> JsonObject:
    """Widgets in some versions, of which the first is stored."""
    return {
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org",
            "scope": scope,
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {"name": name, "served": True, "storage": name == versions[0], "subresources": {"status": {}}}
                for name in versions
            ],
        },
    }


@pytest.mark.parametrize("name", ["pods", "Pod", "pod", "po"])
def test_a_resource_goes_by_all_its_names(cluster: Cluster, name: str) -> None:
    cluster.create(name, pod("p"))
    assert name_of(cluster.get("pods", "default", "p")) == "p"


def test_a_name_that_is_none_is_not_found(cluster: Cluster) -> None:
    with pytest.raises(ApiError, match="could not find the requested resource"):
        cluster.list("gadgets")


def test_of_two_resources_with_one_name_the_older_keeps_it(cluster: Cluster) -> None:
    assert cluster.resource("events").group == ""
    assert cluster.resource("events.events.k8s.io").group == "events.k8s.io"


def test_a_definition_makes_a_resource_and_takes_it_away_with_its_objects(cluster: Cluster) -> None:
    cluster.create("crds", definition("v1"))
    cluster.create("widgets", {"metadata": {"name": "w"}, "spec": {}})
    watch = cluster.watch("wd", cluster.revision)
    cluster.delete("crds", None, "widgets.example.org")
    assert [event.type for event in watch.drain()] == ["DELETED"]
    with pytest.raises(ApiError, match="could not find the requested resource"):
        cluster.list("widgets")


def test_versions_of_a_custom_resource_show_the_same_objects(cluster: Cluster) -> None:
    cluster.create("crds", definition("v1", "v1alpha1"))
    older = cluster.resources.at("example.org", "v1alpha1", "widgets")
    assert older is not None
    created = cluster.create(older, {"metadata": {"name": "w"}, "spec": {"size": 1}})
    newer = cluster.get("widgets", "default", "w")
    assert (text_at(created, "apiVersion"), text_at(newer, "apiVersion")) == ("example.org/v1alpha1", "example.org/v1")
    assert newer["spec"] == created["spec"]


def test_the_generation_of_a_custom_resource_counts_changes_outside_metadata_and_status(cluster: Cluster) -> None:
    cluster.create("crds", definition("v1", scope="Cluster"))
    cluster.create("widgets", {"metadata": {"name": "w"}, "spec": {"size": 1}})
    cluster.patch("widgets", None, "w", {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)
    cluster.patch("widgets", None, "w", {"status": {"ready": True}}, MERGE_PATCH, subresource="status")
    assert integer_at(cluster.get("widgets", None, "w"), "metadata", "generation") == 1
    changed = cluster.patch("widgets", None, "w", {"spec": {"size": 2}, "status": {"ready": False}}, MERGE_PATCH)
    assert integer_at(changed, "metadata", "generation") == 2
    assert changed["status"] == {"ready": True}


def test_a_wrongly_typed_field_is_named(cluster: Cluster) -> None:
    with pytest.raises(ApiError, match=r"containers: expected a list, found str") as refused:
        cluster.create("pods", {"metadata": {"name": "p"}, "spec": {"containers": "none"}})
    assert refused.value.code == 400


def test_answers_are_the_callers_own(cluster: Cluster) -> None:
    created = cluster.create("pods", pod("p"))
    created["spec"] = {}
    listed = cluster.list("pods")[0][0]
    listed["spec"] = {}
    assert cluster.get("pods", "default", "p")["spec"] != {}
