"""Every call to the driver fails in turn: a clear error, memory given back, the next call right.

Here some calls of each kind are tried, the first and the last among them; all of them by
``python -m tests.faults.sweep``.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.faults import sweep
from tests.faults.injection import KINDS
from tests.faults.subjects import SOLVES, SUBJECTS, Check, device_of, subject

# Those that between them take every way to the driver, in both shapes of kernels.
TRIED = [
    *(("native", name) for name in SUBJECTS if name not in SOLVES or name == "filter-boruvka-cpu"),
    *(("gpu-shape", name) for name in ("filter-boruvka-gpu", "canonical-csr", "update")),
]
CALLS = 3  # of a kind
# In the native shape, that of a CPU, these compute a round in one launch. They copy nothing, and
# after the first run they allocate nothing.
ONE_LAUNCH = {("native", name) for name in ("solver", "update", "many")}

tried = pytest.mark.parametrize(("shape", "name"), TRIED)


@cache
def subject_of(name: str, shape: str) -> Check:
    return subject(name, device_of(shape))


@tried
def test_calls_that_fail(shape: str, name: str) -> None:
    run, device = subject_of(name, shape), device_of(shape)
    run()
    failed = dict.fromkeys(KINDS, 0)
    for kind in KINDS:
        if kind != "build" and (count := sweep.calls_of(run, kind, device)):
            chosen = {k * (count - 1) // (CALLS - 1) for k in range(CALLS)}
            failed[kind] = sweep.break_off(run, kind, device, sorted(chosen), after=False)
            assert failed[kind] >= min(2, count)
    assert failed["kernel"]
    if (shape, name) not in ONE_LAUNCH:
        assert failed["copy"]
        assert failed["allocate"]


@tried
def test_an_interrupt(shape: str, name: str) -> None:
    """Ctrl-C before and after a kernel is enqueued; it stays what it is."""
    run, device = subject_of(name, shape), device_of(shape)
    run()
    count = sweep.calls_of(run, "kernel", device)
    chosen = {k * (count - 1) // (CALLS - 1) for k in range(CALLS)}
    for after in (False, True):
        sweep.break_off(run, "kernel", device, sorted(chosen), after=after, error=KeyboardInterrupt)


def test_a_build_that_fails() -> None:
    run, device = subject_of("filter-boruvka-cpu", "native"), device_of("native")
    assert sweep.break_off(run, "build", device, [0, 1], after=False) == 2
