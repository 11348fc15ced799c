"""Windows of the order of edges, light ones first: where the algorithms that filter cut it."""

from __future__ import annotations

from clmst.core.errors import InvalidArgumentError
from clmst.runtime.device_graph import DeviceGraph

# A sample's share above which a window is not worth its own phase.
_MAX_SHARE = 0.7


def check_windows(targets: tuple[float, ...], seed: int) -> None:
    """Raise unless windows can end at such targets, and a sample be drawn with the seed."""
    if any(not low < high for low, high in zip((0.0, *targets), targets, strict=False)):
        raise InvalidArgumentError(f"targets are {targets}; they must be positive and rise")
    if not 0 <= seed < 1 << 32:
        raise InvalidArgumentError(f"seed is {seed}; it must be from 0 to 2**32 - 1")


def window_ranks(
    graph: DeviceGraph, targets: tuple[float, ...] | None, *, usual: float, samples: int
) -> list[int]:
    """Return the ranks in a sample of so many edges that end all windows but the last.

    Parameters
    ----------
    graph : DeviceGraph
    targets : tuple of float, optional
        How many edges a vertex the windows up to each end are to have. None: `usual`, where the
        average degree is what the device filters from, else one window.
    usual : float
    samples : int
    """
    if targets is None:
        filters = graph.average_degree >= graph.device.policy.filter_degree
        targets = (usual,) if filters else ()
    shares = [target * graph.n_vertices / max(graph.edge_bound, 1) for target in targets]
    return sorted({int(share * samples) for share in shares if share < _MAX_SHARE})
