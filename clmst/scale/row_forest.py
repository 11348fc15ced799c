"""A forest of a caller's rows: as a stream, or by passes where memory is short."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from clmst.core.arguments import check_integer, shown
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
    StreamedWarning,
)
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.runtime.device import Device
from clmst.scale.capacity import NoSpaceForReductionError
from clmst.scale.device_state import DeviceStreamState
from clmst.scale.edge_part import EdgePart, check_n_vertices
from clmst.scale.passes import PassRun, warn_of_passes
from clmst.scale.progress import StreamProgress
from clmst.scale.rereadable import RowStream
from clmst.scale.result import forest_of_part
from clmst.scale.source import StreamSource, can_be_read_again, open_source

OnProgress = Callable[[StreamProgress], object]

_READ_ONCE = (
    "these chunks can be read once; a list of chunks, or files, would be read again by a way that "
    "takes less memory"
)


def forest_of_rows(
    chunks: Any,
    n_vertices: int | None,
    *,
    device: Device,
    limit: int,
    checkpoint: Path | None,
    on_progress: OnProgress | None,
    maximum: bool,
    n_edges: int | None,
    columns: Any,
) -> Forest:
    """Return the forest of chunks, as :func:`clmst.stream_minimum_spanning_forest`.

    A stream that can be read again is read again if memory turns out to be short: with half the
    limit where the device has less than it says, and by passes where a reduction has no space.
    """
    graph = chunks if isinstance(chunks, Graph) else None
    open_again = partial(open_source, chunks, columns)
    source, n = open_again(), _checked_n(n_vertices, graph)
    wanted = source.n_edges if n_edges is None else n_edges
    to_result = partial(forest_of_part, n_vertices=n, maximum=maximum, graph=graph)
    reason: OutOfDeviceMemoryError | None = None
    while True:
        state = DeviceStreamState(
            n_vertices=n, device=device, limit=limit, checkpoint=checkpoint, maximum=maximum
        )
        saved = state.saved
        if saved is not None and saved.passes:
            dtype = saved.forest.weights.dtype
            break
        try:
            part = _streamed(source, state, wanted, on_progress)
            return to_result(part, stats=state.stats(), has_own_ids=state.has_own_ids)
        except OutOfDeviceMemoryError as error:
            if not can_be_read_again(chunks):
                raise type(error)(f"{error}; {_READ_ONCE}") from error
            reason = error
            if isinstance(error, NoSpaceForReductionError):
                dtype, saved = state.dtype, None
                break
        limit, source = limit // 2, open_again()
        warnings.warn(
            f"the stream begins again with a limit of {limit} bytes, since {reason}",
            StreamedWarning, stacklevel=3,
        )  # fmt: skip
    del state  # and what it holds of the device
    device.release_memory()
    stream = RowStream(open_again, n_vertices=n, dtype=dtype, n_edges=wanted)
    run = PassRun(
        stream, device=device, limit=limit, checkpoint=checkpoint, saved=saved,
        on_progress=on_progress, maximum=maximum,
    )  # fmt: skip
    if reason is not None:
        warn_of_passes(reason)
    part = run.forest()
    return to_result(part, stats=run.stats(), has_own_ids=stream.has_own_ids)


def _checked_n(n_vertices: Any, graph: Graph | None) -> int:
    """Return the number of vertices that is given, or that the graph has."""
    if graph is not None:
        if n_vertices not in (None, graph.n_vertices):
            raise InvalidArgumentError(
                f"n_vertices is {shown(n_vertices)} but the graph has {graph.n_vertices}; leave it "
                "out"
            )
        return graph.n_vertices
    if n_vertices is None:
        raise InvalidArgumentError(
            "n_vertices is missing; a stream does not tell how many vertices there are"
        )
    number = check_integer("n_vertices", n_vertices, low=0)
    check_n_vertices(number)
    return number


def _streamed(
    source: StreamSource,
    state: DeviceStreamState,
    n_edges: int | None,
    on_progress: OnProgress | None,
) -> EdgePart:
    """Return the forest of a source whose pieces go to a state."""
    began, before, state.n_edges = perf_counter(), state.resumed_at, n_edges
    reported = -1

    def tell() -> None:
        nonlocal reported
        reported = state.position.n_edges
        if on_progress is not None:
            on_progress(
                StreamProgress(
                    edges=reported,
                    n_edges=n_edges,
                    edges_now=max(0, reported - before),
                    seconds=perf_counter() - began,
                    forest_edges=state.n_forest,
                    reductions=state.reductions,
                )
            )

    try:
        for piece in source.pieces:
            for _ in state.feed(piece):
                tell()
        state.finish()
        if reported not in (-1, state.position.n_edges):
            tell()
    except InvalidGraphError:
        state.save()
        raise
    finally:
        state.close()
    if n_edges is not None and state.position.n_edges != n_edges:
        raise InvalidGraphError(
            f"the stream has {state.position.n_edges} edges, not {n_edges}; it must bring all of "
            "them" + state.kept_in_words()
        )
    return EdgePart.empty(source.weight_dtype) if state.forest is None else state.forest
