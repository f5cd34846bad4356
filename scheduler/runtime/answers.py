"""What a plugin may answer. Plugins are users' code, which nobody may have checked; a wrong answer raises and is reported."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler.framework import (
    SKIP,
    SUCCESS,
    Code,
    PermitResult,
    PostFilterResult,
    PreFilterResult,
    RowVerdicts,
    Status,
)

T = TypeVar("T")
N = TypeVar("N", bound=np.integer[Any])


def checked(answer: T, kind: type[T]) -> T:
    """An answer that is of this kind, with a sound status if it has one. Raises TypeError."""
    if not isinstance(answer, kind):
        raise TypeError(f"returned {type(answer).__name__}, allowed: {kind.__name__}")
    if isinstance(answer, Status):
        _check_status(answer)
    elif isinstance(answer, PreFilterResult | PermitResult | PostFilterResult):
        _check_status(answer.status)
    if isinstance(answer, PermitResult):
        checked_seconds(answer.timeout)
    return answer


def checked_seconds(seconds: object) -> None:
    """A number of seconds. Raises TypeError."""
    if not isinstance(seconds, int | float):
        raise TypeError(f"returned {seconds!r} for a timeout, allowed: seconds")


def checked_verdicts(answer: RowVerdicts, count: int) -> RowVerdicts:
    """A row filter's answer for so many rows. Raises TypeError or ValueError."""
    checked(answer, RowVerdicts)
    codes = checked_column(answer.codes, count)
    if count and not 0 <= codes.min() <= codes.max() <= len(answer.statuses):
        raise ValueError(f"returned codes from {codes.min()} to {codes.max()}, allowed: 0 to {len(answer.statuses)}")
    for status in answer.statuses:
        _check_status(status)
    return answer


def checked_column(answer: NDArray[N], count: int) -> NDArray[N]:
    """An array of integers, one for each row. Raises TypeError or ValueError."""
    checked(answer, np.ndarray)
    if not np.issubdtype(answer.dtype, np.integer):
        raise TypeError(f"returned an array of {answer.dtype}, allowed: integers")
    if answer.shape != (count,):
        raise ValueError(f"returned an array of shape {answer.shape}, allowed: ({count},), one entry a row")
    return answer


def _check_status(status: object) -> None:
    if status is SUCCESS or status is SKIP:
        return
    if not isinstance(status, Status):
        raise TypeError(f"returned {type(status).__name__}, allowed: Status")
    if status.code is Code.SUCCESS:
        return
    code: object = status.code
    reasons: object = status.reasons
    if not isinstance(code, Code) or not isinstance(reasons, tuple):
        raise TypeError(f"returned {status!r}, allowed: a Code and a tuple of texts")
    if not all(isinstance(reason, str) for reason in reasons):
        raise TypeError(f"returned the reasons {reasons!r}, allowed: texts")


class SortKeys:
    """Keys of a queue's order: of texts and numbers, and at each position always the same of the two, or no two of them could
    be compared. The first key decides.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[type, ...], bool] = {}
        self._texts: list[bool] = []

    def checked(self, key: tuple[float | str, ...]) -> tuple[float | str, ...]:
        """A key that can be compared with those before it. Raises TypeError."""
        checked(key, tuple)
        types = tuple(map(type, key))
        if types not in self._known:
            self._known[types] = self._fits(types)
        if not self._known[types]:
            raise TypeError(f"returned the key {key!r}, allowed: texts and numbers, where the keys before it have them")
        return key

    def _fits(self, types: tuple[type, ...]) -> bool:
        if not all(issubclass(kind, str | int | float) for kind in types):
            return False
        texts = [issubclass(kind, str) for kind in types]
        shared = min(len(texts), len(self._texts))
        if texts[:shared] != self._texts[:shared]:
            return False
        self._texts.extend(texts[shared:])
        return True
