"""Random matrices, by what every SciPy version has."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def matrix_of_density(n: int, *, density: float, seed: int = 0) -> sparse.csr_array:
    """Return a square matrix, of weights in [0, 1) at a share of its places."""
    rng = np.random.default_rng(seed)
    places = rng.choice(n * n, round(density * n * n), replace=False)
    return sparse.csr_array((rng.random(places.size), divmod(places, n)), shape=(n, n))
