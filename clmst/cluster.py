"""Clusters by spanning trees: single linkage, and density by HDBSCAN.

scikit-learn need not be installed; its pipelines take the estimators of this module.
"""

from __future__ import annotations

from clmst.points.hdbscan import HDBSCAN
from clmst.points.neighbour_forest import neighbour_forest
from clmst.points.single_linkage import SingleLinkage, single_linkage

__all__ = ["HDBSCAN", "SingleLinkage", "neighbour_forest", "single_linkage"]
