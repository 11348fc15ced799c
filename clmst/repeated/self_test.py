"""Self-tests of repeated solves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from clmst.algorithms.bvh_boruvka.moved import MovingPoints
from clmst.algorithms.families import CompleteCase
from clmst.algorithms.filter_boruvka.options import FilterBoruvkaOptions
from clmst.algorithms.reweighting.series import SeriesContraction
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.self_test import complete_graph, difference
from clmst.core import topology
from clmst.core.known_graphs import KnownGraph, dtype_of, known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.repeated.families import RoundCase
from clmst.repeated.points import solver_of_candidates
from clmst.repeated.session import Session
from clmst.repeated.single_device import SingleDevice
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

_CHANGED = 300  # edges of an update
_SEED = 9


class _Series:
    """Rounds of a known graph, each compared with the oracle's forest."""

    def __init__(self, known: KnownGraph, case: RoundCase, session: Session) -> None:
        self.known, self.case, self.session = known, case, session
        self._ids = known.ranks.edge_ids

    def by_edge(self, by_slot: Array) -> Array:
        """Return weights in the caller's order; 0 for edges left out."""
        weights = np.zeros(self.known.ranks.n_input, by_slot.dtype)
        weights[slice(None) if self._ids is None else self._ids] = by_slot
        return weights

    def solve(self, by_slot: Array) -> str | None:
        """Solve under weights by slot."""
        found = self.session.solve(self.by_edge(by_slot), profile=False, keep_on_device=True)
        return self._compare(found, by_slot)

    def update(self, by_slot: Array, changed: Array) -> str | None:
        """Change the weights of some slots to those given."""
        ids = changed if self._ids is None else self._ids[changed]
        found = self.session.update(ids, by_slot[changed], profile=False, keep_on_device=True)
        return self._compare(found, by_slot)

    def _compare(self, found: Any, by_slot: Array) -> str | None:
        graph = self.known.ranks.replace_unchecked(weights=by_slot)
        expected = kruskal(graph, maximum=self.case.maximum)
        return difference(found.to_host(), expected, self.known)


def _weights(known: KnownGraph, case: RoundCase) -> Array:
    return weights_of(known.ranks.weights, dtype_of(case.bits, case.kind))


def _session(
    known: KnownGraph, device: Device, case: RoundCase, *, warm_start: bool, always: bool = False
) -> Session:
    """Return a session of one device, whose warm starts take any graph.

    `always`: use series contraction, even if it is slow.
    """
    edges = topology.edges_once(known.ranks)
    executor = SingleDevice(
        edges,
        device,
        algorithm=case.algorithm or "auto",
        options=case.options,
        maximum=case.maximum,
        warm_start=False,
    )
    if warm_start:
        executor.warm = WarmStart(maximum=case.maximum, always=True)
    if always:
        executor.series = SeriesContraction(maximum=case.maximum, always=True)
    return Session(edges, executor, maximum=case.maximum)


def rounds_failure(device: Device, case: RoundCase) -> str | None:
    """Solve, change some weights, solve again."""
    is_slow = case.algorithm in ("prim", "dense") or bool(case.option_text)
    for size in ("small",) if is_slow else ("small", "large"):
        known = known_graph(size)
        session = _session(known, device, case, warm_start=False)
        series, weights = _Series(known, case, session), _weights(known, case)
        reason = series.solve(weights)
        if reason is None:
            rng = np.random.default_rng(_SEED)
            changed = rng.choice(weights.size, _CHANGED, replace=False)
            weights = weights.copy()
            weights[changed] = rng.permutation(weights[changed])
            reason = series.update(weights, changed)
        session.close()
        if reason is not None:
            return reason
    return None


def series_failure(device: Device, case: RoundCase) -> str | None:
    """Solve with series contraction, even if it does not pay."""
    known = known_graph("large")
    gpu = FilterBoruvkaOptions(shape="gpu")
    by_filter = replace(case, algorithm="filter-boruvka", options=gpu)
    session = _session(known, device, by_filter, warm_start=False, always=True)
    return _Series(known, case, session).solve(_weights(known, case))


def warm_start_failure(device: Device, case: RoundCase) -> str | None:
    """Solve with weights that hardly change: the third round is a warm start."""
    known, rng = known_graph("large"), np.random.default_rng(_SEED)
    session = _session(known, device, case, warm_start=True)
    series = _Series(known, case, session)
    for weights in drifting(known.ranks.n_slots, dtype_of(case.bits, case.kind), rng):
        reason = series.solve(weights)
        if reason is not None:
            return reason
    session.close()
    return None


def moved_failure(device: Device, case: CompleteCase) -> str | None:
    """Solve known points where some have moved further than others: by lists, and by candidates."""
    n = 600
    known = complete_graph(n, case)
    assert isinstance(known, Points)
    rng, launch = np.random.default_rng(_SEED), Launcher(device, device.queue)
    by_lists = MovingPoints(most_unsure=1.0)
    prepare = partial(solver_of_candidates, n=n, device=device)
    by_candidates = MovingPoints(most_unsure=1.0, prepare=prepare)
    for moving, shares in ((by_lists, (0.0, 1e-3, 0.1)), (by_candidates, (0.0, 1e-3, 1e-3))):
        for share in shares:
            steps = rng.random((n, 1)) * rng.random(known.coordinates.shape)
            points = Points(known.coordinates + share * steps, known.metric)
            found = moving.solve(DeviceMatrix.upload(points, device), launch).to_host()
            if not np.array_equal(found.edges, kruskal(points.to_graph()).edges):
                return f"edges came out wrong for known points that moved by {share}"
    return None


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
