"""Self-tests of repeated solves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.reweighting.series import SeriesContraction
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.self_test import SIZES
from clmst.core import topology
from clmst.core.known_graphs import KnownGraph, known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array
from clmst.repeated.rounds import RoundOptions, SingleDevice
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Answer, Case

_CHANGED = 300  # edges of an update
_SEED = 9


def _answers(
    known: KnownGraph,
    case: Case,
    solver: SingleDevice,
    rounds: Iterable[tuple[Array, Array | None]],
) -> Iterator[Answer]:
    """Yield the forests of rounds of a known graph, each compared with the oracle's.

    A round is its weights by slot, and the slots of those that an update changes, or None.
    """
    ids, options = known.ranks.edge_ids, RoundOptions(keep_on_device=True)
    for by_slot, changed in rounds:
        if changed is None:
            weights = np.zeros(known.ranks.n_input, by_slot.dtype)  # 0 for edges left out
            weights[slice(None) if ids is None else ids] = by_slot
            found: Any = solver.solve(weights, options=options)
        else:
            edges = changed if ids is None else ids[changed]
            found = solver.update(edges, by_slot[changed], options=options)
        graph = known.ranks.replace_unchecked(weights=by_slot)
        expected, host = kruskal(graph, maximum=bool(case.maximum)), found.to_host()
        yield f"edges of a round of {known.name!r}", host.edge_ids, expected.edge_ids
        yield f"ends of edges of a round of {known.name!r}", host.edges, expected.edges


def _weights(known: KnownGraph, case: Case) -> Array:
    return weights_of(known.ranks.weights, case.dtype)


def _on_device(
    known: KnownGraph, device: Device, case: Case, *, warm_start: bool, always: bool = False
) -> SingleDevice:
    """Return the rounds of a graph on a device, whose warm starts take any graph.

    `always`: use series contraction, even if it is slow.
    """
    edges, maximum = topology.edges_once(known.ranks), bool(case.maximum)
    found = SingleDevice(
        edges, device, algorithm=case.algorithm or "auto", options=case.options, maximum=maximum,
        warm_start=False,
    )  # fmt: skip
    if warm_start:
        found.warm = WarmStart(maximum=maximum, always=True)
    if always:
        found.series = SeriesContraction(maximum=maximum, always=True)
    return found


def rounds(device: Device, case: Case) -> Iterator[Answer]:
    """Solve, change some weights, solve again."""
    is_slow = case.algorithm in ("prim", "dense") or bool(case.option_text)
    for size in SIZES[1:2] if is_slow else SIZES[1:]:
        known, rng = known_graph(size), np.random.default_rng(_SEED)
        with closing(_on_device(known, device, case, warm_start=False)) as solver:
            weights = _weights(known, case)
            changed = rng.choice(weights.size, _CHANGED, replace=False)
            after = weights.copy()
            after[changed] = rng.permutation(weights[changed])
            yield from _answers(known, case, solver, [(weights, None), (after, changed)])


def series(device: Device, case: Case) -> Iterator[Answer]:
    """Solve with series contraction, even if it does not pay."""
    known = known_graph("large")
    gpu = FilterBoruvkaOptions(shape="gpu")
    by_filter = replace(case, algorithm="filter-boruvka", options=gpu)
    solver = _on_device(known, device, by_filter, warm_start=False, always=True)
    yield from _answers(known, case, solver, [(_weights(known, case), None)])


def warm_starts(device: Device, case: Case) -> Iterator[Answer]:
    """Solve with weights that hardly change: the third round is a warm start."""
    known, rng = known_graph("large"), np.random.default_rng(_SEED)
    with closing(_on_device(known, device, case, warm_start=True)) as solver:
        rounds = drifting(known.ranks.n_slots, case.dtype, rng)
        yield from _answers(known, case, solver, ((weights, None) for weights in rounds))


def drifting(n: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Array]:
    """Yield weights of one octave that hardly change from round to round; in the last some do."""
    around = rng.random(n)
    for number in range(4):
        fractions = (around + 2e-3 * rng.random(n)).clip(0, 1)
        if number == 3:
            fractions[::50] = rng.random(fractions[::50].size)
        if dtype.kind == "f":
            yield (1 + fractions).astype(dtype)
        else:
            octave = 1 << 8 * dtype.itemsize - 2
            yield octave + (fractions * (octave * 0.99)).astype(dtype)
