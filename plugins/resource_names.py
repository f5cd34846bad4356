"""Kinds of resource names, as the scheduler tells them apart (kube-scheduler 1.36, util.IsScalarResourceName)."""

from functools import lru_cache

from scheduler.framework import CPU, EPHEMERAL_STORAGE, MEMORY
from scheduler.names import is_extended

NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""The resources with fields of their own, in the order in which kube-scheduler names them."""


@lru_cache(maxsize=4096)
def is_scalar(name: str) -> bool:
    """Whether the scheduler counts this resource besides the native ones."""
    return is_extended(name) or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name


def group_of(name: str) -> str:
    """What stands before the slash."""
    return name.partition("/")[0]
