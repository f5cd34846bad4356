"""Random clusters of pods with volumes: bound and unbound claims, zones, limits of drivers, disks that are not shared. Not every
node has every feature.
"""

from scheduler.api import Kind
from tests.builders import JsonObject, container, node_json, pod_json
from tests.parity.worlds import World

ZONE = "topology.kubernetes.io/zone"
DRIVER = "csi.example.com"
LATE, NOW = "late", "now"
CLAIMS = 14
FEATURE = "RestartAllContainersOnContainerExits"


class Storage(World):
    """Claims are bound already, or cannot be: nothing here binds or provisions volumes."""

    def objects(self) -> list[tuple[Kind, JsonObject]]:
        """Classes, limits of the driver, claims and their volumes."""
        found: list[tuple[Kind, JsonObject]] = [
            (Kind.STORAGE_CLASS, _storage_class(LATE, "WaitForFirstConsumer")),
            (Kind.STORAGE_CLASS, _storage_class(NOW, "Immediate")),
        ]
        for i in range(8):
            if self._draw.random() < 0.7:
                found.append((Kind.CSI_NODE, _csi_node(f"n{i:02}", self._draw.randint(1, 2))))
        for i in range(CLAIMS):
            found += self._claim(f"c{i:02}")
        found.append((Kind.PERSISTENT_VOLUME_CLAIM, _claim_of("unbound-now", NOW, ["ReadWriteOnce"])))
        found.append((Kind.PERSISTENT_VOLUME_CLAIM, _claim_of("unbound-late", LATE, ["ReadWriteOnce"])))
        return found

    def running(self, name: str, node: str) -> JsonObject:
        """A pod that has volumes already."""
        made = self._pod(name, [f"c{self._draw.randrange(CLAIMS):02}"])
        made["spec"] |= {"nodeName": node, "schedulerName": "nobody"}
        return made

    def pod(self, name: str) -> JsonObject:
        """A pod that wants volumes."""
        draw = self._draw
        claims = [f"c{draw.randrange(CLAIMS):02}" for _ in range(draw.choice((0, 1, 1, 2)))]
        if draw.random() < 0.2:
            claims.append(draw.choice(("unbound-now", "unbound-late", "missing")))
        return self._pod(name, sorted(set(claims)))

    def _pod(self, name: str, claims: list[str]) -> JsonObject:
        volumes: list[JsonObject] = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
        if self._draw.random() < 0.35:
            disk = {"pdName": f"disk{self._draw.randint(1, 2)}", "readOnly": self._draw.random() < 0.4}
            volumes.append({"name": "disk", "gcePersistentDisk": disk})
        only = container("50m")
        if self._draw.random() < 0.15:
            # What takes a feature that a node's kubelet must have declared.
            exits = {"operator": "In", "values": [42]}
            only |= {
                "restartPolicy": "Never",
                "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": exits}],
            }
        spec = {"volumes": volumes, "restartPolicy": "Never"}
        return pod_json(name, containers=[only], scheduler="default-scheduler", spec=spec)

    def _node(self, name: str) -> JsonObject:
        labels = {ZONE: self._draw.choice(("east", "west", "north"))} if self._draw.random() < 0.9 else {}
        made = node_json(name, labels=labels)
        if self._draw.random() < 0.6:
            made["status"]["declaredFeatures"] = [FEATURE]
        return made

    def _claim(self, name: str) -> list[tuple[Kind, JsonObject]]:
        """A claim with the volume it is bound to."""
        draw = self._draw
        modes = ["ReadWriteOncePod"] if draw.random() < 0.2 else ["ReadWriteMany"]
        claim = _claim_of(name, LATE, modes)
        claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        claim["spec"]["volumeName"] = f"v-{name}"
        spec: JsonObject = {
            "capacity": {"storage": "1Gi"},
            "accessModes": modes,
            "storageClassName": LATE,
            "claimRef": {"namespace": "default", "name": name},
        }
        volume: JsonObject = {"metadata": {"name": f"v-{name}"}, "spec": spec}
        if draw.random() < 0.6:
            spec["csi"] = {"driver": DRIVER, "volumeHandle": name}
        else:
            spec["nfs"] = {"server": "nfs.example.com", "path": "/"}
        where = draw.random()
        if where < 0.3:
            volume["metadata"]["labels"] = {ZONE: draw.choice(("east", "west", "east__west"))}
        elif where < 0.6:
            named = {"key": ZONE, "operator": "In", "values": [draw.choice(("east", "north"))]}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [named]}]}}
        if draw.random() < 0.07:
            return [(Kind.PERSISTENT_VOLUME_CLAIM, claim)]
        return [(Kind.PERSISTENT_VOLUME_CLAIM, claim), (Kind.PERSISTENT_VOLUME, volume)]


def _storage_class(name: str, mode: str) -> JsonObject:
    return {"metadata": {"name": name}, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": mode}


def _csi_node(name: str, count: int) -> JsonObject:
    drivers = [{"name": DRIVER, "nodeID": name, "allocatable": {"count": count}}]
    return {"metadata": {"name": name}, "spec": {"drivers": drivers}}


def _claim_of(name: str, storage_class: str, modes: list[str]) -> JsonObject:
    requests = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": modes, "storageClassName": storage_class, "resources": requests}
    return {"metadata": {"name": name}, "spec": spec}
