"""Interrupts at random instants; ten thousand by ``python -m tests.faults.interrupts``."""

from __future__ import annotations

import pytest

from tests.faults.interrupts import NAMES, interrupt_many

CALLS = ("filter-boruvka-cpu", "resident", "update", "many", "files", "partitions", "host")
COPIED = ("solver", "many", "canonical-csr", "transfers")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "shape", "count"),
    [
        (CALLS, "native", 9),
        pytest.param(CALLS, "native", 28, marks=pytest.mark.exhaustive),
        pytest.param(COPIED, "gpu-shape", 12, marks=pytest.mark.exhaustive),
    ],
)
def test_calls_that_are_interrupted(names: tuple[str, ...], shape: str, count: int) -> None:
    """Each is followed by a right one in another thread, and the process ends.

    A device in the shape of a GPU copies through pinned memory, in several threads. That is for
    exhaustive runs.
    """
    assert set(names) <= set(NAMES)
    tally = interrupt_many(names, count, "--shape", shape, seed=1)
    assert tally.is_good, tally.reports
    assert tally.of("interrupted") >= count - 2
    assert {name for name, _, _ in tally.counts} == set(names)
