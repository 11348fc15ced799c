"""The choice of a strategy: which device solves which part of a graph.

Source of "cores": L. Ma, J. Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning
Tree Computation", section 3.2; ``docs/inside_rounds.md`` says what is different here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from clmst import algorithms, peeling
from clmst.core import partition
from clmst.core.graph import Graph
from clmst.core.partition import Clusters
from clmst.core.weight_keys import Array
from clmst.repeated.devices import costs as model
from clmst.repeated.devices.plan import Assignment, DevicePlan, Task
from clmst.runtime.device import Device
from clmst.runtime.device_costs import Costs

# The predicted time on several devices must be below this fraction of the time on one.
_WORTH_IT = 0.9
# The most edges, stored once, of a graph whose core numbers are computed.
_MOST_PEELED = (1 << 31) - 1
# How many core numbers are tried as the least of a dense part.
_THRESHOLDS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A graph cut into dense parts and a rest, for two devices.

    Attributes
    ----------
    dense, sparse : int
        The devices, by their indices.
    dense_is_last : bool
    clusters : Clusters
        The dense ones.
    groups : list of list of int
        The dense parts that share a matrix.
    ms : float
        The predicted time of a round.
    """

    dense: int
    sparse: int
    dense_is_last: bool
    clusters: Clusters
    groups: list[list[int]]
    ms: float


