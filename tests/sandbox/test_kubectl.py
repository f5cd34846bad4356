"""What people type works: kubectl against the sandbox over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
import yaml

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.fields import JsonObject, labels_of, objects_at, string_map_at, text_at, value_at
from scheduler.sandbox.http.app import serve
from scheduler.sandbox.http.housekeeping import keep_house
from tests.controlplane.binaries import Binaries
from tests.sandbox.builders import binding, node, pod
from tests.sandbox.kubectl import Kubectl, write_kubeconfig

pytestmark = pytest.mark.controlplane("kubectl")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(lambda: datetime.now(UTC))


@pytest.fixture
async def kubectl(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Kubectl]:
    async with serve(cluster) as url, keep_house(cluster):
        yield Kubectl(Binaries.locate().path("kubectl"), write_kubeconfig(tmp_path / "config", url))


def as_yaml(*objects: JsonObject) -> str:
    return yaml.safe_dump_all(objects)


def columns(output: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines()]


async def marked(cluster: Cluster, name: str) -> None:
    """Returns when the pod is being deleted."""
    changed = asyncio.Event()
    watch = cluster.watch("pods", cluster.revision, wake=changed.set)
    while not value_at(cluster.get("pods", "default", name), "metadata", "deletionTimestamp"):
        changed.clear()
        await changed.wait()
    watch.close()


async def test_get_shows_the_columns_people_know(cluster: Cluster, kubectl: Kubectl) -> None:
    ready: list[JsonObject] = [{"type": "Ready", "status": "True"}]
    cluster.create("nodes", {**node("n1"), "status": {"conditions": [*ready]}})
    cluster.create("pods", pod("waiting"))
    cluster.create("pods", pod("gated", schedulingGates=[{"name": "example.org/gate"}]))
    cluster.bind("default", "waiting", binding("waiting", "n1"))
    heading, gated = columns(await kubectl("get", "pods"))[:2]
    assert heading == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert gated[:4] == ["gated", "0/1", "SchedulingGated", "0"]
    assert columns(await kubectl("get", "pods", "-o", "wide"))[2][5:7] == ["<none>", "n1"]
    assert columns(await kubectl("get", "nodes"))[1][:3] == ["n1", "Ready", "<none>"]
    assert "kube-system" in await kubectl("get", "namespaces")


async def test_apply_creates_changes_and_leaves_alone(cluster: Cluster, kubectl: Kubectl) -> None:
    manifest = pod("p")
    assert await kubectl("apply", "-f", "-", stdin=as_yaml(manifest, node("n1"))) == "pod/p created\nnode/n1 created\n"
    assert "unchanged" in await kubectl("apply", "-f", "-", stdin=as_yaml(manifest))
    manifest["metadata"] = {"name": "p", "namespace": "default", "labels": {"team": "a"}}
    assert await kubectl("apply", "-f", "-", stdin=as_yaml(manifest)) == "pod/p configured\n"
    assert labels_of(cluster.get("pods", "default", "p")) == {"team": "a"}


async def test_server_side_apply_creates_and_merges(cluster: Cluster, kubectl: Kubectl) -> None:
    config: JsonObject = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    apply = ("apply", "--server-side", "-f", "-")
    assert await kubectl(*apply, stdin=as_yaml(config)) == "configmap/c serverside-applied\n"
    await kubectl(*apply, stdin=as_yaml({**config, "data": {"b": "2"}}))
    assert string_map_at(cluster.get("configmaps", "default", "c"), "data") == {"a": "1", "b": "2"}


async def test_label_taint_cordon_and_uncordon(cluster: Cluster, kubectl: Kubectl) -> None:
    cluster.create("nodes", node("n1"))
    await kubectl("label", "node", "n1", "zone=a")
    await kubectl("taint", "node", "n1", "gpu=yes:NoSchedule")
    await kubectl("cordon", "n1")
    changed = cluster.get("nodes", None, "n1")
    assert labels_of(changed) == {"zone": "a"}
    assert value_at(changed, "spec", "unschedulable") is True
    assert [text_at(taint, "key") for taint in objects_at(changed, "spec", "taints")] == ["gpu"]
    await kubectl("taint", "node", "n1", "gpu-")
    await kubectl("uncordon", "n1")
    assert cluster.get("nodes", None, "n1")["spec"] == {}


async def test_describe_tells_events_and_leases(cluster: Cluster, kubectl: Kubectl) -> None:
    created = cluster.create("pods", pod("p"))
    event: JsonObject = {
        "metadata": {"name": "e", "namespace": "default"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "berth",
        "reportingInstance": "berth-0",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default", "uid": text_at(created, "metadata", "uid")},
        "note": "0/1 nodes are available: 1 Insufficient cpu.",
        "type": "Warning",
    }
    cluster.create("events.events.k8s.io", event)
    cluster.create(
        "leases", {"metadata": {"name": "berth", "namespace": "kube-system"}, "spec": {"holderIdentity": "b-0"}}
    )
    assert "0/1 nodes are available: 1 Insufficient cpu." in await kubectl("describe", "pod", "p")
    assert columns(await kubectl("get", "events"))[1][1:4] == ["Warning", "FailedScheduling", "pod/p"]
    assert columns(await kubectl("get", "leases", "-n", "kube-system"))[1][:2] == ["berth", "b-0"]
    assert "Holder Identity:  b-0" in await kubectl("describe", "lease", "berth", "-n", "kube-system")
    cluster.create("nodes", node("n1"))
    assert "Allocated resources" in await kubectl("describe", "node", "n1")
    assert "Status:       Active" in await kubectl("describe", "namespace", "default")


async def test_get_watch_follows(cluster: Cluster, kubectl: Kubectl) -> None:
    cluster.create("pods", pod("a"))
    async with kubectl.started("get", "pods", "--watch", "--no-headers") as process:
        assert process.stdout is not None
        async with asyncio.timeout(30):
            assert (await process.stdout.readline()).split()[0] == b"a"
            cluster.create("pods", pod("b"))
            assert (await process.stdout.readline()).split()[0] == b"b"
            cluster.delete("pods", "default", "b")
            assert (await process.stdout.readline()).split()[2] == b"Terminating"


async def test_delete_waits_until_the_pod_is_gone(cluster: Cluster, kubectl: Kubectl) -> None:
    cluster.create("pods", pod("unbound"))
    cluster.create("pods", pod("bound"))
    cluster.bind("default", "bound", binding("bound", "n1"))
    assert "deleted" in await kubectl("delete", "pod", "unbound")
    async with kubectl.started("delete", "pod", "bound") as process:
        async with asyncio.timeout(30):
            await marked(cluster, "bound")
            assert process.returncode is None
            cluster.delete("pods", "default", "bound", grace_period=0)
            assert await process.wait() == 0


async def test_create_in_its_forms(cluster: Cluster, kubectl: Kubectl) -> None:
    assert await kubectl("create", "-f", "-", stdin=as_yaml(pod("p"))) == "pod/p created\n"
    assert await kubectl("create", "namespace", "team-a") == "namespace/team-a created\n"
    assert "deleted" in await kubectl("delete", "namespace", "team-a")
    assert await kubectl("create", "configmap", "c", "--from-literal=a=1") == "configmap/c created\n"
    assert await kubectl("auth", "can-i", "create", "pods") == "yes\n"
    assert string_map_at(cluster.get("configmaps", "default", "c"), "data") == {"a": "1"}


async def test_a_custom_resource_is_served_listed_and_explained(cluster: Cluster, kubectl: Kubectl) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer", "description": "How big."}}}
        },
    }
    version: JsonObject = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
    }
    definition: JsonObject = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [version],
        },
    }
    widget: JsonObject = {
        "apiVersion": "example.org/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"size": 3},
    }
    await kubectl("apply", "-f", "-", stdin=as_yaml(definition))
    await kubectl("apply", "-f", "-", stdin=as_yaml(widget))
    assert columns(await kubectl("get", "wd")) == [["NAME", "SIZE"], ["w", "3"]]
    assert "How big." in await kubectl("explain", "widgets.spec")
    await kubectl("delete", "crd", "widgets.example.org")
    assert "widgets" not in await kubectl("api-resources")


async def test_drain_evicts(cluster: Cluster, kubectl: Kubectl) -> None:
    cluster.create("nodes", node("n1"))
    owned = pod("p")
    owner: JsonObject = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
    owned["metadata"] = {"name": "p", "namespace": "default", "ownerReferences": [owner]}
    cluster.create("pods", owned)
    cluster.bind("default", "p", binding("p", "n1"))
    async with kubectl.started("drain", "n1", "--force") as process:
        async with asyncio.timeout(30):
            await marked(cluster, "p")
            cluster.delete("pods", "default", "p", grace_period=0)
            assert await process.wait() == 0


async def test_raw_output_is_json(cluster: Cluster, kubectl: Kubectl) -> None:
    cluster.create("nodes", node("n1"))
    listed = msgspec.json.decode(await kubectl("get", "--raw", "/api/v1/nodes"))
    assert listed["kind"] == "NodeList"
