"""Parquet files as graphs, and large Parquet and ``.npy`` files of edges read in parts.

A file has a row for each edge. Its columns are found by their names, as in CSV files. An ``.npy``
file must hold a structured array, whose fields are the columns.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from clmst.core.arguments import check_path, errors_as
from clmst.core.columns import Columns, check_columns, choose
from clmst.core.data_frames import numbered_table
from clmst.core.errors import (
    FileFormatError,
    InvalidArgumentError,
    InvalidGraphError,
    MissingFileError,
    optional_import,
)
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io import npz
from clmst.io.file_edges import FileEdges, ForestEdges
from clmst.io.files import SourceFile, check_expansion, system_errors_named, unreadable

_BYTES_PER_VALUE = 8
_EDGE_ID = "edge_id"
_KIND = b"clmst.forest"  # key in the metadata of a file that holds a forest


def read(source: SourceFile, columns: Sequence[Any] | None = None) -> Graph:
    """Read a graph from the Parquet file `source`. Missing weights are 1.

    `columns` names the columns, or is None for the usual ones.
    """
    table, chosen = _table(source, columns)
    return numbered_table(table, chosen).merged(Graph)


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest from the Parquet file `source`, with vertex names and edge ids."""
    table, chosen = _table(source, None, and_maybe=_EDGE_ID)
    edges = numbered_table(table, chosen)
    ids = None
    if _EDGE_ID in table.column_names:
        ids = table[_EDGE_ID].to_numpy()
        if ids.dtype.kind not in "iu":  # pyarrow returns floats if some ids are missing
            raise FileFormatError(f"the column {_EDGE_ID!r} is {ids.dtype}; ids are integers")
    is_maximum = (table.schema.metadata or {}).get(_KIND) == b"maximum"
    return ForestEdges.named(edges, edge_ids=ids, maximum=is_maximum)


def _table(
    source: SourceFile, columns: Sequence[Any] | None, *, and_maybe: str = ""
) -> tuple[Any, Columns]:
    """Read those columns of a Parquet file that are needed, and return a table and their names.

    `columns` names the columns, or is None for the usual ones. `and_maybe` names one more column to
    read if the file has it.
    """
    chosen: Columns | None = None

    def wanted(schema: Any) -> list[str]:
        nonlocal chosen
        chosen = choose([name for name in schema.names if name != and_maybe], columns)
        return [*chosen.names, *(name for name in schema.names if name == and_maybe)]

    table = read_whole(source, wanted)
    assert chosen is not None
    return table, chosen


def read_whole(source: SourceFile, wanted: Callable[[Any], list[str]]) -> Any:
    """Read some columns of the Parquet file `source` into a pyarrow table.

    `wanted` gets the schema of the file and returns the names of the columns. Raises
    :class:`FileFormatError` if the file is damaged, or would expand beyond the limit.
    """
    parquet = optional_import("pyarrow.parquet", extra="frames")
    stream = source.stream if source.size is not None else BytesIO(source.stream.read())
    with unreadable("pyarrow cannot read it ({}); it must be a whole Parquet file"):
        file = parquet.ParquetFile(stream)
        names = wanted(file.schema_arrow)
        if source.stored is not None:  # a few bytes can encode many equal rows
            check_expansion(file.metadata.num_rows * len(names) * _BYTES_PER_VALUE, source.stored)
        table = file.read(columns=names)
        for name in names:  # in a damaged file a column may have a name and nothing else
            table.field(name)
        table.validate(full=True)  # otherwise damaged text and dictionary codes raise later
        return table


