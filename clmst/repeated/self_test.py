"""What a device must show before it is trusted with the same graph again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from clmst.algorithms.reweighting.chains import Chains
from clmst.algorithms.self_test import difference
from clmst.core import topology
from clmst.core.known_graphs import KnownGraph, dtype_of, known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array
from clmst.repeated.earned import RoundCase, UnionCase
from clmst.repeated.strategies import Choice
from clmst.repeated.together import Together
from clmst.repeated.turns import Turns
from clmst.runtime.device import Device

_CHANGED = 300  # edges of an update
_SEED = 9


class _Series:
    """Rounds of a known graph, each compared with the oracle's forest."""

    def __init__(self, known: KnownGraph, case: RoundCase, solver: Any) -> None:
        self.known, self.case, self.solver = known, case, solver
        self._ids = known.ranks.edge_ids

    def by_edge(self, by_slot: Array) -> Array:
        """Return weights in the order in which a caller has them; 0 for edges left out."""
        weights = np.zeros(self.known.ranks.n_input, by_slot.dtype)
        weights[slice(None) if self._ids is None else self._ids] = by_slot
        return weights

    def solve(self, by_slot: Array) -> str | None:
        """Solve under weights by slot."""
        found = self.solver.solve(self.by_edge(by_slot), profile=False, keep_on_device=True)
        return self._compare(found, by_slot)

    def update(self, by_slot: Array, changed: Array) -> str | None:
        """Change the weights of some slots to those given."""
        ids = changed if self._ids is None else self._ids[changed]
        found = self.solver.update(ids, by_slot[changed], profile=False, keep_on_device=True)
        return self._compare(found, by_slot)

    def _compare(self, found: Any, by_slot: Array) -> str | None:
        graph = self.known.ranks.replace_unchecked(weights=by_slot)
        expected = kruskal(graph, maximum=self.case.maximum)
        return difference(found.to_host(), expected, self.known)


def _weights(known: KnownGraph, case: RoundCase) -> Array:
    return weights_of(known.ranks.weights, dtype_of(case.bits, case.kind))


def _turns(known: KnownGraph, device: Device, case: RoundCase, *, warm_start: bool) -> Turns:
    return Turns(
        topology.edges_once(known.ranks),
        device,
        algorithm=case.algorithm or "auto",
        options=case.options,
        maximum=case.maximum,
        warm_start=warm_start,
    )


def rounds_failure(device: Device, case: RoundCase) -> str | None:
    """Solve, change some weights, solve again."""
    is_slow = case.algorithm in ("prim", "dense") or bool(case.told_options)
    for size in ("small",) if is_slow else ("small", "large"):
        known = known_graph(size)
        turns = _turns(known, device, case, warm_start=False)
        series, weights = _Series(known, case, turns), _weights(known, case)
        reason = series.solve(weights)
        if reason is None:
            rng = np.random.default_rng(_SEED)
            changed = rng.choice(weights.size, _CHANGED, replace=False)
            weights = weights.copy()
            weights[changed] = rng.permutation(weights[changed])
            reason = series.update(weights, changed)
        turns.close()
        if reason is not None:
            return reason
    return None


def chains_failure(device: Device, case: RoundCase) -> str | None:
    """Solve by what topology settles, whether that pays or not."""
    known = known_graph("large")
    turns = _turns(known, device, replace(case, algorithm="filter-boruvka"), warm_start=False)
    turns.chains = Chains(maximum=case.maximum, always=True)
    return _Series(known, case, turns).solve(_weights(known, case))


def warm_start_failure(device: Device, case: RoundCase) -> str | None:
    """Solve under weights that hardly move: the third round begins with what is settled."""
    known, rng = known_graph("large"), np.random.default_rng(_SEED)
    turns = _turns(known, device, case, warm_start=True)
    series = _Series(known, case, turns)
    for weights in drifting(known.ranks.n_slots, dtype_of(case.bits, case.kind), rng):
        reason = series.solve(weights)
        if reason is not None:
            return reason
    turns.close()
    return None


def drifting(n: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Array]:
    """Yield weights of one octave that hardly move from round to round; in the last some do."""
    around = rng.random(n)
    for number in range(4):
        places = (around + 2e-3 * rng.random(n)).clip(0, 1)
        if number == 3:
            places[::50] = rng.random(places[::50].size)
        if dtype.kind == "f":
            yield (1 + places).astype(dtype)
        else:
            octave = 1 << 8 * dtype.itemsize - 2
            yield octave + (places * (octave * 0.99)).astype(dtype)


def union_failure(device: Device, case: UnionCase) -> str | None:
    """Let two device objects, each with a context of its own, solve half of the weights each."""
    known, rounds = known_graph("small"), RoundCase(bits=case.bits)
    twins = [device.twin() for _ in range(2)]
    plan = Choice(topology.edges_once(known.ranks), twins, algorithm="auto", options=None).plan(
        "split"
    )
    together = Together(plan, maximum=False)
    try:
        return _Series(known, rounds, _Profiled(together)).solve(_weights(known, rounds))
    finally:
        together.close()


class _Profiled:
    """Several devices, called as one is."""

    def __init__(self, together: Together) -> None:
        self._together = together

    def solve(self, weights: Array, *, profile: bool, keep_on_device: bool) -> Any:
        """Solve under weights by edge; the forest stays on the device of the last pass."""
        assert keep_on_device
        return self._together.solve(weights, profile=profile)
