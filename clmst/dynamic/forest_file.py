"""Files of dynamic forests: how :class:`clmst.DynamicForest` is saved and loaded."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clmst import route
from clmst.core.arguments import shown
from clmst.core.atomic_file import replacing
from clmst.core.errors import FileFormatError, InvalidArgumentError, MissingFileError
from clmst.core.graph_checks import MAX_VERTICES
from clmst.core.weight_keys import Array, check_dtype, first_nan
from clmst.dynamic.state import EdgeStore, State

VERSION = 1
_MAGIC = b"clmst dynamic forest\n"
_CHECKSUM = 4  # bytes of the checksum, at the end of a file
_CONTRADICTION = "its header and its edges contradict each other"


def write(path: Path, state: State) -> None:
    """Write the present edges of `state`, and which of them are in the forest, to the file `path`.

    An earlier file is replaced. Blocks until everything is on the disk. If the function raises an
    error, the earlier file is unchanged.
    """
    rows = state.present_rows()
    columns = state.columns
    header = {
        "version": VERSION,
        "n_vertices": state.n_vertices,
        "next_id": state.next_id,
        "dtype": columns.weights.dtype.str,
        "n_edges": rows.size,
        "n_forest_edges": state.n_forest,
    }
    arrays = (columns.u, columns.v, columns.weights, columns.ids)
    forest = np.searchsorted(rows, state.forest).astype(np.int64)
    checksum = 0
    with replacing(path) as stream:
        for block in (
            _MAGIC, json.dumps(header).encode() + b"\n",
            *(_bytes(array[rows]) for array in arrays), _bytes(forest),
        ):  # fmt: skip
            checksum = zlib.crc32(block, checksum)
            stream.write(block)
        stream.write(checksum.to_bytes(_CHECKSUM, "little"))


def read(path: Path) -> State:
    """Read a state from the file `path`.

    Raises MissingFileError if the file is missing, InvalidArgumentError if it cannot be read, and
    FileFormatError if it is not a file of a dynamic forest, has another version, or is damaged.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no file {path}; DynamicForest.save makes one") from error
    except OSError as error:
        raise InvalidArgumentError(f"{path} cannot be read: {error.strerror}") from error
    if not content.startswith(_MAGIC):
        raise FileFormatError(
            f"{path} is not a file of a dynamic forest; it must be one that DynamicForest.save "
            "has written"
        )
    end = content.find(b"\n", len(_MAGIC))
    try:
        header: Any = json.loads(content[len(_MAGIC) : end])
        version = header["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, "its header cannot be read") from error
    if version != VERSION:
        raise FileFormatError(
            f"{path} has version {shown(version)}; this clmst reads version {VERSION}, so load it "
            "with the clmst that wrote it"
        )
    if zlib.crc32(content[:-_CHECKSUM]) != int.from_bytes(content[-_CHECKSUM:], "little"):
        raise _damaged(path, "its checksum is wrong")
    try:
        state = _state_of(header, content, end + 1)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, _CONTRADICTION) from error
    if not _is_sound(state):
        raise _damaged(path, _CONTRADICTION)
    return state


def _state_of(header: dict[str, Any], content: bytes, at: int) -> State:
    """Return the state in the content of a file. The values in its arrays are not checked.

    `header` has the lengths of the arrays, which begin at the byte `at` of `content`. Raises
    ValueError, KeyError or TypeError if an array is incomplete, or if `header` lacks a value or has
    a number that is not an int64.
    """
    dtype = np.dtype(header["dtype"])
    check_dtype(dtype)
    m, k, n, next_id = (
        _number_of(header[name]) for name in ("n_edges", "n_forest_edges", "n_vertices", "next_id")
    )
    word, id_ = np.dtype(np.uint32), np.dtype(np.int64)
    arrays = []
    for kind, size in ((word, m), (word, m), (dtype, m), (id_, m), (id_, k)):
        arrays.append(np.frombuffer(content, kind, size, at).copy())
        at += size * kind.itemsize
    if at != len(content) - _CHECKSUM:
        raise ValueError(at)
    u, v, weights, ids, forest = arrays
    in_forest = np.zeros(m, np.bool_)
    if k and not (forest.min() >= 0 and forest.max() < m and (forest[1:] > forest[:-1]).all()):
        raise ValueError("forest")
    in_forest[forest] = True
    present = np.ones(m, np.bool_)
    columns = EdgeStore(u=u, v=v, weights=weights, ids=ids, present=present, in_forest=in_forest)
    state = State(
        columns=columns, n_vertices=n, n_rows=m, n_present=m, next_id=next_id, n_forest=k,
    )  # fmt: skip
    way = route.Way(route.HOST, "the forest was read from a file").as_stats()
    return replace(state, stats={**state.stats, "route": way})


def _number_of(value: Any) -> int:
    """Return a number of a header. Raises ValueError unless it is from 0 to below 2**63."""
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(value)
    return value


def _is_sound(state: State) -> bool:
    """Return whether a state that was read has only values that a forest can have.

    Any other values would make later calls fail, or return wrong results.
    """
    columns, n = state.columns, state.n_vertices
    ids = columns.ids
    return bool(
        0 <= n <= MAX_VERTICES
        and (columns.u <= columns.v).all()
        and columns.v.max(initial=0) < max(n, 1)
        and (ids[1:] > ids[:-1]).all()
        and ids.min(initial=0) >= 0
        and ids.max(initial=-1) < state.next_id
        and (n > 0 or ids.size == 0)
        and state.n_forest <= max(n - 1, 0)
        and first_nan(columns.weights) is None
    )


def _bytes(array: Array) -> Any:
    """Return the bytes of an array, without a copy if the array is contiguous."""
    return np.ascontiguousarray(array).view(np.uint8).data


def _damaged(path: Path, fact: str) -> FileFormatError:
    """Return the error for the file `path`, whose content is damaged. `fact` says in which way."""
    return FileFormatError(f"{path} is damaged: {fact}; save the forest again, or use a copy")
