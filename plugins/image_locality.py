"""ImageLocality: nodes that hold the pod's images already are preferred."""

from collections.abc import Hashable
from typing import ClassVar

import numpy as np

from scheduler.framework import MAX_NODE_SCORE, CycleState, Facet, IntArray, NodeRows, PodInfo, PodTemplate, RowScore

_MIB = 1024 * 1024
_LEAST = 23 * _MIB
_MOST_PER_CONTAINER = 1000 * _MIB


class ImageLocality(RowScore):
    """Bytes of the pod's images on the node, each image weighted by the part of all nodes that hold it (so that pods do
    not crowd where an image happens to be), between 23 MiB and 1000 MiB a container, brought to 0..100.
    """

    name: ClassVar[str] = "ImageLocality"
    facets: ClassVar[Facet] = Facet.NODE

    def row_key(self, template: PodTemplate) -> Hashable | None:
        """Images with their spread: a score depends on all nodes by these numbers only, so they are part of the key."""
        rows = self.handle.rows()
        held = tuple((image, spread) for image in template.spec.images if (spread := rows.image_spread(image)))
        return (held, template.spec.container_count, rows.node_total()) if held else ()

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """0 to 100; an image that two containers share counts twice."""
        total = np.zeros(len(rows), np.int64)
        for image in pod.spec.images:
            spread = rows.image_spread(image)
            if spread:
                # A ratio of counts times a size, cut to whole bytes, as kube-scheduler rounds it.
                total += (rows.image_size(image) * (spread / rows.node_total())).astype(np.int64)
        most = _MOST_PER_CONTAINER * pod.spec.container_count
        return MAX_NODE_SCORE * (np.clip(total, _LEAST, most) - _LEAST) // (most - _LEAST)
