"""Solve a graph on several devices: each solves a part, and the forests are merged two by two."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Mapping
from copy import copy
from dataclasses import asdict
from typing import Any

import numpy as np

from clmst.algorithms.families import PARTS, words_case
from clmst.algorithms.parts.union import PartForest, part_forest, united
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of_slots
from clmst.algorithms.solving import solution_by
from clmst.core.arguments import unchecked
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array
from clmst.route import DEVICES, Way
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_threads import as_tree, named_failures
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.peer_copy import DeviceMove, locks_in_order
from clmst.scale.parts import Division

_WORD = np.dtype(np.uint32)


class SolveOfParts:
    """One solve of a graph that is divided among devices. Only one thread may use it.

    Each device solves a part, which is some of the edges, by the same algorithm with the same
    options. Then the forests are merged in pairs: the edges of two forests together are solved by
    the algorithm that "auto" chooses.

    Attributes
    ----------
    solves : list of dict
        One entry for each solve, of a part or of the union of two forests. ``device`` describes the
        device, ``number`` is the index of the first device whose edges were solved, and
        ``algorithm`` the name of the algorithm. ``n_edges`` is the number of edges that were
        solved, and ``n_forest`` the number of edges of their forest. ``began_ms`` is the time since
        this object was created, and ``ms`` the duration.
    moves : list of DeviceMove
        One entry for each copy of a forest from one device to another.
    """

    def __init__(
        self, division: Division, *, algorithm: str, options: object, maximum: bool
    ) -> None:
        self._division, self._maximum = division, maximum
        self._algorithm, self._options = algorithm, options
        self.solves, self.moves = list[dict[str, Any]](), list[DeviceMove]()
        self._began = time.perf_counter()

    def run(self) -> PartForest:
        """Solve all parts at the same time, and merge the parts' forests until one remains.

        Block until that forest is on its device. If a device fails, raise an error that names the
        device.
        """
        devices = self._division.devices
        with named_failures(devices):
            return as_tree(devices, self._of_part, self._of_pair)

    def _of_part(self, number: int) -> PartForest:
        """Solve part `number` of the graph on its device, and return the forest of this part."""
        division = self._division
        part, device = division.part(number), division.devices[number]
        end_rows = (*division.first_rows[1:], division.n_vertices)
        with device.lock, Guard(device, caches=part.caches):
            device.trust.require(PARTS, words_case(part.encoded.encoding.word))
            return self._solved(
                part, number, division.first_rows[number], end_rows[number], name=self._algorithm,
                options=self._options,
            )  # fmt: skip

    def _of_pair(self, first: PartForest, second: PartForest) -> PartForest:
        """Merge two forests: copy `second` to the device of `first`, and solve all edges there."""
        here, there = first.device, second.device
        one, other = locks_in_order(here, there)
        with one, other, Guard(here), Guard(there):
            graph, original, moved = united(first, second)
        self.moves.append(moved)
        with here.lock, Guard(here):
            return self._solved(
                graph, first.number, first.first_row, second.end_row, name="auto", options=None,
                original=original,
            )  # fmt: skip

    def _solved(
        self, graph: DeviceGraph, number: int, first_row: int, end_row: int, *, name: str,
        options: object, original: DeviceArray | None = None,
    ) -> PartForest:  # fmt: skip
        """Solve a part, or the union of two forests, on its device. Add the times to `solves`.

        `graph` has the edges in the rows from `first_row` to before `end_row` of the whole graph,
        and `number` is the number of its first part. `name` is the algorithm, and `options` are its
        options. For a union, `original` has the CSR entry of each edge in the part from which it
        came. It is None for a part.
        """
        began, device = time.perf_counter(), graph.device
        launch = Launcher(device, device.queue)
        name, solution = solution_by(name, graph, launch, options=options, maximum=self._maximum)
        forest = part_forest(
            solution, launch, number=number, first_row=first_row, end_row=end_row,
            original=original, algorithm=name,
        )  # fmt: skip
        self.solves.append({
            "device": device.description, "number": number, "algorithm": name,
            "n_edges": graph.n_slots, "n_forest": forest.n_edges,
            "began_ms": 1e3 * (began - self._began), "ms": 1e3 * (time.perf_counter() - began),
        })  # fmt: skip
        return forest

    # ------------------------------------------------------------------- result

    def to_host(self, root: PartForest) -> Forest:
        """Copy `root`, the forest of all parts, to the host, with edge ids of the caller's graph.

        Block until the copy is complete. The ``stats`` of the forest list the devices, the time of
        each solve, and the copies of forests between devices ("moves").
        """
        device = root.device
        with device.lock, Guard(device):
            launch = Launcher(device, device.queue)
            forest = copy(self.on_device(root, launch))
            object.__setattr__(forest, "slots", root.original.memory)
            found = forest.copied(launch)
        graph = self._division.graph
        return unchecked(
            Forest,
            n_vertices=found.n_vertices,
            _edges=found.edges,
            weights=found.weights,
            _edge_ids=self._edge_ids(found),
            maximum=self._maximum,
            stats={**found.stats, **self.stats(), "route": self._way().as_stats()},
            vertex_labels=None if graph is None else graph.vertex_labels,
        )

    def _edge_ids(self, found: Forest) -> Array:
        """Convert the edge ids in the forest `found` to edge ids of the caller's graph.

        The ids in `found` are CSR entries of a part of the graph. The part of an edge follows from
        its lesser end. If the graph is not on the host, the result has CSR entries that are counted
        through all parts.
        """
        division, edges = self._division, found.edges
        graph, own = division.graph, found.edge_ids
        slots: Array = own.astype(_id_type(division.n_slots), copy=False)
        if own.dtype == np.int32 and slots.dtype == np.int64:
            slots &= 0xFFFFFFFF  # the device has uint32, which was read as int32
        cuts = [bisect_left(range(len(edges)), row, key=lambda k: int(edges[k, 0]))
                for row in division.first_rows[1:]]  # fmt: skip
        for first_slot, begin, end in zip(
            division.first_slots, (0, *cuts), (*cuts, len(edges)), strict=True
        ):
            slots[begin:end] += slots.dtype.type(first_slot)
        if graph is None:
            return slots
        if division.slots is not None:
            slots = division.slots[slots].astype(_id_type(graph.n_slots), copy=False)
        return slots if graph.edge_ids is None else graph.edge_ids[slots]

    def on_device(self, root: PartForest, launch: Launcher) -> DeviceForest:
        """Return the forest of all parts, `root`, as a DeviceForest with endpoints and weights.

        The edge ids of the result are not edge ids of the caller's graph. They are CSR entries of
        the graph that was solved last, which is usually the union of two forests.
        """
        return forest_of_slots(
            root.graph, root.slots, root.n_edges, launch,
            algorithm=root.algorithm, maximum=self._maximum, stats=root.stats, own_weights=True,
            wait=False,
        )  # fmt: skip

    def _way(self) -> Way:
        """Return the entry for ``stats["route"]``: how the forest was computed, and why."""
        division = self._division
        size = f"{division.n_slots:,} edges on {len(division.devices)} devices"
        return Way(DEVICES, f"{size}, which the call or the parts of the graph name")

    def stats(self) -> Mapping[str, Any]:
        """Return the entries "devices", "solves" and "moves" for the stats of the forest."""
        return {
            "devices": [one.description for one in self._division.devices],
            "solves": self.solves,
            "moves": [self._shown(one) for one in self.moves],
        }

    def _shown(self, move: DeviceMove) -> Mapping[str, Any]:
        """Return the record of a copy between two devices as a dict for the statistics.

        Its times are in milliseconds since the beginning of the solve.
        """
        shown = asdict(move)
        return {"began_ms": 1e3 * (shown.pop("began") - self._began), **shown}


def _id_type(n_slots: int) -> type[np.signedinteger[Any]]:
    """Return the integer type of edge ids in a graph of `n_slots` CSR entries."""
    return np.int32 if n_slots <= 1 << 31 else np.int64
