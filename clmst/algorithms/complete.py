"""Compute spanning trees and core distances of complete graphs on a device.

Several kernels can do that. The package :mod:`clmst.route`, called the router, chooses among them
by rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clmst import route
from clmst.algorithms import families
from clmst.algorithms.bvh_boruvka.neighbours import capacity_for
from clmst.algorithms.dense import DenseOptions
from clmst.algorithms.shared.found_tree import FoundTree
from clmst.core.forest import routed
from clmst.core.point_checks import BOXED, UNROUNDED
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.route import PointFacts, Way
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher


def facts_of_complete(matrix: DeviceMatrix, **call: Any) -> PointFacts:
    """Collect the facts by which :mod:`clmst.route` chooses how to solve a complete graph.

    `matrix` has the points, or the matrix of distances, on the device. `call` has further fields of
    :class:`PointFacts`, which describe the call: `maximum`, `automatic`, `neighbours`.
    """
    points = matrix.graph
    return PointFacts(
        n=matrix.n_vertices,
        dimensions=points.dimensions if isinstance(points, Points) else 0,
        boxed=isinstance(points, Points) and points.metric in BOXED,
        unrounded=isinstance(points, Points) and points.metric in UNROUNDED,
        device=matrix.device.facts,
        **call,
    )


def decide_tree(
    matrix: DeviceMatrix, facts: PointFacts, options: DenseOptions | None
) -> tuple[Way, PointFacts]:
    """Choose how to compute a spanning tree of `matrix`, among kernels that passed their self-test.

    The router (:mod:`clmst.route`) ranks the kernels that could compute the tree by `facts`, such
    as the number of points. The first whose self-test the device has passed are chosen. `options`
    are the options of the algorithm "dense", or None.

    Returns (way, facts). The way names the chosen kernels and the reason for them. The returned
    facts also list the kernels that were skipped. The last choice are kernels that go over the rows
    of the matrix. They are chosen without asking whether the device has passed their self-test, so
    there is always a result. The caller must check that before using them.
    """

    def refusal(record: str) -> str | None:
        """Return the reason why the device may not use the kernels called `record`.

        Returns None if the device may use them.
        """
        if record == route.PRIM_POINTS:
            return families.points_refusal(matrix, by_prim=True)
        if record == route.BOXES:
            return families.points_refusal(matrix)
        from clmst.algorithms.dense import tiles

        return tiles.refusal(matrix, by="auto" if options is None else options.filter)

    return _trusted(facts, route.way_of_complete, refusal, last=route.ROWS)


def spanning_tree(
    matrix: DeviceMatrix, launch: Launcher, *, algorithm: str = "auto", options: object = None,
    maximum: bool = False,
) -> FoundTree:  # fmt: skip
    """Compute the spanning tree of a complete graph by the kernels that the router chooses.

    `matrix` has the graph on the device. `maximum` asks for the maximum spanning tree. `options`
    must be None or options of the algorithm "dense". Options of another algorithm raise
    InvalidArgumentError. Raises UnsupportedDeviceError if the device has failed the self-tests of
    all kernels that could compute the tree.
    """
    automatic = algorithm == "auto" and options is None
    facts = facts_of_complete(matrix, maximum=maximum, automatic=automatic)
    if options is None or isinstance(options, DenseOptions):
        way, _ = decide_tree(matrix, facts, options)
    else:
        way = Way(route.ROWS, "")  # the solve by rows raises for options of another algorithm
    return routed(_tree_by(way.record, matrix, launch, maximum=maximum, options=options), way)


def _tree_by(
    record: str, matrix: DeviceMatrix, launch: Launcher, *, options: Any, maximum: bool
) -> FoundTree:
    """Compute the spanning tree of a complete graph by the kernels that `record` names.

    `record` is a name that :mod:`clmst.route` gives to a way of computing a tree. `matrix` has the
    distances or the points. `options` and `maximum` are as in :func:`spanning_tree`.
    """
    if record == route.PRIM_POINTS:
        from clmst.algorithms.bvh_boruvka import prim

        return prim.solve(matrix, launch)
    if record == route.BOXES:
        from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka

        return bvh_boruvka.solve(matrix, launch)
    from clmst.algorithms.dense import solve as dense

    if record == route.TILES:
        return dense.solve_by_tiles(matrix, launch, options=options)
    families.require_complete(matrix, maximum=maximum, options=options)
    return dense.solve_matrix(matrix, launch, maximum=maximum, options=options)


def core_distances(matrix: DeviceMatrix, k: int, way: str, launch: Launcher) -> Array | DeviceArray:
    """Compute the distance of each point to the `k`-th nearest other point, by given kernels.

    `matrix` has the points on the device. `way` is the name that :mod:`clmst.route` gives to the
    kernels, and must not be the name of the host. Coordinates are divided by a power of 2 on the
    device (see :attr:`Points.planes`), and so are the returned distances. Some kernels leave the
    distances on the device, others write them to the host.
    """
    if way == route.TURNS:
        from clmst.algorithms.dense import one_group

        return one_group.MutualReachability(matrix, k, launch).core_distances()
    if way == route.TILES:
        from clmst.algorithms.dense import tile_pairs, tiles

        packed = tiles.PackedPoints.of(matrix, launch, neighbours=True)
        return tile_pairs.distances(packed, k, launch)
    assert way == route.BOXES, "the host needs no matrix"
    from clmst.algorithms.bvh_boruvka import neighbours
    from clmst.algorithms.bvh_boruvka.hierarchy import hierarchy_of

    return neighbours.distances(hierarchy_of(matrix, launch), k, launch)


def way_of_core_distances(matrix: DeviceMatrix, k: int) -> str:
    """Choose how to compute core distances, and return the name of the chosen kernels.

    The name is one that :mod:`clmst.route` defines. `matrix` has the points on the device. A core
    distance is here the distance to the `k`-th nearest other point. Kernels are skipped if the
    device has failed their self-test. The last choice is the host.
    """

    def refusal(record: str) -> str | None:
        """Return the reason why the device may not use the kernels called `record`.

        Returns None if the device may use them.
        """
        if record == route.TURNS:
            return families.one_group_core_refusal(matrix)
        if record == route.TILES:
            from clmst.algorithms.dense import tiles

            return tiles.refusal(matrix, neighbours=True)
        return families.points_refusal(matrix, capacity_for(k))

    facts = facts_of_complete(matrix, neighbours=k)
    return _trusted(facts, route.way_of_core_distances, refusal, last=route.HOST)[0].record


def _trusted(
    facts: PointFacts,
    choose: Callable[[PointFacts], Way],
    refusal: Callable[[str], str | None],
    *,
    last: str,
) -> tuple[Way, PointFacts]:
    """Return the first way of solving that `choose` names and the device is trusted with.

    A way names kernels, and the device is trusted with them if it has passed their self-test.
    `choose` is a rule of :mod:`clmst.route`. For given facts about the problem it returns a way.
    `refusal` takes the name of kernels, and returns the reason why the device is not trusted with
    them, or None if it is. The names of refused kernels are added to the facts, and `choose` is
    called again. The way with the name `last` is returned without asking `refusal`. Returns the
    way, and the facts with all refused names.
    """
    while True:
        way = choose(facts)
        if way.record == last or refusal(way.record) is None:
            return way, facts
        facts = facts._replace(refused=facts.refused | {way.record})
