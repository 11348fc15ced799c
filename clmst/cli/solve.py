"""``clmst solve``: compute the spanning forest of a graph file."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from clmst.algorithms.registry import takes_complete_graphs
from clmst.cli.failure import understood
from clmst.cli.options import (
    algorithm_option,
    columns_option,
    devices_option,
    format_option,
    json_option,
    options_option,
    quiet_option,
)
from clmst.cli.streaming import StreamedFile, StreamRequest, stream_options
from clmst.cli.summary import Summary
from clmst.cli.terminal import (
    STREAM,
    Stages,
    console,
    find_format,
    force_option,
    name_of,
    print_json,
    reading,
    refuse_to_replace,
    target,
    warn_of_labels,
    will_write,
)

if TYPE_CHECKING:
    from clmst.core.dense_graph import DenseGraph
    from clmst.core.forest import Forest
    from clmst.core.graph import Graph
    from clmst.core.points import Points
    from clmst.io import Format
    from clmst.runtime.device import Device
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.device_matrix import DeviceMatrix

    AnyGraph: TypeAlias = Graph | DenseGraph | Points
    OnDevice: TypeAlias = DeviceGraph | DeviceMatrix


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@algorithm_option(
    text="The algorithm. It changes the time, not the forest. One of {names}.", default="auto"
)
@options_option
@devices_option
@click.option(
    "--without", metavar="CAPABILITY", multiple=True,
    help="Act as if the device had no 64-bit atomics (int64-atomics), no lanes (lanes) or no "
         "doubles (doubles). May be repeated.",
)  # fmt: skip
@format_option("--format", "format_name", text="The format of FILE, whatever its suffix.")
@columns_option
@click.option(
    "--metric",
    metavar="NAME",
    is_eager=True,  # the callback of --columns reads it
    help="FILE contains points; --columns names their coordinates. Use this metric instead of "
    "the file's, for example haversine for decimal degrees.",
)
@click.option(
    "--maximum", is_flag=True, help="Find the maximum instead of the minimum spanning forest."
)
@click.option(
    "--verify", "verified", is_flag=True,
    help="Prove that the result is right, on the device or on the host, whichever is faster.",
)  # fmt: skip
@click.option(
    "-o", "--output", "outputs", type=click.Path(path_type=Path), multiple=True,
    help="Write the forest to this file. The suffix chooses the format: .csv, .mtx, .npz or "
         ".parquet; .json is a summary, any other suffix an edge list. - is stdout. May be "
         "repeated.",
)  # fmt: skip
@format_option(
    "--output-format",
    text="The format of all outputs, whatever their suffixes. By default, stdout gets an edge "
    "list.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Draw the forest into this file (.png, .svg or .pdf).",
)
@force_option
@click.option(
    "--profile", is_flag=True, help="Measure the time of every kernel, and print a table."
)
@click.option(
    "--repeat", metavar="N", type=click.IntRange(min=0), default=0,
    help="Solve N more times, with graph and forest on the device, and print the median time.",
)  # fmt: skip
@stream_options
@json_option
@quiet_option
def solve(
    *,
    file: Path,
    algorithm: str,
    option_texts: tuple[str, ...],
    device_names: tuple[str, ...],
    without: tuple[str, ...],
    format_name: str | None,
    columns: tuple[str, ...] | None,
    metric: str | None,
    maximum: bool,
    verified: bool,
    outputs: tuple[Path, ...],
    output_format: str | None,
    plot: Path | None,
    force: bool,
    profile: bool,
    repeat: int,
    parts: StreamRequest | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compute the minimum spanning forest of the graph in FILE.

    FILE is in any format that clmst reads. It is decompressed if its name ends in .gz, .bz2, .xz or
    .zst. - is stdin, whose format --format gives. If an algorithm, device or format is unknown, the
    error lists all known ones.
    """
    from clmst.io import write_forest

    if as_json and STREAM in outputs:
        raise click.UsageError("--json and --output - both write to stdout; give only one of them")
    stages = Stages(quiet=quiet)
    algorithm, options = _named(algorithm, option_texts, metric)
    formats = _refuse_early(outputs, output_format, plot)
    refuse_to_replace(_inputs(file, parts), [*outputs, *_others(plot, parts)], force=force)
    named: dict[str, Any] = {"algorithm": algorithm, "options": options}
    whole = named | {"profile": profile, "repeat": repeat}
    if parts is not None:
        parts.refuse(**whole | {"algorithm": algorithm != "auto"})
        if parts.takes(file):
            parts.refuse(verify=verified, plot=plot, metric=metric, format=format_name)
    _refuse_several(device_names, profile=profile, repeat=repeat, stream=parts)
    may_host = parts is None and algorithm == "auto" and not (profile or repeat or without)
    device, *others = _opened(stages, device_names, without, or_host=may_host)
    chosen = {"maximum": maximum, "verified": verified}
    again: tuple[float, ...] = ()
    graph: AnyGraph | StreamedFile
    if parts is not None and parts.takes(file):
        graph, forest = parts.solve_file(file, device, stages, maximum=maximum, columns=columns)
    else:
        graph = _read(stages, file, format_name, columns, metric, algorithm=algorithm)
        if parts is not None:
            forest = parts.solve_graph(_listed(graph), device, stages, **chosen)
        elif others:
            several = f" on {1 + len(others)} devices"
            forest = _solve(stages, graph, several, devices=[device, *others], **named, **chosen)
        else:
            forest, again = _solve_on(stages, device, graph, **whole, **chosen)
    for path, form in zip(outputs, formats, strict=True):
        with stages.stage("write", f"writing {name_of(path)}"):
            write_forest(forest, target(path), format=form.name)
        warn_of_labels(form, forest.vertex_labels)
    if plot is not None and not isinstance(graph, StreamedFile):
        from clmst.drawing import draw_forest

        with stages.stage("draw", f"drawing {plot}"):
            draw_forest(graph, forest, plot)
    name = "stdin" if file == STREAM else str(file)
    summary = Summary(file=name, graph=graph, forest=forest, seconds=stages.seconds, again=again)
    if as_json:
        print_json(summary.as_json())
    elif not quiet:
        summary.print(console(stderr=STREAM in outputs))


