"""Rounds of one graph under changing weights: when warm starts and series contraction pay off."""

from __future__ import annotations

from clmst.route.limits import LIMITS


def checks_on_host(n_weights: int) -> bool:
    """Return whether the host checks weights for NaN before the upload. Otherwise kernels do."""
    return n_weights < LIMITS.weights_on_host


def has_warm_starts(n_edges: int, *, one_launch: bool) -> bool:
    """Return whether a graph is so large that rounds may reuse earlier results (warm starts).

    `one_launch` says whether the device solves a small graph from scratch in a single launch.
    """
    return n_edges >= (LIMITS.warm_start_resident if one_launch else LIMITS.warm_start)


def warm_start_pays(n_candidates: int, n_edges: int) -> bool:
    """Return whether a warm start has so few candidates that it is faster than a whole solve.

    Candidates are the edges whose place in the forest the reference weights leave open.
    """
    return 100 * n_candidates <= LIMITS.warm_start_candidates * n_edges


def looks_for_series(n_edges: int, n_vertices: int) -> bool:
    """Return whether the degree-2 paths of a graph are searched, to contract them later.

    They are, if the graph is large and has few edges per vertex.
    """
    return n_edges >= LIMITS.series and 100 * n_edges <= LIMITS.series_density * n_vertices


def series_pays(n_candidates: int, n_edges: int) -> bool:
    """Return whether series contraction leaves so few edges open that it pays off.

    `n_candidates` is the number of edges that each round still has to solve.
    """
    return 100 * n_candidates <= LIMITS.series_candidates * n_edges
