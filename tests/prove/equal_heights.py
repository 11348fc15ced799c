"""HDBSCAN with simultaneous ties, beside its definition and beside the same rows in another order.

    python -m tests.prove.equal_heights [--sets 2000] [--first 0] [--most 300] [--device NAME]

Set number i follows from i and `--most` alone. It has 10 points or more, and most sets have many
equal distances: points of integers, counts, duplicated rows, grids, bits, rounded coordinates,
matrices and sparse graphs of few different distances. Each set is clustered once in its order and
in five others.

The definition needs no spanning tree. The *minimax height* of two points is the least number h for
which a path of edges of at most h joins them. At a height h, a cluster falls into the classes of
its points whose minimax heights are below h. Sums of stabilities are fractions of integers, which
are exact, and rounded once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import click
import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform

import clmst
from benchmarks.timing import wall_and_processor_seconds
from clmst import Device
from clmst.bench.harness import WrongResultError
from clmst.cluster import HDBSCAN
from clmst.core.weight_keys import Array

PERMUTATIONS = 5
_NOISE = -1
_BY_PATHS = 300  # of more points, minimax heights come from SciPy's single linkage
_SCIPYS: dict[str, Any] = {"manhattan": "cityblock"}


class Case(NamedTuple):
    """An input of HDBSCAN with many equal distances, its parameters, and its distances."""

    kind: str
    X: Any  # rows of points, a matrix of distances, or a sparse one
    given: dict[str, Any]  # the parameters, without `ties`
    distances: Array  # of all pairs; infinite for pairs that a sparse matrix does not store

    def permuted(self, order: Array) -> Any:
        """Return the input with its points in another order."""
        if self.given.get("metric") == "precomputed":
            return self.X[order][:, order]
        return self.X[order]


def _rows(rng: np.random.Generator, kind: str, n: int) -> Array:
    """Return the rows of a set of points."""
    d = int(rng.integers(1, 6))
    rows: Array
    if kind == "integers":
        rows = rng.integers(0, rng.integers(2, 12), (n, d)).astype(float)
    elif kind == "counts":
        rows = rng.poisson(rng.uniform(0.5, 4), (n, d)).astype(float)
    elif kind == "duplicated rows":
        rows = rng.normal(size=(n, d))[rng.integers(0, max(n // 4, 2), n)]
    elif kind == "grid":
        side = int(np.ceil(np.sqrt(n)))
        cells = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
        rows = cells[rng.permutation(len(cells))[:n]] * rng.choice([1.0, 0.1, 0.7])
    elif kind == "bits":
        rows = rng.integers(0, 2, (n, int(rng.integers(4, 24)))).astype(float)
    elif kind == "rounded":
        centres = rng.normal(scale=4, size=(4, d))
        exact = centres[rng.integers(0, 4, n)] + rng.normal(size=(n, d))
        rows = np.round(exact, rng.integers(0, 3))
    else:  # "continuous"
        rows = rng.normal(size=(n, d))
    return rows


_OF_ROWS = ("integers", "counts", "duplicated rows", "grid", "bits", "rounded", "continuous")
_KINDS = (*_OF_ROWS, "matrix", "sparse")


def draw(number: int, most: int) -> Case:
    """Return a set of 10 to `most` points; small sets are more frequent than large ones."""
    rng = np.random.default_rng([number, most, 54])
    kind = _KINDS[number % len(_KINDS)]
    n = int(10 * (most / 10) ** rng.random())
    given: dict[str, Any] = {
        "min_cluster_size": int(rng.integers(2, 16)),
        "min_samples": int(rng.integers(1, 10)),
        "cluster_selection_method": str(rng.choice(["eom", "leaf"])),
        "alpha": float(rng.choice([1.0, 1.0, 0.7, 1.5])),
        "allow_single_cluster": bool(rng.random() < 0.3),
    }
    if rng.random() < 0.3:
        given["max_cluster_size"] = int(rng.integers(3, n + 1))
    if kind in _OF_ROWS:
        X = _rows(rng, kind, n)
        metric = "hamming" if kind == "bits" else str(
            rng.choice(["euclidean", "euclidean", "manhattan", "chebyshev"])
        )  # fmt: skip
        given["metric"] = metric
        distances = squareform(pdist(X, _SCIPYS.get(metric, metric)))
    else:
        given["metric"] = "precomputed"
        upper = np.triu(rng.integers(0 if rng.random() < 0.5 else 1, 8, (n, n)) / 2.0, 1)
        X = distances = upper + upper.T
    if kind == "sparse":
        X, distances = _sparse(rng, distances)
        neighbours = (np.isfinite(distances).sum(axis=1) - 1).min()
        given["min_samples"] = int(rng.integers(1, neighbours + 2))
    if rng.random() < 0.4:
        finite = distances[np.isfinite(distances)]
        given["cluster_selection_epsilon"] = float(rng.choice(finite)) * float(
            rng.choice([1, 1, 0.6])
        )
    return Case(kind, X, given, distances)


def _sparse(rng: np.random.Generator, distances: Array) -> tuple[Any, Array]:
    """Return some of the pairs of a matrix as a sparse matrix and a dense one."""
    n = len(distances)
    is_pair = np.triu(rng.random((n, n)) < rng.choice([2 / n, 4 / n, 0.3]), 1)
    u, v = np.nonzero(is_pair | is_pair.T)
    stored = sparse.csr_array((distances[u, v], (u, v)), shape=(n, n))
    left = np.full((n, n), np.inf)
    left[u, v] = distances[u, v]
    np.fill_diagonal(left, 0)
    return stored, left


def heights_of(case: Case) -> Array:
    """Return the mutual reachability of all pairs."""
    k, alpha = case.given["min_samples"], case.given["alpha"]
    core = np.sort(case.distances, axis=1)[:, k - 1] * alpha
    mutual: Array = np.maximum(np.maximum(case.distances, core), core[:, None]) / alpha
    return mutual


@dataclass(eq=False)
class Cluster:
    """A cluster of the condensed tree. Times are densities, the reciprocals of heights."""

    points: Array  # all points that are in it when it begins
    begins: float
    ends: float = 0.0
    leaves: dict[int, float] = field(default_factory=dict)  # the points in no child, and when
    children: list[Cluster] = field(default_factory=list)
    parent: Cluster | None = None

    def stays(self) -> list[tuple[float, float]]:
        """Return when each point comes and goes."""
        gone = [self.leaves.get(point, self.ends) for point in self.points.tolist()]
        return [(self.begins, at) for at in gone]

    def inside(self) -> list[Cluster]:
        """Return the cluster and all clusters inside it."""
        return [self, *(one for child in self.children for one in child.inside())]


def _density(height: float) -> float:
    return np.inf if height == 0 else 1 / height


def minimax_by_paths(heights: Array) -> Array:
    """Return the minimax height of all pairs, by letting paths go through one more point each."""
    minimax = heights.copy()
    np.fill_diagonal(minimax, -1)
    for k in range(len(heights)):
        np.minimum(minimax, np.maximum(minimax[:, k, None], minimax[k]), out=minimax)
    return minimax


def minimax_by_linkage(heights: Array) -> Array:
    """Return the minimax height of all pairs, as SciPy's cophenetic distance of single linkage.

    It is the height at which two points come into one cluster. The time is O(n**2).
    """
    apart = squareform(heights, checks=False)
    is_joined = np.isfinite(apart)
    infinity = np.finfo(np.float64).max  # SciPy takes finite distances only
    joined_at = cophenet(linkage(np.where(is_joined, apart, infinity), "single"))
    minimax: Array = squareform(np.where(joined_at == infinity, np.inf, joined_at))
    np.fill_diagonal(minimax, -1)
    return minimax


def _minimax(heights: Array) -> Array:
    few = len(heights) <= _BY_PATHS
    return minimax_by_paths(heights) if few else minimax_by_linkage(heights)


def _parts(minimax: Array, points: Array) -> tuple[float, list[Array]]:
    """Return the greatest minimax height of some points, and their classes just below it.

    A path from one point to another may go through a third one, so no minimax height is greater
    than both heights to the third point. So the greatest one is a height to the first point, and
    the points of a class are those below the height from any of them.
    """
    height, parts = float(minimax[points[0], points].max()), []
    while points.size:
        is_near = minimax[points[0], points] < height
        parts.append(points[is_near])
        points = points[~is_near]
    return height, parts


def _tree(heights: Array, least: int) -> Cluster:
    """Return the root of the condensed tree."""
    minimax = _minimax(heights)
    root = Cluster(np.arange(len(heights)), 0.0)
    waiting = [root]
    while waiting:
        cluster = waiting.pop()
        points = cluster.points
        while True:
            height, parts = _parts(minimax, points)
            large = [part for part in parts if part.size >= least]
            at = _density(height)
            for part in parts:
                if part.size < least:
                    cluster.leaves |= dict.fromkeys(part.tolist(), at)
            if len(large) != 1:
                break
            points = large[0]
        cluster.ends = at
        cluster.children = [Cluster(part, at, parent=cluster) for part in large]
        waiting += cluster.children
    return root


def _total(numbers: Iterable[float | Fraction]) -> float:
    """Return an exact sum of numbers of 0 or more, rounded once."""
    listed = list(numbers)
    return np.inf if np.inf in listed else float(sum((Fraction(x) for x in listed), Fraction(0)))


def _stability(cluster: Cluster) -> float:
    stays = cluster.stays()
    if any(gone == np.inf for _, gone in stays):
        return np.inf
    return _total(Fraction(gone) - Fraction(came) for came, gone in stays)


def _most_stable(cluster: Cluster, most: float) -> tuple[float, list[Cluster]]:
    """Return the greatest total stability of clusters in a cluster, and these clusters."""
    below = [_most_stable(child, most) for child in cluster.children]
    total = _total(stability for stability, _ in below)
    own = _stability(cluster)
    if cluster.points.size > most or total > own:
        return total, [one for _, chosen in below for one in chosen]
    return own, [cluster]


def _chosen(root: Cluster, given: dict[str, Any]) -> list[Cluster]:
    single, epsilon = given["allow_single_cluster"], given.get("cluster_selection_epsilon", 0)
    most = given.get("max_cluster_size", np.inf)
    if given["cluster_selection_method"] == "leaf":
        chosen = [one for one in root.inside() if not one.children and one is not root]
    elif single:
        chosen = _most_stable(root, most)[1]
    else:
        chosen = [one for child in root.children for one in _most_stable(child, most)[1]]
    if epsilon > 0 and root not in chosen:
        chosen = [_not_below(one, epsilon, single) for one in chosen]
    return [
        one for at, one in enumerate(chosen)
        if not any(one is other for other in chosen[:at])
        and not any(one is not other and _is_around(other, one) for other in chosen)
    ]  # fmt: skip


def _is_around(outer: Cluster, inner: Cluster) -> bool:
    return any(one is inner for one in outer.inside())


def _not_below(cluster: Cluster, epsilon: float, single: bool) -> Cluster:
    """Return a cluster, or the first around it that begins above the height `epsilon`."""

    def begins_at(one: Cluster) -> float:
        return np.inf if one.begins == 0 else 1 / one.begins

    if begins_at(cluster) >= epsilon:
        return cluster
    while cluster.parent is not None:
        if not single and cluster.parent.parent is None:
            return cluster
        cluster = cluster.parent
        if begins_at(cluster) > epsilon:
            break
    return cluster


class Expected(NamedTuple):
    """What HDBSCAN should find."""

    labels: Array
    probabilities: Array
    scores: Array
    persistence: Array


def _share(part: float, whole: float) -> float:
    return 1.0 if part >= whole else part / whole


def expected(case: Case) -> Expected:
    """Cluster a set by the definition."""
    n, given = len(case.distances), case.given
    root = _tree(heights_of(case), given["min_cluster_size"])
    chosen = sorted(_chosen(root, given), key=lambda one: int(one.points.min()))
    leaves = {point: (at, one) for one in root.inside() for point, at in one.leaves.items()}
    labels, strengths, scores = np.full(n, _NOISE), np.zeros(n), np.zeros(n)
    epsilon = given.get("cluster_selection_epsilon", 0)
    kept: list[Cluster] = []
    for one in chosen:
        points = one.points.tolist()
        if one is root:  # points that leave the only cluster early are noise
            until = 1 / epsilon if epsilon else root.ends
            points = [point for point in points if leaves[point][0] >= until]
        if points:
            labels[points] = len(kept)
            strengths[points] = [_share(leaves[point][0], one.ends) for point in points]
            kept.append(one)
    for point, (at, last) in leaves.items():
        scores[point] = 1 - _share(at, max(one.ends for one in last.inside()))
    finite = {at for one in root.inside() for at in (*one.leaves.values(), one.ends)} - {np.inf}
    greatest = max(finite, default=0.0)
    persistence = [_persistence(one, greatest) for one in kept]
    return Expected(labels, strengths, scores, np.array(persistence))


def _persistence(cluster: Cluster, greatest: float) -> float:
    if greatest == 0:
        return 1.0
    stays = [
        Fraction(greatest) if gone == np.inf else Fraction(gone) - Fraction(came)
        for came, gone in cluster.stays()
    ]
    return float(sum(stays, Fraction(0)) / Fraction(greatest) / len(stays))


def fit(case: Case, device: Device, X: Any = None) -> HDBSCAN:
    """Cluster a set, or its points in another order, with simultaneous ties."""
    return HDBSCAN(**case.given, ties="simultaneous", device=device).fit(case.X if X is None else X)


def wrong_of(case: Case, device: Device) -> str:
    """Return what is wrong with the clusters of a set; empty if nothing is."""
    model, right = fit(case, device), expected(case)
    if not np.array_equal(model.labels_, right.labels):
        return f"labels are {model.labels_.tolist()}; they must be {right.labels.tolist()}"
    if not np.array_equal(model.probabilities_, right.probabilities):
        return "probabilities are not those of the definition"
    if not np.array_equal(model.outlier_scores_, right.scores):
        return "outlier scores are not those of the definition"
    if not np.allclose(model.cluster_persistence_, right.persistence, rtol=1e-13, atol=0):
        return "the persistence is not that of the definition"
    for seed in range(PERMUTATIONS):
        order = np.random.default_rng([seed, model.labels_.size]).permutation(model.labels_.size)
        other = fit(case, device, case.permuted(order))
        if wrong := difference(model, other, order):
            return f"with its rows in order {seed}, {wrong}"
    return ""


def difference(model: HDBSCAN, other: HDBSCAN, order: Array) -> str:
    """Return in what a fit of the rows in another order differs; empty if it does in nothing."""
    labels, others = model.labels_[order], other.labels_
    pairs = {*zip(labels.tolist(), others.tolist(), strict=True)}
    number = dict(pairs)
    is_one_to_one = len(pairs) == len(number) == len({*number.values()})
    if not is_one_to_one or any((a < 0 or b < 0) and a != b for a, b in pairs):
        return "the clusters differ"
    renumbered = np.array([number[k] for k in range(labels.max(initial=-1) + 1)], np.int64)
    for name, mine, others_ in (
        ("probabilities", model.probabilities_[order], other.probabilities_),
        ("outlier scores", model.outlier_scores_[order], other.outlier_scores_),
        ("persistence", model.cluster_persistence_, other.cluster_persistence_[renumbered]),
    ):
        if mine.tobytes() != others_.tobytes():
            return f"the {name} differ"
    return ""


def compare(numbers: Iterable[int], device: Device, *, most: int) -> Counter[str]:
    """Return how many sets of each kind were compared; all are right.

    Raises
    ------
    WrongResultError
        One is not; its number is named.
    """
    kinds: Counter[str] = Counter()
    for number in numbers:
        case = draw(number, most)
        if wrong := wrong_of(case, device):
            raise WrongResultError(
                f"set {number}, {case.kind}, {len(case.distances)} points, {case.given}: {wrong}"
            )
        kinds[case.kind] += 1
        kinds["points"] += len(case.distances)
        kinds[case.given["cluster_selection_method"]] += 1
    return kinds


@click.command()
@click.option("--sets", default=2000, show_default=True, help="How many.")
@click.option("--first", default=0, show_default=True, help="The number of the first one.")
@click.option("--most", default=300, show_default=True, help="The most points of a set.")
@click.option("--device", help="As of clmst.get_device.")
def main(sets: int, first: int, most: int, device: str | None) -> None:
    """Compare HDBSCAN with simultaneous ties with its definition."""
    found = clmst.get_device(device)
    kinds, _, seconds = wall_and_processor_seconds(
        lambda: compare(range(first, first + sets), found, most=most)
    )
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    click.echo(
        f"{found.description}: {sets} sets are right ({counts}); {seconds:.0f} s of processor"
    )


if __name__ == "__main__":
    main()
