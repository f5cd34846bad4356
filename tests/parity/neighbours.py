"""Random clusters of pods that mind each other: spread constraints, affinity and anti-affinity, required and preferred."""

from scheduler.api import Kind
from tests.builders import JsonObject, container, node_json, pod_json, taint
from tests.parity.worlds import World

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
RACK = "rack"
APPS = ("web", "db", "cache")
TIERS = ("front", "back")
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": "1", "controller": True}
SERVICES: list[JsonObject] = [
    {"metadata": {"name": name}, "spec": {"selector": selector, "ports": [{"port": 80}]}}
    for name, selector in (("web", {"app": "web"}), ("front", {"tier": "front"}))
]
REPLICA_SET: JsonObject = {
    "metadata": {"name": "set"},
    "spec": {
        "replicas": 0,
        "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["db", "cache"]}]},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container()]}},
    },
}


class Neighbours(World):
    """Small pods of few apps on nodes of which not all have every label, with two services and a controller to spread by."""

    def objects(self) -> list[tuple[Kind, JsonObject]]:
        """Services and a controller."""
        return [*((Kind.SERVICE, service) for service in SERVICES), (Kind.REPLICA_SET, REPLICA_SET)]

    def _node(self, name: str) -> JsonObject:
        draw = self._draw
        labels = {ZONE: draw.choice(("east", "west", "north")), "disk": draw.choice(("ssd", "hdd"))}
        if draw.random() < 0.8:
            labels[RACK] = draw.choice(("r1", "r2", "r3", "r4"))
        if draw.random() < 0.1:
            del labels[ZONE]
        taints = [taint("batch")] if draw.random() < 0.2 else None
        return node_json(name, "8", "16Gi", labels=labels, taints=taints)

    def pod(self, name: str) -> JsonObject:
        """A pod that may mind its neighbours in any way."""
        draw = self._draw
        spec: JsonObject = {"restartPolicy": "Never", "affinity": {}}
        if draw.random() < 0.3:
            spec["tolerations"] = [{"key": "batch", "operator": "Exists"}]
        if draw.random() < 0.2:
            spec["nodeSelector"] = {"disk": draw.choice(("ssd", "hdd"))}
        if draw.random() < 0.5:
            spec["topologySpreadConstraints"] = self._constraints()
        if draw.random() < 0.45:
            spec["affinity"]["podAffinity"] = self._terms(0.5)
        if draw.random() < 0.45:
            spec["affinity"]["podAntiAffinity"] = self._terms(0.6)
        metadata: JsonObject = {}
        if draw.random() < 0.4:
            metadata["ownerReferences"] = [OWNER]
        labels = {"app": draw.choice(APPS), "tier": draw.choice(TIERS)}
        asked = draw.choice(("50m", "300m"))
        return pod_json(
            name,
            containers=[container(asked, "64Mi")],
            scheduler="default-scheduler",
            labels=labels,
            metadata=metadata,
            spec=spec,
        )

    def _constraints(self) -> list[JsonObject]:
        draw = self._draw
        made: dict[tuple[str, str], JsonObject] = {}
        for _ in range(draw.randint(1, 3)):
            constraint: JsonObject = {
                "topologyKey": draw.choice((HOST, ZONE, RACK)),
                "maxSkew": draw.choice((1, 1, 2, 3)),
                "whenUnsatisfiable": draw.choice(("DoNotSchedule", "ScheduleAnyway")),
            }
            if draw.random() < 0.9:
                constraint["labelSelector"] = self._selector()
            if constraint["whenUnsatisfiable"] == "DoNotSchedule" and draw.random() < 0.3:
                constraint["minDomains"] = draw.randint(2, 6)
            if draw.random() < 0.3:
                constraint["nodeAffinityPolicy"] = draw.choice(("Honor", "Ignore"))
            if draw.random() < 0.3:
                constraint["nodeTaintsPolicy"] = draw.choice(("Honor", "Ignore"))
            if "labelSelector" in constraint and draw.random() < 0.3:
                constraint["matchLabelKeys"] = ["tier"]
                constraint["labelSelector"] = {"matchLabels": {"app": draw.choice(APPS)}}
            made[constraint["topologyKey"], constraint["whenUnsatisfiable"]] = constraint
        return list(made.values())

    def _terms(self, required: float) -> JsonObject:
        draw = self._draw
        made: JsonObject = {}
        if draw.random() < required:
            made["requiredDuringSchedulingIgnoredDuringExecution"] = [
                self._pod_term() for _ in range(draw.choice((1, 1, 2)))
            ]
        if draw.random() < 0.6:
            made["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": draw.randint(1, 100), "podAffinityTerm": self._pod_term()}
                for _ in range(draw.choice((1, 2)))
            ]
        return made

    def _pod_term(self) -> JsonObject:
        draw = self._draw
        made: JsonObject = {"topologyKey": draw.choice((HOST, ZONE, RACK)), "labelSelector": self._selector()}
        where = draw.random()
        if where < 0.15:
            made["namespaces"] = draw.choice((["default"], ["other"], ["default", "other"]))
        elif where < 0.3:
            made["namespaceSelector"] = draw.choice(
                ({}, {"matchLabels": {"kubernetes.io/metadata.name": "default"}}, {"matchLabels": {"team": "none"}})
            )
        return made

    def _selector(self) -> JsonObject:
        draw = self._draw
        return draw.choice(
            (
                {"matchLabels": {"app": draw.choice(APPS)}},
                {"matchLabels": {"app": draw.choice(APPS), "tier": draw.choice(TIERS)}},
                {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": [draw.choice(TIERS)]}]},
                {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
            )
        )
