"""Tables of points: CSV, Parquet and ``.npy``, with the columns that are wanted."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import ClmstError, FileFormatError, InvalidArgumentError
from clmst.io import read_points, read_rows

X = np.array([[0.1, -2, 3e300], [4, 5, 6], [7, 8, 0.25]])
KINDS = ["a", "b,c", "d"]
FIELDS = [("x", "f8"), ("kind", "U3"), ("y", "f8"), ("z", "f8")]


def _text(separator: str) -> Callable[[Path], None]:
    rows = [
        separator.join((repr(x), f'"{kind}"', repr(y), repr(z)))
        for (x, y, z), kind in zip(X.tolist(), KINDS, strict=True)
    ]
    text = "\n".join([separator.join(["x", "kind", "y", "z"]), *rows]) + "\n"
    return lambda path: _store(path, text.encode())


def _store(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def _parquet(path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    x, y, z = X.T
    frame = pandas.DataFrame({"x": x, "kind": KINDS, "y": y, "z": z}, index=[5, 2, 9])
    frame.to_parquet(path)


def _structured(path: Path) -> None:
    np.save(path, np.array([(a, k, b, c) for (a, b, c), k in zip(X, KINDS, strict=True)], FIELDS))


TABLES: dict[str, Callable[[Path], None]] = {
    "t.csv": _text(","),
    "semicolons.csv": _text(";"),
    "tabs.csv.gz": _text("\t"),
    "mark.csv": lambda path: _store(
        path, b"\xef\xbb\xbfx,kind,y,z\r\n0.1,a,-2,3e300\r\n4,b,5,6\r\n7,d,8,.25"
    ),
    "t.parquet": _parquet,
    "t.pq": _parquet,
    "t.npy": _structured,
}


@pytest.mark.parametrize("name", TABLES)
def test_columns_in_any_order(tmp_path: Path, name: str) -> None:
    """The bits of the numbers stay; a column of text is refused with the others' names."""
    TABLES[name](path := tmp_path / name)
    for chosen, positions in ((["x", "y", "z"], [0, 1, 2]), (["z", "x"], [2, 0])):
        points: Any = read_points(path, columns=chosen)
        np.testing.assert_array_equal(points.coordinates, X[:, positions])
        assert points.metric == "euclidean"
    for columns in (None, ["kind", "x"]):
        with pytest.raises(FileFormatError, match=r"column 'kind' has .* as x,y,z$") as caught:
            read_points(path, columns=columns)
        assert str(caught.value).startswith(f"{path}: ")


def test_all_columns_by_default(tmp_path: Path) -> None:
    """With or without a header row; a comment, as NumPy writes names, is none."""
    for at, header in enumerate(("", "x,y,z", "# x,y,z")):
        path = tmp_path / f"{at}.csv"
        np.savetxt(path, X, delimiter=",", header=header, comments="")
        np.testing.assert_array_equal(read_points(path).coordinates, X)  # type: ignore[union-attr]
    np.save(path := tmp_path / "x.npy", X)
    assert read_points(path, metric="manhattan").metric == "manhattan"  # type: ignore[union-attr]


def test_the_forest_is_that_of_the_array(tmp_path: Path) -> None:
    _text(",")(path := tmp_path / "t.csv")
    forest = clmst.minimum_spanning_forest(clmst.read_points(path, columns=("x", "y")))
    assert forest == clmst.minimum_spanning_forest(clmst.Points(X[:, :2]))


