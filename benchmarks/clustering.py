"""Time clustering by clmst beside scikit-learn's and SciPy's, in turns.

    python -m benchmarks clustering linkage --points 20000     # beside SciPy's linkage of distances
    python -m benchmarks clustering hdbscan --points 100000    # beside scikit-learn's HDBSCAN
    python -m benchmarks clustering tree --points 1000000      # dendrogram, cuts, condensed tree
    python -m benchmarks clustering after --points 1000000     # attributes and predictions of a fit
    python -m benchmarks clustering validity --points 20000    # DBCV, beside hdbscan's

Times are wall time, or with `--clock cpu` the time of all processors. On a machine without an
OpenCL device, clmst computes on the host. To hide the devices, let OCL_ICD_VENDORS name an empty
folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click
import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import clmst
from benchmarks.runner import Rows, Run, case, installed
from clmst.cluster import (
    HDBSCAN,
    approximate_predict,
    approximate_predict_scores,
    validity_index,
)
from clmst.core.weight_keys import Array
from clmst.points.condensed import choose_clusters, condensed_tree, label_points

Call = Callable[[], Any]


def points_with_noise(n: int, axes: int) -> Array:
    """Return n random points: 20 groups of different density, and a tenth of noise.

    `axes` is the number of dimensions.
    """
    random = np.random.default_rng(9)
    middles = random.uniform(0, 100, (20, axes))
    group = random.integers(0, 20, n)
    spread = random.uniform(0.5, 3, 20)[group, None]
    points: Array = middles[group] + random.normal(size=(n, axes)) * spread
    noise = random.random(n) < 0.1
    points[noise] = random.uniform(0, 100, (int(noise.sum()), axes))
    return points


def linkage_calls(n: int, axes: int) -> dict[str, Call]:
    """Return the calls that compute single linkage of `n` random points in `axes` dimensions.

    The dict maps names to calls. One call is clmst's. The other two are SciPy's, from the points
    and from the matrix of their distances.
    """
    X = points_with_noise(n, axes)
    distances = pdist(X)
    return {
        "clmst": lambda: clmst.cluster.single_linkage(X),
        "SciPy, of distances": lambda: hierarchy.linkage(distances, "single"),
        "SciPy, of points": lambda: hierarchy.linkage(X, "single"),
    }


def hdbscan_calls(n: int, axes: int) -> dict[str, Call]:
    """Return the calls that fit HDBSCAN to `n` random points in `axes` dimensions.

    The dict maps the names of libraries to calls. The libraries are clmst, scikit-learn and, if it
    is installed, fast_hdbscan.
    """
    from sklearn.cluster import HDBSCAN as PEER

    X = points_with_noise(n, axes)
    calls: dict[str, Call] = {
        "clmst": lambda: HDBSCAN(10).fit(X),
        "scikit-learn": lambda: PEER(10, copy=True, n_jobs=-1).fit(X),
    }
    if (fast := installed("fast_hdbscan")) is not None:
        calls["fast_hdbscan"] = lambda: fast.HDBSCAN(min_cluster_size=10).fit(X)
    return calls


def tree_calls(n: int, axes: int) -> dict[str, Call]:
    """Return the calls that compute dendrograms, cuts and labels from a spanning tree, by name.

    The spanning tree is a random one of `n` vertices. `axes` is not used. All functions of MAKERS
    have this parameter, which is the number of dimensions of points.
    """
    random = np.random.default_rng(4)
    children = np.arange(1, n)
    parents = (random.random(n - 1) ** 0.2 * children).astype(np.int64)
    edges = np.stack([parents, children], axis=1)
    weights = random.random(n - 1)
    forest = clmst.Forest(n_vertices=n, edges=edges, weights=weights, edge_ids=children - 1)
    condensed = condensed_tree(forest, 10, device=None)
    counts = np.linspace(2, n // 2, 20).astype(int)
    few_heights = replace(forest, weights=np.ceil(weights * 100))

    def labelled(forest: clmst.Forest, ties: str) -> Call:
        def call() -> Any:
            condensed = condensed_tree(forest, 10, ties=ties, device=None)
            return label_points(condensed, choose_clusters(condensed), 0.0)

        return call

    return {
        "linkage": forest.linkage,
        "cut": lambda: forest.cut(k=100),
        "20 cuts": lambda: forest.cut(k=counts),
        "merge and condense": lambda: condensed_tree(forest, 10, device=None),
        "choose and label": lambda: label_points(condensed, choose_clusters(condensed), 0.0),
        "from tree to labels": labelled(forest, "sequential"),
        "from tree to labels, simultaneous": labelled(forest, "simultaneous"),
        "from tree to labels, 100 heights": labelled(few_heights, "sequential"),
        "from tree to labels, 100 heights, simultaneous": labelled(few_heights, "simultaneous"),
    }


def after_calls(n: int, axes: int) -> dict[str, Call]:
    """Return the calls that users make after a fit of HDBSCAN, such as predictions, by name.

    The fit is of `n` random points in `axes` dimensions. If the package hdbscan is installed and
    the points are few, its prediction is added.
    """
    X, new = points_with_noise(n, axes), points_with_noise(n, axes)[::-1] + 0.01
    model = HDBSCAN(10).fit(X)

    def anew(name: str) -> Call:
        def call() -> Any:
            for one in ("_tree", name):
                vars(model).pop(one, None)
            return getattr(model, name)

        return call

    lazy = ("outlier_scores_", "cluster_persistence_", "exemplars_")

    def first() -> Any:
        vars(model).pop("_predictor", None)
        return approximate_predict(model, new[:1])

    calls = {name: anew(name) for name in lazy} | {
        "first prediction, 1 point": first,
        "prediction, 1 point": lambda: approximate_predict(model, new[:1]),
        "prediction": lambda: approximate_predict(model, new),
        "scores": lambda: approximate_predict_scores(model, new),
    }
    hdbscan = installed("hdbscan")
    if hdbscan is None or n > 100_000:  # hdbscan would take minutes
        return calls
    peer = hdbscan.HDBSCAN(min_cluster_size=10, min_samples=9, prediction_data=True).fit(X)
    return calls | {"prediction, hdbscan": lambda: hdbscan.approximate_predict(peer, new)}


def validity_calls(n: int, axes: int) -> dict[str, Call]:
    """Return the calls that compute the validity of a clustering (DBCV), by the library's name.

    One call is clmst's. The other is from the package hdbscan, if it is installed. The clustering
    is of `n` random points in `axes` dimensions.
    """
    X = points_with_noise(n, axes)
    labels = HDBSCAN(10).fit_predict(X)
    calls: dict[str, Call] = {"clmst": lambda: validity_index(X, labels)}
    if (peer := installed("hdbscan.validity")) is not None:
        calls["hdbscan"] = lambda: peer.validity_index(X, labels)
    return calls


MAKERS = {
    "linkage": linkage_calls, "hdbscan": hdbscan_calls, "tree": tree_calls, "after": after_calls,
    "validity": validity_calls,
}  # fmt: skip


@case(
    click.argument("what", type=click.Choice(list(MAKERS))),
    click.option("--points", "n", type=int, default=20_000, show_default=True),
    click.option("--dimensions", "axes", type=int, default=10, show_default=True),
    click.option("--without", multiple=True, help="A contestant that takes too long."),
    repetitions=3,
    devices=(0, 1),
)
def main(run: Run, what: str, n: int, axes: int, without: tuple[str, ...]) -> Rows:
    """Time clustering, and the steps of which it consists."""
    calls = {name: call for name, call in MAKERS[what](n, axes).items() if name not in without}
    for name, times in run.turns(calls, warm_ups=0).items():
        yield {"what": what, "points": n, "dimensions": axes, "who": name, "ms": times}
