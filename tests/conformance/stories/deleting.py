"""Deletion: grace, preconditions, finalizers, collections."""

from scheduler.sandbox.fields import JsonObject
from tests.conformance.stories.objects import binding, pod
from tests.conformance.teller import Teller

_WRONG = "11111111-2222-3333-4444-555555555555"


async def delete_an_unbound_pod(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.delete("pods/p")
    await api.get("pods/p")
    await api.delete("pods/p")


async def delete_a_bound_pod_gracefully(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.create("pods/p/binding", binding("p"))
    await api.delete("pods/p")
    await api.delete("pods/p")
    await api.delete("pods/p", {"gracePeriodSeconds": 5})
    await api.get("pods/p")
    await api.delete("pods/p", {"gracePeriodSeconds": 60})
    await api.delete("pods/p", {"gracePeriodSeconds": 0})
    await api.get("pods/p")


async def delete_a_bound_pod_at_once(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.create("pods/p/binding", binding("p"))
    await api.ask("DELETE", "pods/p", params={"gracePeriodSeconds": "0"})
    await api.get("pods/p")


async def delete_a_finished_pod(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.create("pods/p/binding", binding("p"))
    await api.merge("pods/p/status", {"status": {"phase": "Succeeded"}})
    await api.delete("pods/p")
    await api.get("pods/p")


async def delete_with_preconditions(api: Teller) -> None:
    created = await api.create("pods", pod("p"))
    await api.delete("pods/p", {"preconditions": {"uid": _WRONG}})
    await api.delete("pods/p", {"preconditions": {"resourceVersion": "1"}})
    both: JsonObject = {
        "uid": created.at("metadata", "uid"),
        "resourceVersion": created.at("metadata", "resourceVersion"),
    }
    await api.delete("pods/p", {"preconditions": both})
    await api.create("leases.coordination.k8s.io", {"metadata": {"name": "l"}})
    await api.delete("leases.coordination.k8s.io/l", {"preconditions": {"uid": _WRONG}})
    await api.delete("leases.coordination.k8s.io/l")


async def delete_with_finalizers(api: Teller) -> None:
    await api.create("configmaps", {"metadata": {"name": "c", "finalizers": ["example.org/a", "example.org/b"]}})
    await api.delete("configmaps/c")
    await api.merge("configmaps/c", {"metadata": {"finalizers": ["example.org/b", "example.org/new"]}})
    await api.merge("configmaps/c", {"metadata": {"finalizers": ["example.org/b"]}})
    await api.delete("configmaps/c")
    await api.merge("configmaps/c", {"metadata": {"finalizers": []}})
    await api.get("configmaps/c")


async def delete_a_bound_pod_with_a_finalizer(api: Teller) -> None:
    await api.create("pods", {**pod("p"), "metadata": {"name": "p", "finalizers": ["example.org/hold"]}})
    await api.create("pods/p/binding", binding("p"))
    await api.delete("pods/p")
    await api.delete("pods/p", {"gracePeriodSeconds": 0})
    await api.get("pods/p")
    await api.merge("pods/p", {"metadata": {"finalizers": None}})
    await api.get("pods/p")


async def delete_a_collection(api: Teller) -> None:
    for name in ("a", "b"):
        await api.create("configmaps", {"metadata": {"name": name, "labels": {"of": "ours"}}})
    await api.create("configmaps", {"metadata": {"name": "c"}})
    await api.ask("DELETE", "configmaps", params={"labelSelector": "of=ours"})
    await api.ask("GET", "configmaps", params={"labelSelector": "of=ours"})
    await api.get("configmaps/c")


async def delete_a_node(api: Teller) -> None:
    name = api.own("n")
    await api.create("/api/v1/nodes", {"metadata": {"name": name}})
    await api.delete(f"/api/v1/nodes/{name}")
    await api.delete(f"/api/v1/nodes/{name}")
