"""Cases: the same for the same number, of every kind, and right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clmst import Device
from tests.helpers.strategies import EXHAUSTIVE
from tests.prove import cases, oracle, settings, shapes, weights
from tests.prove.cases import DeviceVariants, Plan
from tests.prove.draws import Draws
from tests.prove.state import FAILURES, Tally

PLAN = Plan(seed=5, block=8)


def test_draws_are_the_same_everywhere() -> None:
    """By 64-bit arithmetic alone: a change here makes all cases other ones."""
    draws = Draws(1, 2)
    assert [draws.below(1000) for _ in range(5)] == [939, 426, 792, 689, 571]
    assert draws.integers(1000, 3).tolist() == [334, 53, 878]


def test_all_options_have_their_turn() -> None:
    """In four times as many blocks as there are dtypes and variants, in both orders after eight."""
    blocks = settings.PARTS * len(settings.BLOCK_KINDS)
    seen, orders = set(), set()
    for block in range(2 * blocks):
        dtype, variant, maximum, turns = settings.part_of(5, block)
        orders.add((dtype, variant, maximum))
        if block < blocks:
            seen |= {(f"{a}: {name}", dtype, variant) for a, name in turns}
    assert seen == set(settings.combinations())
    assert len(orders) == 2 * len(settings.BLOCK_KINDS)


@pytest.mark.parametrize("name", shapes.RANDOM | shapes.STRUCTURED)
def test_shapes_stay_within_their_vertices(name: str) -> None:
    shape = (shapes.RANDOM | shapes.STRUCTURED)[name]
    for n in (0, 1, 2, 3, 4, 7, 30, 61, 500):
        for m in (0, 1, 9, 100):
            vertices, u, v = shape(Draws(n, m), n, m)
            assert vertices <= max(n, 0)
            assert u.shape == v.shape
            assert u.dtype == v.dtype == np.int64
            assert u.size == 0 or (min(u.min(), v.min()) >= 0 and max(u.max(), v.max()) < vertices)


@pytest.mark.parametrize("dtype", weights.DTYPES)
def test_weights_have_their_dtype(dtype: str) -> None:
    for make in (weights.RANDOM | weights.ORDERED).values():
        for m in (0, 1, 2, 300):
            made = make(Draws(m), m, np.dtype(dtype))
            assert made.dtype == dtype
            assert made.shape == (m,)
            assert not (made != made).any()  # noqa: PLR0124 - NaN is not itself
    for name in ("rising", "falling"):
        steps = np.diff(weights.ORDERED[name](Draws(1), 1000, np.dtype(dtype)).astype(float))
        assert (steps >= 0).all() if name == "rising" else (steps <= 0).all()


def test_oracle_is_doubted_where_it_is_wrong() -> None:
    """The check of the oracle would pass for ever if it compared nothing."""
    sample = PLAN.case(80).sample
    number = 80
    while sample.m < 5 or sample.w.dtype.kind not in "iu" or np.unique(sample.w).size < 5:
        number += 8
        sample = PLAN.case(number).sample
    right = oracle.solve(sample, maximum=False)
    assert oracle.doubts(sample, right, maximum=False) is None
    other = oracle.solve(sample, maximum=True)
    assert "Kruskal's in plain Python" in str(oracle.doubts(sample, other, maximum=False))
    wrong_total = replace(right, total=right.total + 1)
    assert "the sum of fractions" in str(oracle.doubts(sample, wrong_total, maximum=False))


@pytest.mark.slow
def test_a_slice_is_right(any_device: Device) -> None:
    """Cases of the default device: every algorithm, input form and kind of graph.

    Eight cases have the same graph. The standard run takes a quarter of them.
    """
    numbers = [number for number in range(1600) if EXHAUSTIVE or number % 8 in (0, 3)]
    count = len(numbers)
    variants, tally, failures = DeviceVariants(None), Tally(), []
    assert variants.device is any_device
    plan = Plan(seed=31, block=2400)  # one dtype in one variant: programs are few
    for number in numbers:
        case = plan.case(number)
        assert plan.doubts(number, case) is None
        outcome = cases.run(case, variants)
        tally.note(case, outcome, oracle_checked=plan.checks_oracle(number))
        if outcome.verdict in FAILURES:
            failures.append((number, outcome))
    assert failures == []
    assert tally["total/cases"] == count
    assert tally.table("verdict")["right"] > 0.8 * count
    assert tally["total/oracle checked"] > count / 160
    assert len(tally.table("graph")) >= 19
    input_forms = tally.table("input form")
    assert {"repeated", "repeated, two devices", "SciPy CSR", "edge arrays"} <= input_forms.keys()
