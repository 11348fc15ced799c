"""Draw how rush hour changes the minimum spanning tree of a road network.

    python -m benchmarks rush_hour [FILE] [--folder docs/images] [--title TITLE] [--device NAME]

Without a file, a network with 20,000 vertices is generated. By night the weight of a road is its
length. At rush hour a car drives from every crossing to the middle of the map on the shortest path.
The weight of a road then increases with the square root of its number of cars, up to four times its
length on the busiest road. One `RepeatedSolver` solves the network with the weights of the night
and with the weights of rush hour. The pictures show in colour which edges stay in the tree, leave
it and enter it. ``rush_hour.png`` shows the whole network, and ``rush_hour_middle.png`` a detail
around the middle. For a graph without coordinates, positions are computed.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

import clmst
from benchmarks.gallery import shrink
from benchmarks.runner import Reported
from clmst.core.weight_keys import Array
from clmst.drawing import draw_change, layout

_SLOWEST = 4.0  # maximum slowdown of a road
_PART = (0.078, 0.035)  # width and height of the detail, relative to the map's width
_PIXELS = 1400  # width of a picture in a page


def load(file: Path | None) -> clmst.Graph:
    """Read a road network from `file`, or generate one if it is None.

    The result has coordinates, and its weight k belongs to edge k.
    """
    if file is None:
        return clmst.generate("road", n=20_000, seed=1)
    graph = clmst.Graph.read(file)
    u, v, lengths, _ = graph.edges()
    return clmst.Graph.from_edges(
        u, v, lengths, n_vertices=graph.n_vertices,
        coordinates=layout(graph) if graph.coordinates is None else graph.coordinates,
    )  # fmt: skip


def middle_of(roads: clmst.Graph) -> int:
    """Return the crossing that is nearest to the median of the coordinates of all vertices.

    A crossing is a vertex with at least three roads. In a map without crossings, the vertices with
    the most roads are taken instead.
    """
    u, v, _, _ = roads.edges()
    n_roads = np.bincount(np.concatenate([u, v]), minlength=roads.n_vertices)
    crossings = np.flatnonzero(n_roads >= min(3, n_roads.max()))
    assert roads.coordinates is not None
    apart = roads.coordinates[crossings] - np.median(roads.coordinates, axis=0)
    return int(crossings[np.argmin((apart * apart).sum(axis=1))])


def cars_by_road(roads: clmst.Graph, middle: int) -> Array:
    """Return the number of cars on each edge if a car drives from each vertex to `middle`.

    `middle` is a vertex. Each car takes the shortest path.
    """
    u, v, lengths, _ = roads.edges()
    u, v = u.astype(np.int32), v.astype(np.int32)
    matrix = sparse.csr_array((lengths, (u, v)), shape=(roads.n_vertices,) * 2)
    starts = np.array([middle])
    (far,), (via,) = dijkstra(matrix, directed=False, indices=starts, return_predecessors=True)
    cars = np.ones(roads.n_vertices)
    for vertex in np.argsort(-far, kind="stable").tolist():
        if via[vertex] >= 0:  # skips the middle itself, and what is not connected with it
            cars[via[vertex]] += cars[vertex]
    return np.where(via[v] == u, cars[v], np.where(via[u] == v, cars[u], 0.0))


@click.command(cls=Reported)
@click.argument("file", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--device", help="As of clmst solve.")
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path("docs/images"), show_default=True,
    help="Draw here.",
)  # fmt: skip
@click.option("--title", default="Rush hour", show_default=True, help="Of the whole.")
def main(file: Path | None, device: str | None, folder: Path, title: str) -> None:
    """Draw how rush hour changes a spanning tree."""
    roads = load(file)
    assert roads.coordinates is not None
    lengths = roads.edges()[2]
    middle = middle_of(roads)
    cars = cars_by_road(roads, middle)
    slowdown = 1 + (_SLOWEST - 1) * np.sqrt(cars / cars.max(initial=1))
    with clmst.RepeatedSolver(roads, devices=device) as solver:
        by_night = solver.solve(lengths)
        at_rush_hour = solver.solve(lengths * slowdown)
    stay = np.isin(by_night.edge_ids, at_rush_hour.edge_ids).sum()
    click.echo(
        f"{roads.n_vertices:,} vertices, {roads.n_edges:,} edges, {cars.max(initial=0):,.0f} cars "
        f"on one road; total weight {by_night.total_weight:,} by night, "
        f"{at_rush_hour.total_weight:,.0f} at rush hour; {stay:,} of {by_night.n_edges:,} edges "
        "stay"
    )
    folder.mkdir(parents=True, exist_ok=True)
    whole, part = folder / "rush_hour.png", folder / "rush_hour_middle.png"
    draw_change(roads, by_night, at_rush_hour, whole, title=title)
    x, y = roads.coordinates[middle].tolist()
    across, up = (share * np.ptp(roads.coordinates[:, 0]) / 2 for share in _PART)
    draw_change(
        roads, by_night, at_rush_hour, part, title="Round the middle",
        window=(x - across, y - up, x + across, y + up),
    )  # fmt: skip
    for picture in (whole, part):
        shrink(picture, _PIXELS, colours=256)
