"""Proof on a device that a claimed forest is the one: host side of ``cl/algorithms/proof``.

Only the claim itself is used of a solve, and no kernel that chooses edges is
shared with the algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.algorithms.proof.claim import Claim
from clmst.algorithms.proof.matrix import MatrixProof
from clmst.algorithms.proof.tree import NO_FAULT, SLOT, Tree, TreeBuilder
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

EDGES_SOURCE = "algorithms/proof/edges.cl"

# The tree's nodes, at most two a vertex, have numbers of 32 bits.
MAX_VERTICES = (1 << 31) - 1

_TILE = 1024  # EDGES_TILE of proof/edges.cl


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Whether a claimed forest is the one, and the levels of the tree that has shown it, or 0."""

    ok: bool
    levels: int = 0


def prove(forest: DeviceForest, launch: Launcher) -> Proof:
    """Find out whether a forest is the minimum (or maximum) spanning forest of its graph; waits.

    Parameters
    ----------
    forest : DeviceForest
        Of a graph of at most MAX_VERTICES vertices; it has fewer edges than vertices.
    launch : Launcher

    Raises
    ------
    OutOfDeviceMemoryError
        The tree does not fit the device: some 70 bytes a vertex.

    Notes
    -----
    O(n_slots log n) at worst, O(n + n_slots) as a rule: an edge climbs only where it may be lighter
    than some edge on the path of one of its ends to the top of the tree. Complete graphs: O(n**2)
    on CPUs, there too, O(n**2 log n) at worst elsewhere.
    """
    if isinstance(forest.graph, DeviceMatrix):
        return _prove_complete(forest, launch)
    graph = forest.graph
    if graph.n_slots == 0 or graph.n_vertices == 0:
        return Proof(ok=forest.n_edges == 0)
    claim = Claim(forest)
    tree = TreeBuilder(graph.n_vertices, forest.n_edges, launch).build(claim.list_edges)
    if tree is None:
        return Proof(ok=False)
    if forest.n_edges == graph.edge_bound:  # no edge is left out
        return Proof(ok=True, levels=tree.levels)
    return Proof(ok=_check_edges(claim, tree, launch), levels=tree.levels)


def _prove_complete(forest: DeviceForest, launch: Launcher) -> Proof:
    """Prove a forest of a complete graph, which is one tree."""
    n = forest.graph.n_vertices
    if n <= 1 or forest.n_edges != n - 1:
        return Proof(ok=forest.n_edges == max(n - 1, 0))
    builder = TreeBuilder(n, n - 1, launch)
    proof = MatrixProof(forest, builder)
    tree = builder.build(proof.list_edges)
    if tree is None:
        return Proof(ok=False)
    return Proof(ok=proof.check_pairs(tree), levels=tree.levels)


def _check_edges(claim: Claim, tree: Tree, launch: Launcher) -> bool:
    """Compare every edge of the graph with those of the forest; waits."""
    forest, graph = claim.forest, claim.graph
    device = launch.device
    program = device.program(EDGES_SOURCE, **claim.weights)
    n_tiles = -(-graph.n_slots // _TILE)
    tiles = device.allocate(4 * (n_tiles + 1))
    launch.for_each(
        program, "proof_edges_find_rows", n_tiles + 1, graph.indptr, tiles,
        graph.n_vertices, n_tiles,
    )  # fmt: skip
    keys = reach_keys = claim.keys or tree.state  # whatever kernels take for none
    if graph.encoded.is_wide:  # also of a claim without edges, whose vertices have no paths
        reach_keys = device.allocate(8 * graph.n_vertices)
        launch.for_each(
            program, "proof_edges_find_reach_keys", graph.n_vertices, tree.reaches,
            keys, reach_keys, graph.n_vertices,
        )  # fmt: skip
    launch.enqueue(
        program, "proof_edges_check", launch.groups_for(n_tiles), graph.indptr,
        graph.indices, graph.weights, forest.slots, tiles, tree.parents, tree.orders, tree.reaches,
        tree.tops, keys, reach_keys, tree.state, graph.n_vertices, graph.n_slots,
        forest.n_edges, n_tiles, int(tree.has_trees),
    )  # fmt: skip
    words = np.empty(SLOT + 1, np.uint32)
    launch.read(tree.state, words)
    return bool(words[SLOT] == NO_FAULT)
