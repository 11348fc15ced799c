"""The way of a complete graph that is on a device: facts for the router, and the device's trust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from clmst import route
from clmst.algorithms import families
from clmst.algorithms.bvh_boruvka import choice
from clmst.algorithms.bvh_boruvka.neighbours import capacity_for
from clmst.algorithms.dense import DenseOptions
from clmst.core.points import Points
from clmst.route import PointFacts, Way
from clmst.runtime.device_matrix import DeviceMatrix


def facts_of_complete(matrix: DeviceMatrix, **call: Any) -> PointFacts:
    """Return the facts about points, or a matrix of distances, that the router needs.

    `call` has the facts about the call: `maximum`, `automatic`, `neighbours`.
    """
    points = matrix.graph
    return PointFacts(
        n=matrix.n_vertices,
        dimensions=points.dimensions if isinstance(points, Points) else 0,
        boxed=isinstance(points, Points) and choice.takes(points),
        device=matrix.device.facts,
        **call,
    )


def decide_tree(
    matrix: DeviceMatrix, facts: PointFacts, options: DenseOptions | None
) -> tuple[Way, PointFacts]:
    """Return the way of a tree, the router's first one that the device is trusted with; and why.

    The facts that are returned have the ways that the device is not trusted with.

    Rows of cells are never refused here: the caller asks whether the device is trusted with these.
    """

    def refusal(record: str) -> str | None:
        if record == route.PRIM_POINTS:
            return families.points_refusal(matrix, few=True)
        if record == route.BOXES:
            return families.points_refusal(matrix)
        by_products = options is not None and options.filter == "products"
        return families.tiles_refusal(matrix, products=by_products)

    return _trusted(facts, route.way_of_complete, refusal, last=route.ROWS)


def way_of_core_distances(matrix: DeviceMatrix, k: int) -> str:
    """Return the record of the way of core distances: to the `k`-th nearest other points."""

    def refusal(record: str) -> str | None:
        if record == route.TURNS:
            return families.few_core_refusal(matrix)
        if record == route.TILES:
            return families.tiles_refusal(matrix, neighbours=True)
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
    """Return the first way that the router chooses and that is not refused, or the last one."""
    while True:
        way = choose(facts)
        if way.record == last or refusal(way.record) is None:
            return way, facts
        facts = replace(facts, refused=facts.refused | {way.record})
