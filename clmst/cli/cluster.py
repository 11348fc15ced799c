"""``clmst cluster``: find clusters of the points in a file."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from clmst.cli.failure import understood
from clmst.cli.options import (
    coordinates_option,
    device_option,
    format_option,
    json_option,
    quiet_option,
)
from clmst.cli.terminal import (
    STREAM,
    Stages,
    console,
    force_option,
    name_of,
    new_table,
    print_json,
    reading,
    refuse_to_replace,
)

if TYPE_CHECKING:
    from clmst.core.weight_keys import Array

PICTURES = ("clusters", "dendrogram", "condensed-tree")


class HdbscanOption(click.Option):
    """An option that only HDBSCAN has, not single linkage."""


def _hdbscan_option(*names: str, text: str, **more: Any) -> Callable[..., Any]:
    return click.option(*names, cls=HdbscanOption, help=f"HDBSCAN: {text}", **more)


def _parameters(_context: object, _option: object, texts: tuple[str, ...]) -> dict[str, Any] | None:
    """Parse arguments of a metric, given as texts such as ``p=3`` or ``w=[1, 2]``.

    Returns None if `texts` is empty, and raises a usage error if a text is malformed. The other two
    arguments are click's, and are not used.
    """
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        try:
            if not (name.strip() and sign):
                raise ValueError  # noqa: TRY301
            found[name.strip()] = json.loads(value)
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is not NAME=VALUE; write p=3, for example, or w=[1,2] for a list"
            ) from None
    return found or None


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@_hdbscan_option(
    "--min-cluster-size", type=click.IntRange(min=2), default=5, show_default=True,
    text="minimum number of points in a cluster.",
)  # fmt: skip
@_hdbscan_option(
    "--min-samples", type=click.IntRange(min=1),
    text="the core distance of a point is its distance to the nearest point of this number, "
         "counting itself. More samples make more points noise. The default is the value of "
         "--min-cluster-size.",
)  # fmt: skip
@_hdbscan_option(
    "--cluster-selection-epsilon", "--epsilon", type=click.FloatRange(min=0), default=0.0,
    show_default=True, text="merge clusters that are less than this distance apart.",
)  # fmt: skip
@_hdbscan_option(
    "--cluster-selection-epsilon-max", "--epsilon-max", type=click.FloatRange(min=0),
    default=float("inf"), show_default="no limit",
    text="divide clusters that are joined above this distance; only for eom.",
)  # fmt: skip
@_hdbscan_option(
    "--cluster-selection-persistence", "--persistence", type=click.FloatRange(min=0), default=0.0,
    show_default=True, text="merge clusters that persist for less than this difference of density.",
)  # fmt: skip
@_hdbscan_option(
    "--max-cluster-size",
    type=click.IntRange(min=1),
    text="maximum number of points in a cluster; only for eom.",
)
@_hdbscan_option(
    "--cluster-selection-method", type=click.Choice(["eom", "leaf"]), default="eom",
    show_default=True, text="choose the most stable clusters of the tree (eom), or its leaves, "
                            "which are the smallest clusters (leaf).",
)  # fmt: skip
@_hdbscan_option(
    "--allow-single-cluster",
    is_flag=True,
    text="accept a result in which all points form one cluster.",
)
@_hdbscan_option(
    "--alpha", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True,
    text="divide distances by this number before clustering. Core distances of points are not "
         "divided.",
)  # fmt: skip
@_hdbscan_option(
    "--algorithm", type=click.Choice(["auto", "brute", "kd_tree", "ball_tree"]), default="auto",
    show_default=True,
    text="accept only the metrics that this algorithm of scikit-learn accepts. The result does "
         "not depend on it.",
)  # fmt: skip
@_hdbscan_option(
    "--store-centers", type=click.Choice(["centroid", "medoid", "both"]),
    text="print the weighted mean of each cluster (centroid), its most central point (medoid), "
         "or both.",
)  # fmt: skip
@_hdbscan_option(
    "--ties",
    type=click.Choice(["sequential", "simultaneous"]),
    default="sequential",
    show_default=True,
    text="merge clusters at equal heights one after the other (sequential), or all at once "
    "(simultaneous). With simultaneous merges, clusters do not depend on the order of the rows.",
)
@click.option(
    "-k",
    "--clusters",
    "k",
    type=click.IntRange(min=1),
    help="Use single linkage, and cut the tree into this number of clusters.",
)
@click.option(
    "--block-points", type=click.IntRange(min=2),
    help="Compute the tree in blocks of at most this number of points, for points that are too "
         "many for the device or for memory. The clusters are the same. A .npy or Parquet file is "
         "then read in parts, unless --format is given.",
)  # fmt: skip
@click.option(
    "--height",
    type=float,
    help="Use single linkage, and join all points that are at most this distance apart.",
)
@format_option("--format", "format_name", text="The format of FILE, whatever its suffix.")
@coordinates_option
@click.option(
    "--metric", metavar="NAME",
    help="The metric, for example euclidean, manhattan or cosine. The default is the metric that "
         "FILE names, or euclidean. precomputed means that FILE contains a matrix of distances.",
)  # fmt: skip
@click.option(
    "--metric-param", "metric_params", metavar="NAME=VALUE", multiple=True, callback=_parameters,
    help="An argument of the metric, for example p=3 for minkowski, or w=[1,2]. May be repeated.",
)  # fmt: skip
@device_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path),
    help="Write the labels to this file: an array if it ends in .npy, otherwise text with one "
         "label per line. - is stdout.",
)  # fmt: skip
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Draw a picture into this file (.png, .svg or .pdf). With .html, the picture can be "
    "explored in a browser.",
)
@click.option(
    "--picture", type=click.Choice(PICTURES), default="clusters", show_default=True,
    help="What --plot draws.",
)  # fmt: skip
@force_option
@json_option
@quiet_option
@click.pass_context
def cluster(
    context: click.Context,
    /,
    *,
    file: Path,
    k: int | None,
    block_points: int | None,
    height: float | None,
    format_name: str | None,
    columns: tuple[str, ...] | None,
    metric: Any,  # the name of a metric, or None
    metric_params: dict[str, Any] | None,
    device_name: str | None,
    output: Path | None,
    plot: Path | None,
    picture: str,
    force: bool,
    as_json: bool,
    quiet: bool,
    **of_hdbscan: Any,  # the parameters of HDBSCAN
) -> None:
    """Find the clusters of the points in FILE, without labels to learn from.

    FILE is a table with a row for each point (.csv, .tsv, .parquet or .npy) or a TSPLIB file. It is
    decompressed if its name ends in .gz, .bz2, .xz or .zst. - is stdin, whose format --format
    gives. FILE may also be a folder or a quoted pattern such as 'folder/*.parquet', of .npy and
    Parquet files, whose rows are joined in the order of their names. With -k or --height the
    clusters are found by single linkage, else by HDBSCAN, which finds the number of clusters
    itself. Clusters are numbered in the order of their first points. Noise has the label -1.
    """
    from clmst.core.atomic_file import replaceable
    from clmst.io import pieces, read_rows
    from clmst.points.hdbscan import HDBSCAN, check_parameters
    from clmst.points.inputs import forest_of
    from clmst.points.metrics import check_metric_name

    if k is not None and height is not None:
        raise click.UsageError("-k and --height both say where to cut; give only one of them")
    by_linkage = k is not None or height is not None
    if by_linkage:
        _refuse_of_hdbscan(context)
    if as_json and output == STREAM:
        raise click.UsageError("--json and --output - both write to stdout; give only one of them")
    chosen = metric or "euclidean"
    model = HDBSCAN(
        **of_hdbscan, metric=chosen, metric_params=metric_params, device=device_name,
        block_points=block_points,
    )  # fmt: skip
    with understood():
        check_metric_name(chosen)
        check_parameters(model)
    if plot is not None:
        _refuse_early(plot, picture, by_linkage)
    if output is not None and output != STREAM:
        replaceable(output)
    are_several = _are_several(file, format_name)
    inputs = pieces.listed(file) if are_several else [file]
    refuse_to_replace(inputs, [one for one in (output, plot) if one is not None], force=force)
    stages = Stages(quiet=quiet)
    in_parts = block_points is not None and file.suffix in pieces.SUFFIXES and not format_name
    if are_several or in_parts:
        with stages.stage("read", f"reading {file}"):
            points = read_rows(file, columns=columns, mapped=True)
    else:
        opened = reading(stages, "read", file, format_name, points=True, columns=columns)
        with opened as stream:
            points = read_rows(stream, format=format_name, metric=metric, columns=columns)
    with stages.stage("cluster", "clustering"):
        if by_linkage:
            forest = forest_of(points, chosen, metric_params, device_name, block_points)
            labels = forest.cut(height=height, k=k)
        else:
            labels, forest = model.fit(points).labels_, model.forest_
    if output is not None:
        with stages.stage("write", f"writing {name_of(output)}"):
            _write(labels, output)
    if plot is not None:
        with stages.stage("draw", f"drawing {plot}"):
            found = _Clustering(points, labels, forest, None if by_linkage else model)
            _draw(picture, plot, found, device_name)
    _tell(labels, stages, _centers(model), as_json=as_json, quiet=quiet or output == STREAM)


def _are_several(file: Path, format_name: str | None) -> bool:
    """Return whether FILE on the command line is a folder or a pattern that matches several files.

    Raises a usage error if it is, and the option --format is given.
    """
    if file == STREAM or file.is_file() or not (file.is_dir() or glob.has_magic(str(file))):
        return False
    if format_name is not None:
        raise click.UsageError(
            f"--format is {format_name}, and {file} is a folder or a pattern, of whose files the "
            "suffixes say the format; leave it out"
        )
    return True


def _refuse_of_hdbscan(context: click.Context) -> None:
    """Raise a usage error if an option of HDBSCAN is given on the command line."""
    for option in context.command.params:
        is_given = context.get_parameter_source(option.name or "") != ParameterSource.DEFAULT
        if isinstance(option, HdbscanOption) and is_given:
            raise click.UsageError(
                f"{option.opts[0]} belongs to HDBSCAN, but -k and --height choose single "
                "linkage; leave one of them out"
            )


def _centers(model: Any) -> dict[str, Any]:
    """Return the centres of clusters that a fitted HDBSCAN has computed, as a dict.

    The keys are "centroids" and "medoids". A key is missing if its centres were not computed.
    """
    names = ("centroids", "medoids")
    return {one: getattr(model, f"{one}_") for one in names if hasattr(model, f"{one}_")}


def _write(labels: Array, output: Path) -> None:
    """Write one label a line to `output`, or an array if `output` ends in ``.npy``.

    `output` is a file or stdout. A file is written as a whole or not at all.
    """
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
    """Check the file and the kind of a picture before the work begins, so that errors are early.

    `plot` is the file, and `picture` the kind. `by_linkage` says that single linkage finds the
    clusters, and not HDBSCAN.
    """
    from clmst.core.atomic_file import replaceable
    from clmst.core.errors import optional_import
    from clmst.drawing.interactive import SUFFIX
    from clmst.drawing.sheet import SUFFIXES, checked_suffix

    with understood():
        is_page = checked_suffix(plot, (*SUFFIXES, SUFFIX)).suffix.lower() == SUFFIX
    replaceable(plot)
    package, extra = ("plotly", "plotly") if is_page else ("matplotlib", "plot")
    optional_import(package, extra=extra)
    if picture == "condensed-tree" and by_linkage:
        raise click.UsageError(
            "a condensed tree belongs to HDBSCAN, but -k and --height choose "
            "single linkage; leave them out"
        )
    if picture == "condensed-tree" and is_page:
        raise click.UsageError(
            "a condensed tree cannot be drawn as .html; the suffix must be .png, .svg or .pdf"
        )


class _Clustering(NamedTuple):
    """The results of a clustering, of which a picture is drawn.

    `labels` has the cluster of each point. `forest` is the spanning tree of the points. `model` is
    the fitted HDBSCAN, or None after single linkage.
    """

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
        raise InvalidArgumentError(
            "some rows are not finite; for a picture, all rows must be finite"
        )
    elif picture == "dendrogram":
        linkage = found.forest.linkage(join_components=True, device=device)
        draw_tree = drawing.explore_dendrogram if is_page else drawing.draw_dendrogram
        draw_tree(linkage, path, labels=found.labels)
    else:
        draw_map = drawing.explore_clusters if is_page else drawing.draw_clusters
        draw_map(found.points, found.labels, path, forest=found.forest)


def _tell(
    labels: Array, stages: Stages, centers: dict[str, Any], *, as_json: bool, quiet: bool
) -> None:
    """Print the number and sizes of the clusters, and the clusters' centres.

    `labels` has the number of each point's cluster, and `centers` the centres by kind, which may be
    empty. With `as_json` JSON is printed instead of a table. `quiet` leaves out the table. `stages`
    has the times of the steps of the command, such as reading.
    """
    import numpy as np

    sizes = np.bincount(labels[labels >= 0])
    summary = {
        "points": int(labels.size),
        "clusters": int(sizes.size),
        "noise": int((labels < 0).sum()),
        "sizes": sizes.tolist(),
        "seconds": stages.seconds,
        **centers,
    }
    if as_json:
        print_json(summary)
    elif not quiet:
        table = new_table()
        for name in ("points", "clusters", "noise"):
            table.add_row(name, f"{summary[name]:,}")
        table.add_row("largest", ", ".join(f"{size:,}" for size in np.sort(sizes)[::-1][:5]) or "-")
        screen = console(stderr=True)
        screen.print(table)
        if centers:
            names = [name.removesuffix("s") for name in centers]
            listed = new_table("cluster", "points", *names, numbers=("cluster", "points"))
            for k, rows in enumerate(zip(*centers.values(), strict=True)):
                texts = [", ".join(f"{number:g}" for number in row) for row in rows]
                listed.add_row(str(k), f"{sizes[k]:,}", *texts)
            screen.print()
            screen.print(listed)
