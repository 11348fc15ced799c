"""Draw the pictures of the gallery from generated graphs.

    python -m benchmarks gallery [--folder docs/images] [--only NAME] [--device NAME]

The same seeds give the same graphs and forests, and therefore the same pictures, on every device.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

import clmst
from benchmarks.runner import Reported
from benchmarks.town_pictures import closed_road, towns
from clmst import primitives
from clmst.bench.canvas import panels
from clmst.blocks.partition import divide
from clmst.cluster import HDBSCAN, PersistentLeaves
from clmst.core.weight_keys import Array
from clmst.drawing import (
    draw_change,
    draw_clusters,
    draw_condensed_tree,
    draw_dendrogram,
    draw_forest,
    draw_persistence,
)
from clmst.drawing.palette import INK, PALETTE, hues, rgb

PIXELS = 1000  # width of a picture in a page


def maze(path: Path, device: clmst.Device) -> None:
    """Draw the tree of a grid with random weights, which is a maze."""
    rows, columns = 36, 48
    grid = clmst.generate("grid", rows=rows, columns=columns, seed=7)
    u, v, weights, _ = grid.edges()
    row, column = np.divmod(np.arange(rows * columns), columns)
    graph = clmst.Graph.from_edges(
        u, v, weights, n_vertices=rows * columns,
        coordinates=np.column_stack([column, -row]).astype(np.float64),
    )  # fmt: skip
    forest = clmst.minimum_spanning_forest(graph, device=device)
    draw_forest(graph, forest, path, title="A maze: the tree of a grid with random weights")


def clusters(path: Path, device: clmst.Device) -> None:
    """Draw clusters of points. Near points are joined, so the forest has one tree per cluster."""
    random = np.random.default_rng(3)
    middles = random.uniform(0, 100, (12, 2))
    points = (middles[:, None] + random.normal(0, 3, (12, 120, 2))).reshape(-1, 2)
    u, v = np.triu_indices(len(points), 1)
    apart = np.hypot(*(points[u] - points[v]).T)
    near = apart < 2.5
    graph = clmst.Graph.from_edges(
        u[near], v[near], apart[near], n_vertices=len(points), coordinates=points
    )
    forest = clmst.minimum_spanning_forest(graph, device=device)
    draw_forest(graph, forest, path, title="A forest: points joined where they are near")


def change(path: Path, device: clmst.Device) -> None:
    """Draw which roads stay in the minimum tree, leave it and enter it if some become slow."""
    graph = clmst.generate("road", n=4_000, seed=1)
    usual = graph.edges()[2]
    slow = np.where(np.random.default_rng(1).random(usual.size) < 0.1, 3, 1)
    with clmst.RepeatedSolver(graph, devices=device) as solver:
        before, after = solver.solve(usual), solver.solve(usual * slow)
    draw_change(graph, before, after, path, title="A tenth of all roads takes three times as long")


def discs(rows: int, columns: int, count: int) -> tuple[Array, Array]:
    """Return a smoothed grey image of discs with noise, and the seeds of its segments.

    Both arrays have the shape (rows, columns). The seeds are integers. A few pixels in the middle
    of each disc have the disc's label, from 2 on. The four corners have the label of the
    background, which is 1. All other pixels are 0. Of `count` discs, those that would touch an
    earlier one are left out.
    """
    random = np.random.default_rng(11)
    row, column = np.indices((rows, columns))
    image, seeds = np.zeros((rows, columns)), np.zeros((rows, columns), np.int32)
    seeds[[0, 0, -1, -1], [0, -1, 0, -1]] = 1
    for label in range(2, count + 2):
        radius = random.integers(9, 17)
        middle = random.integers(radius, rows - radius), random.integers(radius, columns - radius)
        away = np.hypot(row - middle[0], column - middle[1])
        if image[away < radius + 4].any():  # the disc would touch another one
            continue
        image[away < radius] = random.uniform(0.5, 1)
        seeds[away < 3] = label
    return gaussian_filter(image + random.normal(scale=0.15, size=image.shape), 1.5), seeds


def segments(path: Path, device: clmst.Device) -> None:
    """Draw an image, the seeds in it, and the segment that grows from each seed.

    The segments are the trees that are left when the heaviest edges between seeds are cut from the
    image's minimum spanning forest.
    """
    image, seeds = discs(240, 320, 60)
    labels = clmst.seeded_segmentation(clmst.Graph.from_image(image), seeds, device=device)
    colours = np.random.default_rng(2).integers(60, 256, (labels.max() + 1, 3)).astype(np.uint8)
    colours[1] = 30
    grey = (255 * np.clip(image, 0, 1)).astype(np.uint8)
    plain = np.stack([grey] * 3, axis=-1)
    planted = np.where(seeds[..., None] > 0, np.array([230, 80, 40], np.uint8), plain)
    shown = {"an image": plain, "its seeds": planted, "a segment for each seed": colours[labels]}
    with panels(path, 3, (10, 2.95), title="Segments by seeds") as axes:
        for axis, (name, picture) in zip(axes, shown.items(), strict=True):
            axis.imshow(picture)
            axis.set_axis_off()
            axis.set_title(name, fontsize=10)


def groups_and_noise() -> Array:
    """Return points of four groups of different density, and of noise."""
    random = np.random.default_rng(1)
    groups = (((0, 0), 0.4, 150), ((4, 1), 0.7, 200), ((1, 5), 0.3, 80), ((6, 6), 1.2, 200))
    parts = [random.normal(middle, spread, (n, 2)) for middle, spread, n in groups]
    return np.concatenate([*parts, random.uniform(-3, 9, (60, 2))])


def density(path: Path, device: clmst.Device) -> None:
    """Draw the clusters that HDBSCAN finds, over its spanning tree."""
    points = groups_and_noise()
    model = HDBSCAN(12, device=device).fit(points)
    draw_clusters(points, model.labels_, path, forest=model.forest_, title="HDBSCAN: clusters")


def blocks(path: Path, device: clmst.Device) -> None:
    """Draw the blocks into which a solve by blocks divides points, and the pairs that it compares.

    The option `block_points` asks for a solve by blocks. This solve first computes the tree of each
    block, then the edges between pairs of blocks.
    """
    rows = np.random.default_rng(5).random((6000, 2)) * (1.6, 1.0)
    points, most = clmst.Points(rows), 250
    parts = [one.numbers for one in divide(points, most)[0]]
    with tempfile.TemporaryDirectory() as folder:
        options = clmst.BlockOptions(n_points=most, checkpoint=folder)
        counted = clmst.minimum_spanning_forest(points, device=device, block_points=options).stats
        names = [one.stem.split("-")[2:] for one in Path(folder).glob("tree-pair-*.npz")]
    pairs = np.array(names, int)  # of pieces, which are whole blocks where points are spread evenly
    middles = np.array([rows[part].mean(axis=0) for part in parts])
    n_pairs = len(parts) * (len(parts) - 1) // 2
    title = f"{len(parts)} blocks, and the {len(pairs)} of {n_pairs} pairs that are solved"
    assert counted["blocks"]["blocks"] == len(parts), "these are the blocks of the solve"
    with panels(path, 1, (10, 6.6), title=title) as (axis,):
        for part, colour in zip(parts, hues(np.arange(len(parts))), strict=True):
            axis.scatter(*rows[part].T, s=5, color=colour, linewidths=0)
        for pair in pairs:
            axis.plot(*middles[pair].T, color="#1f2d3a", linewidth=1.6)
        axis.scatter(*middles.T, s=36, color="#1f2d3a", zorder=3)
        axis.set_aspect("equal")
        axis.set_axis_off()


def dendrogram(path: Path, device: clmst.Device) -> None:
    """Draw the dendrogram of HDBSCAN's spanning tree, coloured by cluster."""
    model = HDBSCAN(12, device=device).fit(groups_and_noise())
    linkage = model.forest_.linkage(device=device)
    draw_dendrogram(linkage, path, labels=model.labels_, title="HDBSCAN: the dendrogram")


