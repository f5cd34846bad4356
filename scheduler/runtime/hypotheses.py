"""Answers to what-if questions about single rows, kept for pods that no filter can tell apart.

Pods that preempt come in crowds of the same kind, and most nodes stay as they were from one to the next.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from scheduler.cache.rows import Rows
from scheduler.framework import Code, Status

Answer = TypeVar("Answer")

_MOST_ANSWERS = 50_000


class Hypotheses(Generic[Answer]):
    """Answers by what the filters read of the pod (`likeness`) and by row. An answer is right for as long as the row has not
    changed and the same is supposed of it. The longest unused likenesses go when there are too many answers.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, dict[int, tuple[Hashable, Answer]]] = OrderedDict()

    def ask(
        self,
        likeness: Hashable | None,
        rows: Rows,
        supposed: Mapping[int, Hashable],
        find: Callable[[Sequence[int]], Sequence[Answer] | Status],
    ) -> dict[int, Answer] | Status:
        """The answer for each of these positions in `rows`, about which something is supposed. `find` is asked for those whose
        answer is not known; what it fails with is answered. Without a likeness, or if the rows are hypothetical themselves,
        nothing is known.
        """
        kept: dict[int, tuple[Hashable, Answer]] = {}
        if likeness is not None and not rows.hypothetical():
            kept = self._kept.setdefault(likeness, kept)
            self._kept.move_to_end(likeness)
        index, generation = rows.index, rows.table.generation
        answers: dict[int, Answer] = {}
        missing: dict[int, tuple[int, Hashable]] = {}
        for position, supposition in supposed.items():
            row = int(index[position])
            condition = (int(generation[row]), supposition)
            known = kept.get(row)
            if known is not None and known[0] == condition:
                answers[position] = known[1]
            else:
                missing[position] = (row, condition)
        if missing:
            found = find(list(missing))
            if isinstance(found, Status):
                return found
            for (position, (row, held_for)), answer in zip(missing.items(), found, strict=True):
                answers[position] = answer
                if not isinstance(answer, Status) or answer.code is not Code.ERROR:
                    kept[row] = (held_for, answer)
            self._trim()
        return answers

    def _trim(self) -> None:
        while sum(map(len, self._kept.values())) > _MOST_ANSWERS:
            self._kept.popitem(last=False)
