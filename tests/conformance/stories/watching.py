"""Watches: what is seen, in what order, and how they end."""

from tests.conformance.stories.objects import binding, pod
from tests.conformance.teller import Teller


async def watch_from_a_list(api: Teller) -> None:
    await api.create("pods", pod("a"))
    listed = await api.get("pods")
    async with api.watch("pods", listed.at("metadata", "resourceVersion")) as watch:
        await api.create("pods", pod("b"))
        await api.create("pods/a/binding", binding("a"))
        await api.merge("pods/b/status", {"status": {"phase": "Running"}})
        await api.delete("pods/b")
        await watch.events(4)


async def watch_leaves_a_field_selector(api: Teller) -> None:
    await api.create("pods", pod("a"))
    listed = await api.get("pods")
    version = listed.at("metadata", "resourceVersion")
    async with api.watch("pods", version, fieldSelector="status.phase!=Failed,status.phase!=Succeeded") as watch:
        await api.merge("pods/a/status", {"status": {"phase": "Running"}})
        await api.merge("pods/a/status", {"status": {"phase": "Failed"}})
        await api.merge("pods/a", {"metadata": {"labels": {"unseen": "x"}}})
        await api.merge("pods/a/status", {"status": {"phase": "Running"}})
        await api.delete("pods/a", {"gracePeriodSeconds": 0})
        await watch.events(4)


async def watch_unassigned_pods_of_a_scheduler(api: Teller) -> None:
    await api.create("pods", pod("other"))
    listed = await api.get("pods")
    version = listed.at("metadata", "resourceVersion")
    async with api.watch("pods", version, fieldSelector="spec.nodeName=,spec.schedulerName=berth") as watch:
        await api.create("pods", pod("ours", schedulerName="berth"))
        await api.create("pods/ours/binding", binding("ours"))
        await api.delete("pods/other")
        await watch.events(2)


async def watch_labels(api: Teller) -> None:
    await api.create("pods", pod("a"))
    listed = await api.get("pods")
    version = listed.at("metadata", "resourceVersion")
    async with api.watch("pods", version, labelSelector="team in (x,y),!legacy") as watch:
        await api.merge("pods/a", {"metadata": {"labels": {"team": "x"}}})
        await api.merge("pods/a", {"metadata": {"labels": {"team": "y"}}})
        await api.merge("pods/a", {"metadata": {"labels": {"legacy": ""}}})
        await watch.events(3)


async def watch_without_a_version_begins_with_what_is_there(api: Teller) -> None:
    await api.create("pods", pod("a"))
    await api.create("pods", pod("b"))
    async with api.watch("pods") as watch:
        await watch.events(2)
        await api.delete("pods/a")
        await watch.events(1)


async def watch_one_object(api: Teller) -> None:
    created = await api.create("pods", pod("a"))
    async with api.watch("pods", created.at("metadata", "resourceVersion"), fieldSelector="metadata.name=a") as watch:
        await api.create("pods", pod("b"))
        await api.delete("pods/a")
        await watch.events(1)


async def watch_with_initial_events(api: Teller) -> None:
    await api.create("pods", pod("a"))
    query = {
        "sendInitialEvents": "true",
        "allowWatchBookmarks": "true",
        "resourceVersionMatch": "NotOlderThan",
        "timeoutSeconds": "30",
    }
    async with api.watch("pods", **query) as watch:
        await watch.events(2)
        await api.create("pods", pod("b"))
        await watch.events(1)


async def watch_ends_after_its_time(api: Teller) -> None:
    created = await api.create("pods", pod("a"))
    async with api.watch("pods", created.at("metadata", "resourceVersion"), timeoutSeconds="1") as watch:
        await watch.ends()


async def watch_from_a_version_that_is_no_version(api: Teller) -> None:
    await api.get("pods", watch="1", resourceVersion="abc", timeoutSeconds="1")


async def watch_a_table(api: Teller) -> None:
    created = await api.create("pods", pod("a"))
    version = created.at("metadata", "resourceVersion")
    async with api.watch("pods", version, accept="application/json;as=Table;v=v1;g=meta.k8s.io") as watch:
        await api.merge("pods/a", {"metadata": {"labels": {"x": "y"}}})
        await api.delete("pods/a")
        await watch.events(3)


async def watch_tables(api: Teller) -> None:
    await api.ask("GET", "pods", accept="application/json;as=Table;v=v1;g=meta.k8s.io")


async def watch_leases_and_nodes(api: Teller) -> None:
    name = api.own("n1")
    created = await api.create("/api/v1/nodes", {"metadata": {"name": name}})
    version = created.at("metadata", "resourceVersion")
    async with api.watch("/api/v1/nodes", version, fieldSelector=f"metadata.name={name}") as watch:
        await api.merge(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": True}})
        await api.delete(f"/api/v1/nodes/{name}")
        await watch.events(2)
