"""Self-tests of repeated solves, one for each set of kernels. A round is one solve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from clmst.algorithms.changes.last_forest import LastForest
from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.reweighting.series import SeriesContraction
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.self_test import SIZES
from clmst.core import topology
from clmst.core.forest import Forest
from clmst.core.known_graphs import KnownGraph, known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array
from clmst.repeated.rounds import RoundOptions, SingleDevice
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Answer, Case

_CHANGED = 300  # number of edges that an update changes
_SEED = 9
_ON_DEVICE = RoundOptions(keep_on_device=True)


def _answers(
    known: KnownGraph,
    case: Case,
    solver: SingleDevice,
    rounds: Iterable[tuple[Array, Array | None]],
    *,
    options: RoundOptions = _ON_DEVICE,
) -> Iterator[Answer]:
    """Solve a known graph with several sets of weights, and yield each forest beside the right one.

    `solver` solves with these `options`, and `case` says whether maximum forests are wanted. Each
    of the `rounds` is a pair. Its first element has the weight of each CSR entry. Its second
    element is None if all weights are given to the solver, or has the entries whose weights are
    given as changes. Yields triples: a description, the device's result and the right result.
    """
    ids = known.ranks.edge_ids
    for by_slot, changed in rounds:
        if changed is None:
            weights = np.zeros(known.ranks.n_input, by_slot.dtype)  # 0 for edges without a slot
            weights[slice(None) if ids is None else ids] = by_slot
            found: Any = solver.solve(weights, options=options)
        else:
            edges = changed if ids is None else ids[changed]
            found = solver.update(edges, by_slot[changed], options=options)
        graph = known.ranks.replace_unchecked(weights=by_slot)
        expected = kruskal(graph, maximum=bool(case.maximum))
        host = found if isinstance(found, Forest) else found.to_host()
        yield f"edges of a round of {known.name!r}", host.edge_ids, expected.edge_ids
        yield f"ends of edges of a round of {known.name!r}", host.edges, expected.edges


def _weights(known: KnownGraph, case: Case) -> Array:
    """Return the weights of a known graph in the dtype of the case."""
    return weights_of(known.ranks.weights, case.dtype)


def _on_device(
    known: KnownGraph, device: Device, case: Case, *,
    warm_start: bool = False, always: bool = False, from_before: bool = False,
) -> SingleDevice:  # fmt: skip
    """Prepare a known graph on a device for repeated solves, and return the object that solves it.

    `case` has the algorithm and the options, and says whether maximum forests are wanted. With
    `warm_start`, warm starts are used however small the graph is. With `always`, series contraction
    is used even if it is slower. With `from_before`, one work-item starts from the forest of the
    round before.
    """
    edges, maximum = topology.edges_once(known.ranks), bool(case.maximum)
    found = SingleDevice(
        edges, device, algorithm=case.algorithm or "auto", options=case.options, maximum=maximum,
        warm_start=from_before,
    )  # fmt: skip
    if warm_start:
        found.warm = WarmStart(maximum=maximum, always=True)
    if always:
        found.series = SeriesContraction(maximum=maximum, always=True)
    return found


def rounds(device: Device, case: Case) -> Iterator[Answer]:
    """Test the family "repeated": solve a graph, change some of its weights, and solve again.

    `case` has the algorithm and the dtype of weights, and says whether maximum forests are wanted.
    Yields triples: a description, the device's result and the right result.
    """
    is_slow = case.algorithm in ("prim", "dense") or bool(case.option_text)
    for size in SIZES[1:2] if is_slow else SIZES[1:]:
        known, rng = known_graph(size), np.random.default_rng(_SEED)
        with closing(_on_device(known, device, case, warm_start=False)) as solver:
            weights = _weights(known, case)
            changed = rng.choice(weights.size, _CHANGED, replace=False)
            after = weights.copy()
            after[changed] = rng.permutation(weights[changed])
            yield from _answers(known, case, solver, [(weights, None), (after, changed)])


def serial(device: Device, case: Case) -> Iterator[Answer]:
    """Test the family "serial-rounds": solves by one work-item, from scratch and after few changes.

    `case` has the dtype of weights, and says whether maximum forests are wanted. Yields triples: a
    description, the device's result and the right result.
    """
    for size in SIZES[:2]:
        known = known_graph(size)
        with closing(_on_device(known, device, case, from_before=True)) as solver:
            rounds = _with_few_changes(_weights(known, case), share=40)
            yield from _answers(known, case, solver, rounds, options=RoundOptions())


def kept(device: Device, case: Case) -> Iterator[Answer]:
    """Test the family "kept-rounds": solves that start from the last forest, kept on a GPU.

    `case` has the dtype of weights, and says whether maximum forests are wanted. Yields triples: a
    description, the device's result and the right result.
    """
    for size in SIZES[:2]:
        known = known_graph(size)
        with closing(_on_device(known, device, case, warm_start=False)) as solver:
            weights = _weights(known, case)
            solver.last = LastForest(maximum=bool(case.maximum), most=weights.size // 8)
            rounds = _with_few_changes(weights, share=9)
            yield from _answers(known, case, solver, rounds)


def _with_few_changes(weights: Array, *, share: int) -> Iterator[tuple[Array, Array | None]]:
    """Yield weights, and then four times the weights with some changes, as `_answers` takes them.

    Up to one of `share` weights changes each time.
    """
    rng = np.random.default_rng(_SEED)
    yield weights, None
    for number in range(4):
        few = rng.choice(weights.size, weights.size // share, replace=False)
        weights = weights.copy()
        weights[few] = rng.permutation(weights)[few]
        yield weights, few if number % 2 else None


def series(device: Device, case: Case) -> Iterator[Answer]:
    """Test the family "series-contraction": solve with a series contraction even if it is slower.

    `case` has the dtype of weights, and says whether maximum forests are wanted. Yields triples: a
    description, the device's result and the right result.
    """
    known = known_graph("large")
    gpu = FilterBoruvkaOptions(shape="gpu")
    by_filter = replace(case, algorithm="filter-boruvka", options=gpu)
    solver = _on_device(known, device, by_filter, warm_start=False, always=True)
    yield from _answers(known, case, solver, [(_weights(known, case), None)])


def warm_starts(device: Device, case: Case) -> Iterator[Answer]:
    """Test the family "warm-start": solve under weights that hardly change.

    `case` has the dtype of weights, and says whether maximum forests are wanted. The third solve is
    a warm start. Yields triples: a description, the device's result and the right result.
    """
    known, rng = known_graph("large"), np.random.default_rng(_SEED)
    with closing(_on_device(known, device, case, warm_start=True)) as solver:
        rounds = drifting(known.ranks.n_slots, case.dtype, rng)
        yield from _answers(known, case, solver, ((weights, None) for weights in rounds))


def drifting(n: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Array]:
    """Yield four arrays of `n` weights, which change little from one array to the next.

    `rng` draws the weights, which have the given dtype. In the last array every fiftieth weight
    changes by much. All weights lie between one power of two and the next, so that the integers by
    which kernels compare weights also change little.
    """
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
