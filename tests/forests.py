"""What tests say about two forests, and the forest by definition."""

from __future__ import annotations

import numpy as np

from clmst.core.forest import Forest
from clmst.core.weight_keys import Array


def assert_same_forest(actual: Forest, expected: Forest) -> None:
    """Assert that two forests are the same edges in the same order, all attributes included."""
    np.testing.assert_array_equal(actual.edge_ids, expected.edge_ids)
    np.testing.assert_array_equal(actual.edges, expected.edges)
    np.testing.assert_array_equal(actual.weights, expected.weights)
    assert actual.weights.dtype == expected.weights.dtype
    assert actual.n_components == expected.n_components
    assert actual.maximum == expected.maximum


def by_definition(n: int, u: Array, v: Array, w: Array, *, maximum: bool = False) -> list[int]:
    """Return the edges of a forest, rising: Kruskal's algorithm word for word.

    Weights are Python's numbers, which compare exactly; of equal ones the first edge wins.
    """
    weights, sign = w.tolist(), -1 if maximum else 1
    trees, chosen = list(range(n)), list[int]()
    for k in sorted(range(len(weights)), key=lambda k: (sign * weights[k], k)):
        one, other = trees[u[k]], trees[v[k]]
        if one != other:
            trees = [one if tree == other else tree for tree in trees]
            chosen.append(k)
    return sorted(chosen)
