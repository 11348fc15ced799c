"""Pictures of spanning forests and clusters. Needs matplotlib: ``pip install 'clmst[plot]'``."""

from __future__ import annotations

from clmst.drawing.clusters import draw_clusters, draw_condensed_tree, draw_dendrogram
from clmst.drawing.layout import layout
from clmst.drawing.picture import draw_change, draw_forest

__all__ = [
    "draw_change",
    "draw_clusters",
    "draw_condensed_tree",
    "draw_dendrogram",
    "draw_forest",
    "layout",
]
