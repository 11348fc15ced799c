"""What a device must show before it is trusted with the kernels of an algorithm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clmst.algorithms.bvh_boruvka import neighbours
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.hierarchy import hierarchy_of
from clmst.algorithms.csr_validation import check as csr_validation
from clmst.algorithms.dense import nearest
from clmst.algorithms.dense import solve as dense
from clmst.algorithms.dense.options import DenseOptions, Filter
from clmst.algorithms.dense.tiles import PackedPoints
from clmst.algorithms.families import Case, CompleteCase, CsrValidationCase
from clmst.algorithms.k_core import core_numbers as k_core
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.solution import forest_of
from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.algorithms.small_matrix.family import SmallMatrixCase
from clmst.core import csr_forest
from clmst.core.dense_graph import DenseGraph
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.known_graphs import KnownGraph, Size, dtype_of, known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.points import Points
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

SIZES: tuple[Size, ...] = ("tiny", "small", "large")


def algorithm_failure(algorithm: str, device: Device, case: Case) -> str | None:
    """Return what an algorithm gets wrong of the known graphs, or None."""
    for size in _sizes(algorithm, device, case):
        reason = _forest_failure(algorithm, known_graph(size), device, case)
        if reason is not None:
            return reason
    return None


def _sizes(algorithm: str, device: Device, case: Case) -> Iterator[Size]:
    """Yield the sizes of graphs that are solved; other options may be slow on a large one."""
    yield "tiny"
    yield "small"
    where = ALGORITHMS[algorithm].large_self_test
    takes_large = where == "always" or (where == "cpu" and device.capabilities.kind == "cpu")
    if not case.option_text and takes_large:
        yield "large"


def _forest_failure(algorithm: str, known: KnownGraph, device: Device, case: Case) -> str | None:
    graph = known.weighted(dtype_of(case.bits, case.kind), symmetric=case.symmetric)
    resident = DeviceGraph.upload(graph, device)
    launch = Launcher(device, device.queue)
    solve = ALGORITHMS[algorithm].solve
    solution = solve(resident, launch, maximum=case.maximum, options=case.options)
    forest = forest_of(solution, launch, algorithm=algorithm, maximum=case.maximum).to_host()
    return difference(forest, known.forest(maximum=case.maximum), known)


def difference(forest: Forest, expected: Forest, known: KnownGraph) -> str | None:
    """Return in one line how a forest differs from the one expected, edge for edge."""
    if forest.n_edges != expected.n_edges:
        return (
            f"a forest of {forest.n_edges} edges came out for the known graph {known.name!r}, "
            f"which has {expected.n_edges}"
        )
    same = np.array_equal(forest.edge_ids, expected.edge_ids)
    if same and np.array_equal(forest.edges, expected.edges):
        return None
    wrong = np.setdiff1d(forest.edge_ids, expected.edge_ids).size
    return (
        f"{wrong} of {expected.n_edges} edges came out wrong for the known graph {known.name!r}"
        if wrong
        else f"the edges of the known graph {known.name!r} came out in another order"
    )


# ------------------------------------------------------------------- core numbers, CSR check


def core_numbers_failure(device: Device, case: object) -> str | None:
    """Return what a device gets wrong of the known graphs' core numbers, or None."""
    for size in SIZES:
        known = known_graph(size)
        for symmetric in (False, True):
            graph = known.weighted(np.dtype(np.uint8), symmetric=symmetric)
            resident = DeviceGraph.upload(graph, device)
            cores = k_core.core_numbers(resident, Launcher(device, device.queue)).numbers.to_host()
            wrong = int((cores != known.core_numbers).sum())
            if wrong:
                return f"{wrong} core numbers came out wrong for the known graph {size!r}"
    return None


def csr_validation_failure(device: Device, case: CsrValidationCase) -> str | None:
    """Return whether a sound matrix was not taken as it is, or a fault not seen, or None."""
    known = known_graph("large")
    dtype = dtype_of(case.bits, case.kind)
    for symmetric in (False, True):
        graph = known.simple(dtype, symmetric=symmetric)
        found = csr_validation.check(DeviceGraph.upload(graph, device))
        if found is None or found.graph.is_symmetric != symmetric:
            return "a sound matrix was found faulty"
    for name, faulty in _faulty(graph):
        if csr_validation.check(DeviceGraph.upload(faulty, device)) is not None:
            return f"a matrix with {name} was found sound"
    return None


def small_matrix_failure(device: Device, case: SmallMatrixCase) -> str | None:
    """Return whether a forest of a small matrix is wrong, or a fault was not seen, or None."""
    for size in ("tiny", "small"):
        for symmetric in (False, True):
            graph = known_graph(size).simple(dtype_of(case.bits, case.kind), symmetric=symmetric)
            found = small_matrix.solved(_Matrix(graph), device, case)
            if found is None:
                return "a sound matrix was found faulty"
            expected = kruskal(graph, maximum=case.maximum)
            if not np.array_equal(found.edges, expected.edges):
                return f"edges came out wrong for the known graph {size!r}"
    for name, other in _faulty(graph):
        matrix = _Matrix(other)
        known = csr_forest.forest_of_matrix(matrix, maximum=case.maximum)
        found = small_matrix.solved(matrix, device, case)
        if (found is None) != (known is None):
            return f"a matrix with {name} was found {'sound' if known is None else 'faulty'}"
        if known is not None and not (found == known and _has_slots(matrix, device, case)):
            return f"edges came out wrong for a matrix with {name}"
    return None


