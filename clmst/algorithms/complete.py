"""The way of a complete graph that is on a device: facts for the router, and the device's trust."""

from __future__ import annotations

from dataclasses import replace

from clmst import route
from clmst.algorithms import families
from clmst.algorithms.bvh_boruvka import choice
from clmst.algorithms.dense import DenseOptions
from clmst.core.points import Points
from clmst.route import PointFacts
from clmst.runtime.device_matrix import DeviceMatrix


def facts_of_complete(
    matrix: DeviceMatrix, *, maximum: bool = False, automatic: bool = True
) -> PointFacts:
    """Return what the router is told about points or a matrix of distances on a device.

    `automatic` is false if the caller has named an algorithm or given options.
    """
    points = matrix.graph
    return PointFacts(
        n=matrix.n_vertices,
        dimensions=points.dimensions if isinstance(points, Points) else 0,
        boxed=isinstance(points, Points) and choice.takes(points),
        device=matrix.device.facts,
        maximum=maximum,
        automatic=automatic,
    )


def trusted_way(matrix: DeviceMatrix, facts: PointFacts, options: DenseOptions | None) -> str:
    """Return the record of the way that the router chooses among those the device is trusted with.

    It is never refused by rows of cells: whether the device is trusted with these, the caller asks.
    """
    while True:
        record = route.way_of_complete(facts).record
        if record == route.ROWS or _refusal(record, matrix, options) is None:
            return record
        facts = replace(facts, refused=facts.refused | {record})


def _refusal(record: str, matrix: DeviceMatrix, options: DenseOptions | None) -> str | None:
    """Return why a device is not trusted with a way, or None if it is."""
    if record == route.PRIM_POINTS:
        return families.points_refusal(matrix, few=True)
    if record == route.BOXES:
        return families.points_refusal(matrix)
    by_products = options is not None and options.filter == "products"
    return families.tiles_refusal(matrix, products=by_products)
