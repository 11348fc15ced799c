"""Clusters by spanning trees: single linkage, and density by HDBSCAN.

scikit-learn need not be installed; its pipelines take the estimators of this module.
"""

from __future__ import annotations

from clmst.points.hdbscan import HDBSCAN
from clmst.points.neighbour_forest import neighbour_forest
from clmst.points.prediction import approximate_predict, approximate_predict_scores
from clmst.points.single_linkage import SingleLinkage, single_linkage
from clmst.points.validity import validity_index

__all__ = [
    "HDBSCAN",
    "SingleLinkage",
    "approximate_predict",
    "approximate_predict_scores",
    "neighbour_forest",
    "single_linkage",
    "validity_index",
]
