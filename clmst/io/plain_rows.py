"""Rows of two or three numbers, read by pyarrow, where it reads what clmst's own parser would.

pyarrow's parser of CSV is several times as quick as :mod:`clmst.io.numbers`, but knows neither
comments nor several spaces in a row, and its messages name no line of the file. So it gets whole
blocks, and where it refuses one, or might read it otherwise, clmst's own parser reads that block.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from clmst.core.weight_keys import Array

LEAST_BYTES = 1 << 17  # of a block: below, its import would take longer than it saves
_EXACT = 1e18  # greater integers may be ones that clmst refuses, or keeps as uint64
_FRACTION = frozenset(b".eEnNiI")
_DELIMITERS = (b",", b"\t", b" ")


@cache
def _pyarrow() -> tuple[Any, Any] | None:
    """Return pyarrow and its parser of CSV, if they are installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None


def parse(text: bytes, *, letters: bytes = b"") -> list[Array] | None:
    """Return the columns of a block of rows, or None unless all rows are plain.

    Parameters
    ----------
    text : bytes
        Whole lines.
    letters : bytes
        One of these letters begins each row, the same one in all.

    Returns
    -------
    list of ndarray, or None
        Two columns of int64, and perhaps one of int64 or float64.
    """
    modules = _pyarrow() if len(text) >= LEAST_BYTES else None
    first = text[: text.find(b"\n")].rstrip(b"\r")
    delimiter = next((one for one in _DELIMITERS if one in first), b"")
    fields = first.split(delimiter) if delimiter else []
    n_skipped = 1 if letters else 0
    if modules is None or not 2 <= len(fields) - n_skipped <= 3 or _is_unusual(text):
        return None
    if letters and fields[0] not in {bytes([one]) for one in letters}:
        return None
    weight = fields[-1] if len(fields) - n_skipped == 3 else None
    table = _table(modules, text, delimiter, len(fields), n_skipped, weight=weight)
    if table is None:
        return None
    if letters and _count_lines(text, fields[0] + delimiter) != table.num_rows:
        return None
    columns: list[Array] = [column.to_numpy() for column in table.columns]
    return None if _is_odd(columns[-1], weight) else columns


def _is_odd(column: Array, first: bytes | None) -> bool:
    """Whether floats may be what clmst's own parser refuses, or reads as integers."""
    if column.dtype.kind != "f" or first is None:
        return False
    if not (np.abs(column) < _EXACT).all():  # NaN, infinities, and integers that are out of range
        return True
    # Integers in a form that pyarrow does not know, as +5.
    return not _has_fraction(first) and bool((column % 1 == 0).all())


def _has_fraction(word: bytes) -> bool:
    return bool(_FRACTION & set(word))


def _is_unusual(text: bytes) -> bool:
    r"""Whether pyarrow would read as numbers or lines what clmst does not: 0x1f, or one \\r."""
    if b"x" in text or b"X" in text:
        return True
    return b"\r" in text and text.count(b"\r") != text.count(b"\r\n")


def _count_lines(text: bytes, begin: bytes) -> int:
    """Return how many lines begin with these two bytes."""
    array = np.frombuffer(text, np.uint8)
    found = array[:-2] == ord("\n")
    found &= array[1:-1] == begin[0]
    found &= array[2:] == begin[1]
    return int(np.count_nonzero(found)) + text.startswith(begin)


def _table(
    modules: tuple[Any, Any],
    text: bytes,
    delimiter: bytes,
    n_fields: int,
    n_skipped: int,
    *,
    weight: bytes | None,
) -> Any:
    """Return the table of a block, whose first weight is given; None if pyarrow refuses it."""
    pyarrow, csv = modules
    names = [str(at) for at in range(n_fields)]
    wanted = names[n_skipped:]
    types = dict.fromkeys(wanted, pyarrow.int64())
    tried = [] if weight is None else [types | {wanted[-1]: pyarrow.float64()}]
    if weight is None or not _has_fraction(weight):
        tried.insert(0, types)
    for each in tried:
        try:
            return csv.read_csv(
                pyarrow.BufferReader(text),
                # One block has nothing to share out: threads took 1.3 times the processor time.
                csv.ReadOptions(
                    column_names=names, block_size=max(len(text), 1), use_threads=False
                ),
                csv.ParseOptions(delimiter=delimiter.decode(), quote_char=False),
                csv.ConvertOptions(
                    column_types=each, include_columns=wanted, null_values=[], check_utf8=False
                ),
            )
        except (pyarrow.ArrowException, ValueError):
            continue
    return None
