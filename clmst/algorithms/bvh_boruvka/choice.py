"""The metrics for which boxes bound the distances to the points in them."""

from __future__ import annotations

from clmst.core.points import Points

METRICS = ("euclidean", "manhattan", "chebyshev", "cosine")


def takes(points: Points) -> bool:
    """Return whether a hierarchy of boxes can be built over points."""
    return points.metric in METRICS
