"""Objects that stories are about."""

from scheduler.sandbox.fields import Json, JsonObject


def pod(name: str, **spec: Json) -> JsonObject:
    """A pod with one container."""
    container: JsonObject = {"name": "main", "image": "registry.example/app:1"}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def binding(name: str, node_name: str = "n1", **metadata: Json) -> JsonObject:
    """A Binding."""
    return {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node_name}}
