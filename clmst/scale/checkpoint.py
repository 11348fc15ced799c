"""The state of a stream: its forest so far, its position, and checkpoint files that store both."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgePart
from clmst.core.atomic_file import replacing
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.core.weight_keys import Array, check_dtype

if TYPE_CHECKING:
    from clmst.scale.host_reducer import CycleFilter

VERSION = 2
_MAGIC = b"clmst stream checkpoint\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A position in a stream: the number of edges before it, and checksums of their columns.

    The four checksums are the CRC-32 of the ends u, the ends v, the weights and the edge ids of all
    edges before the position. The checksums do not depend on how the edges were divided into
    chunks, and stay 0 in a stream that does not write checkpoints.
    """

    n_edges: int = 0
    checksums: tuple[int, ...] = (0, 0, 0, 0)

    def after(self, part: EdgePart) -> Position:
        """Return the position in the stream after the edges of `part`, which begin at this one."""
        sums = (
            zlib.crc32(_bytes(column), before)
            for column, before in zip(part.columns, self.checksums, strict=True)
        )
        return Position(n_edges=self.n_edges + part.size, checksums=tuple(sums))


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamState:
    """The forest of a stream up to a position, with which a later stream can continue.

    Attributes
    ----------
    forest : EdgePart or None
        The forest of all edges before `position` that have been reduced. It is None before the
        first reduction.
    waiting : tuple of EdgePart
        The edges that have been read, but have not been reduced to their forest yet.
    position : Position
        How far the stream has been read.
    passes : int
        The number of complete passes, if the stream is read once for each round of Borůvka's
        algorithm. `forest` then has the edges that these passes have found. It is 0 if the stream
        is read only once.
    by_forest : CycleFilter or None
        The filter that drops edges by means of the forest, if one has been built.
    """

    forest: EdgePart | None
    waiting: tuple[EdgePart, ...] = ()
    position: Position = Position()
    passes: int = 0
    by_forest: CycleFilter | None = None

    @property
    def parts(self) -> list[EdgePart]:
        """The forest so far, if there is one, and the edges that are not in its computation yet."""
        return [*self.waiting] if self.forest is None else [self.forest, *self.waiting]

    @property
    def size(self) -> int:
        """The number of edges of the forest so far and of those that are not merged into it yet."""
        return sum(part.size for part in self.parts)


def write_checkpoint(path: Path, state: StreamState, *, n_vertices: int, maximum: bool) -> None:
    """Write the state of a stream to the checkpoint file `path`, in place of any earlier content.

    The state must have a forest, and must not have edges that have yet to be reduced, that is,
    replaced by their forest. `n_vertices` and `maximum` are stored to recognise the stream. The
    function blocks until the complete checkpoint is on the disk. If it raises an exception, the
    earlier file is unchanged.
    """
    forest = state.forest
    assert forest is not None, "there was a reduction"
    assert not state.waiting, "what waits was reduced"
    header = {
        "version": VERSION,
        "n_vertices": n_vertices,
        "maximum": maximum,
        "position": asdict(state.position),
        "passes": state.passes,
        "dtype": forest.weights.dtype.str,
        "n_forest_edges": forest.size,
    }
    checksum = 0
    with replacing(path) as stream:
        for block in (_MAGIC, json.dumps(header).encode() + b"\n", *map(_bytes, forest.columns)):
            checksum = zlib.crc32(block, checksum)
            stream.write(block)
        stream.write(checksum.to_bytes(4, "little"))


def read_checkpoint(path: Path, *, n_vertices: int, maximum: bool) -> StreamState | None:
    """Read the checkpoint of a stream in the file `path`. Return None if the file does not exist.

    Raise FileFormatError if the file is not a checkpoint, has another version, or is damaged. Raise
    InvalidArgumentError if the file cannot be read, or if it belongs to a stream with another
    number of vertices or another value of `maximum`.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidArgumentError(
            f"the checkpoint {path} cannot be read: {error.strerror}"
        ) from error
    header, state = _parsed(path, content)
    for name, wanted in (("n_vertices", n_vertices), ("maximum", maximum)):
        if header[name] != wanted:
            raise InvalidArgumentError(
                f"the checkpoint {path} is of a stream with {name} = "
                f"{header[name]}, not {wanted}; delete it, or name another file"
            )
    return state


def _bytes(array: Array) -> Any:
    """Return the bytes of an array. A contiguous array is not copied."""
    return np.ascontiguousarray(array).view(np.uint8).data


def _parsed(path: Path, content: bytes) -> tuple[dict[str, Any], StreamState]:
    """Parse a checkpoint file, and return facts about its graph and the state of the stream.

    The facts are `n_vertices` and `maximum`. Raise FileFormatError, which names the file `path`, if
    the content is damaged or is not a checkpoint.
    """
    if not content.startswith(_MAGIC):
        raise FileFormatError(f"{path} is not a checkpoint of a stream; name another file")
    end = content.find(b"\n", len(_MAGIC))
    try:
        header: Any = json.loads(content[len(_MAGIC) : end])
        version = header["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error
    if version != VERSION:
        raise FileFormatError(
            f"the checkpoint {path} has version {version}; this clmst reads version {VERSION}, so "
            "delete it and begin again, or go on with the clmst that wrote it"
        )
    if zlib.crc32(content[:-4]) != int.from_bytes(content[-4:], "little"):
        raise _damaged(path)
    try:
        dtype, k, at = np.dtype(header["dtype"]), int(header["n_forest_edges"]), end + 1
        check_dtype(dtype)
        arrays = []
        for kind in (np.dtype(np.uint32), np.dtype(np.uint32), dtype, np.dtype(np.int64)):
            arrays.append(np.frombuffer(content, kind, k, at))
            at += k * kind.itemsize
        u, v, weights, edge_ids = arrays
        position = header["position"]
        graph = {name: header[name] for name in ("n_vertices", "maximum")}
        return graph, StreamState(
            forest=EdgePart(u=u, v=v, weights=weights, edge_ids=edge_ids),
            position=Position(n_edges=position["n_edges"], checksums=tuple(position["checksums"])),
            passes=int(header["passes"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> FileFormatError:
    """Return the error for the checkpoint `path`, whose content is damaged."""
    return FileFormatError(
        f"the checkpoint {path} is not whole: its checksum is wrong; delete it and begin again"
    )
