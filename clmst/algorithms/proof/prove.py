"""Prove on a device that a claimed forest is the right one. The kernels are in ``proof``.

A claim says that certain edges of a graph are its forest. A proof gets only the claim, and shares
no kernel that chooses edges with the algorithms. Solves call :func:`checked`. There the host proves
the forest if the device cannot, and also if the device finds the forest wrong.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms import families
from clmst.algorithms.proof.tree import Tree, TreeBuilder
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import (
    DeviceWarning,
    InvalidForestError,
    KernelBuildError,
    OutOfDeviceMemoryError,
    logger,
    warn_of_fallback,
)
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.primitives.sort import sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

CLAIM_SOURCE = "algorithms/proof/claim.cl"
EDGES_SOURCE = "algorithms/proof/edges.cl"
MATRIX_SOURCE = "algorithms/proof/matrix.cl"

_TILE = 1024  # EDGES_TILE of proof/edges.cl
# Maximum number of vertices. The proof builds a tree with at most two nodes for each vertex, and
# its nodes have numbers of 32 bits.
MAX_VERTICES = (1 << 31) - 1


class Claim:
    """The claim that some edges are the forest of a DeviceGraph, and the checks of the claim.

    If weights have 64 bits, the proof compares ranks among the weights of the claimed edges instead
    of weights. `keys` then has the sort keys of these weights in ascending order, once
    :meth:`list_edges` has been called. For weights of at most 32 bits, `keys` is None.
    """

    def __init__(self, forest: DeviceForest) -> None:
        assert isinstance(forest.graph, DeviceGraph)
        self.forest, self.graph = forest, forest.graph
        self.weights = self.graph.weight_defines(maximum=forest.maximum)
        self.keys: Any = None

    def list_edges(self, builder: TreeBuilder) -> None:
        """Enqueue a kernel that lists the claimed edges, and checks that the graph has them.

        The list and any fault are written to the memory of `builder`.
        """
        forest, graph, launch, own = self.forest, self.graph, builder.launch, self.forest.weights
        program = launch.device.program(CLAIM_SOURCE, **self.weights)
        ranks = self._ranks(builder) if self.weights["WEIGHT_BITS"] == 64 else builder.state
        launch.enqueue(
            program, "proof_claim_list", builder.segments, graph.indptr, graph.indices,
            graph.weights, forest.slots, forest.edges, ranks, own.words if own else builder.state,
            builder.least, builder.records, builder.lengths, builder.state, builder.n,
            graph.n_slots, builder.k, builder.stride, int(bool(own)),
        )  # fmt: skip

    def _ranks(self, builder: TreeBuilder) -> DeviceArray:
        """Enqueue the computation of the ranks of the claimed edges, and return the ranks.

        `builder` has the launcher and the memory. The rank of an edge is its position, from 1 on,
        in the order by weight and, among equal weights, by CSR entry.
        """
        launch, k = builder.launch, builder.k
        program = launch.device.program(CLAIM_SOURCE, **self.weights)
        keys = DeviceArray.empty(k, np.uint64, launch.device)
        numbers = DeviceArray.empty(k, np.uint32, launch.device)
        launch.for_each(
            program, "proof_claim_list_keys", k, self.graph.weights, self.forest.slots,
            keys, numbers, self.graph.n_slots, k,
        )  # fmt: skip
        keys, numbers = sort_by_key(keys, numbers, launch=launch)
        self.keys = keys.memory
        return builder.ranks_of(numbers)

    def check(self, tree: Tree, launch: Launcher) -> bool:
        """Compare every edge of the graph with the forest's path between its ends.

        `tree` is built from the claimed forest, and gives the heaviest edge of each path. The
        forest is wrong if an edge of the graph is lighter than an edge on the path, or joins two
        trees of the forest. Returns True if the forest is right. The call waits for the device.
        """
        graph, device = self.graph, launch.device
        program = device.program(EDGES_SOURCE, **self.weights)
        n_tiles = -(-graph.n_slots // _TILE)
        tiles = device.allocate(4 * (n_tiles + 1))
        launch.for_each(
            program, "proof_edges_find_rows", n_tiles + 1, graph.indptr, tiles,
            graph.n_vertices, n_tiles,
        )  # fmt: skip
        keys = reach_keys = self.keys or tree.state  # without keys, a buffer that is not read
        if graph.encoded.is_wide:  # also if no edge is claimed, and there are no keys
            reach_keys = device.allocate(8 * graph.n_vertices)
            launch.for_each(
                program, "proof_edges_find_reach_keys", graph.n_vertices, tree.reaches,
                keys, reach_keys, graph.n_vertices,
            )  # fmt: skip
        launch.enqueue(
            program, "proof_edges_check", launch.groups_for(n_tiles), graph.indptr,
            graph.indices, graph.weights, self.forest.slots, tiles, tree.parents, tree.orders,
            tree.reaches, tree.tops, keys, reach_keys, tree.state, graph.n_vertices, graph.n_slots,
            self.forest.n_edges, n_tiles, int(tree.has_trees),
        )  # fmt: skip
        return tree.is_confirmed(launch)


class MatrixClaim:
    """The claim that n - 1 edges are the spanning tree of a complete graph, and checks of it.

    There must be n >= 2 vertices.
    """

    def __init__(self, forest: DeviceForest) -> None:
        assert isinstance(forest.graph, DeviceMatrix)
        self.matrix, self.ends, device = forest.graph, forest.edges, forest.graph.device
        macros = self.matrix.defines(maximum=forest.maximum)
        del macros["COMPLETE"]
        self.program = device.program(MATRIX_SOURCE, **macros)
        word = np.uint64 if macros["WEIGHT_BITS"] == 64 else np.uint32
        self.keys = DeviceArray.empty(forest.n_edges, word, device)
        self.numbers = DeviceArray.empty(forest.n_edges, np.uint32, device)
        # Each vertex has a limit. An edge that is heavier than the limits of both of its ends needs
        # no further check. This is the number of bytes of a limit: that of a double for points, and
        # that of a weight for a matrix.
        self.measure_bytes = 8 if "METRIC" in macros else macros["WEIGHT_BITS"] // 8

    def list_edges(self, builder: TreeBuilder) -> None:
        """Check that the claimed edges are pairs of vertices, and enqueue a kernel that lists them.

        The list is written to the memory of `builder`. If a fault is found, nothing is listed. The
        call waits for the device.
        """
        launch, k = builder.launch, builder.k
        for panel in self.matrix.panels:
            launch.for_each(
                self.program, "proof_matrix_list_keys", k, panel.cells, self.ends,
                self.keys, self.numbers, builder.state, builder.n, self.matrix.dimensions,
                panel.first, panel.n_rows, k,
            )  # fmt: skip
        if not builder.claim_is_right():
            return
        self.keys, self.numbers = sort_by_key(self.keys, self.numbers, launch=launch)
        launch.enqueue(
            self.program, "proof_matrix_list", builder.segments, self.ends,
            builder.ranks_of(self.numbers), builder.least, builder.records, builder.lengths, k,
            builder.stride,
        )  # fmt: skip

    def check(self, tree: Tree, launch: Launcher) -> bool:
        """Compare the edge of every pair of vertices with the claimed tree's path between the two.

        `tree` is built from the claimed tree, and gives the heaviest edge of each path. The claimed
        tree is wrong if the edge of a pair is lighter than an edge on the path. Returns True if the
        claimed tree is right. The call waits for the device.
        """
        device, n = launch.device, self.matrix.n_vertices
        limits = device.allocate(self.measure_bytes * n)
        launch.for_each(
            self.program, "proof_matrix_find_limits", n, self.matrix.panels[0].cells,
            tree.reaches, self.keys, limits, n,
        )  # fmt: skip
        groups = launch.groups_for(n)
        greatest = remaining = tree.state
        if self.program.work_group_size == 1:
            greatest = device.allocate(4 * groups * tree.n_nodes)
            remaining = device.allocate(4 * groups * n)
        for panel in self.matrix.panels:
            launch.enqueue(
                self.program, "proof_matrix_check", groups, panel.cells, limits,
                tree.parents, tree.orders, self.keys, self.numbers, self.ends, greatest, remaining,
                tree.state, n, self.matrix.dimensions, panel.first, panel.n_rows, tree.n_nodes,
            )  # fmt: skip
        return tree.is_confirmed(launch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The result of a proof that a claimed forest is the minimum (or maximum) spanning forest.

    `ok` is True if the forest is right. The proof contracts the forest level by level; `levels` is
    the number of these levels, or 0 if the contraction was not completed.
    """

    ok: bool
    levels: int = 0


