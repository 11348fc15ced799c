"""The right forest of a sample, three times: `clmst.kruskal`, plain Python, SciPy's total."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst
from clmst.core.weight_keys import Array
from tests.helpers.forests import by_definition
from tests.prove.sample import Sample


@dataclass(frozen=True, eq=False)
class Expected:
    """The forest that every answer must be."""

    edges: Array
    ids: Array  # places in the arrays of the sample
    weights: Array
    total: int | float
    labels: Array  # the component of each vertex


def solve(sample: Sample, *, maximum: bool) -> Expected:
    """Return the forest of the project's oracle."""
    forest = clmst.kruskal(sample.graph(), maximum=maximum)
    return Expected(
        forest.edges, forest.edge_ids, forest.weights, forest.total_weight, forest.labels
    )


# ------------------------------------------------------------------- is it right itself?


def doubts(sample: Sample, expected: Expected, *, maximum: bool) -> str | None:
    """Check the oracle's answer by two methods that share nothing with it. Return the errors."""
    if (ids := _plain_kruskal(sample, maximum=maximum)) != expected.ids.tolist():
        return f"the oracle's edges are {expected.ids.tolist()}; Kruskal's in plain Python {ids}"
    weights = expected.weights.tolist()
    if np.isfinite(np.array(weights, np.float64)).all():
        exact = sum(map(Fraction, weights), Fraction(0))
        total = expected.total
        if exact != total and not (isinstance(total, float) and _rounds_to(exact, total)):
            return f"the oracle's total is {total}; the sum of fractions {exact}"
    return _doubts_of_scipy(sample, expected, maximum=maximum)


def _plain_kruskal(sample: Sample, *, maximum: bool) -> list[int]:
    """Return the ids of the forest in canonical order, by Kruskal's algorithm word for word."""
    order = np.lexsort((sample.high, sample.low))  # of equal weights the first in it wins
    low, high, w = sample.low[order], sample.high[order], sample.w[order]
    found: list[int] = order[by_definition(sample.n, low, high, w, maximum=maximum)].tolist()
    return found


def _rounds_to(exact: Fraction, total: float) -> bool:
    """Return whether a float is the nearest one to a fraction, infinite beyond all others."""
    try:
        return float(exact) == total
    except OverflowError:
        return total == (np.inf if exact > 0 else -np.inf)


def _doubts_of_scipy(sample: Sample, expected: Expected, *, maximum: bool) -> str | None:
    """Compare with the total that SciPy finds, where 64-bit floats hold all weights exactly."""
    if sample.w.dtype.kind not in "bui" or sample.w.dtype.itemsize > 4 or sample.m == 0:
        return None
    weights = sample.w.astype(np.int64) * (-1 if maximum else 1)
    shift = 1 - int(weights.min())  # SciPy takes a zero for no edge, and adds parallel ones up
    best = np.full(sample.n * sample.n, np.iinfo(np.int64).max) if sample.n <= 100 else None
    if best is None:
        return None
    np.minimum.at(best, sample.low * sample.n + sample.high, weights + shift)
    best[best == np.iinfo(np.int64).max] = 0
    tree = minimum_spanning_tree(sparse.csr_array(best.reshape(sample.n, sample.n).astype(float)))
    total = (int(tree.sum()) - shift * tree.nnz) * (-1 if maximum else 1)
    if (tree.nnz, total) != (expected.ids.size, expected.total):
        return f"the oracle's total is {expected.total}; SciPy's {total} of {tree.nnz} edges"
    return None


# ------------------------------------------------------------------------- comparison


def difference(found: Any, expected: Expected, n: int, *, labels: bool) -> str | None:
    """Return the difference between a forest and the right one, or None. Edge ids are not compared.

    Parameters
    ----------
    found : Forest
    expected : Expected
    n : int
        Vertices of the graph.
    labels : bool
        Whether components are compared as well.
    """
    if not np.array_equal(found.edges, expected.edges):
        return f"edges are {_few(found.edges)}; they must be {_few(expected.edges)}"
    if not np.array_equal(found.weights, expected.weights):
        return f"weights are {_few(found.weights)}; they must be {_few(expected.weights)}"
    if found.n_vertices != n or found.n_components != n - expected.ids.size:
        return f"{found.n_components} components of {found.n_vertices} vertices; {n} were given"
    both_nan = math.isnan(found.total_weight) and math.isnan(expected.total)  # of both infinities
    if found.total_weight != expected.total and not both_nan:
        return f"the total is {found.total_weight}; it must be {expected.total}"
    if labels and not np.array_equal(found.labels, expected.labels):
        return f"labels are {_few(found.labels)}; they must be {_few(expected.labels)}"
    return None


def _few(values: Array) -> str:
    return np.array2string(values, threshold=40, edgeitems=10).replace("\n", "")
