"""The same failure with fewer vertices, edges or elements, and simpler weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from clmst.core.weight_keys import Array
from tests.prove import failures, input_forms
from tests.prove.cases import Case, DeviceVariants, run
from tests.prove.primitives.case import PrimitiveCase
from tests.prove.sample import Sample
from tests.prove.weights import of_ranks

AnyCase = Case | PrimitiveCase
Fails = Callable[[AnyCase], bool]
Kept = Callable[[AnyCase], object]
Smaller = Callable[[AnyCase, int], Iterator[AnyCase]]


def shrink(case: AnyCase, fails: Fails, until: float, kept: Kept) -> AnyCase:
    """Return the smallest case found that still fails.

    Parameters
    ----------
    case : Case or PrimitiveCase
        One that fails.
    fails : callable
        Whether a case fails in the same way.
    until : float
        When to stop, as of :func:`time.monotonic`.
    kept : callable
        Called with every smaller case that fails.
    """
    changed = True
    while changed:
        changed = False
        for smaller in _ways_of(case):
            step = _least(case, smaller, fails, until, kept)
            changed |= step is not case
            case = step
    return case


def _ways_of(case: AnyCase) -> tuple[Smaller, ...]:
    """Return the ways to make a case smaller."""
    if isinstance(case, PrimitiveCase):
        return (lambda one, part: cast("PrimitiveCase", one).smaller(part),)
    return tuple(map(_of_samples, (_fewer_vertices, _fewer_edges, _simpler_weights)))


def _of_samples(smaller: Callable[[Sample, int], Iterator[Sample]]) -> Smaller:
    def cases(case: AnyCase, part: int) -> Iterator[AnyCase]:
        assert isinstance(case, Case)
        made = (replace(case, sample=sample) for sample in smaller(case.sample, part))
        return (one for one in made if _is_possible(one))

    return cases


def _least(case: AnyCase, smaller: Smaller, fails: Fails, until: float, kept: Kept) -> AnyCase:
    """Take parts away, halves first, then ever smaller ones, as long as the case fails."""
    part = case.size
    while part >= 1:
        found = None
        for candidate in smaller(case, part):
            if time.monotonic() > until:
                return case
            if fails(candidate):
                found = candidate
                break
        if found is None:
            part //= 2
        else:
            case = found
            kept(case)
    return case


def _is_possible(case: Case) -> bool:
    """Whether the graph can still go the same way."""
    if case.subject != "solves":
        return True
    names = [name for name, _ in input_forms.applicable(case.sample, case.algorithm)]
    return case.input_form.startswith("repeated") or case.input_form in names


def _fewer_vertices(sample: Sample, part: int) -> Iterator[Sample]:
    for start in range(0, sample.n, part):
        yield sample.induced(_without(sample.n, start, part))


def _fewer_edges(sample: Sample, part: int) -> Iterator[Sample]:
    if sample.coordinates is None:
        for start in range(0, sample.m, part):
            yield sample.keeping(_without(sample.m, start, part))


def _without(size: int, start: int, part: int) -> Array:
    return np.concatenate([np.arange(start), np.arange(min(start + part, size), size)])


def _simpler_weights(sample: Sample, part: int) -> Iterator[Sample]:
    """Yield ranks from 0 in place of weights, if they are not that already."""
    if part > 1 or sample.coordinates is not None or sample.w.dtype.kind == "b":
        return
    _, ranks = np.unique(sample.w, return_inverse=True)
    simple = of_ranks(np.arange(sample.m), sample.w.dtype)[ranks]
    if not np.array_equal(simple, sample.w):
        yield sample.with_weights(simple)


def shrink_file(path: Path, *, seconds: float, limit: float, plant: str | None = None) -> None:
    """Shrink the failure of a file, which is replaced by every smaller one that is found.

    Parameters
    ----------
    path : Path
    seconds : float
        When to stop.
    limit : float
        Seconds of one case, where a case may hang.
    plant : str or None
        A module that is imported first.
    """
    if plant:
        __import__(plant)
    case, record = failures.read(path)
    verdict = record["verdict"]
    more: dict[str, Any] = {
        name: record[name] for name in ("seed", "number", "detail") if name in record
    }
    more["found with"] = record.get("found with", case.sizes)

    def keep(smaller: AnyCase) -> None:
        failures.write(path, smaller, device=record["device"], verdict=verdict, **more)

    keep(case)
    variants = (
        None if verdict in (failures.CRASHED, failures.HUNG) else DeviceVariants(record["device"])
    )
    fails = _in_process(variants, verdict) if variants else in_children(path, record, limit, plant)
    shrink(case, fails, time.monotonic() + seconds, keep)


def _in_process(variants: DeviceVariants, verdict: str) -> Fails:
    return lambda case: run(case, variants).verdict == verdict


def in_children(path: Path, record: dict[str, Any], limit: float, plant: str | None) -> Fails:
    """Return what runs a case in a process of its own: one that it may end, or keep waiting."""
    trial = path.with_suffix(".trial.json")
    verdict: str = record["verdict"]

    def fails(case: AnyCase) -> bool:
        failures.write(trial, case, device=record["device"], verdict=verdict)
        try:
            return failures.run_in_child(trial, limit, plant).verdict == verdict
        finally:
            trial.unlink()

    return fails