def are_numbers(kind: Any) -> bool:
    """Return whether the Arrow type `kind` is a type of integers, floats or booleans."""
    types = optional_import("pyarrow", extra="frames").types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def are_lists(kind: Any) -> bool:
    """Return whether the Arrow type `kind` holds lists of numbers."""
    types = optional_import("pyarrow", extra="frames").types
    are = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(are and are_numbers(kind.value_type))


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write every edge once as a Parquet file.

    `listing` has the edges, and `stream` is the open file. A forest also gets its edge ids as a
    column, and metadata that say whether it is a maximum.
    """
    pyarrow = optional_import("pyarrow", extra="frames")
    parquet = optional_import("pyarrow.parquet", extra="frames")
    columns = dict(
        zip(("source", "target", "weight"), listing.named_rows(takes_text=True), strict=True)
    )
    metadata = None
    if listing.forest is not None:
        columns[_EDGE_ID] = listing.forest.edge_ids
        metadata = {_KIND: b"maximum" if listing.forest.maximum else b"minimum"}
    arrays = {name: pyarrow.array(column) for name, column in columns.items()}
    parquet.write_table(pyarrow.table(arrays, metadata=metadata), stream)


# ---------------------------------------------------------------- piece by piece

SUFFIXES = (".npy", ".parquet", ".pq")

_ROWS = 1 << 20  # rows of a Parquet file that are read at once

Rows: TypeAlias = tuple[int, Array, Array, Array | None]
"""Some consecutive rows of a file: the number of the first row, and the arrays u, v and weights.

