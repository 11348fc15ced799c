"""Clustering with spanning trees: single linkage, and density-based clustering with HDBSCAN.

:class:`HDBSCAN`, :class:`PersistentLeaves` and :class:`SingleLinkage` follow scikit-learn's
estimator interface and work in its pipelines. scikit-learn itself does not have to be installed.
The names of the hdbscan package work here, too: programs that call
``hdbscan.prediction.membership_vector`` or ``hdbscan.validity.validity_index`` find the modules
:mod:`prediction` and :mod:`validity`.
"""

from __future__ import annotations

from clmst.points import prediction, validity  # noqa: F401 - hdbscan's modules of these names
from clmst.points.hdbscan import HDBSCAN
from clmst.points.neighbour_forest import neighbour_forest
from clmst.points.persistent_leaves import PersistentLeaves
from clmst.points.prediction import (
    all_points_membership_vectors,
    approximate_predict,
    approximate_predict_scores,
    membership_vector,
)
from clmst.points.single_linkage import SingleLinkage, single_linkage
from clmst.points.validity import validity_index

__all__ = [
    "HDBSCAN",
    "PersistentLeaves",
    "SingleLinkage",
    "all_points_membership_vectors",
    "approximate_predict",
    "approximate_predict_scores",
    "membership_vector",
    "neighbour_forest",
    "single_linkage",
    "validity_index",
]
