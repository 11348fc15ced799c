"""Interrupts at random instants; ten thousand by ``python -m tests.faults.interrupts``."""

from __future__ import annotations

import pytest

from tests.faults.interrupts import NAMES, interrupt_many

CALLS = ("filter-boruvka-cpu", "resident", "update", "many", "files", "partitions", "host")
COPIED = ("solver", "many", "canonical-csr", "transfers")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "shape", "count"), [(CALLS, "native", 28), (COPIED, "gpu-shape", 12)]
)
def test_calls_that_are_interrupted(names: tuple[str, ...], shape: str, count: int) -> None:
    """Each is followed by a right one in another thread, and the process ends.

    A device in the shape of a GPU copies through pinned memory, in several threads.
    """
    assert set(names) <= set(NAMES)
    tallies = list(interrupt_many([names], count, shape=shape, seed=1))
    assert all(tally.is_good for tally in tallies), [tally.reports for tally in tallies]
    assert sum(tally.outcomes["interrupted"] for tally in tallies) >= count - 2
    assert all(tally.outcomes for tally in tallies)
