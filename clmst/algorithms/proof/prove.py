"""Proof on a device that a claimed forest is the one: host side of ``cl/algorithms/proof``.

Only the claim itself is used of a solve, and no kernel that chooses edges is
shared with the algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass

from clmst.algorithms.proof.claim import Claim, MatrixClaim
from clmst.algorithms.proof.tree import TreeBuilder
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

# The tree's nodes, at most two a vertex, have numbers of 32 bits.
MAX_VERTICES = (1 << 31) - 1


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
    graph, k, n = forest.graph, forest.n_edges, forest.graph.n_vertices
    claim: Claim | MatrixClaim
    if isinstance(graph, DeviceMatrix):  # whose forest is one tree
        if n <= 1 or k != n - 1:
            return Proof(ok=k == max(n - 1, 0))
        claim, is_whole = MatrixClaim(forest), False
    elif graph.n_slots == 0 or n == 0:
        return Proof(ok=k == 0)
    else:
        claim, is_whole = Claim(forest), k == graph.edge_bound  # no edge is left out
    tree = TreeBuilder(n, k, launch).build(claim.list_edges)
    if tree is None:
        return Proof(ok=False)
    return Proof(ok=is_whole or claim.check(tree, launch), levels=tree.levels)
