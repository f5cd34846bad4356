"""The row of a node, as printNode has it."""

from datetime import datetime

from scheduler.sandbox.fields import Json, JsonObject, labels_of, name_of, objects_at, text_at, value_at
from scheduler.sandbox.kinds import Column
from scheduler.sandbox.tables.ages import UNKNOWN, age

COLUMNS = (
    Column("Name", format="name"),
    Column("Status"),
    Column("Roles"),
    Column("Age"),
    Column("Version"),
    Column("Internal-IP", priority=1),
    Column("External-IP", priority=1),
    Column("OS-Image", priority=1),
    Column("Kernel-Version", priority=1),
    Column("Container-Runtime", priority=1),
)
_NONE = "<none>"
_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE = "kubernetes.io/role"


def row(node: JsonObject, now: datetime) -> list[Json]:
    """The cells of a node."""
    about = {
        name: text_at(node, "status", "nodeInfo", name)
        for name in ("osImage", "kernelVersion", "containerRuntimeVersion")
    }
    architecture = text_at(node, "status", "nodeInfo", "architecture")
    return [
        name_of(node),
        _status(node),
        ",".join(_roles(node)) or _NONE,
        age(value_at(node, "metadata", "creationTimestamp"), now),
        text_at(node, "status", "nodeInfo", "kubeletVersion"),
        _address(node, "InternalIP"),
        _address(node, "ExternalIP"),
        about["osImage"] or UNKNOWN,
        (about["kernelVersion"] or UNKNOWN) + (f" ({architecture})" if architecture else ""),
        about["containerRuntimeVersion"] or UNKNOWN,
    ]


def _status(node: JsonObject) -> str:
    ready = [c for c in objects_at(node, "status", "conditions") if c.get("type") == "Ready"]
    status = "Unknown" if not ready else "Ready" if ready[0].get("status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if value_at(node, "spec", "unschedulable") else status


def _roles(node: JsonObject) -> list[str]:
    labels = labels_of(node)
    roles = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    return sorted(role for role in {*roles, labels.get(_ROLE, "")} if role)


def _address(node: JsonObject, kind: str) -> str:
    addresses = [text_at(a, "address") for a in objects_at(node, "status", "addresses") if a.get("type") == kind]
    return addresses[0] if addresses else _NONE