def _named(algorithm: str, option_texts: tuple[str, ...], metric: str | None) -> tuple[str, object]:
    """Check the arguments that name an algorithm, its options and a metric, and parse the options.

    `option_texts` has the options as NAME=VALUE. `metric` is None if --metric is not given. Returns
    the algorithm's name and the object with its options.
    """
    from clmst.algorithms import solving
    from clmst.algorithms.option_texts import options_of
    from clmst.core.arguments import check_choice
    from clmst.core.points import METRICS_OF_FILES

    with understood():
        solving.check_name(algorithm)
        if metric is not None:
            check_choice("metric", metric, METRICS_OF_FILES)
        return algorithm, options_of(algorithm, option_texts)


def _refuse_early(
    outputs: tuple[Path, ...], output_format: str | None, plot: Path | None
) -> list[Format]:
    """Check that the outputs and the picture can be written, before the long work begins.

    `output_format` is None if the formats follow from the files' names. `plot` is the file for the
    picture, or None for no picture. Returns the formats of the outputs.
    """
    from clmst.core.atomic_file import replaceable
    from clmst.core.errors import optional_import

    if plot is not None:
        from clmst.drawing.sheet import checked_suffix

        with understood():
            checked_suffix(plot)
        replaceable(plot)
        optional_import("matplotlib", extra="plot")
    names = [output_format or ("edge-list" if path == STREAM else None) for path in outputs]
    return [
        will_write(path, name, "forest_writer", "writes no forest")
        for path, name in zip(outputs, names, strict=True)
    ]


def _inputs(file: Path, parts: StreamRequest | None) -> list[Path]:
    """Return the files that are read: FILE, or the files of a streamed folder or pattern.

    `parts` is the request to solve in parts, or None to read FILE as a whole.
    """
    from clmst.io import pieces

    is_streamed = parts is not None and parts.takes(file)
    return pieces.listed(file) if is_streamed and not file.is_file() else [file]


def _others(plot: Path | None, parts: StreamRequest | None) -> list[Path]:
    """Return the files that are written in addition to the outputs: the picture, the checkpoint.

    `plot` is the file for the picture. `parts` is the request to solve in parts, which may name a
    checkpoint. Either is None if it is not wanted.
    """
    checkpoint = None if parts is None else parts.checkpoint
    return [one for one in (plot, checkpoint) if one is not None]


def _refuse_several(names: tuple[str, ...], **others: object) -> None:
    """Raise a usage error if several devices are given with an option that takes only one.

    `names` are the devices, and `others` the values of these options.
    """
    for name, value in others.items():
        if value and len(names) > 1:
            raise click.UsageError(
                f"--device is given several times, but --{name} works with one device; leave one "
                "of them out"
            )


def _listed(graph: AnyGraph) -> Graph:
    """Return the graph itself if it lists its edges, else a Graph that lists all its pairs."""
    from clmst.core.graph import Graph

    return graph if isinstance(graph, Graph) else graph.to_graph()


def _solver(maximum: bool) -> Any:
    from clmst import api

    return api.maximum_spanning_forest if maximum else api.minimum_spanning_forest


def _opened(
    stages: Stages, names: tuple[str, ...], without: tuple[str, ...], *, or_host: bool
) -> list[Any]:
    """Open the devices that match `names` and return them.

    Each device is used without the capabilities in `without`. If `names` is empty, the result has
    the default device, or, if `or_host` allows the host to solve, it is [None]: the choice is left
    open until the graph has been read. `stages` gets the time of opening.
    """
    from clmst.runtime.discovery import get_device, is_named

    if or_host and not names and not is_named():
        return [None]
    what = "devices" if len(names) > 1 else "device"
    with stages.stage("open_device", f"opening the {what}"):
        devices = [get_device(name) for name in names or (None,)]
        with understood():
            return [one.forcing_off(*without) for one in devices] if without else devices


