"""A YAML or JSON file as a tree of plain values that still knows in which line each field stands."""

import json
import re
from collections.abc import Iterator

import yaml

from scheduler.config.model import ConfigError

Tree = object

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


class Document:
    """The one document of a file. Raises ConfigError if the text is not YAML or no mapping.

    `duplicates` has the paths of fields that a mapping has twice, each with what to say of it.
    """

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._root, self.duplicates, self.tree = _parse(text, source)
        if not isinstance(self.tree, dict):
            raise ConfigError([f"{source}: found {shown(self.tree)}, allowed: a mapping with apiVersion and kind"])

    def line(self, path: str) -> int:
        """The line of a field or, if it is not there, of the innermost thing around it that is."""
        node, line = self._root, 1
        for step in steps(path):
            inner = _item(node, step) if isinstance(step, int) else _entry(node, step)
            if inner is None:
                break
            node, line = inner
        return line

    def place(self, path: str) -> str:
        """Source and line of a field."""
        return f"{self._source}:{self.line(path)}"


def steps(path: str) -> Iterator[str | int]:
    """The keys and indices of a path such as `profiles[0].plugins`."""
    for index, key in _STEP.findall(path):
        yield int(index) if index else key


def joined(path: str, step: str | int) -> str:
    """The path of what is one step further."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else step


def shown(value: Tree) -> str:
    """A value of the tree in an error: scalars as in JSON, the rest by what it is."""
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "nothing"
        case str() | bool() | int() | float():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)


def _parse(text: str, source: str) -> tuple[yaml.Node, list[tuple[str, str]], Tree]:
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node() or yaml.ScalarNode("tag:yaml.org,2002:null", "")
        duplicates: list[tuple[str, str]] = []
        # Constructing puts what merge keys stand for into the nodes, so this comes before.
        for path, node in _walk(root):
            if isinstance(node, yaml.MappingNode):
                duplicates.extend(_duplicates(path, node))
            elif isinstance(node, yaml.ScalarNode):
                node.value = _paired(node.value)
        return root, duplicates, loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError([f"{source}{line}: not YAML: {error.problem or error.context}"]) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError([f"{source}: not YAML: {' '.join(str(error).split())}"]) from error
    finally:
        loader.dispose()


def _walk(root: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Every node once with its path; an alias leads to a node that was visited already, or is being."""
    seen: set[int] = set()
    waiting: list[tuple[str, yaml.Node]] = [("", root)]
    while waiting:
        path, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield path, node
        if isinstance(node, yaml.SequenceNode):
            waiting.extend((joined(path, i), item) for i, item in enumerate(node.value))
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                waiting.extend(((path, key), (joined(path, str(key.value)), value)))


def _duplicates(path: str, node: yaml.MappingNode) -> Iterator[tuple[str, str]]:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in lines:
            yield joined(path, name), f"found twice, in lines {lines[name]} and {line}, allowed: once"
        lines.setdefault(name, line)


def _paired(text: str) -> str:
    """JSON writes some characters as two escapes, which the YAML library leaves as two halves."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _entry(node: yaml.Node, key: str) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == key:
                return value, name.start_mark.line + 1
    return None


def _item(node: yaml.Node, index: int) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.SequenceNode) and index < len(node.value):
        item = node.value[index]
        return item, item.start_mark.line + 1
    return None
