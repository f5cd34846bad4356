"""Creating, updating, patching: names, versions, conflicts, what a client cannot set."""

from scheduler.sandbox.fields import Json, JsonObject
from tests.conformance.stories.objects import pod
from tests.conformance.teller import Teller

JSON_PATCH = "application/json-patch+json"


def _config(name: str, **data: Json) -> JsonObject:
    return {"metadata": {"name": name}, "data": data}


async def create_twice(api: Teller) -> None:
    await api.create("configmaps", _config("c", a="1"))
    await api.create("configmaps", _config("c", a="1"))
    await api.create("leases.coordination.k8s.io", {"metadata": {"name": "l"}})
    await api.create("leases.coordination.k8s.io", {"metadata": {"name": "l"}})


async def create_with_a_generated_name(api: Teller) -> None:
    await api.create("configmaps", {"metadata": {"generateName": "made-"}})
    await api.create("pods", {**pod(""), "metadata": {"generateName": "made-"}})


async def create_with_what_a_client_cannot_set(api: Teller) -> None:
    metadata: JsonObject = {
        "name": "c",
        "uid": "11111111-2222-3333-4444-555555555555",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "generation": 7,
    }
    await api.create("configmaps", {"metadata": metadata})
    await api.create("configmaps", {"metadata": {"name": "d", "resourceVersion": "5"}})
    await api.create("pods", {**pod("p"), "status": {"phase": "Running"}})


async def create_in_the_wrong_place(api: Teller) -> None:
    await api.create("configmaps", {"metadata": {"name": "c", "namespace": "elsewhere"}})
    await api.create("/api/v1/namespaces/does-not-exist/configmaps", _config("c"))
    await api.create("/api/v1/nodes", {"metadata": {"name": api.own("n"), "namespace": "default"}})


async def create_with_bad_metadata(api: Teller) -> None:
    await api.create("configmaps", {"metadata": {}})
    await api.create("configmaps", {"metadata": {"name": "Upper"}})
    await api.create("configmaps", {"metadata": {"name": "c", "labels": {"bad key": "x"}}})
    await api.create("configmaps", {"metadata": {"name": "c", "labels": {"k": "bad value"}}})
    await api.create("configmaps", {"metadata": {"name": "c", "annotations": {"bad key": "x"}}})
    await api.create("configmaps", {"metadata": {"name": "c", "finalizers": ["bad finalizer"]}})
    await api.create("configmaps", {"metadata": {"name": "c", "ownerReferences": [{"kind": "Pod", "name": "p"}]}})


async def update_with_and_without_a_version(api: Teller) -> None:
    created = await api.create("configmaps", _config("c", a="1"))
    version = created.at("metadata", "resourceVersion")
    await api.put("configmaps/c", {"metadata": {"name": "c", "resourceVersion": version}, "data": {"a": "2"}})
    await api.put("configmaps/c", {"metadata": {"name": "c", "resourceVersion": version}, "data": {"a": "3"}})
    await api.put("configmaps/c", _config("c", a="4"))
    await api.put("configmaps/c", _config("c", a="4"))
    await api.put("configmaps/c", _config("other", a="5"))
    await api.put("configmaps/missing", _config("missing"))
    wrong: JsonObject = {"name": "c", "uid": "11111111-2222-3333-4444-555555555555"}
    await api.put("configmaps/c", {"metadata": wrong, "data": {"a": "6"}})


async def update_keeps_what_a_client_cannot_change(api: Teller) -> None:
    await api.create("configmaps", _config("c"))
    await api.put(
        "configmaps/c", {"metadata": {"name": "c", "creationTimestamp": "2001-01-01T00:00:00Z"}, "data": {"x": "y"}}
    )
    await api.merge("configmaps/c", {"metadata": {"name": "renamed"}})
    await api.merge("configmaps/c", {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}})
    await api.merge("configmaps/c", {"metadata": {"namespace": "elsewhere"}})


async def merge_patch(api: Teller) -> None:
    created = await api.create("configmaps", _config("c", a="1", b="2"))
    await api.merge("configmaps/c", {"data": {"a": None, "c": "3"}, "metadata": {"labels": {"l": "x"}}})
    await api.merge("configmaps/c", {"data": {"c": "3"}})
    version = created.at("metadata", "resourceVersion")
    await api.merge("configmaps/c", {"metadata": {"resourceVersion": version}, "data": {"c": "4"}})
    await api.merge("configmaps/c", {"metadata": {"uid": "11111111-2222-3333-4444-555555555555"}, "data": {"c": "5"}})
    await api.merge("configmaps/missing", {"data": {}})
    await api.merge("configmaps/c", {"metadata": {"labels": None}})


async def json_patch(api: Teller) -> None:
    await api.create("configmaps", _config("c", a="1"))
    await api.ask("PATCH", "configmaps/c", [{"op": "add", "path": "/data/b", "value": "2"}], content_type=JSON_PATCH)
    test: JsonObject = {"op": "test", "path": "/data/a", "value": "1"}
    await api.ask(
        "PATCH", "configmaps/c", [test, {"op": "replace", "path": "/data/a", "value": "x"}], content_type=JSON_PATCH
    )
    await api.ask("PATCH", "configmaps/c", [{"op": "remove", "path": "/data/b"}], content_type=JSON_PATCH)


async def strategic_merge_patch(api: Teller) -> None:
    await api.create("pods", pod("p"))
    conditions: list[Json] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m"}]
    await api.strategic("pods/p/status", {"status": {"conditions": conditions}})
    await api.strategic("pods/p/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    await api.strategic("pods/p/status", {"status": {"conditions": [{"type": "PodScheduled", "status": "True"}]}})
    order: list[Json] = [{"type": "Ready"}, {"type": "PodScheduled"}]
    await api.strategic("pods/p/status", {"status": {"$setElementOrder/conditions": order}})
    await api.strategic("pods/p/status", {"status": {"conditions": [{"$patch": "delete", "type": "Ready"}]}})
    await api.strategic("pods/p", {"spec": {"containers": [{"name": "main", "image": "registry.example/app:2"}]}})
    await api.strategic("pods/p", {"metadata": {"finalizers": ["example.org/a"]}})
    await api.strategic("pods/p", {"metadata": {"finalizers": ["example.org/b"]}})
    await api.strategic("pods/p", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.org/a"]}})
    await api.merge("pods/p", {"metadata": {"finalizers": None}})


async def dry_run(api: Teller) -> None:
    await api.ask("POST", "configmaps", _config("c"), params={"dryRun": "All"})
    await api.get("configmaps/c")
    await api.create("configmaps", _config("d", a="1"))
    await api.ask("PUT", "configmaps/d", _config("d", a="2"), params={"dryRun": "All"})
    await api.ask("DELETE", "configmaps/d", params={"dryRun": "All"})
    await api.get("configmaps/d")
