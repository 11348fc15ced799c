"""Make random graphs on devices, whole or in parts, for ``benchmarks.several_gpus``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import clmst
from clmst.algorithms.parts.shares import ends_of_parts
from clmst.algorithms.prim.solve import rows_of
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph_checks import MAX_SLOTS
from clmst.runtime.launcher import Launcher

_SOURCE = Path(__file__).with_name("several_graphs.cl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The parameters of a random graph of 2**bits vertices, each with about `degree` neighbours."""

    bits: int
    degree: int

    @classmethod
    def of(cls, degree: int, n_edges: int) -> Recipe:
        """Return the parameters of the smallest graph that has this degree and enough edges.

        It has at least `n_edges` edges.
        """
        bits = max((2 * n_edges // degree - 1).bit_length(), degree.bit_length())
        while cls(bits=bits, degree=degree).n_edges < n_edges:
            bits += 1
        return cls(bits=bits, degree=degree)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return 1 << self.bits

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.edges_before(self.n_vertices)

    def edges_before(self, row: int) -> int:
        """Return the number of edges in all rows before `row`."""
        return self.degree * row * (2 * (self.n_vertices - 1) - row + 1) >> (self.bits + 1)

    def bounds(self, devices: Sequence[clmst.Device]) -> list[int]:
        """Divide the rows of the CSR into a range for each device.

        The ranges are chosen so that a solve takes about equally long on all devices. Returns the
        bounds of the ranges. They begin with 0 and end with the number of vertices.
        """
        rows = [0]
        for end in ends_of_parts(devices):
            low, high = 0, self.n_vertices
            while low < high:
                middle = (low + high) // 2
                if self.edges_before(middle) < self.n_edges * end:
                    low = middle + 1
                else:
                    high = middle
            rows.append(low)
        return [*rows, self.n_vertices]

    def made_on(self, device: clmst.Device, first_row: int, end_row: int) -> clmst.DeviceGraph:
        """Generate rows of the graph's CSR on a device, and return them as a graph.

        The rows are those from `first_row` to before `end_row`. All other rows are empty. The
        device also checks the graph.
        """
        import pyopencl as cl

        n, size = self.n_vertices, self.edges_before(end_row) - self.edges_before(first_row)
        if size > MAX_SLOTS:
            raise InvalidArgumentError(f"{size} edges; one device takes up to {MAX_SLOTS}")
        arrays = [
            clmst.DeviceArray.empty(length, dtype, device)
            for length, dtype in ((n + 1, "u4"), (size, "u4"), (size, "i4"))
        ]
        program: Any = cl.Program(device.context, _SOURCE.read_text(encoding="utf-8"))
        fill = program.build(devices=[device.cl_device]).several_graphs_fill_rows
        words = map(np.uint32, (self.bits, self.degree, first_row, end_row))
        fill(device.queue, (n,), None, *(one.memory for one in arrays), *words)
        device.queue.finish()
        indptr, indices, weights = arrays
        return clmst.DeviceGraph.from_arrays(indptr, indices, weights, device)

    def parts_on(self, devices: Sequence[clmst.Device]) -> clmst.DeviceParts:
        """Generate the graph in parts, one on each device, and return all parts as one object."""
        rows = self.bounds(devices)
        return clmst.DeviceParts.of_graphs([
            self.made_on(device, *ends)
            for device, *ends in zip(devices, rows[:-1], rows[1:], strict=True)
        ])  # fmt: skip


def mirrored(graph: clmst.DeviceGraph) -> clmst.DeviceGraph:
    """Return a copy, made by the device, that stores both directions of each edge of `graph`.

    `graph` stores each edge once.
    """
    try:
        rows_of(graph, Launcher(graph.device, graph.device.queue), maximum=False)
        ((indptr, indices, weights),) = graph.derived.values()
    finally:
        graph.derived.clear()
    return clmst.DeviceGraph.from_arrays(indptr, indices, weights.view(np.int32), graph.device)