The weights are None if each is 1."""


def listed(path: str | PathLike[str]) -> list[Path]:
    """Return the files that a path stands for, sorted by name.

    `path` is a file, a folder, or a pattern with ``*``, ``?`` or ``[...]``, in which ``**`` matches
    any number of folders. A file that exists is never taken for a pattern. Of a folder or a
    pattern, only files with one of SUFFIXES are returned.

    Raises :class:`MissingFileError` if the file does not exist, and :class:`InvalidArgumentError`
    if no file can be read in parts.
    """
    given = check_path("the path of the files", path)
    try:
        if given.is_dir():
            return _streamable(sorted(given.iterdir()), f"the folder {given} has")
        is_file = given.is_file()
    except OSError as error:
        raise InvalidArgumentError(f"{given} cannot be opened: {error.strerror}") from error
    if not is_file and glob.has_magic(str(given)):
        matching = map(Path, sorted(glob.glob(str(given), recursive=True)))
        return _streamable(matching, f"what matches {given} is")
    if not is_file:
        raise MissingFileError(f"there is no file {given}; it must exist")
    if given.suffix not in SUFFIXES:
        raise InvalidArgumentError(
            f"{given} cannot be read in parts; the suffix must be one of {', '.join(SUFFIXES)}"
        )
    return [given]


def _streamable(paths: Iterable[Path], what: str) -> list[Path]:
    """Return the paths of files that can be read in parts, judged by their suffixes.

    Raises InvalidArgumentError if none of them can. `what` is the beginning of the message.
    """
    found = [one for one in paths if one.suffix in SUFFIXES and one.is_file()]
    if not found:
        raise InvalidArgumentError(
            f"{what} no file that can be read in parts; there must be some ending in "
            f"{', '.join(SUFFIXES)} (a pattern with ** is for those in folders within)"
        )
    return found


def n_rows(path: Path, columns: Any = None) -> int:
    """Return the number of rows of the file `path`, of which only the header is read.

    `columns` are the columns that the caller names, or None.
    """
    if path.suffix == ".npy":
        return int(_mapped(path, columns)[0].shape[0])
    return int(open_parquet(path).metadata.num_rows)


def parts_of(path: Path, columns: Any = None) -> Iterator[Callable[[], Iterator[Rows]]]:
    """Yield a function for each part of a file, which returns an iterator over the part's rows.

    The iterator yields some rows at a time. Several threads may read a part each. The parts of a
    Parquet file are its row groups, of which small ones are read together. An ``.npy`` file is one
    part. `columns` names source, target and, optionally, weight, as in :func:`clmst.read_graph`.
    Raises :class:`FileFormatError` if the file is damaged, a column is missing, or a value is
    missing. Some of these errors are raised only when a part is read.
    """
    if path.suffix == ".npy":
        array, chosen = _mapped(path, columns)
        weights = None if chosen.weight is None else array[chosen.weight]
        rows = array[chosen.source], array[chosen.target], weights
        yield lambda: iter([(0, *rows)])
        return
    file = open_parquet(path)
    chosen = _chosen(path, file.schema_arrow.names, columns)
    groups: list[int] = []
    first_row = n_rows = 0
    for group in range(file.num_row_groups):
        groups.append(group)
        n_rows += file.metadata.row_group(group).num_rows
        if n_rows >= _ROWS or group + 1 == file.num_row_groups:
            yield partial(_read_groups, path, chosen, groups, first_row, file.metadata)
            groups, first_row, n_rows = [], first_row + n_rows, 0


def _read_groups(
    path: Path, chosen: Columns, groups: list[int], first_row: int, metadata: Any
) -> Iterator[Rows]:
    """Yield the rows of some row groups of the Parquet file `path`.

    `chosen` are the columns, `groups` the numbers of the row groups, and `metadata` is the file's.
    `first_row` is the number of the first row, for error messages.
    """
    file = open_parquet(path, metadata)
    with _readable(path):
        for batch in file.iter_batches(_ROWS, groups, columns=chosen.names):
            batch.validate(full=True)  # otherwise damaged text raises later
            yield _batch(batch, chosen, path, first_row)
            first_row += batch.num_rows


def _mapped(path: Path, columns: Any) -> tuple[Array, Columns]:
    """Map the structured array in an ``.npy`` file into memory, and choose the fields to read.

    Returns the array and the names of the fields. `columns` names them, or is None for the usual
    ones.
    """
    with _readable(path):
        array = npz.load(path, mmap_mode="r")
    if array.dtype.names is None or array.ndim != 1:
        raise FileFormatError(
            f"{path} is an array of dtype {array.dtype} and shape {array.shape}; it must be a "
            "structured array with a field for each of source, target and weight"
        )
    return array, _chosen(path, array.dtype.names, columns)


def _chosen(path: Path, names: Sequence[str], columns: Any) -> Columns:
    try:
        return choose(names, check_columns(columns))
    except InvalidGraphError as error:
        raise FileFormatError(f"{path}: {error}") from error


def open_parquet(path: Path, metadata: Any = None) -> Any:
    """Open a Parquet file to read it in parts. Raises :class:`FileFormatError` if it is damaged.

    `metadata` are pyarrow's metadata of the file if they have been read before, else None.
    """
    parquet = optional_import("pyarrow.parquet", extra="frames")
    with _readable(path):
        return parquet.ParquetFile(path, memory_map=True, metadata=metadata)


def _batch(batch: Any, chosen: Columns, path: Path, first_row: int) -> Rows:
    """Convert the chosen columns of an Arrow record batch to arrays.

    Returns `first_row`, the number of the batch's first row in the file, and the arrays u, v and
    weights. Raises FileFormatError, with `path` and the row, if a value is missing.
    """
    arrays: list[Any] = []
    for name in (chosen.source, chosen.target, chosen.weight):
        column = None if name is None else batch.column(name)
        if column is not None and column.null_count:
            row = first_row + int(column.is_null().to_numpy(zero_copy_only=False).argmax())
            raise FileFormatError(
                f"{path}: row {row} of column {name!r} is missing; every row needs one"
            )
        arrays.append(None if column is None else column.to_numpy(zero_copy_only=False))
    return first_row, arrays[0], arrays[1], arrays[2]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Replace errors of another library inside the ``with`` by a FileFormatError that names `path`.

    Yields None.
    """
    with system_errors_named(path), errors_as(lambda error: FileFormatError(
        f"{path} cannot be read ({' '.join(str(error).split())[:200]}); it must be a whole "
        "Parquet file, or an .npy file of a structured array"
    )):  # fmt: skip
        yield
