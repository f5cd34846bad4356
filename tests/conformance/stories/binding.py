"""pods/binding: what it does and everything that it refuses."""

from tests.conformance.stories.objects import binding, pod
from tests.conformance.teller import Teller


async def bind_a_pod(api: Teller) -> None:
    created = await api.create("pods", pod("p"))
    uid, version = created.at("metadata", "uid"), created.at("metadata", "resourceVersion")
    await api.create(
        "pods/p/binding",
        binding(
            "p", uid=uid, resourceVersion=version, annotations={"example.org/gpu": "0"}, labels={"example.org/l": "x"}
        ),
    )
    await api.get("pods/p")


async def bind_to_a_node_with_topology_labels(api: Teller) -> None:
    name = api.own("n1")
    labels = {"topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1", "other": "o"}
    await api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {**labels}}})
    await api.create("pods", {**pod("p"), "metadata": {"name": "p", "labels": {"topology.kubernetes.io/zone": "mine"}}})
    await api.create("pods/p/binding", binding("p", name))
    await api.get("pods/p")
    await api.create("pods", pod("placed", nodeName=name))
    await api.ask("DELETE", f"/api/v1/nodes/{name}")


async def bind_clears_the_nomination(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.merge("pods/p/status", {"status": {"nominatedNodeName": "n2"}})
    await api.create("pods/p/binding", binding("p"))
    await api.get("pods/p")
    await api.merge("pods/p/status", {"status": {"nominatedNodeName": "n3"}})


async def bind_through_the_bindings_collection(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.create("bindings", binding("p"))
    await api.get("pods/p")


async def bind_twice(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.create("pods/p/binding", binding("p"))
    await api.create("pods/p/binding", binding("p"))
    await api.create("pods/p/binding", binding("p", "n2"))


async def bind_a_pod_that_is_being_deleted(api: Teller) -> None:
    await api.create("pods", {**pod("p"), "metadata": {"name": "p", "finalizers": ["example.org/hold"]}})
    await api.delete("pods/p")
    await api.create("pods/p/binding", binding("p"))
    await api.merge("pods/p", {"metadata": {"finalizers": None}})


async def bind_a_gated_pod(api: Teller) -> None:
    await api.create("pods", pod("p", schedulingGates=[{"name": "example.org/gate"}]))
    await api.create("pods/p/binding", binding("p"))
    await api.merge("pods/p", {"spec": {"schedulingGates": None}})
    await api.create("pods/p/binding", binding("p"))


async def bind_with_wrong_preconditions(api: Teller) -> None:
    created = await api.create("pods", pod("p"))
    await api.create("pods/p/binding", binding("p", uid="11111111-2222-3333-4444-555555555555"))
    await api.create("pods/p/binding", binding("p", uid=created.at("metadata", "uid"), resourceVersion="1"))
    await api.create("pods/p/binding", binding("p", uid=created.at("metadata", "uid")))


async def bind_a_pod_that_is_not_there(api: Teller) -> None:
    await api.create("pods/p/binding", binding("p"))


async def bind_without_a_target(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.create("pods/p/binding", {"metadata": {"name": "p"}})
    await api.create("pods/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Rack", "name": "r"}})
    await api.create("pods/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node"}})
    await api.create("pods/p/binding", {"metadata": {"name": "p"}, "target": {"name": "n1"}})


async def bind_under_another_name(api: Teller) -> None:
    await api.create("pods", pod("p"))
    await api.create("pods/p/binding", binding("other"))
    await api.create("pods/p/binding", {"target": {"kind": "Node", "name": "n1"}})
