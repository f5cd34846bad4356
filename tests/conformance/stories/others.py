"""Events, leases, nodes, namespaces, priority classes, custom resources."""

import asyncio

from scheduler.sandbox.fields import Json, JsonObject
from tests.conformance.stories.objects import pod
from tests.conformance.teller import Teller

EVENTS = "events.events.k8s.io"
LEASES = "leases.coordination.k8s.io"
_MOMENT = "2026-01-01T00:00:00.000000Z"


def _event(api: Teller, name: str, **fields: Json) -> JsonObject:
    event: JsonObject = {
        "metadata": {"name": name},
        "eventTime": _MOMENT,
        "reportingController": "berth",
        "reportingInstance": "berth-0",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": api.namespace, "uid": "u"},
        "note": "0/1 nodes are available",
        "type": "Warning",
        **fields,
    }
    return {field: value for field, value in event.items() if value is not None}


async def event_in_both_groups(api: Teller) -> None:
    await api.create(EVENTS, _event(api, "e"))
    await api.get("events/e")
    await api.get(f"{EVENTS}/e")
    await api.get("events", fieldSelector="involvedObject.name=p,reason=FailedScheduling,type=Warning")
    await api.get(EVENTS, fieldSelector="regarding.name=p,reportingController=berth")
    await api.get("events", fieldSelector="regarding.name=p")
    series: JsonObject = {"series": {"count": 2, "lastObservedTime": _MOMENT}}
    await api.strategic(f"{EVENTS}/e", series)
    await api.merge(f"{EVENTS}/e", {"series": {"count": 3}})
    await api.merge(f"{EVENTS}/e", {"note": "changed"})
    await api.delete("events/e")


async def event_of_the_old_group(api: Teller) -> None:
    old: JsonObject = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": api.namespace},
        "reason": "Scheduled",
        "message": "Successfully assigned",
        "source": {"component": "default-scheduler"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
        "type": "Normal",
    }
    await api.create("events", old)
    await api.get(f"{EVENTS}/e")
    await api.get("events", fieldSelector="source=default-scheduler")
    await api.merge("events/e", {"count": 2})
    await api.create("events", {**old, "metadata": {"name": "f"}, "involvedObject": {"kind": "Node", "name": "n1"}})


async def event_is_watched_in_both_groups(api: Teller) -> None:
    listed = await api.get("events")
    version = listed.at("metadata", "resourceVersion")
    async with api.watch("events", version) as old, api.watch(EVENTS, version) as new:
        await api.create(EVENTS, _event(api, "e"))
        await old.events(1)
        await new.events(1)


async def event_validation(api: Teller) -> None:
    await api.create(EVENTS, _event(api, "e", eventTime=None))
    await api.create(EVENTS, _event(api, "e", action=None))
    await api.create(EVENTS, _event(api, "e", reportingInstance=None))
    await api.create(EVENTS, _event(api, "e", reportingController=None))
    await api.create(EVENTS, _event(api, "e", reportingController="bad name"))
    await api.create(EVENTS, _event(api, "e", reason="R" * 129))
    await api.create(EVENTS, _event(api, "e", note="n" * 1025))
    await api.create(EVENTS, _event(api, "e", type="Odd"))
    await api.create(EVENTS, _event(api, "e", regarding={"kind": "Node", "name": "n1"}))
    await api.create(EVENTS, _event(api, "e", series={"count": 1, "lastObservedTime": _MOMENT}))
    await api.create(EVENTS, _event(api, "e", deprecatedCount=1))


async def event_for_a_node(api: Teller) -> None:
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    event: JsonObject = {**_event(api, api.own("e")), "regarding": {"apiVersion": "v1", "kind": "Node", "name": "n1"}}
    await api.create(path, event)
    await api.delete(f"{path}/{api.own('e')}")


