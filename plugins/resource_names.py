"""Kinds of resource names, as the scheduler tells them apart (kube-scheduler 1.36, util.IsScalarResourceName)."""

from functools import lru_cache

from plugins.label_syntax import is_qualified_name
from scheduler.framework import CPU, EPHEMERAL_STORAGE, MEMORY

NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""The resources with fields of their own, in the order in which kube-scheduler names them."""

_QUOTA_PREFIX = "requests."


@lru_cache(maxsize=4096)
def is_extended(name: str) -> bool:
    """Whether this is an extended resource: qualified, outside kubernetes.io/, and of a name that quotas can hold."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith(_QUOTA_PREFIX):
        return False
    return is_qualified_name(_QUOTA_PREFIX + name)


@lru_cache(maxsize=4096)
def is_scalar(name: str) -> bool:
    """Whether the scheduler counts this resource besides the native ones."""
    return is_extended(name) or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name


def group_of(name: str) -> str:
    """What stands before the slash."""
    return name.partition("/")[0]
