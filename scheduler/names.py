"""The syntax of names: of labels and resources (apimachinery util/validation), and what counts as an extended resource."""

import re
from functools import lru_cache

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_KEY = re.compile(rf"(?:(?P<prefix>{_DNS_LABEL}(?:\.{_DNS_LABEL})*)/)?{_NAME}", re.ASCII)
_VALUE = re.compile(rf"(?:{_NAME})?", re.ASCII)
_LONGEST_PREFIX = 253
_QUOTA_PREFIX = "requests."


def is_qualified_name(text: str) -> bool:
    """Whether this is a name of at most 63 characters, with or without a DNS subdomain and a slash before it."""
    match = _KEY.fullmatch(text)
    return match is not None and len(match["prefix"] or "") <= _LONGEST_PREFIX


def is_label_value(text: str) -> bool:
    """Whether this may be the value of a label."""
    return _VALUE.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def is_extended(name: str) -> bool:
    """Whether this is an extended resource: qualified, outside kubernetes.io/, and of a name that quotas can hold."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith(_QUOTA_PREFIX):
        return False
    return is_qualified_name(_QUOTA_PREFIX + name)