def prove(forest: DeviceForest, launch: Launcher) -> Proof:
    """Find out whether a forest is the minimum (or maximum) spanning forest of the graph.

    The call waits for the device. The graph must have at most MAX_VERTICES vertices, and the forest
    fewer edges than vertices.

    Raises
    ------
    OutOfDeviceMemoryError
        The tree of the proof does not fit on the device. It takes about 70 bytes for each vertex.

    Notes
    -----
    The proof builds a tree from the forest, in which nodes store edges of the forest. In a graph
    with a CSR, each edge is first compared with the heaviest of the edges that are stored on the
    paths from both its ends to the top of the tree. If it is not heavier, it is compared with the
    stored edges level by level, from its ends upwards, until the two paths meet. In a complete
    graph, each edge is compared with the heaviest forest edge between its ends.

    With k CSR entries the proof takes O(k log n) at worst, and usually O(n + k). For complete
    graphs it takes O(n**2) on CPUs. On other devices it usually takes O(n**2), and O(n**2 log n) at
    worst.
    """
    graph, k, n = forest.graph, forest.n_edges, forest.graph.n_vertices
    claim: Claim | MatrixClaim
    if isinstance(graph, DeviceMatrix):  # the forest of a complete graph is one tree
        if n <= 1 or k != n - 1:
            return Proof(ok=k == max(n - 1, 0))
        claim, is_whole = MatrixClaim(forest), False
    elif graph.n_slots == 0 or n == 0:
        return Proof(ok=k == 0)
    else:
        claim, is_whole = Claim(forest), k == graph.edge_bound  # whether all edges are claimed
    tree = TreeBuilder(n, k, launch).build(claim.list_edges)
    if tree is None:
        return Proof(ok=False)
    return Proof(ok=is_whole or claim.check(tree, launch), levels=tree.levels)


