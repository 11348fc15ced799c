"""The self-tests of kernels for complete graphs: matrices and points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clmst.algorithms.bvh_boruvka import hierarchy, neighbours, prim
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.dense import DenseOptions, Filter, one_group, tile_pairs
from clmst.algorithms.dense import solve as dense
from clmst.algorithms.dense.tiles import PackedPoints
from clmst.algorithms.shared.found_tree import FoundTree
from clmst.core.complete_trees import spanning_tree
from clmst.core.dense_graph import DenseGraph
from clmst.core.forest import Forest
from clmst.core.known_graphs import weights_of
from clmst.core.paths import components_by_threads
from clmst.core.points import Points
from clmst.core.quotients import DIVIDED
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.kernel_family import Answer, Case
from clmst.runtime.launcher import Launcher

VERTICES = (9, 600)
TILED: tuple[tuple[int, int], ...] = ((9, 5), (300, 17))  # (number of points, dimensions)


def complete(device: Device, case: Case) -> Iterator[Answer]:
    """Let a device compute trees of known complete graphs, and distances to near points.

    `case` says what the graphs are: matrices of a dtype, or points of a metric. Yields triples: a
    description, the device's result and the right result.
    """
    for n in VERTICES:
        graph, maximum = complete_graph(n, case), bool(case.maximum)
        matrix, launch = DeviceMatrix.upload(graph, device), Launcher(device, device.queue)
        found = dense.solve_matrix(
            matrix, launch, maximum=maximum, options=case.options, at_once=bool(case.variant)
        )
        if case.core and case.variant:
            k, points = min(n - 1, 20), _known_points(n, case).with_core_distances(None)
            plain = DeviceMatrix.upload(points, device)
            kth = one_group.MutualReachability(plain, k, launch).core_distances()
            yield f"distances to the {k} nearest of {n} known points", kth, _kth(points, k)
        expected = _host_tree(graph, maximum=maximum)
        yield f"edges of {n} known vertices", found.to_host(launch).edges, expected.edges


def hierarchies(device: Device, case: Case) -> Iterator[Answer]:
    """Test kernels that search a tree of bounding boxes over known points.

    They compute spanning trees, or distances to near points. `case` says which of the two is
    tested. Yields triples: a description, the device's result and the right result.
    """
    for n in VERTICES:
        points = _known_points(n, case)
        matrix, launch = DeviceMatrix.upload(points, device), Launcher(device, device.queue)
        if not case.variant:  # with a low height, the kernels for many points order few points
            hierarchy.hierarchy_of(matrix, launch, local_height=1)
        if case.neighbours:
            for k in range(min(case.neighbours, n - 1), case.neighbours // 2, -5):
                if neighbours.capacity_for(k) != case.neighbours:
                    break
                kth = neighbours.distances(hierarchy.hierarchy_of(matrix, launch), k, launch)
                yield f"distances to the {k} nearest of {n} known points", kth, _kth(points, k)
            continue
        tree = _host_tree(points)
        if case.variant:
            yield from _tree(tree, prim.solve(matrix, launch), launch)
            continue
        yield from _tree(tree, bvh_boruvka.solve(matrix, launch), launch)
        _, labels = components_by_threads(n, *tree.edges[::2].T)
        joining = bvh_boruvka.joining_edges(matrix, labels, launch)
        yield f"edges between components of {n} known points", joining, tree.edges[1::2]


def tiles(device: Device, case: Case) -> Iterator[Answer]:
    """Test kernels that compare all pairs of known points, block by block of the distance matrix.

    They compute spanning trees, or distances to near points. `case` says which of the two is
    tested, and has the metric. Yields triples: a description, the device's result and the right
    result.
    """
    launch = Launcher(device, device.queue)
    by: Filter = "products" if case.products else "differences"
    for n, dimensions in TILED:
        points = _known_points(n, case, dimensions)
        matrix = DeviceMatrix.upload(points, device)
        if case.neighbours:
            k = min(n - 1, 20)
            packed = PackedPoints.of(matrix, launch, by=by)
            kth = tile_pairs.distances(packed, k, launch)
            yield f"distances to the {k} nearest of {n} known points", kth, _kth(points, k)
            continue
        tree = dense.solve_by_tiles(matrix, launch, options=DenseOptions(filter=by))
        yield from _tree(_host_tree(points), tree, launch)


def _tree(tree: Forest, found: FoundTree, launch: Launcher) -> Iterator[Answer]:
    """Yield the edges of `found`, a tree of points, beside the edges of `tree`, then the weights.

    The weights are yielded as unsigned integers, so that they are compared bit for bit.
    """
    host, word = found.to_host(launch), f"u{tree.weights.itemsize}"
    yield f"edges of {tree.n_vertices} known points", host.edges, tree.edges
    name = f"weights of {tree.n_vertices} known points"
    yield name, host.weights.view(word), tree.weights.view(word)


def _host_tree(graph: Points | DenseGraph, *, maximum: bool = False) -> Forest:
    """Compute the minimum or maximum spanning tree of a complete graph from all of its weights.

    This needs nothing of SciPy, whose import would take longer than the self-test. For points,
    :func:`spanning_tree` would search a k-d tree of SciPy's.
    """
    matrix = DenseGraph(_all_weights(graph)) if isinstance(graph, Points) else graph
    return spanning_tree(matrix, maximum=maximum)


def _all_weights(points: Points) -> Array:
    """Compute the weights of all pairs of points, as a square matrix."""
    numbers = np.arange(points.n_vertices)
    return points.weights_of(numbers[:, None], numbers)


def _kth(points: Points, k: int) -> Array:
    return np.sort(_all_weights(points), axis=1)[:, k]


def _known_points(n: int, case: Case, dimensions: int = 0) -> Points:
    points = complete_graph(n, case, dimensions)
    assert isinstance(points, Points)
    return points


def complete_graph(n: int, case: Case, dimensions: int = 0) -> DenseGraph | Points:
    """Return a complete graph of `n` vertices, some of whose weights are equal.

    `case` says whether the graph is a matrix or points, and has the dtype or the metric.
    `dimensions` is the number of coordinates of a point, or 0 for the number that `case` gives.
    """
    rng = np.random.default_rng(n)
    if case.metric:
        on_sphere = case.metric == "great-circle"
        # There are kernels for exactly 2 and 3 dimensions and kernels for any number. To test the
        # latter, whose dimension_class is 0, the number of dimensions varies with n.
        dimensions = 2 if on_sphere else dimensions or case.dimension_class or 4 + n % 5
        at_most = 80 if on_sphere else 50  # degrees, or small integers with few distances
        coordinates = rng.integers(1, at_most, (n, dimensions))
        if case.metric == "jaccard":  # one of its dimensions is 32 coordinates that are 0 or not
            coordinates = rng.integers(0, 2, (n, 32 * dimensions))
        # Most distances of metrics that divide are below 1.
        unit = 0.125 if case.metric in DIVIDED else 1.0
        core = rng.integers(0, 4, n) * unit if case.core else None
        power = case.power or None
        return Points(coordinates, metric=case.metric, core_distances=core, p=power)
    ranks = np.triu(rng.integers(0, 128, (n, n)), 1)
    return DenseGraph(weights_of(ranks + ranks.T, case.dtype))
