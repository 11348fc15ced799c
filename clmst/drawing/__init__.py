"""Pictures of spanning forests, clusters, dendrograms, condensed trees and persistence.

The functions ``draw_...`` need Matplotlib: ``pip install 'clmst[plot]'``. They draw on the axes
that a caller passes, or on a new figure, and return the axes. The functions ``explore_...`` need
Plotly: ``pip install 'clmst[plotly]'``. They return an interactive figure, which the reader can
move and zoom, and which shows facts about the point or merge below the pointer.
"""

from __future__ import annotations

from clmst.drawing.change import draw_change
from clmst.drawing.clusters import draw_clusters
from clmst.drawing.condensed_tree import draw_condensed_tree
from clmst.drawing.dendrogram import draw_dendrogram
from clmst.drawing.interactive import explore_clusters, explore_dendrogram
from clmst.drawing.layout import layout
from clmst.drawing.palette import PALETTE
from clmst.drawing.persistence import draw_persistence
from clmst.drawing.picture import draw_forest

__all__ = [
    "PALETTE",
    "draw_change",
    "draw_clusters",
    "draw_condensed_tree",
    "draw_dendrogram",
    "draw_forest",
    "draw_persistence",
    "explore_clusters",
    "explore_dendrogram",
    "layout",
]
