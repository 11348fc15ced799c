"""The ranges of HDBSCAN's parameters."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

from clmst.core.arguments import check_bool, check_choice, check_dict, check_integer, shown
from clmst.core.errors import InvalidArgumentError
from clmst.points.inputs import check_metric

if TYPE_CHECKING:
    from clmst.points.hdbscan import HDBSCAN

# The metrics of scikit-learn's trees, which callers know by the names of the algorithms.
_KD_TREE = {
    "chebyshev", "cityblock", "euclidean", "infinity", "l1", "l2", "manhattan", "minkowski", "p",
}  # fmt: skip
_BALL_TREE = _KD_TREE | {
    "braycurtis", "canberra", "dice", "hamming", "haversine", "jaccard", "mahalanobis",
    "rogerstanimoto", "russellrao", "seuclidean", "sokalmichener", "sokalsneath",
}  # fmt: skip


def check_parameters(model: HDBSCAN) -> None:
    """Raise unless each parameter is in its range."""
    check_metric(model.metric)
    check_integer("min_cluster_size", model.min_cluster_size, low=2)
    for name in ("min_samples", "max_cluster_size"):
        if getattr(model, name) is not None:
            check_integer(name, getattr(model, name), low=1)
    check_integer("leaf_size", model.leaf_size, low=1)
    if model.n_jobs is not None:
        check_integer("n_jobs", model.n_jobs)
    for name in ("alpha", "cluster_selection_epsilon"):
        value = getattr(model, name)
        is_real = isinstance(value, Real) and not isinstance(value, bool)
        if not is_real or not 0 <= value < float("inf") or (name == "alpha" and value == 0):
            least = "more than 0" if name == "alpha" else "0 or more"
            raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a number, {least}")
    check_choice("cluster_selection_method", model.cluster_selection_method, ("eom", "leaf"))
    check_choice("algorithm", model.algorithm, ("auto", "brute", "kd_tree", "ball_tree"))
    check_bool("allow_single_cluster", model.allow_single_cluster)
    check_bool("copy", model.copy)
    if model.store_centers is not None:
        check_choice("store_centers", model.store_centers, ("centroid", "medoid", "both"))
    if model.metric_params is not None:
        check_dict("metric_params", model.metric_params)
    for algorithm, metrics in (("kd_tree", _KD_TREE), ("ball_tree", _BALL_TREE)):
        is_named = isinstance(model.metric, str) and model.metric in metrics
        if model.algorithm == algorithm and not is_named:
            raise InvalidArgumentError(
                f"{shown(model.metric)} is not a valid metric for algorithm={algorithm!r}; 'auto' "
                "takes every metric"
            )
