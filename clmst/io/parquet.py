"""Parquet files: a row for each edge, columns found by their names as in CSV files."""

from __future__ import annotations

from collections.abc import Sequence

from clmst.core.data_frames import numbered_table
from clmst.core.errors import ClmstError, FileFormatError
from clmst.core.graph import Graph
from clmst.core.optional import optional_import
from clmst.io.columns import choose
from clmst.io.files import SourceFile, check_expansion

_BYTES_PER_VALUE = 8


def read(source: SourceFile, columns: Sequence[str] | None = None) -> Graph:
    """Read a graph; missing weights are 1.

    Raises
    ------
    FileFormatError
        It is no Parquet file, there is no such column, or an id or a weight is missing.
    MissingDependencyError
        pyarrow is not installed.
    """
    parquet = optional_import("pyarrow.parquet", extra="frames")
    try:
        file = parquet.ParquetFile(source.stream)
        names = list(file.schema_arrow.names)
        chosen = choose(names, columns)
        wanted = [name for name in (chosen.source, chosen.target, chosen.weight) if name]
        if source.stored is not None:  # a few bytes may stand for many equal rows
            check_expansion(file.metadata.num_rows * len(wanted) * _BYTES_PER_VALUE, source.stored)
        table = file.read(columns=list(dict.fromkeys(wanted)))
    except (ClmstError, MemoryError, EOFError):
        raise
    except Exception as error:
        raise FileFormatError(
            f"pyarrow cannot read it ({' '.join(str(error).split())[:200]}); it must be a whole "
            "Parquet file"
        ) from error
    return numbered_table(table, chosen.source, chosen.target, chosen.weight).merged()
