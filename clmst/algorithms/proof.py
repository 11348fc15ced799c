"""Proof on a device that a claimed forest is the one: host side of ``cl/algorithms/proof_*.cl``.

Nothing that a solve has left is used but the claim itself, and no kernel that chooses edges is
shared with the algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.algorithms.proof_tree import NO_FAULT, SLOT, Tree, TreeBuilder
from clmst.algorithms.solution import DeviceForest
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.enqueue import enqueue, for_each
from clmst.runtime.launcher import Launcher

EDGES_SOURCE = "algorithms/proof_edges.cl"

# The tree's nodes, at most two a vertex, have numbers of 32 bits.
MAX_VERTICES = (1 << 31) - 1

_TILE = 1024  # EDGES_TILE of proof_edges.cl


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a device has found of a claimed forest.

    Attributes
    ----------
    ok : bool
        Whether it is the forest.
    levels : int
        Levels of the tree by which edges were compared; 0 where the claim is no forest.
    """

    ok: bool
    levels: int = 0


def prove(forest: DeviceForest, launch: Launcher) -> Proof:
    """Find out whether a forest is the minimum (or maximum) spanning forest of its graph; waits.

    Parameters
    ----------
    forest : DeviceForest
        Of a DeviceGraph of at most MAX_VERTICES vertices.
    launch : Launcher

    Raises
    ------
    OutOfDeviceMemoryError
        The device cannot hold the tree: some 70 bytes a vertex.

    Notes
    -----
    O(k log n + n_slots log n) at worst, O(n + n_slots) as a rule: an edge climbs only where it may
    be lighter than some edge on the way of one of its ends to the top of the tree.
    """
    graph = forest.graph
    assert isinstance(graph, DeviceGraph)
    if graph.n_slots == 0:
        return Proof(ok=forest.n_edges == 0)
    tree = TreeBuilder(forest, launch).build()
    if tree is None:
        return Proof(ok=False)
    if forest.n_edges == graph.edge_bound:  # no edge is left out
        return Proof(ok=True, levels=tree.levels)
    return Proof(ok=_check_edges(forest, graph, tree, launch), levels=tree.levels)


def _check_edges(forest: DeviceForest, graph: DeviceGraph, tree: Tree, launch: Launcher) -> bool:
    """Compare every edge of the graph with those of the forest; waits."""
    device = launch.device
    weights = graph.weight_defines(maximum=forest.maximum)
    program = device.program(EDGES_SOURCE, **weights)
    n_tiles = -(-graph.n_slots // _TILE)
    tiles = device.allocate(4 * (n_tiles + 1))
    for_each(
        launch, program, "proof_edges_find_rows", n_tiles + 1, graph.indptr, tiles,
        graph.n_vertices, n_tiles,
    )  # fmt: skip
    reach_keys = tree.keys
    if weights["WEIGHT_BITS"] == 64:
        reach_keys = device.allocate(8 * graph.n_vertices)
        for_each(
            launch, program, "proof_edges_find_reach_keys", graph.n_vertices, tree.reaches,
            tree.keys, reach_keys, graph.n_vertices,
        )  # fmt: skip
    enqueue(
        launch, program, "proof_edges_check", launch.groups_for(n_tiles), graph.indptr,
        graph.indices, graph.weights, forest.slots, tiles, tree.parents, tree.orders, tree.reaches,
        tree.tops, tree.keys, reach_keys, tree.state, graph.n_vertices, graph.n_slots,
        forest.n_edges, n_tiles, int(tree.has_trees),
    )  # fmt: skip
    words = np.empty(SLOT + 1, np.uint32)
    launch.read(tree.state, words)
    return bool(words[SLOT] == NO_FAULT)
