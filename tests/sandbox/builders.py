"""Objects for the tests of the sandbox, as small as the API takes them."""

from datetime import UTC, datetime, timedelta

from scheduler.sandbox.fields import Json, JsonObject


class ToldClock:
    """A wall clock that moves when told."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


def pod(name: str, namespace: str = "default", **spec: Json) -> JsonObject:
    """A pod with one container; `spec` adds to or replaces fields of its spec."""
    body: JsonObject = {"containers": [{"name": "main", "image": "registry.example/app:1"}]}
    body.update(spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": body}


def node(name: str, labels: dict[str, str] | None = None) -> JsonObject:
    """A node of 4 CPUs and 8Gi."""
    resources: JsonObject = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**(labels or {})}},
        "status": {"capacity": {**resources}, "allocatable": {**resources}},
    }


def binding(name: str, node_name: str, **metadata: Json) -> JsonObject:
    """A Binding of a pod to a node; `metadata` adds preconditions, annotations and labels."""
    body: JsonObject = {"name": name}
    body.update(metadata)
    return {"apiVersion": "v1", "kind": "Binding", "metadata": body, "target": {"kind": "Node", "name": node_name}}
