"""``clmst solve --stream``: solve a file that is read in parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clmst.cli.terminal import STREAM, Stages

if TYPE_CHECKING:
    from clmst.core.forest import Forest
    from clmst.core.graph import Graph
    from clmst.runtime.device import Device
    from clmst.scale.result import StreamProgress

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedFile:
    """The sizes of a graph that was read in parts, and never in memory as a whole."""

    n_vertices: int
    n_edges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRequest:
    """The options of the command line for a solve in parts, as a stream of edges."""

    memory_limit: int | None  # in bytes
    checkpoint: Path | None
    vertices: int | None  # number of vertices; None if they have to be counted first

    def takes(self, file: Path) -> bool:
        """Return whether a file is read in parts: a folder, an .npy file or a Parquet file.

        Any other file is read as a whole, then solved in parts.
        """
        from clmst.io.pieces import SUFFIXES

        return file != STREAM and (file.is_dir() or file.suffix in SUFFIXES)

    def refuse(self, **others: object) -> None:
        """Raise a usage error if an option is given that cannot be combined with a solve in parts.

        `others` maps the names of these options to their values. They need the whole graph on a
        device.
        """
        for name, value in others.items():
            if value:
                raise click.UsageError(
                    f"--{name.replace('_', '-')} cannot be combined with a solve in parts "
                    "(--stream, --memory-limit, --checkpoint); leave one of them out"
                )

    def solve_file(
        self, file: Path, device: Device, stages: Stages, *, maximum: bool, columns: Any
    ) -> tuple[StreamedFile, Forest]:
        """Solve a file that is read in parts. Returns the sizes of its graph and the forest.

        `columns` names the columns to read, or is None for the usual ones. `maximum` asks for the
        maximum forest. `stages` gets the times of the steps.
        """
        forest = self._streamed(
            file, device, stages, maximum=maximum, columns=columns, n_vertices=self.vertices
        )
        n_edges = forest.stats["edges"]
        return StreamedFile(n_vertices=forest.n_vertices, n_edges=n_edges), forest

    def solve_graph(
        self, graph: Graph, device: Device, stages: Stages, *, maximum: bool, verified: bool
    ) -> Forest:
        """Solve a graph in host memory in parts, and prove the forest if `verified`.

        `maximum` asks for the maximum forest. `stages` gets the times of the steps.
        """
        from clmst.scale.fallback import proved

        if self.vertices not in (None, graph.n_vertices):
            raise click.UsageError(
                f"--vertices is {self.vertices} but the graph has {graph.n_vertices}; leave it out"
            )
        forest = self._streamed(graph, device, stages, maximum=maximum)
        if verified:
            with stages.stage("verify", "proving the forest"):
                forest = proved(graph, forest)
        return forest

    def _streamed(self, chunks: Any, device: Device, stages: Stages, **given: Any) -> Forest:
        from clmst.scale.stream import stream_minimum_spanning_forest

        latest: StreamProgress | None = None

        def note(progress: StreamProgress) -> None:
            nonlocal latest
            latest = progress

        def done() -> str:
            return "" if latest is None else str(latest)

        text = f"solving in parts on {device.name}"
        with stages.stage("solve", text, done=done):
            return stream_minimum_spanning_forest(
                chunks, device=device, memory_limit=self.memory_limit, checkpoint=self.checkpoint,
                on_progress=note, **given,
            )  # fmt: skip


def stream_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command with the options of a solve in parts.

    The command gets them as one argument `parts`, a :class:`StreamRequest`, or None if none of the
    options is given.
    """

    @click.option(
        "--stream", "is_stream", is_flag=True,
        help="Solve in parts. FILE may then be larger than memory if it is a Parquet file, an "
             ".npy file with a structured array, a folder of such files, or a pattern such as "
             "'edges/*.parquet'.",
    )  # fmt: skip
    @click.option(
        "--memory-limit", metavar="SIZE", callback=lambda _context, _option, text: n_bytes(text),
        help="Solve in parts, and use at most this much memory of the device, for example 500MB "
             "or 2GB.",
    )  # fmt: skip
    @click.option(
        "--checkpoint",
        type=click.Path(path_type=Path),
        help="Solve in parts, and keep the state in this file. If the file exists, continue from "
        "it.",
    )
    @click.option(
        "--vertices", metavar="N", type=click.IntRange(min=0),
        help="The number of vertices, for a file that is read in parts. By default clmst reads "
             "the file once more to count them.",
    )  # fmt: skip
    @wraps(command)
    def packed(
        *, is_stream: bool, memory_limit: int | None, checkpoint: Path | None, vertices: int | None,
        **others: Any,
    ) -> Any:  # fmt: skip
        parts = None
        if is_stream or memory_limit is not None or checkpoint is not None:
            parts = StreamRequest(
                memory_limit=memory_limit, checkpoint=checkpoint, vertices=vertices
            )
        elif vertices is not None:
            raise click.UsageError(
                "--vertices is given without --stream; other files contain "
                "the number of vertices, so leave it out"
            )
        return command(parts=parts, **others)

    return packed


def n_bytes(text: str | None) -> int | None:
    """Parse a size in bytes: a number, optionally followed by kB, MB, GB or TB.

    Returns None if `text` is None. Raises a usage error if `text` is not a size.
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([kmgt]?)b?", text.strip().lower())
    size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    if size < 1:
        raise click.BadParameter(f"{text!r} is not a size; write 500MB or 2GB, for example")
    return size
