"""Lists: selectors, pages, versions."""

from scheduler.sandbox.fields import JsonObject
from tests.conformance.stories.objects import binding, pod
from tests.conformance.teller import Teller


def _labelled(name: str, **labels: str) -> JsonObject:
    return {**pod(name), "metadata": {"name": name, "labels": {**labels}}}


async def list_in_order_of_names(api: Teller) -> None:
    for name in ("b", "c", "a"):
        await api.create("pods", pod(name))
    await api.get("pods")


async def list_in_pages_shows_one_moment(api: Teller) -> None:
    for name in ("a", "b", "c", "d", "e"):
        await api.ask("POST", "pods", pod(name), silent=True)
    first = await api.get("pods", limit="2")
    await api.delete("pods/c")
    await api.create("pods", pod("bb"))
    second = await api.get("pods", limit="2", **{"continue": first.at("metadata", "continue")})
    await api.get("pods", limit="2", **{"continue": second.at("metadata", "continue")})
    await api.get("pods")


async def list_with_a_limit_and_a_selector(api: Teller) -> None:
    await api.create("pods", _labelled("a", app="x"))
    await api.create("pods", _labelled("b", app="y"))
    await api.create("pods", _labelled("c", app="x"))
    first = await api.get("pods", limit="1", labelSelector="app=x")
    await api.get("pods", limit="1", labelSelector="app=x", **{"continue": first.at("metadata", "continue")})


async def list_from_the_cache_ignores_the_limit(api: Teller) -> None:
    for name in ("a", "b", "c"):
        await api.create("pods", pod(name))
    await api.get("pods")
    await api.get("pods", limit="2", resourceVersion="0")


async def list_labels(api: Teller) -> None:
    await api.ask("POST", "pods", _labelled("a", app="x", tier="1"), silent=True)
    await api.ask("POST", "pods", _labelled("b", app="y"), silent=True)
    await api.ask("POST", "pods", _labelled("c"), silent=True)
    for selector in (
        "app=x",
        "app==x",
        "app!=x",
        "app in (x,y)",
        "app notin (x)",
        "app",
        "!app",
        "tier>0",
        "app=x,tier=2",
    ):
        await api.get("pods", labelSelector=selector)
    await api.get("pods", labelSelector="a b")


async def list_fields(api: Teller) -> None:
    await api.create("pods", pod("a", schedulerName="berth"))
    await api.create("pods", pod("b"))
    await api.create("pods/b/binding", binding("b"))
    for selector in (
        "spec.nodeName=n1",
        "spec.nodeName!=",
        "spec.nodeName=",
        "spec.schedulerName=berth",
        "status.phase=Pending,metadata.name!=a",
        "spec.hostNetwork=false",
    ):
        await api.get("pods", fieldSelector=selector)
    await api.get("pods", fieldSelector="spec.containers=x")
    await api.get("configmaps", fieldSelector="data.x=y")
    await api.get("leases.coordination.k8s.io", fieldSelector="spec.holderIdentity=me")


async def list_at_a_version(api: Teller) -> None:
    first = await api.create("pods", pod("a"))
    await api.create("pods", pod("b"))
    version = first.at("metadata", "resourceVersion")
    await api.get("pods", resourceVersion=version, resourceVersionMatch="Exact")
    await api.get("pods", resourceVersion=version, resourceVersionMatch="NotOlderThan")
    await api.get("pods", resourceVersion="abc")
    await api.get("pods", resourceVersion="1000000000")
    await api.get("pods", resourceVersionMatch="Exact")


async def list_as_metadata_and_as_a_table(api: Teller) -> None:
    await api.create("pods", pod("a"))
    await api.ask("GET", "pods", accept="application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
    await api.ask("GET", "pods/a", accept="application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")


async def get_what_is_not_there(api: Teller) -> None:
    await api.get("pods/missing")
    await api.get("leases.coordination.k8s.io/missing")
    await api.get("/api/v1/namespaces/does-not-exist/pods")
    await api.get("/api/v1/nodes/missing")
    await api.get("gadgets")


async def methods_that_are_not_served(api: Teller) -> None:
    await api.create("pods", pod("a"))
    await api.ask("PUT", "pods", pod("a"))
    await api.ask("POST", "pods/a", pod("a"))
    await api.ask("GET", "pods/a/binding")
    await api.ask("POST", "/api/v1/pods", pod("b"))
    await api.ask("PATCH", "pods/a", {}, content_type="application/json")
    await api.ask("POST", "pods", pod("b"), content_type="text/csv")