def condensed_tree(path: Path, device: clmst.Device) -> None:
    """Draw HDBSCAN's tree of clusters (the condensed tree), from which it chooses the clusters."""
    model = HDBSCAN(12, device=device).fit(groups_and_noise())
    draw_condensed_tree(model.condensed_tree_, path, selected=model.selected_clusters_)


def groups_of_groups() -> Array:
    """Return points of three groups, each of three smaller groups, and of noise."""
    random = np.random.default_rng(2)
    middles = np.array([(0, 0), (30, 0), (12, 26)])
    parts = [
        random.normal(middle + off, 0.7, (60, 2))
        for middle in middles for off in ((0, 0), (5, 0), (2, 4))
    ]  # fmt: skip
    return np.concatenate([*parts, random.uniform(-5, 40, (60, 2))])


def persistence(path: Path, device: clmst.Device) -> None:
    """Draw the curve from which PersistentLeaves chooses the minimum cluster size.

    It is the sum of the persistences of all leaf clusters, by the minimum cluster size. The
    persistence of a cluster is the number of minimum cluster sizes for which it is a leaf, that is,
    for which it contains no other cluster.
    """
    model = PersistentLeaves(10, device=device).fit(groups_of_groups())
    draw_persistence(model.trace_, path, selected=model.min_cluster_size_)


