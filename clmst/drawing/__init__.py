"""Pictures of spanning forests and clusters.

``draw_...`` need Matplotlib: ``pip install 'clmst[plot]'``. They draw on axes that they are given,
or on a sheet of their own, and return the axes. ``explore_...`` need Plotly: ``pip install
'clmst[plotly]'``. They return a figure that the reader moves, enlarges and asks.
"""

from __future__ import annotations

from clmst.drawing.change import draw_change
from clmst.drawing.clusters import draw_clusters
from clmst.drawing.condensed_tree import draw_condensed_tree
from clmst.drawing.dendrogram import draw_dendrogram
from clmst.drawing.interactive import explore_clusters, explore_dendrogram
from clmst.drawing.layout import layout
from clmst.drawing.palette import PALETTE
from clmst.drawing.picture import draw_forest

__all__ = [
    "PALETTE",
    "draw_change",
    "draw_clusters",
    "draw_condensed_tree",
    "draw_dendrogram",
    "draw_forest",
    "explore_clusters",
    "explore_dendrogram",
    "layout",
]