def checked(forest: DeviceForest, launch: Launcher) -> DeviceForest:
    """Prove that a forest is right, and return it with facts about the proof in ``stats["proof"]``.

    The call waits for the device. The caller must hold the lock of the device. If the device cannot
    decide, or finds the forest wrong, the host proves or refutes the forest.

    Raises
    ------
    InvalidForestError
        The forest is wrong. The error names the first edge that shows it.
    """
    began = time.perf_counter()
    refusal, is_refuted = _refusal(forest), False
    if refusal is None:
        try:
            found = prove(forest, launch)
        except (OutOfDeviceMemoryError, KernelBuildError) as error:
            refusal = str(error).splitlines()[0]
        else:
            if found.ok:
                by = launch.device.description
                return _with_proof(forest, began, where="device", by=by, levels=found.levels)
            refusal, is_refuted = "the device took the forest for wrong", True
    logger.info("the host proves a forest of %s: %s", launch.device.description, refusal)
    _prove_on_host(forest, _host_graph(forest))  # its error says what is wrong
    if is_refuted:
        warn_of_fallback(
            f"{launch.device.description} took a forest for wrong that the host has proved right; "
            "proofs of this device cannot be relied on",
            DeviceWarning,
        )
    return _with_proof(forest, began, where="host", by="the host", reason=refusal)


def checked_on_host(forest: DeviceForest, graph: Graph, reason: str) -> DeviceForest:
    """Prove a forest of `graph` on the host, and return it with facts about the proof.

    The facts are in ``stats["proof"]``, as in :func:`checked`. `reason` says why the host proves
    the forest, and not the device. Raises InvalidForestError if the forest is wrong.
    """
    began = time.perf_counter()
    _prove_on_host(forest, graph)
    return _with_proof(forest, began, where="host", by="the host", reason=reason)


def _prove_on_host(forest: DeviceForest, graph: Graph | DenseGraph | Points) -> None:
    """Prove a forest of `graph` on the host. Raise InvalidForestError if the forest is wrong."""
    from clmst.core.verify import verify  # late, since most solves do not need SciPy's graph code

    outcome = verify(graph, forest.to_host(look_up=True))
    if not outcome:
        try:
            outcome.raise_if_invalid()
        except InvalidForestError as error:
            message = f"the forest that {_maker(forest)} gave is wrong: {error}"
            raise InvalidForestError(message) from None


def _host_graph(forest: DeviceForest) -> Graph | DenseGraph | Points:
    """Return the graph of a forest on the host, with the weights that the device has now.

    The weights of a graph on a device can be replaced, so the host may have old ones.
    """
    graph = forest.graph
    if not isinstance(graph, DeviceGraph):
        return graph.graph
    if forest.weights is None:
        return graph.graph
    weights = graph.encoded.encoding.decode(graph.encoded.words())
    return graph.graph.replace_unchecked(weights=weights)


def _maker(forest: DeviceForest) -> str:
    stats = forest.stats
    return f"{stats.get('algorithm', 'the solver')} on {stats.get('device', 'the device')}"


def _refusal(forest: DeviceForest) -> str | None:
    """Return the reason why the device cannot prove a forest, or None if the device can."""
    if forest.graph.n_vertices > MAX_VERTICES:
        return f"the graph has more than {MAX_VERTICES} vertices"
    reason = families.proof_refusal(forest.graph, maximum=forest.maximum)
    return (
        None if reason is None else f"the device has not passed the self-test of proofs: {reason}"
    )


def _with_proof(forest: DeviceForest, began: float, **figures: Any) -> DeviceForest:
    """Return a copy of a forest with `figures`, the facts about its proof, in ``stats["proof"]``.

    `began` is the time at which the proof began, by ``time.perf_counter``.
    """
    ms = 1e3 * (time.perf_counter() - began)
    known: Mapping[str, Any] = {name: value for name, value in figures.items() if value is not None}
    return forest.with_stats({**forest.stats, "proof": {**known, "ms": ms}})
