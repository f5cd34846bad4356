"""The definition of Schedulers knows the fields of a configuration, all of them and no others."""

import msgspec
import yaml
from msgspec import inspect

from scheduler.config import wire
from scheduler.sandbox.fields import JsonObject, object_at
from tests.controlplane.binaries import ROOT

DEFINITION = ROOT / "manifests" / "crds" / "schedulers.berth.dev.yaml"


def fields(kind: type[msgspec.Struct]) -> dict[str, object]:
    """The fields of a struct, with those of what is in them."""
    return {
        field.name: inner(field.type) for field in msgspec.structs.fields(kind) for field.name in [field.encode_name]
    }


def inner(kind: object) -> object:
    match inspect.type_info(kind):
        case inspect.StructType(cls=cls):
            return fields(cls)
        case inspect.VarTupleType(item_type=inspect.StructType(cls=cls)):
            return fields(cls)
        case inspect.UnionType(types=types):
            found = [fields(option.cls) for option in types if isinstance(option, inspect.StructType)]
            return found[0] if found else None
    return None


def described(schema: JsonObject) -> object:
    """The same of a schema."""
    if "items" in schema:
        return described(object_at(schema, "items"))
    properties = object_at(schema, "properties")
    return {name: described(object_at(properties, name)) for name in properties} or None


def test_the_schema_has_the_fields_that_are_read() -> None:
    schema = yaml.safe_load(DEFINITION.read_text())["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    configuration = schema["properties"]["spec"]["properties"]["configuration"]
    assert described(configuration) == fields(wire.File)