def test_lists_are_rows(tmp_path: Path) -> None:
    """Embeddings are stored so."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    for kind in (pyarrow.list_(pyarrow.float64()), pyarrow.list_(pyarrow.float32(), 3)):
        lists = pyarrow.array(X.clip(-9, 9).tolist(), kind)
        parquet.write_table(pyarrow.table({"text": KINDS, "embedding": lists}), path)
        found: Any = read_points(path, columns=["embedding"])
        np.testing.assert_array_equal(found.coordinates, np.array(lists.to_pylist()))
    uneven = pyarrow.array([[1.0], [2.0, 3.0]])
    parquet.write_table(pyarrow.table({"embedding": uneven}), path)
    with pytest.raises(FileFormatError, match=r"lists of 1 to 2 values .* equally many numbers"):
        read_points(path)
    parquet.write_table(pyarrow.table({"embedding": uneven[:0]}), path)
    with pytest.raises(FileFormatError, match=r"shape \(0, 0\); it must be \(n, d\), d > 0"):
        read_points(path)


def test_a_signalling_nan_is_a_nan(tmp_path: Path) -> None:
    """NumPy warns when it converts one to float64."""
    array = np.array([[0.5, 1], [2, 0]], np.float32)
    array.view(np.uint32)[1, 1] = 0xFF960000
    np.save(path := tmp_path / "t.npy", array)
    with pytest.raises(FileFormatError, match="coordinate 1 of point 1 is NaN"):
        read_points(path)


WRONG: list[tuple[str, str | bytes, dict[str, Any], type[ClmstError], str]] = [
    ("t.csv", "x,y\n,2\n3,no\n", {}, FileFormatError, "no table of numbers (could not convert"),
    ("t.csv", "x,y\n1,2\n3,\n", {}, clmst.InvalidGraphError, "coordinate 1 of point 1 is NaN"),
    ("t.csv", "x,y\n1,2\n3\n", {}, FileFormatError, "points are rows of numbers"),
    ("t.csv", "x,y\n1,2\n3,no\n", {}, FileFormatError, "'no'"),
    ("t.csv", "1,2\n3,no\n", {}, FileFormatError, "points are rows of numbers"),
    ("t.csv", "1,2\n", {"columns": ["x"]}, FileFormatError, "line 1 is not a header row"),
    ("t.csv", "x,y\n1,2\n", {"columns": ["z"]}, FileFormatError, "0 columns are called 'z' among"),
    ("t.csv", "x,x\n1,2\n", {"columns": ["x"]}, FileFormatError, "2 columns are called 'x' among"),
    ("t.csv", "x,y\n1,2\n", {"columns": "x"}, InvalidArgumentError, "must be a list of the names"),
    ("t.csv", "x,y\n1,2\n", {"columns": []}, InvalidArgumentError, "must be a list of the names"),
    ("t.csv", b"x\n\xff\n", {}, FileFormatError, "UTF-8"),
    ("t.csv", "", {}, FileFormatError, "the file is empty"),
    ("t.csv", "x,y\n1,inf\n", {}, clmst.InvalidGraphError, "must be finite"),
    ("t.npy", b"\x93NUMPY\x01", {}, FileFormatError, "no whole .npy file"),
    ("t.parquet", b"PAR1", {}, FileFormatError, "whole Parquet file"),
    ("t.gr", "", {}, InvalidArgumentError, "which no format of points has; known are csv (.csv)"),
    ("t.csv", "x\n1\n", {"format": "metis"}, InvalidArgumentError, "no format of points 'metis'"),
    ("t.tsp", "", {"columns": ["x"]}, InvalidArgumentError, "no columns in format tsplib"),
    ("t.csv", "x\n1\n", {"metric": "taxi"}, InvalidArgumentError, "metric is 'taxi'"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[-1])
def test_what_is_refused(tmp_path: Path, wrong: tuple[Any, ...]) -> None:
    name, data, given, error, words = wrong
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(error) as caught:
        read_points(path, **given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_arrays_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    for array, words in (
        (np.arange(4.0), r"shape \(4,\) and dtype float64; points are rows"),
        (np.array([["a"]]), "dtype <U1; points are rows"),
    ):
        np.save(path, array)
        with pytest.raises(FileFormatError, match=words):
            read_points(path)
    np.save(path, X)
    with pytest.raises(FileFormatError, match="the array has no fields"):
        read_points(path, columns=["x"])
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(FileFormatError, match=r"no whole \.npy file"):
        read_points(path)


def test_missing_numbers(tmp_path: Path) -> None:
    """They are gaps, which HDBSCAN takes; the length of a missing list is undefined."""
    (tmp_path / "t.csv").write_text("a,b,c,name\n1,1,1.5,A\n,,2,\n3,0,,C\n")
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"a": [1, None, 3], "b": [True, None, False], "c": [1.5, 2.0, None]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        rows = read_rows(tmp_path / name, format=None, metric=None, columns=list("abc"))
        np.testing.assert_array_equal(rows, [[1, 1, 1.5], [np.nan, np.nan, 2], [3, 0, np.nan]])
    parquet.write_table(pyarrow.table({"x": [[1.0], None]}), path := tmp_path / "lists.parquet")
    with pytest.raises(FileFormatError, match="row 1 of column 'x' is missing; each point needs"):
        read_points(path)
