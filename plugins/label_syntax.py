"""The syntax of label keys and values, which is also that of resource names (apimachinery util/validation)."""

import re

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_KEY = re.compile(rf"(?:(?P<prefix>{_DNS_LABEL}(?:\.{_DNS_LABEL})*)/)?{_NAME}", re.ASCII)
_VALUE = re.compile(rf"(?:{_NAME})?", re.ASCII)
_LONGEST_PREFIX = 253


def is_qualified_name(text: str) -> bool:
    """Whether this is a name of at most 63 characters, with or without a DNS subdomain and a slash before it."""
    match = _KEY.fullmatch(text)
    return match is not None and len(match["prefix"] or "") <= _LONGEST_PREFIX


def is_label_value(text: str) -> bool:
    """Whether this may be the value of a label."""
    return _VALUE.fullmatch(text) is not None
