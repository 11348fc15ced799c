"""Solves of one graph under other weights: what earlier rounds and the topology save."""

from __future__ import annotations

from clmst.route.limits import LIMITS


def checks_on_host(n_weights: int) -> bool:
    """Return whether the host checks weights for NaN before they are uploaded."""
    return n_weights < LIMITS.weights_on_host


def has_warm_starts(n_edges: int, *, one_launch: bool) -> bool:
    """Return whether rounds of a graph may begin with what earlier ones have settled.

    `one_launch` says whether the device does a whole solve of a small graph in one launch.
    """
    return n_edges >= (LIMITS.warm_start_resident if one_launch else LIMITS.warm_start)


def warm_start_pays(n_candidates: int, n_edges: int) -> bool:
    """Return whether the edges that weights nearby leave open are few enough."""
    return 100 * n_candidates <= LIMITS.warm_start_candidates * n_edges


def looks_for_series(n_edges: int, n_vertices: int) -> bool:
    """Return whether the degree-2 paths of a graph are worth a search."""
    return n_edges >= LIMITS.series and 100 * n_edges <= LIMITS.series_density * n_vertices


def series_pays(n_candidates: int, n_edges: int) -> bool:
    """Return whether the edges that topology leaves open are few enough."""
    return 100 * n_candidates <= LIMITS.series_candidates * n_edges
