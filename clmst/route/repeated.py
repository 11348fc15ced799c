"""Rounds, which are solves of one graph under changing weights: how each is computed.

A warm start reuses what an earlier round with similar weights has found. Series contraction
replaces each path whose inner vertices have two edges by one edge.
"""

from __future__ import annotations

from clmst.route.facts import DeviceFacts, Way
from clmst.route.limits import LIMITS, for_units
from clmst.route.records import ROUND

# Names of the two ways in which a graph is solved with new weights: its forest is found anew, or
# the forest of the solve before is changed.
ANEW, CHANGES = "anew", "changes"


def takes_rounds_alone(n_edges: int, device: DeviceFacts) -> bool:
    """Return whether one work-item may read new weights and start from the forest before.

    The graph has `n_edges` edges. In larger graphs all work-items find the forest anew sooner than
    one work-item changes the forest before, even if few weights are new.
    """
    return device.serial and n_edges <= LIMITS.serial_changes


def solves_round_alone(n_vertices: int, n_edges: int, device: DeviceFacts) -> bool:
    """Return whether one work-item solves a round of new weights faster than all work-items do.

    The graph has `n_vertices` vertices and `n_edges` edges. If the answer is True, the host neither
    checks the weights beforehand nor converts them to fewer bits.
    """
    return max(n_vertices, n_edges) <= for_units(LIMITS.serial_round, device)


def most_changes(n_edges: int) -> int:
    """Return the maximum number of changed weights with which a round starts from the last forest.

    A round is one solve with new weights, and the last forest is the forest of the round before.
    Only changes that may change the forest count: edges of the forest that became heavier, and
    edges outside that became lighter.
    """
    return n_edges // LIMITS.edges_per_change


def way_of_round(n_open: int, n_edges: int, *, known: bool) -> Way:
    """Choose how a round that one work-item solves begins, and return the choice with the reason.

    A round is one solve with new weights. It starts from the forest of the round before, or anew.
    `n_open` is the number of changed weights that may change the forest. It may be cut off at one
    more than :func:`most_changes`. The graph has `n_edges` edges. `known` says whether the forest
    of the round before was kept.
    """
    if not known:
        return Way(ROUND, f"{n_edges:,} edges; no round before is kept", ANEW)
    most = most_changes(n_edges)
    if n_open > most:
        return Way(ROUND, f"more than {most:,} of {n_edges:,} weights change the forest", ANEW)
    return Way(ROUND, f"{n_open:,} of {n_edges:,} weights may change the forest", CHANGES)


def most_kept_changes(n_vertices: int) -> int:
    """Return the maximum number of new weights with which a GPU starts from the last forest.

    A round is one solve with new weights, and the last forest is the forest of the round before.
    All weights that differ from the weights of that round count. The graph has `n_vertices`
    vertices.
    """
    return n_vertices // LIMITS.vertices_per_kept_change


def rounds_without_keeping(n_misses: int) -> int:
    """Return the number of rounds that pass on a GPU before the forest of a round is kept again.

    A round is one solve with new weights. `n_misses` is the number of the last rounds in a row that
    could not start from the last forest, because too many weights differed. After the first of
    them the forest is kept at once, and then ever more rarely.
    """
    return min(1 << n_misses >> 2, LIMITS.rounds_without_keeping)


def way_of_kept_round(n_differing: int, n_edges: int) -> Way:
    """Return the entry for ``stats["route"]`` of a round that starts from a forest kept on a GPU.

    A round is one solve with new weights. The GPU has kept the forest of the round before.
    `n_differing` of the `n_edges` weights of the graph differ from the weights of that round.
    """
    return Way(ROUND, f"{n_differing:,} of {n_edges:,} weights differ", CHANGES)


def way_of_round_anew(because: str) -> Way:
    """Return the entry for ``stats["route"]`` of a round in which all edges are solved.

    A round is one solve with new weights. This one does not start from the forest of the round
    before, for the reason `because`.
    """
    return Way(ROUND, because, ANEW)


def checks_on_host(n_weights: int) -> bool:
    """Return whether the host checks `n_weights` weights for NaN before the upload.

    If not, kernels check the weights.
    """
    return n_weights < LIMITS.weights_on_host


def has_warm_starts(n_edges: int, *, one_launch: bool) -> bool:
    """Return whether a graph of `n_edges` edges is so large that rounds may reuse earlier results.

    A round is one solve with new weights. To reuse earlier results is called a warm start.
    `one_launch` says whether the device solves a small graph from scratch in a single launch.
    """
    return n_edges >= (LIMITS.warm_start_resident if one_launch else LIMITS.warm_start)


def warm_start_pays(n_candidates: int, n_edges: int) -> bool:
    """Return whether a warm start has so few edges to solve that it is faster than a whole solve.

    `n_candidates` is the number of edges that may or may not be in the forest, judged by the
    weights of an earlier round. Only they are solved again. The graph has `n_edges` edges.
    """
    return 100 * n_candidates <= LIMITS.warm_start_candidates * n_edges


def looks_for_series(n_edges: int, n_vertices: int) -> bool:
    """Return whether a graph is searched for degree-2 paths, which can be contracted to one edge.

    The inner vertices of a degree-2 path have two edges each. The answer is True for a large graph
    with few edges per vertex. The graph has `n_vertices` vertices and `n_edges` edges.
    """
    return n_edges >= LIMITS.series and 100 * n_edges <= LIMITS.series_density * n_vertices


def series_pays(n_candidates: int, n_edges: int) -> bool:
    """Return whether contracting degree-2 paths leaves so few edges that solves become faster.

    `n_candidates` is the number of the `n_edges` edges that each round still has to solve.
    """
    return 100 * n_candidates <= LIMITS.series_candidates * n_edges
