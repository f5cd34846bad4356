"""Container images on the nodes, by name."""

from collections.abc import Iterable

import numpy as np

from scheduler.framework import Image, IntArray


class ImageIndex:
    """Which rows hold which image, and its size there."""

    def __init__(self) -> None:
        self._sizes: dict[str, dict[int, int]] = {}

    def put(self, row: int, images: Iterable[Image]) -> None:
        """The row holds these images."""
        for image in images:
            for name in image.names:
                self._sizes.setdefault(name, {})[row] = image.size

    def drop(self, row: int, images: Iterable[Image]) -> None:
        """The row does not hold these images any more."""
        for image in images:
            for name in image.names:
                rows = self._sizes.get(name, {})
                rows.pop(row, None)
                if not rows:
                    self._sizes.pop(name, None)

    def sizes(self, name: str, capacity: int) -> IntArray:
        """Bytes of the image on each row; 0 where it is not."""
        column = np.zeros(capacity, np.int64)
        for row, size in self._sizes.get(name, {}).items():
            column[row] = size
        return column

    def spread(self, name: str) -> int:
        """How many rows hold the image."""
        return len(self._sizes.get(name, ()))

    def at(self, rows: IntArray, capacity: int) -> "ImageIndex":
        """The same for some of the rows, renumbered, to read; `capacity` is that of the table they are in."""
        return _Excerpt(self, rows, capacity)


class _Excerpt(ImageIndex):
    """Nodes hold many images and few are asked for, so that nothing is copied."""

    def __init__(self, whole: ImageIndex, rows: IntArray, capacity: int) -> None:
        super().__init__()
        self._whole = whole
        self._rows = rows
        self._capacity = capacity

    def sizes(self, name: str, capacity: int) -> IntArray:  # noqa: ARG002  as many as there are rows
        return self._whole.sizes(name, self._capacity)[self._rows]

    def spread(self, name: str) -> int:
        return int(np.count_nonzero(self.sizes(name, len(self._rows))))
