"""The stable order of weights beside that of Python's sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst.core.weight_order import stable_order

DTYPES = ["bool", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


@pytest.mark.parametrize("m", [0, 1, 100, 20_000], ids=lambda m: f"m={m}")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_equal_weights_keep_their_order(dtype: str, m: int, descending: bool) -> None:
    """Python's sort is stable, and stays so in reverse."""
    rng = np.random.default_rng(m)
    weights = rng.integers(-300, 300, m).astype(dtype)
    expected = sorted(range(m), key=weights.tolist().__getitem__, reverse=descending)
    assert stable_order(weights, descending=descending).tolist() == expected


@pytest.mark.parametrize("descending", [False, True])
def test_all_digits_count(descending: bool) -> None:
    """Random bits differ in each digit of a key; zeros of both signs are equal."""
    rng = np.random.default_rng(1)
    special: list[Any] = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1.7e308]
    weights = np.concatenate([rng.normal(size=20_000) * 10.0 ** rng.integers(-300, 300, 20_000),
                              special, special])  # fmt: skip
    expected = sorted(range(weights.size), key=weights.tolist().__getitem__, reverse=descending)
    assert stable_order(weights, descending=descending).tolist() == expected
    whole = rng.integers(-(2**63), 2**63, 20_000)
    expected = sorted(range(whole.size), key=whole.tolist().__getitem__, reverse=descending)
    assert stable_order(whole, descending=descending).tolist() == expected
