"""One forest by several devices: each solves its part, and their forests are merged as a tree."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from clmst import algorithms
from clmst.algorithms.parts import family
from clmst.algorithms.parts.union import PartForest, part_forest, united
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of_slots
from clmst.core.arguments import unchecked
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_parts import DeviceParts
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.relay import DeviceMove, both_locked
from clmst.runtime.together import together


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSolve:
    """One solve by a device: of its part, or of the union of two forests.

    Attributes
    ----------
    device, algorithm : str
    n_edges, n_forest : int
        Edges that were given, and edges of their forest.
    began_ms, ms : float
        Since the beginning of the whole solve; how long this one took.
    """

    device: str
    algorithm: str
    n_edges: int
    n_forest: int
    began_ms: float
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branch:
    """The forest of consecutive parts.

    Attributes
    ----------
    number : int
        Of the first of these parts.
    forest : PartForest
    algorithm, stats
        What made it, and what that tells.
    below : tuple of Branch
        The two whose union it solved; none if it is of one part.
    """

    number: int
    forest: PartForest
    algorithm: str
    stats: Mapping[str, Any]
    below: tuple[Branch, ...] = ()

    @property
    def device(self) -> Device:
        """Where it is."""
        return self.forest.device


class SolveOfParts:
    """One solve of a graph in parts, for one thread.

    Parameters
    ----------
    parts : DeviceParts
    algorithm, options, maximum
        As of :func:`clmst.minimum_spanning_forest`; algorithm and options are those of the parts.

    Attributes
    ----------
    solves : list of PartSolve
    moves : list of DeviceMove
    """

    def __init__(
        self, parts: DeviceParts, *, algorithm: str, options: object, maximum: bool
    ) -> None:
        self._parts, self._maximum = parts, maximum
        self._algorithm, self._options = algorithm, options
        self.solves, self.moves = list[PartSolve](), list[DeviceMove]()
        self._began = time.perf_counter()

    def run(self) -> Branch:
        """Solve all parts at once, then merge pairs of forests, until one is left; waits."""
        branches = together(self._parts.devices, self._of_part)
        while len(branches) > 1:
            pairs = [branches[k : k + 2] for k in range(0, len(branches), 2)]
            branches = together(
                [pair[0].device for pair in pairs],
                partial(self._of_pair, pairs),
                numbers=[pair[0].number for pair in pairs],
            )
        return branches[0]

    def _of_part(self, number: int) -> Branch:
        """Solve a part on its device."""
        part, first_rows = self._parts.parts[number], self._parts.first_rows
        end_rows = (*first_rows[1:], part.n_vertices)
        device = part.device
        with device.lock, Guard(device, caches=part.caches):
            family.require(device, part.encoded.encoding.word)
            return self._solved(
                part, number, first_rows[number], end_rows[number], name=self._algorithm,
                options=self._options,
            )  # fmt: skip

    def _of_pair(self, pairs: Sequence[Sequence[Branch]], number: int) -> Branch:
        """Solve the union of two forests on the device of the first; one alone stays."""
        first, *rest = pairs[number]
        if not rest:
            return first
        (second,) = rest
        here, there = first.device, second.device
        with both_locked(here, there), Guard(here), Guard(there):
            graph, moved = united(first.forest, second.forest)
        self.moves.append(moved)
        with here.lock, Guard(here):
            return self._solved(
                graph, first.number, first.forest.first_row, second.forest.end_row,
                name="auto", options=None, below=(first, second),
            )  # fmt: skip

    def _solved(
        self, graph: DeviceGraph, number: int, first_row: int, end_row: int, *, name: str,
        options: object, below: tuple[Branch, ...] = (),
    ) -> Branch:  # fmt: skip
        began, device = time.perf_counter(), graph.device
        launch = Launcher(device, device.queue)
        name, solve = algorithms.choose(name, device, graph, options=options, maximum=self._maximum)
        solution = solve(graph, launch, maximum=self._maximum, options=options)
        forest = part_forest(solution, launch, first_row=first_row, end_row=end_row)
        self.solves.append(
            PartSolve(
                device=device.description,
                algorithm=name,
                n_edges=graph.n_slots,
                n_forest=forest.n_edges,
                began_ms=1e3 * (began - self._began),
                ms=1e3 * (time.perf_counter() - began),
            )
        )
        return Branch(
            number=number, forest=forest, algorithm=name, stats=solution.stats, below=below
        )

    # ------------------------------------------------------------------- result

    def to_host(self, root: Branch) -> Forest:
        """Return the forest of all parts, its edge ids those of the caller's graph; waits."""
        parts, device = self._parts, root.device
        with device.lock, Guard(device):
            launch = Launcher(device, device.queue)
            found = self.on_device(root, launch).copied(launch)
        slots = self._slots(root, found.edge_ids)
        graph = parts.graph
        bound = parts.n_slots if graph is None else graph.n_slots
        slots = slots if parts.slots is None else parts.slots[slots]
        ids: Array = slots.astype(np.int32 if bound <= 1 << 31 else np.int64)
        if graph is not None and graph.edge_ids is not None:
            ids = graph.edge_ids[slots]
        return unchecked(
            Forest,
            n_vertices=found.n_vertices,
            _edges=found.edges,
            weights=found.weights,
            edge_ids=ids,
            maximum=self._maximum,
            stats={**found.stats, **self.stats()},
            vertex_labels=None if graph is None else graph.vertex_labels,
        )

    def on_device(self, root: Branch, launch: Launcher) -> DeviceForest:
        """Return the forest with its endpoints and weights; its slots are those of a union."""
        return forest_of_slots(
            root.forest.graph, root.forest.slots, root.forest.n_edges, launch,
            algorithm=root.algorithm, maximum=self._maximum, stats=root.stats, own_weights=True,
            wait=False,
        )  # fmt: skip

    def _slots(self, branch: Branch, positions: Array) -> Array:
        """Return the slots, counted through all parts, of some slots of a branch's graph."""
        if not branch.below:
            before = sum(one.n_slots for one in self._parts.parts[: branch.number])
            return positions.astype(np.int64) + before
        first, second = branch.below
        cut = int(np.searchsorted(positions, first.forest.n_edges))
        return np.concatenate([
            self._slots(one, _read_slots(one.forest)[chosen])
            for one, chosen in (
                (first, positions[:cut]),
                (second, positions[cut:] - first.forest.n_edges),
            )
        ])  # fmt: skip

    def stats(self) -> Mapping[str, Any]:
        """Return what the forest tells of the devices' work."""
        return {
            "devices": [one.description for one in self._parts.devices],
            "solves": [asdict(one) for one in self.solves],
            "moves": [self._shown(one) for one in self.moves],
        }

    def _shown(self, move: DeviceMove) -> Mapping[str, Any]:
        shown = asdict(move)
        return {"began_ms": 1e3 * (shown.pop("began") - self._began), **shown}


def _read_slots(forest: PartForest) -> Array:
    slots: DeviceArray = forest.slots[: forest.n_edges]
    with forest.device.lock:
        return slots.to_host()