def characters(path: Path, device: clmst.Device) -> None:
    """Draw the maximum spanning tree of the characters who appear together in a novel."""
    import networkx as nx

    network = nx.les_miserables_graph()
    tree = clmst.maximum_spanning_forest(network, device=device).to_networkx()
    places = nx.kamada_kawai_layout(tree, weight=None)
    with panels(path, 1, (10, 5), title="The strongest ties of Les Misérables") as axes:
        axis = axes[0]
        widths = [0.4 + tree.edges[edge]["weight"] / 6 for edge in tree.edges]
        nx.draw_networkx_edges(tree, places, ax=axis, width=widths, edge_color="#4a7c9b")
        sizes = [12 * tree.degree(node) for node in tree]
        nx.draw_networkx_nodes(tree, places, ax=axis, node_size=sizes, node_color="#c2410c")
        named = {node: node for node in tree if tree.degree(node) > 3}
        behind = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1}
        nx.draw_networkx_labels(
            tree, places, named, ax=axis, font_size=11, verticalalignment="bottom", bbox=behind
        )
        axis.set_axis_off()


def scans(path: Path, device: clmst.Device) -> None:
    """Draw what a scan, a segmented scan and a compaction make of a small array."""
    numbers = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], np.uint32)
    offsets = np.array([0, 3, 7, 10], np.uint32)
    values = clmst.DeviceArray.from_host(numbers, device)
    heads = primitives.head_flags(clmst.DeviceArray.from_host(offsets, device), numbers.size)
    large = primitives.Predicate(dtype=numbers.dtype, expression="x >= 4")
    kept, count = primitives.compact(values, predicate=large)
    places = np.flatnonzero(numbers >= 4)

    grey = "#e9edf0"
    light = [(rgb(PALETTE[k]) + 2 * rgb("#ffffff")) / 3 for k in (0, 1, 6)]
    plain = [grey] * numbers.size
    by_segment = np.repeat(light, np.diff(offsets), axis=0).tolist()
    chosen = [light[0] if k in places else grey for k in range(numbers.size)]
    results = (
        (
            "inclusive_scan: the sum of all elements up to each",
            primitives.inclusive_scan(values).to_host(), plain, plain,
        ),
        (
            "segmented_scan: the sum begins again in each segment",
            primitives.segmented_scan(values, heads).to_host(), by_segment, by_segment,
        ),
        (
            "compact: the elements of 4 or more, in their order",
            kept.to_host()[: count.to_host()[0]], chosen, [light[0]] * places.size,
        ),
    )  # fmt: skip
    with panels(path, 1, (6.7, 5.2), title="Scan, segmented scan and compaction") as (axis,):
        top = 0.0
        for text, result, above, below in results:
            gap = 0.9 if above is chosen else 0.2  # of the two rows; the arrows need more
            axis.text(0, top + 0.25, text, fontsize=12, color=INK)
            _cells(axis, top - 1, numbers, above)
            _cells(axis, top - 2 - gap, result, below)
            top -= 3.1 + gap
        for new, old in enumerate(places.tolist()):
            axis.annotate(
                "", (new + 0.5, top + 2.1), (old + 0.5, top + 3),
                arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
        axis.set_xlim(-0.05, numbers.size + 0.05)
        axis.set_ylim(top + 1.05, 0.9)
        axis.set_axis_off()


def _cells(axis: Any, bottom: float, numbers: Array, colours: list[Any]) -> None:
    """Draw a row of cells of height 1 from `bottom` up, one for each number, in its colour."""
    for k, (number, colour) in enumerate(zip(numbers.tolist(), colours, strict=True)):
        axis.bar(k + 0.5, 1, 1, bottom, color=colour, edgecolor="white", linewidth=2)
        axis.text(
            k + 0.5, bottom + 0.5, str(number), fontsize=12, ha="center", va="center_baseline"
        )


_DRAWN = (
    maze, clusters, change, density, dendrogram, condensed_tree, persistence, segments, characters,
    towns, closed_road, blocks, scans,
)  # fmt: skip
PICTURES: dict[str, Callable[[Path, clmst.Device], None]] = {one.__name__: one for one in _DRAWN}


def draw(name: str, path: Path, device: clmst.Device) -> None:
    """Draw the picture `name`, a key of PICTURES, to a file, and shrink it to a page's width."""
    PICTURES[name](path, device)
    shrink(path)


def shrink(path: Path, width: int = PIXELS, *, colours: int = 256) -> None:
    """Scale a picture file to a width in pixels, and reduce its colours to a palette of `colours`.

    The file is overwritten. By default the picture gets the width of a picture in a page.
    """
    with Image.open(path) as picture:
        height = round(picture.height * width / picture.width)
        small = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
        small.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)


@click.command(cls=Reported)
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path("docs/images"), show_default=True,
    help="Where the pictures go.",
)  # fmt: skip
@click.option("--only", type=click.Choice(list(PICTURES)), help="One picture, not all.")
@click.option("--device", help="As of clmst solve.")
def main(folder: Path, only: str | None, device: str | None) -> None:
    """Draw the pictures of the gallery."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in [only] if only else PICTURES:
        draw(name, folder / f"{name}.png", clmst.get_device(device))
        print(folder / f"{name}.png")