class Choice:
    """A choice among strategies for a graph.

    Parameters
    ----------
    edges : Graph
        As of :func:`clmst.core.topology.edges_once`.
    devices : sequence of Device
    algorithm, options
        As of :func:`clmst.minimum_spanning_forest`; of all sparse parts, and of the last pass.
    """

    def __init__(
        self, edges: Graph, devices: Sequence[Device], *, algorithm: str, options: object
    ) -> None:
        self.edges, self.devices = edges, list(devices)
        self.algorithm, self.options = algorithm, options
        self.costs = [Costs.of(device) for device in devices]
        self._n, self._m = edges.n_vertices, edges.n_slots

    def plan(self, strategy: str) -> DevicePlan:
        """Return the plan of "alone", "split", "cores" or "auto"."""
        if strategy == "split":
            return self.split(self._best_order(range(len(self.devices))))
        if strategy == "cores":
            cut = self.best_cut(permutations(range(len(self.devices)), 2), below=None)
            return self.alone() if cut is None else self.cores(cut)
        return self.alone() if strategy == "alone" else self._auto()

    # -------------------------------------------------------------------- plans

    def alone(self) -> DevicePlan:
        """Return the plan of the single quickest device."""
        index = self._quickest
        task = self._task(partition.whole(self.edges))
        return DevicePlan(
            strategy="alone",
            edges=self.edges,
            assignments=(Assignment(device=self.devices[index], tasks=(task,)),),
            last=task,
        )

    def split(self, order: Sequence[int]) -> DevicePlan:
        """Return the plan of devices, by their indices; the first one runs the last pass."""
        shares = model.shares([self.costs[index] for index in order])
        bounds = partition.range_bounds(shares, self.edges.n_input)
        parts = partition.by_ranges(self.edges, bounds)
        assignments = [
            Assignment(device=self.devices[index], tasks=(self._task(part),))
            for index, part in zip(order, parts, strict=True)
        ]
        last = self._task(partition.whole(self.edges))
        return DevicePlan(
            strategy="split", edges=self.edges, assignments=tuple(assignments), last=last
        )

    def cores(self, cut: Cut) -> DevicePlan:
        """Return the plan of a cut."""
        *dense, rest = partition.by_clusters(self.edges, cut.clusters, cut.groups)
        matrices = Assignment(
            device=self.devices[cut.dense],
            tasks=tuple(Task(part=part, algorithm="dense") for part in dense),
        )
        sparse = Assignment(device=self.devices[cut.sparse], tasks=(self._task(rest),))
        order = (matrices, sparse) if cut.dense_is_last else (sparse, matrices)
        last = self._task(partition.whole(self.edges))
        return DevicePlan(strategy="cores", edges=self.edges, assignments=order, last=last)

    def _task(self, part: partition.Part) -> Task:
        return Task(part=part, algorithm=self.algorithm, options=self.options)

    # ------------------------------------------------------------------- choosing

    @property
    def quickest(self) -> Device:
        """The single quickest device."""
        return self.devices[self._quickest]

    @property
    def _quickest(self) -> int:
        return min(
            range(len(self.devices)),
            key=lambda index: model.alone(self.costs[index], self._n, self._m),
        )

    def _auto(self) -> DevicePlan:
        """Return the plan with the least predicted time.

        Devices that compute on the host's cores compete for them, so only the quickest of these
        takes part.
        """
        order = sorted(
            range(len(self.devices)),
            key=lambda index: model.alone(self.costs[index], self._n, self._m),
        )
        on_host = [index for index in order if self.costs[index].host]
        order = [index for index in order if index not in on_host[1:]]
        below = _WORTH_IT * model.alone(self.costs[order[0]], self._n, self._m)
        best: Sequence[int] | None = None
        for count in range(2, len(order) + 1):
            some = self._best_order(order[:count])
            ms = model.split([self.costs[index] for index in some], self._n, self._m)
            if ms < below:
                best, below = some, ms
        cut = self.best_cut(permutations(order, 2), below=below)
        if cut is not None:
            return self.cores(cut)
        return self.alone() if best is None else self.split(best)

    def _best_order(self, indices: Sequence[int]) -> list[int]:
        """Return devices in order; the first one is the best for the last pass."""
        orders = [[last, *(one for one in indices if one != last)] for last in indices]
        return min(
            orders,
            key=lambda order: model.split([self.costs[p] for p in order], self._n, self._m),
        )

    def best_cut(self, pairs: Iterator[tuple[int, int]], *, below: float | None) -> Cut | None:
        """Return the cut with the least predicted time; None if there is no dense part.

        Parameters
        ----------
        pairs : iterator of (int, int)
            Devices for the dense parts and for the rest, by their indices.
        below : float or None
            The time in milliseconds that it must stay below. Core numbers are computed only if the
            degrees do not rule that out.
        """
        tried = [pair for pair in pairs if self.costs[pair[0]].has_dense_parts]
        if below is not None:
            degrees = self._degrees()
            tried = [pair for pair in tried if self._lower_bound(pair, degrees) < below]
        if not tried or not 0 < self._m <= _MOST_PEELED:
            return None
        cores = peeling.core_numbers(self.edges, device=self.quickest)
        every = partition.clusters(self.edges, cores, _thresholds(cores))
        cuts = [cut for found in every for cut in self._cuts(found, tried)]
        best = min(cuts, key=lambda cut: cut.ms, default=None)
        return None if best is None or (below is not None and best.ms >= below) else best

    def _cuts(self, found: Clusters, pairs: Sequence[tuple[int, int]]) -> Iterator[Cut]:
        """Yield the cuts by clusters: with the largest dense one, two, four, ... or all of them."""
        for dense, sparse in pairs:
            costs, limit = self.costs[dense], algorithms.most_vertices("dense", self.devices[dense])
            is_dense = costs.is_dense(found.sizes, found.edges) & (found.sizes <= limit)
            indices = np.flatnonzero(is_dense)
            indices = indices[np.argsort(-found.sizes[indices], kind="stable")]
            counts = {1 << k for k in range(indices.size.bit_length())} | {indices.size}
            for count in sorted(counts) if indices.size else ():
                yield self._cut(found.chosen(indices[:count]), dense, sparse, limit)

    def _cut(self, chosen: Clusters, dense: int, sparse: int, limit: int) -> Cut:
        """Return the cut by clusters with at most `limit` vertices in a matrix."""
        costs = self.costs[dense]
        groups = [
            part
            for group in model.grouped(chosen.sizes.tolist(), costs)
            for part in _within(group, chosen.sizes, limit)
        ]
        parts = [(int(chosen.sizes[one].sum()), int(chosen.edges[one].sum())) for one in groups]
        ms, dense_is_last = min(
            (
                model.cores(
                    costs, self.costs[sparse], self._n, self._m, parts, dense_is_last=is_last
                ),
                is_last,
            )
            for is_last in (False, True)
        )
        return Cut(
            dense=dense,
            sparse=sparse,
            dense_is_last=dense_is_last,
            clusters=chosen,
            groups=groups,
            ms=ms,
        )

    def _degrees(self) -> Array:
        """Return the degrees of all vertices, falling. O(n log n + m)."""
        n = self._n
        counts = np.bincount(self.edges.rows, minlength=n)
        counts += np.bincount(self.edges.indices, minlength=n)
        return np.sort(counts)[::-1]

    def _lower_bound(self, pair: tuple[int, int], degrees: Array) -> float:
        """Return a lower bound on the time of a cut, from the degrees alone.

        Dense parts of k vertices have at most half as many edges as the sum of the k greatest
        degrees, and at most k (k - 1) / 2.
        """
        dense, sparse = (self.costs[index] for index in pair)
        sizes = np.unique(np.geomspace(1, max(degrees.size, 1), 64).astype(np.int64))
        sums = np.cumsum(degrees)
        least = np.inf
        for k in sizes[sizes <= degrees.size].tolist():
            inside = min(int(sums[k - 1]) // 2, self._m)
            # All in one matrix, the smallest that can hold so many edges.
            side = max(int(np.sqrt(2 * inside)), 1) if inside < k * (k - 1) // 2 else k
            for dense_is_last in (False, True):
                ms = model.cores(
                    dense, sparse, self._n, self._m, [(side, inside)], dense_is_last=dense_is_last
                )
                least = min(least, ms)
        return float(least)


def _thresholds(cores: Array) -> list[int]:
    """Return core numbers to try: some of those that occur, geometrically spaced."""
    found = np.unique(cores[cores > 0])
    if found.size <= _THRESHOLDS:
        return [int(one) for one in found]
    steps = np.geomspace(1, found[-1], _THRESHOLDS)
    indices = np.searchsorted(found, steps).clip(max=found.size - 1)
    return [int(one) for one in np.unique(found[indices])]


def _within(group: list[int], sizes: Array, limit: int) -> Iterator[list[int]]:
    """Yield the group cut into groups that a matrix can take."""
    part: list[int] = []
    for index in group:
        if part and sizes[part].sum() + sizes[index] > limit:
            yield part
            part = []
        part.append(index)
    yield part
