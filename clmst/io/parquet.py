"""Parquet files: a row for each edge, columns found by their names as in CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any, BinaryIO

from clmst.core.columns import Columns, choose
from clmst.core.data_frames import named, numbered_table
from clmst.core.errors import ClmstError, FileFormatError, optional_import
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.files import SourceFile, check_expansion
from clmst.io.forest_edges import ForestEdges
from clmst.io.table_rows import TableRows, forest_rows, graph_rows

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
    return ForestEdges(
        n_vertices=None,
        u=named(edges.labels, edges.u),
        v=named(edges.labels, edges.v),
        weights=edges.weights,
        edge_ids=ids,
        maximum=(table.schema.metadata or {}).get(_KIND) == b"maximum",
        are_labels=True,
    )


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


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write every edge once, with the caller's labels if they are integers or text."""
    _write(graph_rows(graph), stream)


def write_forest(forest: Forest, stream: BinaryIO) -> None:
    """Write the edges of a forest, with their ids, and whether it is a maximum."""
    kind = b"maximum" if forest.maximum else b"minimum"
    _write(forest_rows(forest), stream, ids=forest.edge_ids, metadata={_KIND: kind})


def _write(
    rows: TableRows,
    stream: BinaryIO,
    *,
    ids: Array | None = None,
    metadata: dict[bytes, bytes] | None = None,
) -> None:
    pyarrow = optional_import("pyarrow", extra="frames")
    parquet = optional_import("pyarrow.parquet", extra="frames")
    columns = {"source": rows.u, "target": rows.v, "weight": rows.weights}
    if ids is not None:
        columns[_EDGE_ID] = ids
    arrays = {name: pyarrow.array(column) for name, column in columns.items()}
    parquet.write_table(pyarrow.table(arrays, metadata=metadata), stream)
