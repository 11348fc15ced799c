"""The driver of a stream: it reads edges, reports progress, and writes and resumes checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, TypeAlias

import numpy as np

from clmst import route
from clmst.algorithms.edge_stream.edges import EdgePart
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
    StreamedWarning,
    logger,
    warn_of_fallback,
)
from clmst.core.forest import Forest
from clmst.core.long_work import LongWork
from clmst.route import StreamFacts
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.scale.capacity import NoSpaceForReductionError
from clmst.scale.checkpoint import (
    Position,
    StreamState,
    read_checkpoint,
    write_checkpoint,
)
from clmst.scale.host_reducer import ROWS
from clmst.scale.result import StreamProgress, forest_of_part
from clmst.scale.rows import GeneratedPiece, StreamPiece
from clmst.scale.sinks import PassSink, ReductionSink
from clmst.scale.source import EdgeSource

OnProgress: TypeAlias = Callable[[StreamProgress], object]

PATIENCE = 5.0
"""Seconds between two messages about the progress of a stream in the logger "clmst"."""

SECONDS_BETWEEN = 10.0  # a checkpoint is written after this time even if no reduction has run
PACE = 5  # the pause between two checkpoints is at least 5 times as long as writing one takes
_READ_ONCE = (
    "these chunks can be read once; a list of chunks, or files, would be read again by a way that "
    "takes less memory"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """The settings of a stream.

    `limit` is the number of bytes that the stream may use on the device.
    """

    device: Device
    limit: int
    checkpoint: Path | None
    on_progress: OnProgress | None
    maximum: bool


def forest_of_stream(source: EdgeSource, settings: StreamSettings) -> Forest:
    """Compute the forest of a stream of edges. If memory does not suffice, begin again.

    If an allocation on the device fails, the stream is read again with half the memory limit of the
    settings. If the limit is too low to replace edges by their forest part by part, the stream is
    read once for each round of Borůvka's algorithm. In both cases a StreamedWarning is given. If
    the source is an iterator, which can be read only once, OutOfDeviceMemoryError is raised.
    """
    if source.generated is not None:
        source.generated.check_for(settings.device)
    by_passes: np.dtype[Any] | None = None  # dtype of the weights; None: read the stream once
    warning = ""
    asked, latest = settings.on_progress, list[StreamProgress]()

    def note(progress: StreamProgress) -> None:
        latest[:] = [progress]
        if asked is not None:
            asked(progress)

    settings = replace(settings, on_progress=note)
    work = LongWork("computing the forest of a stream", done=lambda: "".join(map(str, latest)))
    # A guard makes sure that the device stays usable after an interrupt. Each step of the run has a
    # guard of its own. This guard of the whole run covers a second Ctrl-C during a step's cleanup.
    with work, Guard(settings.device):
        while True:
            run = _StreamRun(source, settings, by_passes)
            if warning:
                warn_of_fallback(warning, StreamedWarning)
            try:
                return run.forest()
            except NoSpaceForReductionError as error:
                _check_can_be_read_again(source, error)
                # The text after the last semicolon of the message is advice to the user, which does
                # not belong in the warning.
                by_passes, reason = run.dtype, str(error).rpartition("; ")[0]
                warning = "the edges are read once for each round of Borůvka's algorithm"
            except OutOfDeviceMemoryError as error:
                if run.is_by_passes:
                    raise
                _check_can_be_read_again(source, error)
                settings, reason = replace(settings, limit=settings.limit // 2), str(error)
                warning = f"the stream begins again with a limit of {settings.limit} bytes"
            warning += f", since {reason}"
            del run  # frees the buffers of the run on the device
            settings.device.release_memory()


def _check_can_be_read_again(source: EdgeSource, error: OutOfDeviceMemoryError) -> None:
    """Raise `error` again, with an explanation, if the source of a stream can be read only once.

    The error then is an OutOfDeviceMemoryError.
    """
    if not source.can_be_read_again:
        raise OutOfDeviceMemoryError(f"{error}; {_READ_ONCE}") from error.__cause__


class _StreamRun:
    """One attempt to compute the forest of a stream.

    If `by_passes` is None, the stream is read once, and its edges are replaced by their forest part
    by part. If it is the dtype of the weights, the stream is read once for each round of Borůvka's
    algorithm: this is called "by passes". A checkpoint that was written by passes continues by
    passes in any case.
    """

    def __init__(
        self, source: EdgeSource, settings: StreamSettings, by_passes: np.dtype[Any] | None
    ) -> None:
        self._source, self._settings, self._path = source, settings, settings.checkpoint
        self._n_edges = source.n_edges
        self._saved: StreamState | None = None
        if self._path is not None:
            self._saved = read_checkpoint(
                self._path, n_vertices=source.n_vertices, maximum=settings.maximum
            )
        if self._saved is not None and source.generated is not None:
            self._check_same(self._saved.position.checksums == source.generated.checksums)
        if self._saved is not None and self._saved.passes:
            assert self._saved.forest is not None, "a checkpoint has a forest"
            by_passes = self._saved.forest.weights.dtype
        elif by_passes is not None:
            # A solve by passes needs all edges in every pass. It cannot continue from a checkpoint
            # that has the forest of the first edges of the stream.
            self._saved = None
        self._sink = self._new_sink(by_passes)
        self._resumed_at = 0
        if self._saved is not None:
            self._resumed_at = self._saved.position.n_edges * max(1, self._saved.passes)
        self._passed = Position()  # position up to which edges before the checkpoint were skipped
        self._has_own_ids = False
        self._began, self._saved_at, self._seconds_to_save = perf_counter(), monotonic(), 0.0
        # The number of edges that all earlier passes have read, and the number of reductions at the
        # last call of `_save_if_due`.
        self._n_read = self._n_reductions = 0
        self._logs_at = PATIENCE  # seconds after which progress is logged again
        # Whether the last reported progress counted edges that had been read but not processed.
        self._is_ahead = False
        self._is_at_caller = False  # whether the caller's iterator or progress function is running

    def _new_sink(self, by_passes: np.dtype[Any] | None) -> ReductionSink | PassSink:
        """Create the object that receives the edges of the stream, of the kind that is chosen.

        A ReductionSink reads the stream once, and reduces its edges to their forest part by part. A
        PassSink reads the stream once for each round of Borůvka's algorithm. `by_passes` is the
        dtype of the weights if passes are wanted, and otherwise None.
        """
        settings, saved = self._settings, self._saved
        given: dict[str, Any] = {
            "n_vertices": self._source.n_vertices, "device": settings.device,
            "limit": settings.limit, "maximum": settings.maximum,
            "has_checksums": self._path is not None,
        }  # fmt: skip
        facts = StreamFacts(
            n_vertices=self._source.n_vertices, n_new=0, n_forest=0, has_space=by_passes is None
        )
        way = route.way_of_stream(facts)
        if by_passes is None or way.record != route.PASSES:
            return ReductionSink(**given, n_edges=self._n_edges)
        return PassSink(
            **given, way=way, dtype=by_passes, is_generated=self._source.generated is not None,
            known=saved.forest if saved else None, n_passes=saved.passes if saved else 0,
        )  # fmt: skip

    @property
    def is_by_passes(self) -> bool:
        """Whether the stream is read once for each round of Borůvka's algorithm."""
        return isinstance(self._sink, PassSink)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the weights, or the source's default until an edge has been read."""
        return self._sink.dtype or self._source.weight_dtype

    def forest(self) -> Forest:
        """Read the stream, and return the forest. After an error, write a checkpoint first."""
        sink, source = self._sink, self._source
        try:
            while not self._is_found():
                assert isinstance(sink, PassSink), "one reading is enough for reductions"
                self._n_read += sink.position.n_edges
                sink.begin_again()
            stats = {
                "algorithm": "stream",
                "device": self._settings.device.description,
                "route": sink.way.as_stats(),
                "edges": sink.position.n_edges,
                "resumed_at": self._resumed_at,
                "reductions": sink.reducer.reductions,
                "edges_filtered": sink.reducer.n_filtered,
                "memory_limit": self._settings.limit,
                "passes": sink.n_passes,
                "edges_on_device": sink.n_on_device,
            }
        except Exception as error:
            if self._is_at_caller or isinstance(error, InvalidGraphError):
                self._save()
            raise
        finally:
            sink.close()
        self._check_whole()
        labels = source.labels
        return forest_of_part(
            sink.forest() or EdgePart.empty(source.weight_dtype),
            n_vertices=source.n_vertices if labels is None else labels.size,
            maximum=self._settings.maximum, stats=stats, graph=source.graph,
            has_own_ids=self._has_own_ids, labels=labels,
        )  # fmt: skip

    # -------------------------------------------------------------------------- reading

    def _is_found(self) -> bool:
        """Read the stream once, from its start to its end. Return whether the forest is complete.

        If it is not, the stream must be read again.
        """
        sink = self._sink
        pieces = self._source.pieces()
        while (given := self._of_caller(next, pieces, None)) is not None:
            piece = given.with_arrays(self._read_so_far.n_edges)
            self._has_own_ids |= not piece.is_consecutive
            for _ in self._taken(piece):
                self._tell()
        if self._is_resuming:
            raise InvalidGraphError(
                f"the stream ends after {self._passed.n_edges} edges, before the "
                f"{self._resumed_at} of the checkpoint {self._path}; give the same stream"
            )
        sink.flush()
        if self.is_by_passes:
            self._check_whole()
            self._check_same(self._saved is None or self._saved.position == sink.position)
        is_found = sink.end()
        self._write()
        if self._is_ahead and not self.is_by_passes:
            self._tell()
        return is_found

    def _taken(self, piece: StreamPiece | GeneratedPiece) -> Iterator[None]:
        """Pass the edges of `piece` to the object that computes the forest. Yield None at times.

        A piece is a run of consecutive edges of the stream. After a restart from a checkpoint, the
        edges before the checkpoint are skipped, because its forest covers them already. They are
        only compared with the checkpoint's checksums.
        """
        while self._is_resuming and piece.size:
            piece = self._behind_checkpoint(piece)
            yield
        if piece.size:
            for _ in self._sink.take(piece):
                self._save_if_due()
                yield

    def _of_caller(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call a function that runs the user's code, and remember meanwhile that it is running.

        `given` are the function's arguments. If the user's code raises an exception, the edges read
        before are saved in the checkpoint.
        """
        self._is_at_caller = True
        found = function(*given)
        self._is_at_caller = False
        return found

    @property
    def _read_so_far(self) -> Position:
        """The position in the stream after all edges that have been read in the present pass."""
        return self._passed if self._is_resuming else self._sink.read

    def _tell(self) -> None:
        """Report the progress to the user's function, and from time to time to the logger."""
        read, sink = self._read_so_far.n_edges, self._sink
        self._is_ahead = sink.position != sink.read
        before = 0 if self.is_by_passes else self._resumed_at
        progress = StreamProgress(
            edges=read,
            n_edges=self._n_edges,
            edges_now=max(0, self._n_read + read - before),
            seconds=perf_counter() - self._began,
            forest_edges=sink.reducer.n_forest,
            reductions=sink.reducer.reductions,
            passes=sink.n_passes,
        )
        if self._settings.on_progress is not None:
            self._of_caller(self._settings.on_progress, progress)
        if progress.seconds >= self._logs_at:
            self._logs_at = progress.seconds + PATIENCE
            logger.info("stream on %s: %s", self._settings.device.description, progress)

    def _check_whole(self) -> None:
        """Raise InvalidGraphError unless the stream has the expected number of edges.

        If the stream is read in several passes, the first pass counts the edges, and each later
        pass must have as many.
        """
        found, wanted = self._sink.position.n_edges, self._n_edges
        if self.is_by_passes:
            where, rest = f" in pass {self._sink.n_passes}", " each time"
            self._n_edges = found
        else:
            where, rest = "", f"; {self._path} has the forest of those" if self._path else ""
        if wanted not in (None, found):
            raise InvalidGraphError(
                f"the stream has {found} edges{where}, not {wanted}; it must yield all of "
                f"them{rest}"
            )

    # ---------------------------------------------------------------------- checkpoints

    @property
    def _is_resuming(self) -> bool:
        """Whether the next edges of the stream come before the checkpoint that was read."""
        return not self.is_by_passes and self._passed.n_edges < self._resumed_at

    def _behind_checkpoint(
        self, piece: StreamPiece | GeneratedPiece
    ) -> StreamPiece | GeneratedPiece:
        """Skip the edges of a piece that come before the checkpoint, and return all later ones.

        A piece is a run of consecutive edges of the stream. At the checkpoint's position, compare
        the checksums of the skipped edges with those in the checkpoint, and continue from the
        checkpoint's forest.
        """
        assert self._saved is not None
        assert isinstance(self._sink, ReductionSink)
        n, saved = min(piece.size, self._resumed_at - self._passed.n_edges), self._saved.position
        if isinstance(piece, GeneratedPiece):
            self._passed = saved  # the checksums of generated edges were compared at the beginning
        else:
            n = min(n, ROWS)
            self._passed = self._passed.after(piece.rows(0, n).checked(self._source.n_vertices))
        if not self._is_resuming:
            self._check_same(self._passed == saved, f", up to {piece.chunk},")
            self._sink.go_on_from(self._saved)
        return piece.rows(n, piece.size)

    def _check_same(self, is_same: bool, place: str = "") -> None:
        """Raise InvalidArgumentError if the checkpoint is from another stream.

        `is_same` is the result of the comparison. `place` says in the message up to where the
        streams were compared.
        """
        if is_same:
            return
        if self._source.generated is not None:
            fact = (
                "these generated edges have other expressions, arguments or another number of edges"
            )
        else:
            n = self._passed.n_edges if place else self._sink.position.n_edges
            fact = f"the first {n} edges{place} have other checksums"
        raise InvalidArgumentError(
            f"the checkpoint {self._path} is of another stream: {fact}; delete it, or give the "
            "same stream"
        )

    def _save_if_due(self) -> None:
        """Write a checkpoint after a reduction, or if there was none for a while.

        A reduction replaces the edges by their forest. Nothing is written if the caller did not
        name a checkpoint file, if the stream is read by passes, or if the last checkpoint was
        written a short time ago, so that writing takes a small share of the time.
        """
        sink, began, least = self._sink, monotonic(), PACE * self._seconds_to_save
        if self._path is None or isinstance(sink, PassSink):
            return
        before, self._n_reductions = self._n_reductions, sink.reducer.reductions
        has_reduced = self._n_reductions > before
        pause = began - self._saved_at
        if pause > max(SECONDS_BETWEEN, least) or (has_reduced and pause >= least):
            sink.reduce()
            self._write(began)

    def _save(self) -> None:
        """Write a checkpoint of the edges that were read before the stream raised an error.

        If one of these edges is invalid, the error about it is raised in place of the stream's.
        """
        sink = self._sink
        if isinstance(sink, PassSink) or self._is_resuming:
            return
        try:
            sink.flush()
        finally:
            if self._path is not None:
                sink.reduce()
                self._write()

    def _write(self, began: float | None = None) -> None:
        """Write the checkpoint, if the user gives a file for it and edges have been read.

        All edges must have been reduced, so that the stored forest is the forest of all edges
        before the stored position. `began` is the time at which the work for the checkpoint began,
        from ``time.monotonic``. None means now.
        """
        began = monotonic() if began is None else began
        sink = self._sink
        forest = sink.edges_so_far() if self._path is not None else None
        if self._path is None or forest is None or not sink.position.n_edges:
            return
        state = StreamState(
            forest=forest, position=sink.position, passes=sink.n_passes if self.is_by_passes else 0
        )
        write_checkpoint(
            self._path, state, n_vertices=self._source.n_vertices, maximum=self._settings.maximum
        )
        self._saved_at, self._n_reductions = monotonic(), sink.reducer.reductions
        self._seconds_to_save = self._saved_at - began
