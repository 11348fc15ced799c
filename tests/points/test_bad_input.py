"""What cannot be clustered: one clear error at every door, before anything is built."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import (
    Device,
    Graph,
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
    Points,
)
from clmst.cluster import HDBSCAN, PersistentLeaves, SingleLinkage, neighbour_forest, single_linkage
from tests.helpers.caches import use_own_cache
from tests.helpers.capabilities import with_capabilities

DOORS: dict[str, Callable[[Any, Device], object]] = {
    "tree": lambda X, device: clmst.minimum_spanning_forest(Points(X), device=device),
    "core distances": lambda X, device: clmst.core_distances(X, 3, device=device),
    "single_linkage": lambda X, device: single_linkage(X, device=device),
    "SingleLinkage": lambda X, device: SingleLinkage(2, device=device).fit(X),
    "HDBSCAN": lambda X, device: HDBSCAN(3, device=device).fit(X),
    "PersistentLeaves": lambda X, device: PersistentLeaves(3, device=device).fit(X),
}
LEAVES_OUT = ("HDBSCAN", "PersistentLeaves")  # points that are not finite


@pytest.mark.filterwarnings("ignore::clmst.StreamedWarning")  # blocks are tried, and do not fit
@pytest.mark.parametrize("door", DOORS)
def test_memory_is_said_before_anything_is_built(
    any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture, door: str,
) -> None:  # fmt: skip
    """By a device that is not trusted with anything, and would have to test its kernels."""
    use_own_cache(monkeypatch, tmp_path)
    caplog.set_level(logging.INFO, "clmst")
    for lacks, d in product(("global_memory", "max_allocation"), (3, 100_000)):
        n = max(20, (1 << 18) // d)
        small = with_capabilities(Device(any_device.cl_device), **{lacks: 1 << 12})
        message = rf"^{n} points of {d} dimensions need .*; "
        with pytest.raises(OutOfDeviceMemoryError, match=message):
            DOORS[door](np.zeros((n, d)), small)
    assert not [one for one in caplog.messages if "kernels" in one and "trial" not in one]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("value", [None, np.nan, np.inf, -np.inf])
def test_points_that_are_none(any_device: Device, door: str, value: float | None) -> None:
    """Points without coordinates, or with one that is not a number, which two doors leave out."""
    X, message = np.zeros((5, 0)), r"shape \(5, 0\).*; "
    if value is not None:
        X = np.ones((5, 64))
        X[3, 61] = value
        name = "NaN" if value != value else value  # noqa: PLR0124 - NaN is not itself
        message = f"^coordinate 61 of point 3 is {name}; all must be finite$"
        if door in LEAVES_OUT:
            X[:], message = X[3, 61], "^X has 5 rows, of which none is finite; a clustering takes "
    with pytest.raises(InvalidGraphError, match=message):
        DOORS[door](X, any_device)


def of_stored(cells: Any, dtype: Any = float) -> Any:
    """Return a sparse matrix."""
    return sparse.csr_array(np.array(cells, dtype))


FOUR, LISTS = np.arange(8.0).reshape(4, 2), np.array([[1], [0], [3], [2]])
PATH = Graph.from_edges(np.arange(9), np.arange(1, 10), np.ones(9))
PARTS = clmst.kruskal(Graph.from_edges([0, 2], [1, 3], [1, 2], n_vertices=5))
LINE = [[0.0], [1.0], [3.0]]
TINY = np.ldexp(np.arange(6.0).reshape(3, 2), -1074)
stored: dict[str, Any] = {"metric": "precomputed"}


def fit_density(X: Any = np.eye(9), **given: Any) -> object:  # noqa: B008 - never changed
    return HDBSCAN(**given).fit(X)


def fit_single(X: Any = LINE, **given: Any) -> object:
    return SingleLinkage(**given).fit(X)


near: Any = partial(neighbour_forest, FOUR)
near_exact: Any = partial(neighbour_forest, FOUR, join="exact")
# What is called, how, and what the error says.
CALLS: list[tuple[Callable[..., object], dict[str, Any], str]] = [
    (clmst.core_distances, {"points": np.ones((20, 2)), "min_samples": 21}, "is 21; it must be 1"),
    *((clmst.core_distances, {"points": np.eye(3), "min_samples": k}, "min_samples")
      for k in (0, 4, 2.5, True)),
    *((fit_density, given, rf"min_samples \(10\) must be at most .*, and X has 9 samples{more}")
      for given, more in (({"min_samples": 10}, "$"), ({"min_cluster_size": 10}, "; it is min_"))),
    (fit_density, {"min_cluster_size": 1}, "min_cluster_size is 1"),
    (fit_density, {"min_samples": 0}, "min_samples is 0"),
    (fit_density, {"alpha": 0}, "alpha is 0"),
    (fit_density, {"cluster_selection_epsilon": -1}, "cluster_selection_epsilon is -1"),
    (fit_density, {"cluster_selection_method": "best"}, "must be one of 'eom', 'leaf'"),
    (fit_density, {"algorithm": "quick"}, "must be one of 'auto'"),
    (fit_density, {"algorithm": "kd_tree", "metric": "cosine"}, "not a valid metric"),
    (fit_density, {"metric": "unheard-of"}, "metric is 'unheard-of'"),
    (fit_density, {"store_centers": "both", **stored}, "centers need points"),
    (fit_density, {"X": np.zeros((0, 2))}, "none is finite"),
    (fit_density, {"X": Points(np.zeros((0, 2)))}, "no points"),
    (fit_density, {"X": np.zeros(7)}, r"rows of real numbers \(X.reshape\(-1, 1\) takes each"),
    *((call, {"X": X}, f"X is {fact}; give points as rows.*{remedy}")
      for call in (fit_density, fit_single, single_linkage)
      for X, fact, remedy in (
        (None, "None", "or a list of rows$"),
        ("points.csv", "of type str", "clmst.read_points reads a file of points"),
        (Path("points.csv"), "of type PosixPath", "clmst.read_points reads"),
        ((row for row in FOUR), "of type generator", r"list\(X\) makes a list of rows"),
        (3.5, "of type float", "a list of rows$"),
      )),
    (clmst.core_distances, {"points": None, "min_samples": 1}, "^points are None; give points as"),
    (Points, {"coordinates": iter(FOUR)}, "^coordinates are of type .*; list"),
    (Points, {"coordinates": of_stored(FOUR)}, r"coordinates.toarray\(\) makes an array"),
    (neighbour_forest, {"X": "points.csv", "neighbours": LISTS}, "clmst.read_points"),
    *((HDBSCAN(3).fit(FOUR).dbscan_clustering, {"cut_distance": value}, f"cut_distance is {value}; "
       "it is a distance, so it must be a number of 0 or more") for value in (np.nan, -1, True)),
    (fit_density, {"X": np.zeros((7, 2)), **stored}, "has shape"),
    (fit_density, {"X": -np.ones((7, 7)), **stored}, "not negative"),
    (fit_density, {"X": np.full((7, 7), -1e-9), **stored}, "not negative"),
    (fit_density, {"X": PATH, "store_centers": "both"}, "centers need points"),
    (fit_density, {"X": PATH, **stored}, "point 0 has 1 stored distances"),
    (single_linkage, {"X": np.zeros((0, 2))}, "no points"),
    (single_linkage, {"X": [[0.0, 1.0], [np.inf, 1.0]], "metric": "canberra"}, "point 1 is inf"),
    (single_linkage, {"X": [[0, -1], [-1, 0]], **stored}, r"cell \(0, 1\) has the weight -1"),
    (single_linkage, {"X": [[0, 1.0], [2.0, 0]], **stored}, "must be symmetric"),
    (single_linkage, {"X": [[0, np.nan], [np.nan, 0]], **stored}, "is NaN"),
    (single_linkage, {"X": [[0, 1, 2], [1, 0, 3]], **stored}, "must be square"),
    (single_linkage, {"X": [1.0, 2.0], **stored}, "2 condensed distances"),
    (single_linkage, {"X": of_stored([[0, -3.0], [0, 0]])}, r"edge \(0, 1\) has the weight -3.0"),
    (single_linkage, {"X": [[0, 1], [1, 1]], "metric": "unheard-of"}, "metric is 'unheard-of'"),
    *((single_linkage, {"X": [[1, 2], [1, 1], [3, 4]], **given}, message)
      for given, message in (
        ({"metric": "correlation", "metric_params": {"w": [1, 1]}},
         "metric 'correlation' gives nan for points 0 and 1; distances are neither"),
        ({"metric": "correlation"}, "all coordinates of point 1 are equal; a point has a corr"),
        ({"metric": lambda one, other: other[1] - one[1]}, "gives -1.0 for points 0 and 1"),
      )),
    (single_linkage, {"X": [["a", "b"]], "metric": "canberra"}, "real numbers"),
    *((Points, {"coordinates": rows, "metric": "braycurtis"}, message)
      for rows, message in (
        ([[0, 0], [1, 0], [0, 0]], "points 0 and 2 are opposite, or all are 0; the metric 'brayc"),
        ([[1, 2], [3, -1], [-1, -2], [0, 0]], "points 0 and 2 are opposite, or all are 0; the"),
        ([[1, -2], [0, 0], [5, 5], [0, 0]], "points 1 and 3 are opposite, or all are 0; the metr"),
        ([[1e308, 1], [1, 1]], r"go up to 1e\+308; the metric 'braycurtis' adds up 4 of them"),
        ([[1e300, -1e-300], [1, 1]], "from 1e-300 to 1e.300, and some are negative; the metric"),
      )),
    (Points, {"coordinates": [[1e308]], "metric": "canberra"}, "'canberra' adds up 2 of them"),
    (single_linkage, {"X": np.array([[0.0, "b"]], object)}, "some values are not numbers"),
    (single_linkage, {"X": [[0.0, 1.0]], "metric": "p", "metric_params": {"p": 0}},
     "p of .* is 0; it must"),
    (single_linkage, {"X": of_stored([[0, 1], [2, 0]])}, r"cell \(1, 0\) .* is 2.0 but \(0, 1\)"),
    (single_linkage, {"X": of_stored([[0, 1], [2, 0]], int)}, r"cell \(1, 0\) .* is 2 but"),
    (single_linkage, {"X": of_stored([[0, 1, 2]])}, r"shape \(1, 3\); a sparse matrix has dista"),
    (single_linkage, {"X": [[0, 1]], "join_components": 1}, "True or False"),
    *((fit_single, given, "exactly one of them has to be set")
      for given in ({"n_clusters": None}, {"distance_threshold": 1.0})),
    (fit_single, {"n_clusters": 0}, "n_clusters is 0"),
    (fit_single, {"n_clusters": 4}, "must be at most 3"),
    (fit_single, {"n_clusters": None, "distance_threshold": -1}, "a number of 0 or more"),
    (fit_single, {"n_clusters": None, "distance_threshold": "far"}, "a number of 0 or more"),
    (fit_single, {"connectivity": np.ones((2, 2))}, r"it must be \(3, 3\)"),
    (fit_single, {"X": of_stored([[0, 1], [0, 0]]), "connectivity": LISTS}, "edges of its own"),
    *((call, {"neighbours": neighbours}, message)
      for call in (near, near_exact)
      for neighbours, message in (
        (LISTS + 2, r"neighbour 0 of point 2 is 5; it must be from 0 to 3, or -1"),
        (LISTS - 2, r"neighbour 0 of point 1 is -2"),
        (LISTS[:3], r"shape \(3, 1\).*a row for each of 4 points"),
        (LISTS[:, 0], r"shape \(4,\)"),
        (LISTS * 1.0, "dtype float64; they must be integers"),
        ((LISTS, LISTS), "dtypes int64 and int64"),
        ((LISTS, np.ones((4, 2))), r"shape \(4, 1\) and their distances \(4, 2\)"),
        ((LISTS, LISTS - 1.5), "point 0 has neighbour 1 at the distance -0.5"),
        ((LISTS, LISTS * np.nan), "point 0 has neighbour 1 at the distance nan"),
        (sparse.coo_array(([-1.0], ([0], [1])), shape=(4, 4)), "the weight -1.0"),
        (sparse.coo_array(([np.nan], ([0], [1])), shape=(4, 4)), "NaN"),
        (sparse.coo_array(([1.0], ([0], [1])), shape=(5, 5)), "5 vertices and X has 4 points"),
        (clmst.DenseGraph(np.zeros((4, 4))), "neighbours is .* it must be a sparse matrix"),
        ("near", "the graph is of type str"),
      )),
    (neighbour_forest, {"X": PATH, "neighbours": LISTS}, "edges of its own"),
    (neighbour_forest, {"X": FOUR, "neighbours": LISTS, "join": "near"}, "join"),
    (neighbour_forest, {"X": np.zeros((0, 2)), "neighbours": np.zeros((0, 1), int)}, "no points"),
    # Distances that doubles cannot hold, or whose squares vanish beside others.
    *((Points, {"coordinates": [[-greatest, 0], [greatest, 0]], "metric": metric},
       r"coordinates go up to 1e\+308, so distances may be beyond .* 1.8e308; divide the coo")
      for greatest in (1e308,) for metric in ("euclidean", "manhattan", "chebyshev")),
    (Points, {"coordinates": [[1e200, 0], [1e-200, 0], [0, 0]]}, "points 1 and 2 differ by at "
     r"most 1e-200 .* up to 1e\+200; .* points must be equal or differ by at least 1.4e-104 in"),
    (Points, {"coordinates": TINY}, "0 and 1 differ by at most 9.88e-324 in .* least 2.23e-308"),
    (Points, {"coordinates": [[1e200, 0], [0, 0]], "core_distances": [1e200, 1e-300]},
     r"core distance 1 is 1e-300, and .* go up to 1e\+200; .* or from .*e-258 to 1.8e\+308"),
    *((single_linkage, {"X": FOUR * factor, "metric": metric, "metric_params": given},
       f"metric '{metric}' gives {value} for points 0 and 1, .*; a power of that is beyond the ran")
      for factor, value in ((1e-200, 0), (1e200, "inf"))
      for metric, given in (("sqeuclidean", None), ("minkowski", {"p": 3, "w": [1, 1]}))),
    *((Points, {"coordinates": FOUR, "metric": "minkowski", "p": p},
       "takes a number from 1 to 64, or infinity")
      for p in (None, 0.5, 64.5, -1, np.nan, True, "3", 3j)),
    (Points, {"coordinates": FOUR, "metric": "manhattan", "p": 3}, "only 'minkowski' takes p"),
    (Points, {"coordinates": [[1.0, 0], [1e-20, 0], [0, 0]], "metric": "minkowski", "p": 50},
     "points 1 and 2 differ by at most 1e-20 .* go up to 1; .* differ by at least 3.64e-12 in"),
    (Points, {"coordinates": [[1.0, 0], [0, 0], [3e-12, 0], [6e-12, 0]], "metric": "minkowski",
              "p": 50}, "points [12] and [23] differ by at most 3e-12 "),
    *((PARTS.cut, given, message)
      for given, message in (
        ({}, "one of the two"), ({"height": 1, "k": 2}, "one of the two"),
        ({"height": "high"}, "a real number"), ({"height": np.nan}, "NaN"),
        ({"height": [[1.0]]}, "one dimension"), ({"k": 1}, "from 3 to 5"), ({"k": 6}, "from 3"),
        ({"k": 2.5}, "an integer"), ({"k": [2, 0]}, "k is 2"),
      )),
]  # fmt: skip


@pytest.mark.parametrize(("call", "given", "message"), CALLS)
def test_one_clear_error(call: Callable[..., object], given: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidGraphError, InvalidArgumentError), match=message):
        call(**given)
