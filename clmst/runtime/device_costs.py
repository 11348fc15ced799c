"""The costs of solves and transfers on a device, by the tuning tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.core.weight_keys import Array
from clmst.runtime.device import Device


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The costs of a device.

    Attributes
    ----------
    solve_ms : float
        The fixed time of a solve.
    edge_ns, vertex_ns : float
        For an edge and a vertex of a sparse graph.
    cell_ns : float
        For a cell of `dense`.
    upload_ns, download_ns : float
        For a byte from and to the host.
    host : bool
        Whether it computes on the host's own cores.
    """

    solve_ms: float
    edge_ns: float
    vertex_ns: float
    cell_ns: float
    upload_ns: float
    download_ns: float
    host: bool

    @classmethod
    def of(cls, device: Device) -> Costs:
        """Return the costs of a device by the tuning tables."""
        tuning = device.policy
        copies = device.capabilities.host_arrays == "copied"
        return cls(
            solve_ms=1e-3 * tuning.solve_us,
            edge_ns=tuning.edge_ns,
            vertex_ns=tuning.vertex_ns,
            cell_ns=tuning.cell_ns,
            upload_ns=1 / tuning.upload_gb_s if copies else 0.0,
            download_ns=1 / tuning.download_gb_s if copies else 0.0,
            host=device.capabilities.kind == "cpu",
        )

    @property
    def has_dense_parts(self) -> bool:
        """Whether `dense` is quicker at least if all pairs are edges."""
        return 2 * self.cell_ns < self.edge_ns

    def is_dense(self, sizes: Array, edges: Array) -> Array:
        """Return whether `dense` is quicker for parts of so many vertices and edges."""
        return edges * self.edge_ns > sizes.astype(np.float64) ** 2 * self.cell_ns

    def sparse(self, n: int, m: int) -> float:
        """Return the time of a sparse graph of n vertices and m edges on the device."""
        return self.solve_ms + 1e-6 * (n * self.vertex_ns + m * self.edge_ns)

    def dense(self, n: int) -> float:
        """Return the time of `dense` for n vertices."""
        return self.solve_ms + 1e-6 * n * n * self.cell_ns