def _device_for(stages: Stages, graph: AnyGraph, *, verified: bool) -> Device | None:
    """Return the default device for a graph, or None if there is none, or if it is left open.

    It is left open for small graphs, since the host may solve these sooner than a device is opened
    and its kernels are built, and the solve decides that itself. With `verified` the forest is
    proved, which the device does. `stages` gets the time of opening.
    """
    from clmst.inputs import host_solves_first
    from clmst.runtime.discovery import default_device

    if host_solves_first(graph) and not verified:
        return None
    with stages.stage("open_device", "opening the device"):
        return default_device()


def _read(
    stages: Stages, path: Path, format_name: str | None, columns: tuple[str, ...] | None,
    metric: Any, *, algorithm: str,
) -> AnyGraph:  # fmt: skip
    """Read a graph from a file. Points become the list of all pairs if `algorithm` needs edges.

    `format_name` is None if the format follows from the name of the file `path`. A `metric` that is
    not None says that the file has points. `columns` names the columns to read, or is None for the
    usual ones. `stages` gets the time of reading.
    """
    from clmst.io import read_graph, read_points, registry

    takes_points = takes_complete_graphs(algorithm)
    are_points = metric is not None
    chosen = find_format(
        path, format_name, registry.POINT_FORMATS if are_points else registry.able("reader")
    )
    if chosen.rows_reader and not chosen.reader and not are_points:
        raise click.UsageError(
            f"{path} cannot hold both points, which --metric needs, and edges, which --stream "
            "reads; give only one of the two"
        )
    opened = reading(stages, "read", path, format_name, points=are_points, columns=columns)
    with opened as file:
        if are_points or (takes_points and chosen.points_reader and not columns):
            points = read_points(file, format=format_name, metric=metric, columns=columns)
            return points if takes_points else points.to_graph()
        return read_graph(file, format=format_name, columns=columns)


def _solve_on(
    stages: Stages, device: Device | None, graph: AnyGraph, *, profile: bool, repeat: int,
    verified: bool, maximum: bool, **how: Any,
) -> tuple[Forest, tuple[float, ...]]:  # fmt: skip
    """Solve a graph on one device, or where clmst chooses if `device` is None.

    If the graph does not fit into the device's memory, it is solved in parts, with a warning.
    Returns the forest, and the seconds of each of `repeat` further solves. `how` has the algorithm
    and its options. `stages` records the times.
    """
    from clmst import api
    from clmst.core.errors import OutOfDeviceMemoryError

    chosen = {"maximum": maximum, **how}
    device = device or _device_for(stages, graph, verified=verified)
    if device is None:
        return _solve(stages, graph, "", verified=verified, **chosen), ()
    try:
        with stages.stage("convert", f"bringing the graph to {device.name}"):
            on_device: OnDevice = api.to_device(graph, device)
        forest = _solve(
            stages, on_device, f" on {device.name}", profile=profile, verified=verified, **chosen
        )
        return forest, _repeated(stages, on_device, repeat, **chosen)
    except OutOfDeviceMemoryError as error:
        from clmst.scale import fallback

        is_plain = how["algorithm"] == "auto" and not (profile or repeat)
        listed = fallback.streamable(graph, device) if is_plain else None
        if listed is None:
            raise
        reason = str(error)
    with stages.stage("solve", f"solving in parts on {device.name}"):
        forest = fallback.streamed(listed, device, maximum=maximum, verify=verified, reason=reason)
    return forest, ()


def _solve(
    stages: Stages, graph: Any, where: str, *, maximum: bool, verified: bool, **how: Any
) -> Forest:
    """Solve a graph, and record the times of the solve and of the proof as two of `stages`.

    `where` names the devices in the notice about the progress, as in " on 2 devices", and is empty
    if they are not chosen yet. `how` are further arguments of
    :func:`clmst.minimum_spanning_forest`, or of the function for maximum forests if `maximum`. With
    `verified` the forest is proved. For several devices the time of a solve includes the upload.
    """
    with stages.stage("solve", f"solving{where}"):
        forest: Forest = _solver(maximum)(graph, verify=verified, **how)
    if verified:  # the proof is shown as a separate stage
        seconds = forest.stats["proof"]["ms"] / 1e3
        stages.seconds["solve"] -= seconds
        stages.seconds["verify"] = seconds
    return forest


def _repeated(
    stages: Stages, graph: OnDevice, times: int, *, maximum: bool, **chosen: Any
) -> tuple[float, ...]:
    """Solve `times` more times, and return the seconds of each solve.

    Neither the graph nor the forest is copied between host and device. `stages` gets the time of
    all solves together. `maximum` asks for the maximum forest, and `chosen` are further arguments
    of the solve.
    """
    seconds = []
    if times:
        with stages.stage("repeat", f"solving {times} times more"):
            for _ in range(times):
                start = perf_counter()
                _solver(maximum)(graph, keep_on_device=True, **chosen)
                seconds.append(perf_counter() - start)
    return tuple(seconds)
