"""Parquet files: a row for each edge, columns found by their names as in CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any, BinaryIO

from clmst.core.columns import Columns, choose
from clmst.core.data_frames import numbered_table
from clmst.core.errors import ClmstError, FileFormatError, optional_import
from clmst.core.graph import Graph
from clmst.io.file_edges import FileEdges
from clmst.io.files import SourceFile, check_expansion
from clmst.io.forest_edges import ForestEdges

_BYTES_PER_VALUE = 8
_EDGE_ID = "edge_id"
_KIND = b"clmst.forest"  # in the metadata of a forest


def read(source: SourceFile, columns: Sequence[Any] | None = None) -> Graph:
    """Read a graph; missing weights are 1.

    Raises
    ------
    FileFormatError
        It is no Parquet file, there is no such column, or an id or a weight is missing.
    MissingDependencyError
        pyarrow is not installed.
    """
    table, chosen = _table(source, columns)
    return numbered_table(table, chosen).merged()


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest under the caller's names of vertices, and their ids."""
    table, chosen = _table(source, None, and_maybe=_EDGE_ID)
    edges = numbered_table(table, chosen)
    ids = None
    if _EDGE_ID in table.column_names:
        ids = table[_EDGE_ID].to_numpy()
        if ids.dtype.kind not in "iu":  # floats where some are missing
            raise FileFormatError(f"the column {_EDGE_ID!r} is {ids.dtype}; ids are integers")
    is_maximum = (table.schema.metadata or {}).get(_KIND) == b"maximum"
    return ForestEdges.named(edges, edge_ids=ids, maximum=is_maximum)


def _table(
    source: SourceFile, columns: Sequence[Any] | None, *, and_maybe: str = ""
) -> tuple[Any, Columns]:
    """Return the columns that are needed, and which these are."""
    parquet = optional_import("pyarrow.parquet", extra="frames")
    stream = source.stream if source.size is not None else BytesIO(source.stream.read())
    try:
        file = parquet.ParquetFile(stream)
        names = list(file.schema_arrow.names)
        chosen = choose([name for name in names if name != and_maybe], columns)
        wanted = chosen.names
        if source.stored is not None:  # a few bytes may stand for many equal rows
            check_expansion(file.metadata.num_rows * len(wanted) * _BYTES_PER_VALUE, source.stored)
        wanted += [and_maybe] if and_maybe in names else []
        return file.read(columns=wanted), chosen
    except (ClmstError, MemoryError, EOFError):
        raise
    except Exception as error:
        raise FileFormatError(
            f"pyarrow cannot read it ({' '.join(str(error).split())[:200]}); it must be a whole "
            "Parquet file"
        ) from error


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write every edge once, with the caller's labels if they are integers or text.

    Of a forest the ids are written, too, and whether it is a maximum.
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
