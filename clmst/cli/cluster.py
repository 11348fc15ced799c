"""``clmst cluster``: clusters of the points in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from clmst.cli.options import (
    coordinates_option,
    device_option,
    format_option,
    json_option,
    quiet_option,
)
from clmst.cli.terminal import STREAM, Stages, console, name_of, new_table, print_json, reading

if TYPE_CHECKING:
    from clmst.core.weight_keys import Array

PICTURES = ("clusters", "dendrogram", "condensed-tree")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--min-cluster-size", type=click.IntRange(min=2), default=5, show_default=True,
    help="HDBSCAN: fewest points of a cluster.",
)  # fmt: skip
@click.option(
    "--min-samples",
    type=click.IntRange(min=1),
    help="HDBSCAN: how many points must be near a dense one; as --min-cluster-size by default.",
)
@click.option(
    "--epsilon", type=float, default=0.0, help="HDBSCAN: clusters less than this apart stay one."
)
@format_option("--format", "format_name", text="The format of FILE, whatever its suffix.")
@coordinates_option
@click.option("-k", "--clusters", "k", type=click.IntRange(min=1), help="Single linkage: how many.")
@click.option("--height", type=float, help="Single linkage: join what is up to this far apart.")
@click.option(
    "--metric", metavar="NAME", help="As euclidean, manhattan, cosine; the file's, or euclidean."
)
@device_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path),
    help="Write the labels: .npy, or else one a line; - is stdout.",
)  # fmt: skip
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Draw a picture: .png, .svg, .pdf; .html to explore.",
)
@click.option(
    "--picture", type=click.Choice(PICTURES), default="clusters", show_default=True,
    help="What --plot draws.",
)  # fmt: skip
@json_option
@quiet_option
def cluster(
    *,
    file: Path,
    min_cluster_size: int,
    min_samples: int | None,
    epsilon: float,
    format_name: str | None,
    columns: tuple[str, ...] | None,
    k: int | None,
    height: float | None,
    metric: Any,  # checked by what takes it
    device_name: str | None,
    output: Path | None,
    plot: Path | None,
    picture: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the clusters of the points in FILE, which need no labels.

    FILE is a table with a row for each point, .csv, .parquet or .npy, or a TSPLIB file, compressed
    if its name ends in .gz, .bz2, .xz or .zst; - is stdin, whose format --format names. With -k or
    --height by single linkage, else by HDBSCAN, which needs no number of clusters. Labels are
    numbered by least point; noise is -1.
    """
    from clmst.core.atomic_file import replaceable
    from clmst.io import read_rows
    from clmst.points.hdbscan import HDBSCAN
    from clmst.points.inputs import forest_of

    if k is not None and height is not None:
        raise click.UsageError("-k and --height are two ways of one cut; give one of them")
    by_linkage = k is not None or height is not None
    if plot is not None:
        _refuse_early(plot, picture, by_linkage)
    if output is not None and output != STREAM:
        replaceable(output)
    stages = Stages(quiet=quiet)
    with reading(stages, "read", file, format_name, points=True) as opened:
        points = read_rows(opened, format=format_name, metric=metric, columns=columns)
    chosen = metric or "euclidean"
    with stages.stage("cluster", "clustering"):
        model: Any = None
        if by_linkage:
            forest = forest_of(points, chosen, None, device_name)
            labels = forest.cut(height=height, k=k)
        else:
            model = HDBSCAN(
                min_cluster_size, min_samples, epsilon, metric=chosen, device=device_name
            ).fit(points)
            labels, forest = model.labels_, model.forest_
    if output is not None:
        with stages.stage("write", f"writing {name_of(output)}"):
            _write(labels, output)
    if plot is not None:
        with stages.stage("draw", f"drawing {plot}"):
            _draw(picture, plot, _Clustering(points, labels, forest, model), device_name)
    _tell(labels, stages, as_json=as_json, quiet=quiet or output == STREAM)


def _write(labels: Array, output: Path) -> None:
    """Write labels as a whole, or not at all."""
    import numpy as np

    from clmst.core.atomic_file import replacing

    text = "".join(f"{label}\n" for label in labels.tolist())
    if output == STREAM:
        click.echo(text, nl=False)
        return
    with replacing(output) as stream:
        if output.suffix == ".npy":
            np.save(stream, labels)
        else:
            stream.write(text.encode())


def _refuse_early(plot: Path, picture: str, by_linkage: bool) -> None:
    """Raise what would be raised only after the work otherwise."""
    from clmst.core.errors import optional_import
    from clmst.drawing.interactive import SUFFIX
    from clmst.drawing.sheet import SUFFIXES, checked_path

    is_page = checked_path(plot, (*SUFFIXES, SUFFIX)).suffix.lower() == SUFFIX
    package, extra = ("plotly", "plotly") if is_page else ("matplotlib", "plot")
    optional_import(package, extra=extra)
    if picture == "condensed-tree" and by_linkage:
        raise click.UsageError("a condensed tree is HDBSCAN's; leave out -k and --height")
    if picture == "condensed-tree" and is_page:
        raise click.UsageError("a condensed tree is drawn as .png, .svg or .pdf")


class _Clustering(NamedTuple):
    """The content of a picture; `model` is None after single linkage."""

    points: Any
    labels: Array
    forest: Any
    model: Any


def _draw(picture: str, path: Path, found: _Clustering, device: str | None) -> None:
    from clmst import drawing
    from clmst.core.errors import InvalidArgumentError
    from clmst.drawing.interactive import SUFFIX

    is_page = path.suffix.lower() == SUFFIX
    if picture == "condensed-tree":
        drawing.draw_condensed_tree(
            found.model.condensed_tree_, path, selected=found.model.selected_clusters_
        )
    elif found.forest.n_vertices != found.labels.size:
        raise InvalidArgumentError("some rows are not finite; a picture needs all of them finite")
    elif picture == "dendrogram":
        linkage = found.forest.linkage(join_components=True, device=device)
        draw_tree = drawing.explore_dendrogram if is_page else drawing.draw_dendrogram
        draw_tree(linkage, path, labels=found.labels)
    else:
        draw_map = drawing.explore_clusters if is_page else drawing.draw_clusters
        draw_map(found.points, found.labels, path, forest=found.forest)


def _tell(labels: Array, stages: Stages, *, as_json: bool, quiet: bool) -> None:
    """Print how many clusters of which sizes there are."""
    import numpy as np

    sizes = np.bincount(labels[labels >= 0])
    summary = {
        "points": int(labels.size),
        "clusters": int(sizes.size),
        "noise": int((labels < 0).sum()),
        "sizes": sizes.tolist(),
        "seconds": stages.seconds,
    }
    if as_json:
        print_json(summary)
    elif not quiet:
        table = new_table()
        for name in ("points", "clusters", "noise"):
            table.add_row(name, f"{summary[name]:,}")
        table.add_row("largest", ", ".join(f"{size:,}" for size in np.sort(sizes)[::-1][:5]) or "-")
        console(stderr=True).print(table)
