"""Pods: defaults, priority, what may change, status, resize, eviction."""

from scheduler.sandbox.fields import Json, JsonObject
from tests.conformance.stories.objects import binding, pod
from tests.conformance.teller import Teller


def _with_resources(name: str, requests: JsonObject, limits: JsonObject, **spec: Json) -> JsonObject:
    container: JsonObject = {"name": "main", "image": "app", "resources": {"requests": requests, "limits": limits}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


async def pod_defaults(api: Teller) -> None:
    await api.create("pods", pod("plain"))
    container: JsonObject = {
        "name": "main",
        "image": "registry.example:5000/app",
        "ports": [{"containerPort": 80}, {"containerPort": 53, "hostPort": 53, "protocol": "UDP"}],
        "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "livenessProbe": {"httpGet": {"port": 80}},
        "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
    }
    rich: JsonObject = {
        "containers": [container],
        "initContainers": [{"name": "side", "image": "side@sha256:" + "0" * 64, "restartPolicy": "Always"}],
        "volumes": [{"name": "scratch"}, {"name": "config", "configMap": {"name": "c"}}],
        "hostNetwork": True,
        "serviceAccountName": "robot",
        "tolerations": [{"operator": "Exists"}],
    }
    await api.create("pods", {"metadata": {"name": "rich"}, "spec": rich})


async def pod_quantities_and_quality_of_service(api: Teller) -> None:
    await api.create("pods", _with_resources("a", {"cpu": 0.5, "memory": "1024Mi"}, {}))
    await api.create("pods", _with_resources("b", {}, {"cpu": "1000m", "memory": "1.5Gi"}))
    await api.create("pods", _with_resources("c", {"cpu": "1"}, {"cpu": "2", "nvidia.com/gpu": "2"}))
    await api.create("pods", _with_resources("d", {"cpu": "0.0001", "memory": "100"}, {"memory": "1e3"}))
    await api.create("pods", _with_resources("e", {"cpu": "1500", "memory": "1500M"}, {}))
    await api.create("pods", _with_resources("bad", {"cpu": "lots"}, {}))
    await api.create("pods", _with_resources("over", {"cpu": "2"}, {"cpu": "1"}))
    await api.create("pods", _with_resources("half", {"nvidia.com/gpu": "1"}, {}))


async def pod_level_resources(api: Teller) -> None:
    await api.create("pods", pod("p", resources={"limits": {"cpu": "2", "memory": "1Gi"}}))


async def pod_gates(api: Teller) -> None:
    await api.create("pods", pod("p", schedulingGates=[{"name": "example.org/a"}, {"name": "example.org/b"}]))
    await api.merge("pods/p", {"spec": {"nodeSelector": {"disk": "ssd"}}})
    await api.merge("pods/p", {"spec": {"schedulingGates": [{"name": "example.org/new"}]}})
    await api.merge("pods/p", {"spec": {"schedulingGates": [{"name": "example.org/b"}]}})
    await api.merge("pods/p", {"spec": {"schedulingGates": None}})
    await api.merge("pods/p", {"spec": {"nodeSelector": {"disk": "ssd", "more": "x"}}})
    await api.create("pods", pod("q", schedulingGates=[{"name": "example.org/a"}], nodeName="n1"))


async def pod_updates(api: Teller) -> None:
    await api.create("pods", pod("p", activeDeadlineSeconds=100))
    await api.strategic("pods/p", {"spec": {"containers": [{"name": "main", "image": "other:1"}]}})
    await api.merge("pods/p", {"spec": {"activeDeadlineSeconds": 50}})
    await api.merge("pods/p", {"spec": {"activeDeadlineSeconds": 80}})
    await api.merge("pods/p", {"spec": {"nodeName": "n1"}})
    await api.merge("pods/p", {"spec": {"schedulerName": "berth"}})
    await api.merge("pods/p", {"spec": {"priority": 5}})
    await api.merge("pods/p", {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}})
    await api.merge("pods/p", {"spec": {"containers": []}})


