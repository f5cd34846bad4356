"""Counts by topology domain: a domain is all nodes with the same value of a label."""

import numpy as np

from scheduler.framework import BoolArray, IntArray


def domain_sums(ids: IntArray, numbers: IntArray, among: BoolArray | None = None) -> IntArray:
    """The sum of the numbers by label id, over all nodes or those `among` which they count."""
    weights = numbers if among is None else numbers * among
    return np.bincount(ids, weights=weights, minlength=1).astype(np.int64)


def known_domains(ids: IntArray, among: BoolArray) -> BoolArray:
    """By label id, whether there is a node of the domain among these."""
    return np.bincount(ids, weights=among) > 0
