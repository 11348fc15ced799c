"""Points that stay in their files: what is read, in which order, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import InvalidArgumentError
from clmst.core.errors import FileFormatError, MissingFileError

ROWS = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)


def table_of(rows: Any, names: str = "xyz", **more: Any) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: rows[:, "xyz".index(name)] for name in names} | more)


def write_parquet(table: Any, path: Path, **options: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, path, **options)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<f2", ">f4", "<i8", "u1", "?"])
def test_an_npy_file_is_mapped_itself(tmp_path: Path, dtype: str, order: Any) -> None:
    """No copy is made: what the file gets afterwards is what the coordinates are."""
    rows = np.asarray(np.abs(ROWS) * 3, dtype, order=order)
    np.save(tmp_path / "a.npy", rows)
    points: Any = clmst.read_points(tmp_path / "a.npy", mapped=True)
    assert points.coordinates.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(points.coordinates, rows)
    assert clmst.minimum_spanning_forest(points) == clmst.minimum_spanning_forest(
        clmst.Points(rows.astype(float))
    )
    changed = np.load(tmp_path / "a.npy", mmap_mode="r+")
    changed[5, 1] = 1
    changed.flush()
    assert points.coordinates[5, 1] == 1


def test_a_folder(tmp_path: Path) -> None:
    """The files come in the order of their names, whatever their kinds are."""
    np.save(tmp_path / "a.npy", ROWS[:100])
    np.save(tmp_path / "c.npy", ROWS[180:])
    (tmp_path / "b.txt").write_text("no points")
    for path in (tmp_path, tmp_path / "*.npy", str(tmp_path / "?.npy")):
        points: Any = clmst.read_points(path, mapped=True)
        assert points.coordinates.dtype == np.float32
        np.testing.assert_array_equal(points.coordinates, np.delete(ROWS, slice(100, 180), axis=0))
    np.save(tmp_path / "b.npy", ROWS[100:180].astype(float))
    joined: Any = clmst.read_points(tmp_path, mapped=True, metric="manhattan")
    assert joined.coordinates.dtype == np.float64
    assert joined.metric == "manhattan"
    np.testing.assert_array_equal(joined.coordinates, ROWS)


def test_parquet_files(tmp_path: Path) -> None:
    """Columns are found by their names in each file. Floats keep their dtype."""
    for k, names in enumerate(("xyz", "zxy", "yzx")):
        rows = ROWS[100 * k : 100 * k + 100]
        write_parquet(table_of(rows, names), tmp_path / f"{k}.parquet", row_group_size=40)
    points: Any = clmst.read_points(tmp_path, mapped=True)
    assert points.coordinates.dtype == np.float32
    np.testing.assert_array_equal(points.coordinates, ROWS)
    some: Any = clmst.read_points(tmp_path / "*.parquet", mapped=True, columns=["z", "x"])
    np.testing.assert_array_equal(some.coordinates, ROWS[:, [2, 0]])


def test_other_tables(tmp_path: Path) -> None:
    """Structured arrays, integers, missing values, and columns of lists, as without `mapped`."""
    pyarrow = pytest.importorskip("pyarrow")
    fields = np.zeros(300, [("x", "<f4"), ("name", "U3"), ("y", "<f4")])
    fields["x"], fields["y"] = ROWS[:, 0], ROWS[:, 1]
    np.save(tmp_path / "fields.npy", fields)
    whole = np.arange(300)
    write_parquet(table_of(ROWS, n=whole, kind=["a"] * 300), tmp_path / "mixed.parquet")
    flat = pyarrow.array(ROWS.ravel())
    for name, lists in (
        ("fixed", pyarrow.FixedSizeListArray.from_arrays(flat, 3)),
        ("lists", pyarrow.ListArray.from_arrays(np.arange(0, 903, 3), flat)),
    ):
        write_parquet(pyarrow.table({"v": lists}), tmp_path / f"{name}.parquet")
    for name, columns, dtype in (
        ("fields.npy", ["y", "x"], np.float32), ("mixed.parquet", ["x", "n"], np.float64),
        ("mixed.parquet", ["n"], np.float64), ("fixed.parquet", None, np.float32),
        ("lists.parquet", None, np.float32),
    ):  # fmt: skip
        found: Any = clmst.read_points(tmp_path / name, mapped=True, columns=columns)
        usual: Any = clmst.read_points(tmp_path / name, columns=columns)
        assert found.coordinates.dtype == dtype
        np.testing.assert_array_equal(found.coordinates, usual.coordinates)


def test_files_without_points(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ROWS[:0])
    assert clmst.read_points(tmp_path / "a.npy", mapped=True).n_vertices == 0
    np.save(tmp_path / "b.npy", ROWS[:0])
    assert clmst.read_points(tmp_path, mapped=True).n_vertices == 0
    np.save(tmp_path / "c.npy", ROWS)
    assert clmst.read_points(tmp_path, mapped=True).n_vertices == 300


def test_what_cannot_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "damaged.npy").write_bytes(b"\x93NUMPY of another time")
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 of another time")
    np.save(tmp_path / "flat.npy", ROWS[0])
    np.save(tmp_path / "nan.npy", np.where(np.arange(300)[:, None] == 7, np.nan, ROWS))
    write_parquet(table_of(ROWS, kind=["a"] * 300), tmp_path / "kinds.parquet")
    (tmp_path / "none").mkdir()

    def refused(path: Any, error: Any, message: str, **options: Any) -> None:
        with pytest.raises(error, match=message):
            clmst.read_points(path, mapped=True, **options)

    refused(tmp_path / "a.csv", InvalidArgumentError, "a.csv cannot be read in parts; the suffix")
    refused(tmp_path / "none", InvalidArgumentError, "none has no file that can be read in parts")
    refused(tmp_path / "no.npy", MissingFileError, "there is no file")
    refused(BytesIO(b"x"), InvalidArgumentError, "mapped is True, and path is open")
    refused(tmp_path / "a.npy", InvalidArgumentError, "and format is 'npy'", format="npy")
    refused(tmp_path / "damaged.npy", FileFormatError, "damaged.npy: it is no whole .npy file")
    refused(tmp_path / "damaged.parquet", FileFormatError, "damaged.parquet cannot be read")
    refused(tmp_path / "flat.npy", FileFormatError, r"flat.npy: it has an array of shape \(3,\)")
    refused(tmp_path / "flat.npy", FileFormatError, "no fields; columns can", columns=["x"])
    refused(tmp_path / "kinds.parquet", FileFormatError, "column 'kind' has values of type string")
    refused(tmp_path / "nan.npy", FileFormatError, "nan.npy: coordinate 0 of point 7 is NaN")
    with pytest.raises(InvalidArgumentError, match="mapped is 1; it must be True or False"):
        clmst.read_points(tmp_path / "flat.npy", mapped=1)  # type: ignore[arg-type]


def test_files_that_do_not_agree(tmp_path: Path) -> None:
    write_parquet(table_of(ROWS, "xy"), tmp_path / "a.parquet")
    write_parquet(table_of(ROWS, "xz"), tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match=r"b.parquet: the columns are \['x', 'z'\], and"):
        clmst.read_points(tmp_path, mapped=True)
    assert clmst.read_points(tmp_path, mapped=True, columns=["x"]).n_vertices == 600
    (tmp_path / "b.parquet").unlink()
    np.save(tmp_path / "b.npy", ROWS)
    with pytest.raises(FileFormatError, match=r"b\.npy: the columns are None, and those of"):
        clmst.read_points(tmp_path, mapped=True)
    (tmp_path / "a.parquet").unlink()
    np.save(tmp_path / "c.npy", ROWS[:, :2])
    with pytest.raises(FileFormatError, match=r"c\.npy: a point has 2 coordinates, and those"):
        clmst.read_points(tmp_path, mapped=True)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of the size of a file")
def test_a_temporary_file_that_cannot_grow(tmp_path: Path) -> None:
    """One error says what is missing and what helps, and no file is left."""
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.zeros((50_000, 3)))
    code = f"""
        import os, resource, tempfile, clmst
        tempfile.tempdir = {str(tmp_path / "own")!r}
        os.mkdir(tempfile.tempdir)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            clmst.read_points({str(tmp_path)!r}, mapped=True)
        except clmst.InvalidArgumentError as error:
            print(error, os.listdir(tempfile.tempdir))
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    assert "own cannot grow beyond" in done.stdout
    assert "TMPDIR names a folder with more space []" in done.stdout
