"""Which of parallel edges stay, in runs of two and of more."""

from __future__ import annotations

import numpy as np
import pytest

from clmst.core.parallel_edges import heavier


@pytest.mark.parametrize("longest", [2, 5])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64"])
def test_the_first_of_the_lightest_stays(dtype: str, longest: int) -> None:
    """Else a forest would have another edge than the one that the order of edges says."""
    rng = np.random.default_rng(longest)
    lengths = rng.integers(1, longest + 1, 60)
    repeats = np.concatenate([np.arange(length) > 0 for length in lengths])
    positions = rng.permutation(repeats.size)
    weights = rng.integers(0, 3, repeats.size).astype(dtype)
    dropped = set(range(repeats.size))
    for start, length in zip(np.cumsum(lengths) - lengths, lengths, strict=True):
        dropped.remove(min(range(start, start + length), key=lambda k: (weights[positions[k]], k)))
    assert heavier(repeats, positions, weights).tolist() == sorted(dropped)


def test_zeros_of_either_sign_are_equal() -> None:
    repeats = np.array([False, True])
    assert heavier(repeats, np.array([0, 1]), np.array([0.0, -0.0])).tolist() == [1]
