"""Strategic merge patch: like a merge patch, but lists with a merge key are merged item by item.

The keys are those of the Kubernetes API (`x-kubernetes-patch-merge-key` in its OpenAPI document), told apart by field name; the
one name with two keys, `ports`, by what the items hold.
"""

from scheduler.sandbox.errors import bad_request
from scheduler.sandbox.fields import Json, JsonObject, copy_json

_MERGE_KEYS = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "drivers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "hostIPs": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "reservedFor": "uid",
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_PORT_KEYS = ("containerPort", "port")
_MERGED_SETS = ("finalizers", "podCIDRs")
_DIRECTIVE = "$patch"
_DELETE_ITEMS = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"
_RETAIN = "$retainKeys"


def strategic_merge(target: JsonObject, patch: JsonObject) -> JsonObject:
    """Apply a strategic merge patch to an object, which is changed and answered."""
    if patch.get(_DIRECTIVE) == "replace":
        return {field: copy_json(value) for field, value in patch.items() if field != _DIRECTIVE}
    if _RETAIN in patch:
        retained = patch[_RETAIN]
        for field in [field for field in target if isinstance(retained, list) and field not in retained]:
            del target[field]
    for field, value in patch.items():
        if field.startswith(_DELETE_ITEMS):
            _delete_items(target, field.removeprefix(_DELETE_ITEMS), value)
        elif not field.startswith("$"):
            _merge_field(target, field, value)
    for field, order in patch.items():
        if field.startswith(_ORDER):
            _set_order(target, field.removeprefix(_ORDER), order)
    return target


def _merge_field(target: JsonObject, field: str, value: Json) -> None:
    before = target.get(field)
    if value is None:
        target.pop(field, None)
    elif isinstance(value, dict):
        if value.get(_DIRECTIVE) == "delete":
            target.pop(field, None)
        else:
            target[field] = strategic_merge(before if isinstance(before, dict) else {}, value)
    elif isinstance(value, list):
        target[field] = _merge_list(field, before if isinstance(before, list) else [], value)
    else:
        target[field] = value


def _merge_list(field: str, before: list[Json], patch: list[Json]) -> list[Json]:
    if field in _MERGED_SETS:
        return [*before, *(item for item in patch if item not in before)]
    key = _merge_key(field, patch)
    if key is None:
        return [copy_json(item) for item in patch if not _is_directive(item)]
    if any(_is_directive(item) and isinstance(item, dict) and item[_DIRECTIVE] == "replace" for item in patch):
        before, patch = [], [item for item in patch if not _is_directive(item)]
    merged = list(before)
    for item in patch:
        if not isinstance(item, dict) or key not in item:
            raise bad_request(f"map: {item} does not contain declared merge key: {key}")
        _merge_item(merged, key, item)
    return merged


def _merge_key(field: str, patch: list[Json]) -> str | None:
    """The merge key of a list; None for lists that are replaced as a whole."""
    if field == "ports":
        return next((key for key in _PORT_KEYS for item in patch if isinstance(item, dict) and key in item), None)
    return _MERGE_KEYS.get(field)


def _is_directive(item: Json) -> bool:
    return isinstance(item, dict) and set(item) == {_DIRECTIVE}


def _merge_item(merged: list[Json], key: str, item: JsonObject) -> None:
    """Change, add or delete the list item that has the same merge key."""
    for index, before in enumerate(merged):
        if isinstance(before, dict) and before.get(key) == item[key]:
            if item.get(_DIRECTIVE) == "delete":
                del merged[index]
            else:
                merged[index] = strategic_merge(before, item)
            return
    if item.get(_DIRECTIVE) != "delete":
        merged.append(strategic_merge({}, item))


def _delete_items(target: JsonObject, field: str, items: Json) -> None:
    before = target.get(field)
    if isinstance(before, list) and isinstance(items, list):
        target[field] = [item for item in before if item not in items]


def _set_order(target: JsonObject, field: str, order: Json) -> None:
    """Put list items in the order the client has them; those it does not know keep their place behind."""
    items = target.get(field)
    if not isinstance(items, list) or not isinstance(order, list):
        return
    key = _merge_key(field, items)

    def position(item: Json) -> int:
        identity: Json = {key: item.get(key)} if key is not None and isinstance(item, dict) else item
        return order.index(identity) if identity in order else len(order)

    target[field] = sorted(items, key=position)
