"""Repeated solves of one graph: random sequences of new weights, changes and near weights."""

from __future__ import annotations

from typing import Any

import numpy as np

import clmst
from clmst.core.weight_keys import Array
from tests.prove import oracle
from tests.prove.draws import Draws
from tests.prove.sample import Sample
from tests.prove.weights import RANDOM, any_bits

_STEPS = ("solve", "solve near", "solve near", "update", "update", "solve many")


def solve(
    sample: Sample,
    draws: Draws,
    devices: Any,
    *,
    algorithm: str,
    options: Any,
    maximum: bool,
    strategy: Any,
) -> tuple[str | None, int]:
    """Solve a sample's graph under weights that change; return what was wrong, and the solves."""
    solves = 0
    with clmst.RepeatedSolver(
        sample.graph(),
        devices=devices,
        strategy=strategy,
        algorithm=algorithm,
        options=options,
        maximum=maximum,
        warm_start=not draws.one_in(4),
    ) as solver:
        weights = sample.w
        for step in ["solve", *(draws.choice(_STEPS) for _ in range(2 + draws.below(4)))]:
            for forest, weights in _step(step, solver, draws, weights):  # noqa: B020
                solves += 1
                expected = oracle.solve(sample.with_weights(weights), maximum=maximum)
                wrong = oracle.difference(forest, expected, sample.n, labels=False)
                if wrong is None and not np.array_equal(forest.edge_ids, expected.ids):
                    wrong = f"edge ids are {forest.edge_ids}; they must be {expected.ids}"
                if wrong is not None:
                    return f"{step}, solve {solves}: {wrong}", solves
    return None, solves


def _step(step: str, solver: Any, draws: Draws, weights: Array) -> list[tuple[Any, Array]]:
    """Return the forests of a step, each with the weights that it is of."""
    m, dtype = weights.size, weights.dtype
    if step == "solve near":
        new = near(draws, weights)
        return [(solver.solve(new), new)]
    if step == "update":
        count = draws.below(m + 1)
        ids = draws.integers(m, count)
        changes = RANDOM[draws.choice(tuple(RANDOM))](draws, count, dtype)
        new = weights.copy()
        new[ids] = changes  # of an edge named twice the last weight counts
        return [(solver.update(ids, changes), new)]
    count = 2 if step == "solve many" else 1
    every = [RANDOM[draws.choice(tuple(RANDOM))](draws, m, dtype) for _ in range(count)]
    if step == "solve many":
        return list(zip(list(solver.solve_many(every)), every, strict=True))
    return [(solver.solve(new), new) for new in every]


def near(draws: Draws, weights: Array) -> Array:
    """Return weights a little off, one in sixteen of them anywhere: what warm starts are for."""
    dtype, m = weights.dtype, weights.size
    new = weights.copy()
    if dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            new = (weights * (1 + (draws.integers(64, m) - 32) / 1024)).astype(dtype)
        new[np.isnan(new)] = 0
    elif dtype.kind in "iu":
        up = draws.integers(2, m).astype(bool) & (weights < np.iinfo(dtype).max)
        new[up] += dtype.type(1)
    far = draws.integers(16, m) == 0
    return np.where(far, any_bits(draws, m, dtype), new)
