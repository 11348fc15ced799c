"""A failure as a file that reproduces it on its own, and the same failure made smaller."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.weight_keys import Array
from tests.helpers.processes import Child
from tests.prove import input_forms
from tests.prove.cases import Case
from tests.prove.primitives.case import PrimitiveCase
from tests.prove.run import outcome_in
from tests.prove.sample import Sample
from tests.prove.state import replace_file
from tests.prove.weights import of_ranks

AnyCase = Case | PrimitiveCase
Fails = Callable[[Any], bool]
Smaller = Callable[[Any, int], Iterator[Any]]

_NAMES = ("subject", "variant", "algorithm", "option", "maximum", "input_form", "lowered", "key")


def write(path: Path, case: AnyCase, *, device: str | None, verdict: str, **more: Any) -> None:
    """Write a case, replacing the file whole."""
    replace_file(path, {"verdict": verdict, **more, "device": device, **_as_json(case)})


def read(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the Case or PrimitiveCase of a file, and all that stands there."""
    record = json.loads(path.read_text(encoding="utf-8"))
    if record["subject"] == PrimitiveCase.subject:
        return PrimitiveCase.of_json(record), record
    graph = record["graph"] | {name: np.array(record["graph"][name], np.int64) for name in "uv"}
    dtype, weights = np.dtype(graph.pop("dtype")), graph["w"]
    if dtype.kind == "f":
        weights = [float.fromhex(x) for x in weights]
    if graph["coordinates"] is not None:
        graph["coordinates"] = np.array(graph["coordinates"], np.float64)
    drawn = Sample(**graph | {"w": np.array(weights, dtype)})
    return Case(sample=drawn, **{name: record[name] for name in _NAMES}), record


def _as_json(case: AnyCase) -> dict[str, Any]:
    """Return everything that determines a case. Floats are texts that keep every bit."""
    if isinstance(case, PrimitiveCase):
        return case.as_json()
    w = case.sample.w
    exactly: Callable[[Any], Any] = float.hex if w.dtype.kind == "f" else int
    graph = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in asdict(case.sample).items()
    }
    graph |= {"dtype": w.dtype.name, "w": [exactly(x) for x in w.tolist()]}
    return {name: getattr(case, name) for name in _NAMES} | {"graph": graph}


# ----------------------------------------------------------------------------- smaller


def shrink(case: Any, fails: Fails, until: float, kept: Callable[[Any], object]) -> Any:
    """Return the smallest case found that still fails."""
    ways: tuple[Smaller, ...] = tuple(
        map(_of_samples, (_fewer_vertices, _fewer_edges, _simpler_weights))
    )
    if isinstance(case, PrimitiveCase):
        ways = (PrimitiveCase.smaller,)
    changed = True
    while changed:
        changed = False
        for smaller in ways:
            step = _least(case, smaller, fails, until, kept)
            changed |= step is not case
            case = step
    return case


def _of_samples(smaller: Callable[[Sample, int], Iterator[Sample]]) -> Smaller:
    def cases(case: Case, part: int) -> Iterator[Case]:
        made = (replace(case, sample=sample) for sample in smaller(case.sample, part))
        return (one for one in made if _is_possible(one))

    return cases


def _least(
    case: Any, smaller: Smaller, fails: Fails, until: float, kept: Callable[[Any], object]
) -> Any:
    """Take parts away, halves first, then ever smaller ones, as long as the case fails."""
    part = max(case.sizes.values())
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


def shrink_file(path: Path, child: Child, *, until: float, limit: float) -> None:
    """Shrink the failure of a file, which is replaced by every smaller one that is found."""
    case, record = read(path)
    device, verdict = record["device"], record["verdict"]
    more: dict[str, Any] = {
        name: record[name] for name in ("seed", "number", "detail") if name in record
    }
    more["found with"] = record.get("found with", case.sizes)

    def keep(smaller: AnyCase) -> None:
        write(path, smaller, device=device, verdict=verdict, **more)

    keep(case)
    shrink(case, lambda one: outcome_in(child, one, limit).verdict == verdict, until, keep)
