"""Which names, label keys and label values the API takes (apimachinery/pkg/util/validation)."""

import re
from collections.abc import Iterable, Mapping

from scheduler.sandbox.errors import Cause, field_invalid, field_required

_LABEL_PATTERN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_PATTERN = rf"{_LABEL_PATTERN}(\.{_LABEL_PATTERN})*"
_QUALIFIED_PATTERN = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_PATTERN = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_LABEL = re.compile(_LABEL_PATTERN)
_SUBDOMAIN = re.compile(_SUBDOMAIN_PATTERN)
_QUALIFIED = re.compile(_QUALIFIED_PATTERN)
_VALUE = re.compile(_VALUE_PATTERN)
_SUBDOMAIN_ERROR = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL_ERROR = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
    "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_QUALIFIED_ERROR = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_ERROR = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def dns_subdomain(field: str, name: str) -> list[Cause]:
    """What is wrong with a name that must be a DNS subdomain (most objects); nothing is said of an empty one."""
    if not name:
        return []
    causes = [] if len(name) <= 253 else [field_invalid(field, name, "must be no more than 253 bytes")]
    return causes if _SUBDOMAIN.fullmatch(name) else [*causes, field_invalid(field, name, _SUBDOMAIN_ERROR)]


def dns_label(field: str, name: str) -> list[Cause]:
    """What is wrong with a name that must be a DNS label (containers, namespaces)."""
    if not name:
        return []
    causes = [] if len(name) <= 63 else [field_invalid(field, name, "must be no more than 63 bytes")]
    return causes if _LABEL.fullmatch(name) else [*causes, field_invalid(field, name, _LABEL_ERROR)]


def qualified_name(field: str, name: str) -> list[Cause]:
    """What is wrong with a `prefix/name` (label keys, taints, gates, finalizers)."""
    return [field_invalid(field, name, why) for why in _qualified_name_faults(name)]


def validate_labels(field: str, labels: Mapping[str, str]) -> list[Cause]:
    """What is wrong with label keys and values."""
    causes: list[Cause] = []
    for key, value in labels.items():
        causes += qualified_name(field, key)
        if len(value) > 63:
            causes.append(field_invalid(field, value, "must be no more than 63 bytes"))
        if not _VALUE.fullmatch(value):
            causes.append(field_invalid(field, value, _VALUE_ERROR))
    return causes


def path_segment(field: str, name: str, *, what: str = "name or generateName is required") -> list[Cause]:
    """What is wrong with any object's name: it must be a part of a URL path."""
    if not name:
        return [field_required(field, what)]
    if name in (".", ".."):
        return [field_invalid(field, name, f"may not be '{name}'")]
    return [field_invalid(field, name, f"may not contain '{part}'") for part in _found(name, "/%")]


def _found(name: str, parts: Iterable[str]) -> list[str]:
    return [part for part in parts if part in name]


def _qualified_name_faults(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    faults: list[str] = []
    if slash and not prefix:
        faults.append("prefix part must be non-empty")
    elif slash and not _SUBDOMAIN.fullmatch(prefix):
        faults.append(f"prefix part {_SUBDOMAIN_ERROR}")
    if not name:
        faults.append("name part must be non-empty")
    elif len(name) > 63:
        faults.append("name part must be no more than 63 bytes")
    if not _QUALIFIED.fullmatch(name):
        faults.append(_QUALIFIED_ERROR)
    return faults
