"""A forest of a caller's rows: as a stream, or by passes where memory is short."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from clmst.core.arguments import check_integer, shown
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
    StreamedWarning,
)
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.runtime.failures import Guard
from clmst.scale.capacity import NoSpaceForReductionError
from clmst.scale.checkpoint import Checkpoint
from clmst.scale.device_state import DeviceStreamState
from clmst.scale.edge_part import EdgePart, check_n_vertices
from clmst.scale.passes import PassRun, warn_of_passes
from clmst.scale.progress import StreamProgress
from clmst.scale.rereadable import RowStream
from clmst.scale.result import forest_of_part
from clmst.scale.settings import OnProgress, StreamSettings
from clmst.scale.source import StreamSource, can_be_read_again, open_source
from clmst.scale.vertex_names import VertexNames

_READ_ONCE = (
    "these chunks can be read once; a list of chunks, or files, would be read again by a way that "
    "takes less memory"
)


def forest_of_rows(
    chunks: Any,
    n_vertices: int | None,
    settings: StreamSettings,
    *,
    n_edges: int | None,
    columns: Any,
) -> Forest:
    """Return the forest of chunks, as :func:`clmst.stream_minimum_spanning_forest`."""
    graph = chunks if isinstance(chunks, Graph) else None
    names = VertexNames()
    if n_vertices is None and graph is None and can_be_read_again(chunks):
        names.learn(open_source(chunks, columns))
        n_vertices = None if names.labels is None else names.labels.size
    names.most = n_vertices = _checked_n(n_vertices, graph)
    rows = _RowRun(
        chunks=chunks, columns=columns, graph=graph, n_vertices=n_vertices, n_edges=n_edges,
        names=names,
    )  # fmt: skip
    with Guard(settings.device):  # beside those of each step: a second interrupt may leave one
        return rows.forest(settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowRun:
    """What is streamed."""

    chunks: Any
    columns: Any
    graph: Graph | None
    n_vertices: int
    n_edges: int | None
    names: VertexNames

    def _open(self) -> StreamSource:
        """Return the rows from the first one on, with a number for each vertex."""
        return self.names.numbered(open_source(self.chunks, self.columns))

    def forest(self, settings: StreamSettings) -> Forest:
        """Return the forest.

        Rows that can be read again are read again if memory turns out to be short: with half the
        limit where the device has less than it says, and by passes where reductions have no space.
        """
        while True:
            source = self._open()
            n_edges = source.n_edges if self.n_edges is None else self.n_edges
            state = DeviceStreamState(
                n_vertices=self.n_vertices, device=settings.device, limit=settings.limit,
                checkpoint=settings.checkpoint, maximum=settings.maximum,
            )  # fmt: skip
            saved = state.saved
            if saved is not None and saved.passes:
                dtype = saved.forest.weights.dtype
                return self._by_passes(settings, dtype, n_edges, saved=saved)
            try:
                return self._streamed(settings, state, source, n_edges)
            except NoSpaceForReductionError as error:
                self._check_can_be_read_again(error)
                has_space, reason = False, error.fact
            except OutOfDeviceMemoryError as error:
                self._check_can_be_read_again(error)
                has_space, reason = True, str(error)
            dtype = state.dtype
            del state, saved  # and what they hold of the device
            settings.device.release_memory()
            if not has_space:
                return self._by_passes(settings, dtype, n_edges, reason=reason)
            settings = replace(settings, limit=settings.limit // 2)
            warnings.warn(
                f"the stream begins again with a limit of {settings.limit} bytes, since {reason}",
                StreamedWarning, stacklevel=4,
            )  # fmt: skip

    def _check_can_be_read_again(self, error: OutOfDeviceMemoryError) -> None:
        if not can_be_read_again(self.chunks):
            raise OutOfDeviceMemoryError(f"{error}; {_READ_ONCE}") from error.__cause__ or error

    def _streamed(
        self,
        settings: StreamSettings,
        state: DeviceStreamState,
        source: StreamSource,
        n_edges: int | None,
    ) -> Forest:
        _drive(source, state, n_edges, settings.on_progress)
        part = EdgePart.empty(source.weight_dtype) if state.forest is None else state.forest
        return self._result(part, settings, state.stats(), has_own_ids=state.has_own_ids)

    def _by_passes(
        self,
        settings: StreamSettings,
        dtype: np.dtype[Any],
        n_edges: int | None,
        *,
        saved: Checkpoint | None = None,
        reason: str = "",
    ) -> Forest:
        """Return the forest by passes: after those of a checkpoint, or from the beginning."""
        stream = RowStream(self._open, n_vertices=self.n_vertices, dtype=dtype, n_edges=n_edges)
        run = PassRun(stream, settings, saved=saved)
        if reason:
            warn_of_passes(reason, stacklevel=5)
        part = run.forest()
        return self._result(part, settings, run.stats(), has_own_ids=stream.has_own_ids)

    def _result(
        self, part: EdgePart, settings: StreamSettings, stats: dict[str, Any], *, has_own_ids: bool
    ) -> Forest:
        labels = self.names.labels
        return forest_of_part(
            part, n_vertices=self.n_vertices if labels is None else labels.size,
            maximum=settings.maximum, stats=stats, graph=self.graph, has_own_ids=has_own_ids,
            labels=labels,
        )  # fmt: skip


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
            "n_vertices is missing; a stream does not tell how many vertices there are, unless "
            "they have names and it can be read twice"
        )
    number = check_integer("n_vertices", n_vertices, low=0)
    check_n_vertices(number)
    return number


def _drive(
    source: StreamSource,
    state: DeviceStreamState,
    n_edges: int | None,
    on_progress: OnProgress | None,
) -> None:
    """Feed the pieces of a source to the state, until it has all."""
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
