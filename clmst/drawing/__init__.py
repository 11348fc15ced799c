"""Pictures of spanning forests. Needs matplotlib: ``pip install 'clmst[plot]'``."""

from __future__ import annotations

from clmst.drawing.change import draw_change
from clmst.drawing.layout import layout
from clmst.drawing.picture import draw_forest

__all__ = ["draw_change", "draw_forest", "layout"]
