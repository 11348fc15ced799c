"""What tests say about two forests."""

from __future__ import annotations

import numpy as np

from clmst.core.forest import Forest


def assert_same_forest(actual: Forest, expected: Forest) -> None:
    """Assert that two forests are the same edges in the same order, all attributes included."""
    np.testing.assert_array_equal(actual.edge_ids, expected.edge_ids)
    np.testing.assert_array_equal(actual.edges, expected.edges)
    np.testing.assert_array_equal(actual.weights, expected.weights)
    assert actual.weights.dtype == expected.weights.dtype
    assert actual.n_components == expected.n_components
    assert actual.maximum == expected.maximum
