"""Compare the labels that HDBSCAN of clmst and HDBSCAN of scikit-learn give to the same points.

    python -m benchmarks beside_sklearn

In clmst, each of the parameters `alpha` and `min_samples` has one meaning. In scikit-learn the
meaning depends on how it searches for near points. So the table has fits with several values of
both parameters. The points are made by :func:`benchmarks.clustering.points_with_noise`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from scipy.spatial.distance import pdist, squareform

from benchmarks.clustering import points_with_noise
from benchmarks.runner import Rows, Run, case
from clmst.cluster import HDBSCAN
from clmst.core.weight_keys import Array

_NEIGHBOURS = 30


def fits(n: int, least: int) -> Iterator[tuple[str, Any, dict[str, Any], dict[str, Any]]]:
    """Yield the fits to compare, each with its title, its input and two dicts of parameters.

    The first dict has the parameters for both libraries. The second has further parameters, or
    other values, for scikit-learn alone. `n` is the number of points and `least` the minimum
    cluster size.
    """
    from sklearn.neighbors import kneighbors_graph

    X = points_with_noise(n, 2)
    stored: dict[str, Any] = {"metric": "precomputed"}
    for alpha in (1.0, 0.7, 1.3, 2.0):
        given = {"min_cluster_size": least, "alpha": alpha}
        yield f"alpha {alpha}, by a tree", X, given, {"algorithm": "kd_tree"}
        yield f"alpha {alpha}, by brute force", X, given, {"algorithm": "brute"}
        yield f"alpha {alpha}, precomputed", squareform(pdist(X)), given | stored, {}
        yield f"alpha {alpha}, cosine", X - 50, given | {"metric": "cosine"}, {}
    near = kneighbors_graph(X, _NEIGHBOURS, mode="distance")
    near = near.maximum(near.T)
    for min_samples in (3, 5, least):
        given = {"min_cluster_size": least, "min_samples": min_samples, **stored}
        yield f"sparse, min_samples {min_samples}", near, given, {}
        fewer = {"min_samples": min_samples - 1}
        yield f"sparse, min_samples {min_samples}, there one less", near, given, fewer


@case(
    click.option("--points", "n", type=int, default=2_000, show_default=True),
    click.option("--min-cluster-size", "smallest", type=int, default=10, show_default=True),
)
def main(run: Run, n: int, smallest: int) -> Rows:
    """Compare the labels of HDBSCAN with scikit-learn's."""
    from sklearn import cluster
    from sklearn.metrics import adjusted_rand_score

    def counts(labels: Array) -> dict[str, int]:
        return {"clusters": int(labels.max()) + 1, "noise": int((labels == -1).sum())}

    for what, X, given, own in fits(n, smallest):
        ours = HDBSCAN(**given, device=run.device).fit_predict(X)
        theirs = cluster.HDBSCAN(**(given | own), copy=True).fit_predict(X)
        yield {
            "what": what,
            "adjusted Rand index": round(float(adjusted_rand_score(ours, theirs)), 3),
            **{f"{name}, clmst": number for name, number in counts(ours).items()},
            **{f"{name}, scikit-learn": number for name, number in counts(theirs).items()},
        }