def _has_slots(matrix: _Matrix, device: Device, case: SmallMatrixCase) -> bool:
    """Return whether the slots of a forest whose ties go to slots are right."""
    known = csr_forest.entries_of_matrix(matrix, maximum=case.maximum)
    found = small_matrix.solved(matrix, device, case, by_slot=True)
    if found is None or known is None:
        return False
    return np.array_equal(found.edge_ids, known)


class _Matrix:
    """The arrays of a graph as those of a SciPy matrix, whatever their values."""

    def __init__(self, graph: Graph) -> None:
        self.indptr, self.indices = graph.indptr.view(np.int32), graph.indices.view(np.int32)
        self.data = graph.weights
        self.shape = (graph.n_vertices, graph.n_vertices)


def _faulty(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """Yield copies of a symmetric matrix with one fault each."""
    for slot in (0, graph.n_slots - 1):
        weights = graph.weights.copy()
        weights[slot] = weights.max() if weights[slot] != weights.max() else weights.min()
        yield "another weight in one direction", graph.replace_unchecked(weights=weights)
    columns = graph.indices.copy()
    columns[graph.n_slots // 2] = graph.n_vertices
    yield "a column outside", graph.replace_unchecked(indices=columns)
    starts = graph.indptr.copy()
    starts[graph.n_vertices // 3] += 1
    yield "a slot in another row", graph.replace_unchecked(indptr=starts)


# ---------------------------------------------------------------------------- complete graphs


def complete_failure(device: Device, case: CompleteCase) -> str | None:
    """Return what a device gets wrong of known complete graphs, or None."""
    for n in (9, 600):
        graph = complete_graph(n, case)
        expected = kruskal(graph.to_graph(), maximum=case.maximum)
        matrix = DeviceMatrix.upload(graph, device)
        launch = Launcher(device, device.queue)
        found = dense.solve_matrix(matrix, launch, maximum=case.maximum, options=case.options)
        if not np.array_equal(found.to_host().edges, expected.edges):
            return f"edges came out wrong for the known complete graph of {n} vertices"
    return None


def points_failure(device: Device, case: CompleteCase) -> str | None:
    """Return what a device gets wrong by hierarchies of known points, or None.

    Either of their trees or of the distances to near points: what a call takes.
    """
    for n in (9, 600):
        points = complete_graph(n, case)
        assert isinstance(points, Points)
        matrix, launch = DeviceMatrix.upload(points, device), Launcher(device, device.queue)
        if case.neighbours:
            numbers = np.arange(n)
            distances = np.sort(points.weights_of(numbers[:, None], numbers), axis=1)
            for k in range(min(case.neighbours, n - 1), case.neighbours // 2, -5):
                if neighbours.capacity_for(k) != case.neighbours:
                    break
                kth = neighbours.distances(hierarchy_of(matrix, launch), k, launch).to_host()
                if not np.array_equal(kth, distances[:, k]):
                    return f"distances to the {k} nearest of {n} known points came out wrong"
            continue
        found = bvh_boruvka.solve(matrix, launch)
        tree = kruskal(points.to_graph())
        host = found.to_host()
        if not np.array_equal(host.edges, tree.edges):
            return f"edges came out wrong for {n} known points"
        if host.weights.tobytes() != tree.weights.tobytes():
            return f"weights came out wrong for {n} known points"
        half = Forest(
            n_vertices=n, edges=tree.edges[::2], weights=tree.weights[::2],
            edge_ids=tree.edge_ids[::2],
        )  # fmt: skip
        joining = bvh_boruvka.joining_edges(matrix, half.labels, launch)
        if not np.array_equal(joining, tree.edges[1::2]):
            return f"edges between components came out wrong for {n} known points"
    return None


def tiles_failure(device: Device, case: CompleteCase) -> str | None:
    """Return what a device gets wrong by tiles of pairs of known points, or None."""
    launch = Launcher(device, device.queue)
    by: Filter = "products" if case.products else "differences"
    for n, dimensions in ((9, 5), (300, 17)):
        points = complete_graph(n, case, dimensions)
        assert isinstance(points, Points)
        matrix = DeviceMatrix.upload(points, device)
        if case.neighbours:
            numbers, k = np.arange(n), min(n - 1, 20)
            packed = PackedPoints.upload(matrix, launch, by=by)
            kth = nearest.distances(packed, k, launch).to_host()
            distances = np.sort(points.weights_of(numbers[:, None], numbers), axis=1)
            if not np.array_equal(kth, distances[:, k]):
                return f"distances to the {k} nearest of {n} known points came out wrong"
            continue
        options = DenseOptions(filter=by)
        found = dense.solve_by_tiles(matrix, launch, options=options).to_host()
        tree = kruskal(points.to_graph())
        if not np.array_equal(found.edges, tree.edges):
            return f"edges came out wrong for {n} known points"
        if found.weights.tobytes() != tree.weights.tobytes():
            return f"weights came out wrong for {n} known points"
    return None


def complete_graph(n: int, case: CompleteCase, dimensions: int = 0) -> DenseGraph | Points:
    """Return a complete graph with equal weights among others."""
    rng = np.random.default_rng(n)
    if case.metric:
        at_most = 80 if case.metric == "great-circle" else 50  # degrees, and few distances
        coordinates = rng.integers(1, at_most, (n, dimensions or _dimensions(n, case)))
        core = rng.integers(0, 4, n) if case.core else None
        return Points(coordinates, metric=case.metric, core_distances=core)
    ranks = np.triu(rng.integers(0, 128, (n, n)), 1)
    return DenseGraph(weights_of(ranks + ranks.T, dtype_of(case.bits, case.kind)))


def _dimensions(n: int, case: CompleteCase) -> int:
    """Return the dimensions of known points: of a class of many, different ones."""
    return 2 if case.metric == "great-circle" else case.dimension_class or 4 + n % 5