async def pod_tolerations_are_added(api: Teller) -> None:
    created = await api.create("pods", pod("p"))
    spec = created.body["spec"]
    assert isinstance(spec, dict)
    given = spec["tolerations"]
    assert isinstance(given, list)
    await api.merge("pods/p", {"spec": {"tolerations": [*given, {"key": "k", "operator": "Exists"}]}})
    await api.merge("pods/p", {"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}})


async def pod_status(api: Teller) -> None:
    created = await api.create("pods", pod("p"))
    condition: JsonObject = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu.",
        "observedGeneration": 1,
    }
    await api.strategic("pods/p/status", {"status": {"conditions": [condition], "nominatedNodeName": "n1"}})
    await api.strategic(
        "pods/p/status", {"status": {"conditions": [{**condition, "observedGeneration": None, "message": "m"}]}}
    )
    await api.merge("pods/p/status", {"spec": {"schedulerName": "x"}, "metadata": {"labels": {"l": "x"}}})
    version = created.at("metadata", "resourceVersion")
    await api.merge("pods/p/status", {"metadata": {"resourceVersion": version}, "status": {"phase": "Running"}})
    await api.strategic("pods/p/status", {"metadata": {"uid": "11111111-2222-3333-4444-555555555555"}, "status": {}})
    await api.merge("pods/p/status", {"status": {"nominatedNodeName": "Not A Name"}})
    await api.merge("pods/p/status", {"status": {"qosClass": "Guaranteed"}})
    await api.merge("pods/p", {"status": {"phase": "Failed"}})
    await api.get("pods/p/status")


async def pod_priority(api: Teller) -> None:
    high = api.own("high")
    await api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": high}, "value": 1000})
    never: JsonObject = {"metadata": {"name": api.own("never")}, "value": 7, "preemptionPolicy": "Never"}
    await api.create("/apis/scheduling.k8s.io/v1/priorityclasses", never)
    await api.create("pods", pod("a", priorityClassName=high))
    await api.create("pods", pod("b", priorityClassName=api.own("never")))
    await api.create("pods", pod("c", priorityClassName="no-such-class"))
    await api.create("pods", pod("d", priority=5))
    await api.create("pods", pod("e", priorityClassName=high, preemptionPolicy="Never"))
    await api.create("pods", pod("f", priorityClassName="system-node-critical"))
    await api.merge(f"/apis/scheduling.k8s.io/v1/priorityclasses/{high}", {"value": 5})
    too_high: JsonObject = {"metadata": {"name": api.own("top")}, "value": 1_000_000_001}
    await api.create("/apis/scheduling.k8s.io/v1/priorityclasses", too_high)
    for name in (high, api.own("never")):
        await api.delete(f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}")


async def pod_label_keys_are_merged_into_selectors(api: Teller) -> None:
    selector: JsonObject = {"matchLabels": {"app": "x"}}
    term: JsonObject = {
        "topologyKey": "zone",
        "labelSelector": selector,
        "matchLabelKeys": ["hash"],
        "mismatchLabelKeys": ["tenant"],
    }
    spread: JsonObject = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        "matchLabelKeys": ["hash"],
    }
    required: JsonObject = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    spec = pod("p", affinity={"podAffinity": required}, topologySpreadConstraints=[spread])["spec"]
    labels: JsonObject = {"app": "x", "hash": "h1", "tenant": "t1"}
    await api.create("pods", {"metadata": {"name": "p", "labels": labels}, "spec": spec})


async def pod_validation(api: Teller) -> None:
    await api.create("pods", {"metadata": {"name": "p"}, "spec": {}})
    await api.create("pods", {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main"}]}})
    await api.create("pods", {"metadata": {"name": "p"}, "spec": {"containers": [{"image": "i"}]}})
    twice: list[Json] = [{"name": "main", "image": "i"}, {"name": "main", "image": "i"}]
    await api.create("pods", {"metadata": {"name": "p"}, "spec": {"containers": twice}})
    await api.create("pods", pod("Upper"))
    await api.create("pods", pod("p", nodeName="Not_A_Name"))
    await api.create("pods", pod("p", restartPolicy="Sometimes"))
    await api.create("pods", pod("p", tolerations=[{"key": "k", "operator": "Maybe"}]))
    await api.create("pods", pod("p", tolerations=[{"operator": "Equal", "value": "v"}]))
    await api.create("pods", pod("p", tolerations=[{"key": "k", "operator": "Exists", "effect": "Never"}]))
    await api.create("pods", pod("p", tolerations=[{"key": "k", "operator": "Exists", "tolerationSeconds": 5}]))
    await api.create("pods", pod("p", nodeSelector={"bad key": "x"}))
    await api.create("pods", pod("p", schedulingGates=[{"name": "bad gate"}]))
    await api.create("pods", pod("p", topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "z"}]))


async def pod_resize(api: Teller) -> None:
    await api.create("pods", _with_resources("p", {"cpu": "100m", "memory": "64Mi"}, {}))
    smaller: list[Json] = [{"name": "main", "resources": {"requests": {"cpu": "50m"}}}]
    await api.strategic("pods/p", {"spec": {"containers": smaller}})
    await api.strategic("pods/p/resize", {"spec": {"containers": smaller}})
    guaranteed: list[Json] = [{"name": "main", "resources": {"limits": {"cpu": "50m", "memory": "64Mi"}}}]
    await api.strategic("pods/p/resize", {"spec": {"containers": guaranteed}})
    await api.strategic(
        "pods/p/resize", {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": None}}}]}}
    )


async def pod_eviction(api: Teller) -> None:
    await api.create("pods", pod("pending"))
    await api.create("pods/pending/eviction", {"metadata": {"name": "pending"}})
    await api.get("pods/pending")
    await api.create("pods/pending/eviction", {"metadata": {"name": "pending"}})
    await api.create("pods", {**pod("guarded"), "metadata": {"name": "guarded", "labels": {"app": "x"}}})
    await api.create("pods/guarded/binding", binding("guarded"))
    running: JsonObject = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await api.strategic("pods/guarded/status", {"status": running})
    budget: JsonObject = {
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}},
    }
    await api.create("poddisruptionbudgets.policy", budget)
    await api.create("pods/guarded/eviction", {"metadata": {"name": "guarded"}})
    counted: JsonObject = {
        "observedGeneration": 1,
        "disruptionsAllowed": 0,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }
    await api.merge("poddisruptionbudgets.policy/b/status", {"status": counted})
    await api.create("pods/guarded/eviction", {"metadata": {"name": "guarded"}})
    await api.create("pods/guarded/eviction", {"metadata": {"name": "other"}})
    await api.merge("poddisruptionbudgets.policy/b/status", {"status": {**counted, "disruptionsAllowed": 1}})
    wrong: JsonObject = {"preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}}
    await api.create("pods/guarded/eviction", {"metadata": {"name": "guarded"}, "deleteOptions": wrong})
    await api.merge("poddisruptionbudgets.policy/b/status", {"status": {**counted, "disruptionsAllowed": 1}})
    await api.create("pods/guarded/eviction", {"metadata": {"name": "guarded"}})
    await api.get("pods/guarded")
