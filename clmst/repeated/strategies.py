"""The choice of a strategy: which device solves which part of a graph.

Source of "cores": L. Ma, J. Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning
Tree Computation", section 3.2; ``docs/inside_rounds.md`` says what is different here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from clmst import peeling
from clmst.algorithms import solving
from clmst.algorithms.parts import costs as model
from clmst.algorithms.parts.costs import Costs
from clmst.core import clusters, partition
from clmst.core.clusters import Clusters
from clmst.core.graph import Graph
from clmst.core.partition import Part
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device

# The most edges, stored once, of a graph whose core numbers are computed.
_MOST_PEELED = (1 << 31) - 1
# How many core numbers are tried as the least of a dense part.
_THRESHOLDS = 16
# Vertices from which on a part with half of its pairs is dense, where the caller wants "cores": the
# rule of the paper's section 4.2, m > n**2 / 2 of n**2 pairs; in its Table 4 a matrix pays off from
# 4,096 vertices on.
_LEAST_DENSE = 256
_WORD_BYTES = 4  # of a weight, as far as is known before there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Parts of the edges that a device solves, by an algorithm and its options."""

    device: Device
    parts: tuple[Part, ...]
    algorithm: str
    options: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """The assignments of a strategy to devices.

    The first device also runs the last pass: it solves the union of the forests, by `algorithm`.
    `edges` are of the whole graph, as of :func:`clmst.core.topology.edges_once`.
    """

    strategy: str
    edges: Graph
    assignments: tuple[Assignment, ...]
    algorithm: str
    options: object

    @property
    def device(self) -> Device:
        """The device of the last pass, which keeps forests."""
        return self.assignments[0].device


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A division of a graph into dense clusters and a rest, for two devices by their indices.

    `groups` has the clusters that share a matrix, `ms` the predicted time of a round.
    """

    dense: int
    sparse: int
    dense_is_last: bool
    clusters: Clusters
    groups: list[list[int]]
    ms: float


class Choice:
    """A choice among strategies for the edges of a graph.

    The algorithm and its options are those of all sparse parts, and of the last pass.
    """

    def __init__(
        self, edges: Graph, devices: Sequence[Device], *, algorithm: str, options: object
    ) -> None:
        self.edges, self.devices = edges, list(devices)
        self.algorithm, self.options = algorithm, options
        self.costs = [Costs.of(device) for device in devices]
        self._sizes = edges.n_vertices, edges.n_slots, _WORD_BYTES

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
        return self._plan("alone", [self._sparse(self.quickest, partition.whole(self.edges))])

    def split(self, order: Sequence[int]) -> DevicePlan:
        """Return the plan of devices, by their indices; the first one runs the last pass."""
        shares = model.shares_of([self.costs[index] for index in order], _WORD_BYTES)
        bounds = partition.range_bounds(shares, self.edges.n_input)
        parts = partition.by_ranges(self.edges, bounds)
        return self._plan("split", list(map(self._sparse, order, parts)))

    def cores(self, cut: Cut) -> DevicePlan:
        """Return the plan of a cut."""
        *dense, rest = partition.by_clusters(self.edges, cut.clusters, cut.groups)
        matrices = Assignment(device=self.devices[cut.dense], parts=tuple(dense), algorithm="dense")
        sparse = self._sparse(cut.sparse, rest)
        return self._plan("cores", [matrices, sparse] if cut.dense_is_last else [sparse, matrices])

    def _sparse(self, index: int, part: Part) -> Assignment:
        """Return a part for a device that solves it as a single one would."""
        return Assignment(
            device=self.devices[index], parts=(part,), algorithm=self.algorithm,
            options=self.options,
        )  # fmt: skip

    def _plan(self, strategy: str, each: list[Assignment]) -> DevicePlan:
        return DevicePlan(
            strategy=strategy, edges=self.edges, assignments=tuple(each),
            algorithm=self.algorithm, options=self.options,
        )  # fmt: skip

    # ------------------------------------------------------------------- choosing

    @property
    def quickest(self) -> int:
        """The single quickest device, by its index."""
        return min(range(len(self.devices)), key=self._alone_ms)

    def _alone_ms(self, index: int) -> float:
        return model.alone(self.costs[index], *self._sizes, prepared=True)

    def _split_ms(self, order: Sequence[int]) -> float:
        return model.several([self.costs[k] for k in order], *self._sizes, prepared=True)

    def _auto(self) -> DevicePlan:
        """Return the plan with the least predicted time.

        Devices that compute on the host's cores compete for them, so only the quickest of these
        takes part.
        """
        order = sorted(range(len(self.devices)), key=self._alone_ms)
        on_host = [index for index in order if self.costs[index].host]
        order = [index for index in order if index not in on_host[1:]]
        below = model.WORTH_IT * self._alone_ms(order[0])
        orders = [self._best_order(order[:count]) for count in range(2, len(order) + 1)]
        best = min(orders, key=self._split_ms, default=order)
        is_worth_it = bool(orders) and self._split_ms(best) < below
        below = self._split_ms(best) if is_worth_it else below
        cut = self.best_cut(permutations(order, 2), below=below)
        if cut is not None:
            return self.cores(cut)
        return self.split(best) if is_worth_it else self.alone()

    def _best_order(self, indices: Sequence[int]) -> list[int]:
        """Return devices in order; the first one is the best for the last pass."""
        orders = [[last, *(one for one in indices if one != last)] for last in indices]
        return min(orders, key=self._split_ms)

    def best_cut(self, pairs: Iterator[tuple[int, int]], *, below: float | None) -> Cut | None:
        """Return the cut with the least predicted time; None if there is no dense part.

        It must stay `below` a time in milliseconds; core numbers are computed only if degrees do
        not rule that out. Without such a time, parts are dense by the paper's rule, too: large ones
        with half of their pairs. A pair is the devices for dense parts and for the rest, by their
        indices.
        """
        tried = [*pairs]
        if below is not None:
            degrees = self._degrees()
            tried = [pair for pair in tried if self.costs[pair[0]].has_dense_parts]
            tried = [pair for pair in tried if self._lower_bound(pair, degrees) < below]
        if not tried or not 0 < self.edges.n_slots <= _MOST_PEELED:
            return None
        cores = peeling.core_numbers(self.edges, device=self.devices[self.quickest])
        every = clusters.of_cores(self.edges, cores, _thresholds(cores))
        cuts = [cut for found in every for cut in self._cuts(found, tried, by_rule=below is None)]
        best = min(cuts, key=lambda cut: cut.ms, default=None)
        return None if best is None or (below is not None and best.ms >= below) else best

    def _cuts(
        self, found: Clusters, pairs: Sequence[tuple[int, int]], *, by_rule: bool
    ) -> Iterator[Cut]:
        """Yield the cuts by clusters: with the largest dense one, two, four, ... or all of them."""
        for dense, sparse in pairs:
            costs, limit = self.costs[dense], solving.most_vertices("dense", self.devices[dense])
            is_dense = costs.is_dense(found.sizes, found.edges)
            if by_rule:
                has_half = 4 * found.edges >= found.sizes * (found.sizes - 1)
                is_dense |= has_half & (found.sizes >= _LEAST_DENSE)
            indices = np.flatnonzero(is_dense & (found.sizes <= limit))
            indices = indices[np.argsort(-found.sizes[indices], kind="stable")]
            counts = {1 << k for k in range(indices.size.bit_length())} | {indices.size}
            for count in sorted(counts) if indices.size else ():
                yield self._cut(found.chosen(indices[:count]), dense, sparse, limit)

    def _cut(self, chosen: Clusters, dense: int, sparse: int, limit: int) -> Cut:
        """Return the cut by clusters with at most `limit` vertices in a matrix."""
        groups = model.grouped(chosen.sizes.tolist(), self.costs[dense], limit)
        parts = [(int(chosen.sizes[one].sum()), int(chosen.edges[one].sum())) for one in groups]
        ms, dense_is_last = self._cores_ms((dense, sparse), parts)
        return Cut(
            dense=dense, sparse=sparse, dense_is_last=dense_is_last, clusters=chosen,
            groups=groups, ms=ms,
        )  # fmt: skip

    def _cores_ms(
        self, pair: tuple[int, int], parts: Sequence[tuple[int, int]]
    ) -> tuple[float, bool]:
        """Return the time of a cut, and whether the device of the dense parts is the last one."""
        costs = self.costs[pair[0]], self.costs[pair[1]]
        return min(
            (model.cores(costs, *self._sizes, parts, dense_is_last=is_last), is_last)
            for is_last in (False, True)
        )

    def _degrees(self) -> Array:
        n = self.edges.n_vertices
        counts = np.bincount(self.edges.rows, minlength=n)
        counts += np.bincount(self.edges.indices, minlength=n)
        return np.sort(counts)[::-1]

    def _lower_bound(self, pair: tuple[int, int], degrees: Array) -> float:
        """Return a lower bound on the time of a cut, from the degrees alone.

        Dense parts of k vertices have at most half as many edges as the sum of the k greatest
        degrees, and at most k (k - 1) / 2.
        """
        sizes = np.unique(np.geomspace(1, max(degrees.size, 1), 64).astype(np.int64))
        sums = np.cumsum(degrees)
        least = np.inf
        for k in sizes[sizes <= degrees.size].tolist():
            inside = min(int(sums[k - 1]) // 2, self.edges.n_slots)
            # All in one matrix, the smallest that can hold the edges.
            side = max(int(np.sqrt(2 * inside)), 1) if inside < k * (k - 1) // 2 else k
            least = min(least, self._cores_ms(pair, [(side, inside)])[0])
        return float(least)


def _thresholds(cores: Array) -> list[int]:
    """Return core numbers to try: some of those that occur, geometrically spaced."""
    found = np.unique(cores[cores > 0])
    if found.size <= _THRESHOLDS:
        return [int(one) for one in found]
    steps = np.geomspace(1, found[-1], _THRESHOLDS)
    indices = np.searchsorted(found, steps).clip(max=found.size - 1)
    return [int(one) for one in np.unique(found[indices])]