async def lease_life(api: Teller) -> None:
    spec: JsonObject = {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": _MOMENT,
        "renewTime": _MOMENT,
        "leaseTransitions": 0,
    }
    created = await api.create(LEASES, {"metadata": {"name": "l"}, "spec": spec})
    version = created.at("metadata", "resourceVersion")
    renewed: JsonObject = {
        "metadata": {"name": "l", "resourceVersion": version},
        "spec": {**spec, "leaseTransitions": 1},
    }
    await api.put(f"{LEASES}/l", renewed)
    await api.put(f"{LEASES}/l", renewed)
    await api.put(f"{LEASES}/l", {"metadata": {"name": "l"}, "spec": spec})
    await api.put(f"{LEASES}/fresh", {"metadata": {"name": "fresh"}, "spec": spec})
    await api.create(LEASES, {"metadata": {"name": "bad"}, "spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}})
    await api.create(LEASES, {"metadata": {"name": "empty"}})


async def node_life(api: Teller) -> None:
    name = api.own("n")
    path = f"/api/v1/nodes/{name}"
    resources: JsonObject = {"cpu": "4", "memory": "8192Mi", "pods": "110"}
    taints: list[Json] = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    await api.create(
        "/api/v1/nodes", {"metadata": {"name": name}, "spec": {"taints": taints}, "status": {"capacity": resources}}
    )
    await api.merge(path, {"spec": {"unschedulable": True}})
    await api.get("/api/v1/nodes", fieldSelector=f"spec.unschedulable=true,metadata.name={name}")
    await api.merge(path, {"spec": {"unschedulable": None}})
    await api.merge(path, {"status": {"capacity": {"cpu": "8"}}})
    await api.merge(f"{path}/status", {"status": {"allocatable": {"cpu": "3500m"}}, "spec": {"unschedulable": True}})
    ready: list[Json] = [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ok"}]
    await api.strategic(f"{path}/status", {"status": {"conditions": ready}})
    await api.merge(
        path, {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}, {"key": "k", "effect": "NoSchedule"}]}}
    )
    await api.merge(path, {"spec": {"taints": [{"key": "bad key", "effect": "NoSchedule"}]}})
    await api.merge(path, {"spec": {"taints": [{"key": "k", "effect": "Odd"}]}})
    await api.delete(path)


async def namespace_life(api: Teller) -> None:
    name = api.own("space")
    await api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    await api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    await api.create("/api/v1/namespaces", {"metadata": {"name": "Upper"}})
    await api.create(f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "c"}})
    await api.delete(f"/api/v1/namespaces/{name}")
    await api.get(f"/api/v1/namespaces/{name}")
    await api.create(f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "d"}})
    await api.create(f"/api/v1/namespaces/{name}/pods", pod("p"))
    await api.delete(f"/api/v1/namespaces/{name}/configmaps/c")
    await api.ask(
        "PUT", f"/api/v1/namespaces/{name}/finalize", {"metadata": {"name": name}, "spec": {"finalizers": []}}
    )
    await api.get(f"/api/v1/namespaces/{name}")
    await api.delete("/api/v1/namespaces/default")


async def custom_resource_life(api: Teller) -> None:
    group = f"conform{api.own('')}.example.org"
    names: JsonObject = {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]}
    schema: JsonObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    columns: list[Json] = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
    ]
    version: JsonObject = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
    }
    spec: JsonObject = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    # Not told: the real server works on definitions in the background, the sandbox at once.
    await api.ask("POST", definitions, {"metadata": {"name": f"widgets.{group}"}, "spec": spec}, silent=True)
    await _until_served(api, f"widgets.{group}")
    widget: JsonObject = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
    created = await api.create(f"widgets.{group}", {**widget, "status": {"ignored": True}})
    await api.create(f"widgets.{group}", widget)
    await api.merge(f"widgets.{group}/w", {"spec": {"size": 2}})
    await api.merge(f"widgets.{group}/w", {"metadata": {"labels": {"l": "x"}}})
    await api.merge(f"widgets.{group}/w/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    await api.merge(f"widgets.{group}/w", {"status": {"ignored": True}})
    await api.strategic(f"widgets.{group}/w", {"spec": {"size": 3}})
    stale: JsonObject = {"name": "w", "resourceVersion": created.at("metadata", "resourceVersion")}
    await api.put(f"widgets.{group}/w", {**widget, "metadata": stale})
    await api.put(f"widgets.{group}/w", widget)
    await api.ask("GET", f"widgets.{group}", accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    await api.get(f"widgets.{group}", fieldSelector="spec.size=2")
    await api.delete(f"widgets.{group}/w")
    await api.ask("DELETE", f"{definitions}/widgets.{group}", silent=True)


async def _until_served(api: Teller, resource: str) -> None:
    for _ in range(200):
        answer = await api.ask("GET", resource, silent=True)
        if answer.code == 200:
            return
        await asyncio.sleep(0.05)
    raise TimeoutError(resource)
