"""The part of kubectl's JSONPath that printer columns use: `.a.b`, `.a['b.c']`, `.list[0].c`, `.list[?(@.type=="Ready")].d`."""

import re

from scheduler.sandbox.fields import Json, JsonObject

_STEP = re.compile(
    r"""\.(?P<field>[^.\[\]\\]+(?:\\\.[^.\[\]\\]+)*)
      |\[(?P<index>-?\d+|\*)\]
      |\['(?P<quoted>[^']+)'\]
      |\[\?\(@\.(?P<key>[\w.]+)\s*==\s*["'](?P<value>[^"']*)["']\)\]""",
    re.VERBOSE,
)


def find(obj: JsonObject, path: str) -> Json:
    """The first value at a path; None if there is none, or if the path is of a kind that is not known here."""
    found: list[Json] = [obj]
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            return None
        found = [below for value in found for below in _below(value, step)]
        position = step.end()
    return found[0] if found else None


def _below(value: Json, step: re.Match[str]) -> list[Json]:
    field = step["field"] or step["quoted"]
    if field is not None:
        name = field.replace("\\.", ".")
        return [value[name]] if isinstance(value, dict) and name in value else []
    if not isinstance(value, list):
        return []
    if step["index"] == "*":
        return value
    if step["index"] is not None:
        index = int(step["index"])
        return [value[index]] if -len(value) <= index < len(value) else []
    return [item for item in value if isinstance(item, dict) and find(item, f".{step['key']}") == step["value"]]
