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
        elif field.startswith(_ORDER):
            _order_only(target, patch, field.removeprefix(_ORDER), value)
        elif not field.startswith("$"):
            _merge_field(target, field, value, patch.get(_ORDER + field))
    return target


def _merge_field(target: JsonObject, field: str, value: Json, order: Json) -> None:
    before = target.get(field)
    if value is None:
        target.pop(field, None)
    elif isinstance(value, dict):
        if value.get(_DIRECTIVE) == "delete":
            target.pop(field, None)
        else:
            target[field] = strategic_merge(before if isinstance(before, dict) else {}, value)
    elif isinstance(value, list):
        target[field] = _merge_list(field, before if isinstance(before, list) else [], value, order)
    else:
        target[field] = value


def _merge_list(field: str, before: list[Json], patch: list[Json], order: Json) -> list[Json]:
    key = _merge_key(field, patch)
    if key is None and field not in _MERGED_SETS:
        return [copy_json(item) for item in patch if not _is_directive(item)]
    if any(_is_directive(item) and isinstance(item, dict) and item[_DIRECTIVE] == "replace" for item in patch):
        before, patch = [], [item for item in patch if not _is_directive(item)]
    merged = list(before)
    for item in patch:
        if key is None:
            merged += [] if item in merged else [item]
        elif not isinstance(item, dict) or key not in item:
            raise bad_request(f"map: {item} does not contain declared merge key: {key}")
        else:
            _merge_item(merged, key, item)
    wanted = [_identity(item, key) for item in (order if isinstance(order, list) else patch)]
    return _in_order(merged, wanted, [_identity(item, key) for item in before], key)


def _identity(item: Json, key: str | None) -> Json:
    """What tells list items apart: the value of the merge key, or the item itself."""
    return item.get(key) if key is not None and isinstance(item, dict) else item


def _in_order(items: list[Json], wanted: list[Json], before: list[Json], key: str | None) -> list[Json]:
    """Items that the client knows in its order, merged with the others in theirs.

    One of the others comes first only where it stood before the client's next item (strategicpatch's mergeSortedSlice).
    """
    known = sorted((i for i in items if _identity(i, key) in wanted), key=lambda i: wanted.index(_identity(i, key)))
    others = [item for item in items if _identity(item, key) not in wanted]
    merged: list[Json] = []
    while known and others:
        mine, other = _identity(known[0], key), _identity(others[0], key)
        both = mine in before and other in before
        merged.append(others.pop(0) if both and before.index(other) < before.index(mine) else known.pop(0))
    return merged + known + others


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


def _order_only(target: JsonObject, patch: JsonObject, field: str, order: Json) -> None:
    """An order for a list of which the patch changes nothing."""
    items = target.get(field)
    if field in patch or not isinstance(items, list) or not isinstance(order, list):
        return
    key = _merge_key(field, items)
    wanted = [_identity(item, key) for item in order]
    target[field] = _in_order(items, wanted, [_identity(item, key) for item in items], key)
