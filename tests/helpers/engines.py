"""Shared parts of the tests of Dask and Ray: edges, their parts as files, and workers that die."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import InvalidGraphError
from tests.scale.edges import random_edges

N = 60
EDGES = random_edges(N, 2000)
PARTS = list(zip(*(np.array_split(column, 8) for column in EDGES), strict=True))


def named_edges() -> tuple[Any, clmst.Forest]:
    """Return the edges as a data frame with named vertices, and the forest of a stream of them."""
    pandas = pytest.importorskip("pandas")
    names = np.array([f"town {k * 7919 % N} é" for k in range(N)], object)
    u, v, w = EDGES
    frame = pandas.DataFrame({"source": names[u], "target": names[v], "weight": w})
    return frame, clmst.stream_minimum_spanning_forest(frame)


def write_parts(folder: Path) -> None:
    """Write the parts as files: seven Parquet files and one structured array."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    folder.mkdir()
    for k, part in enumerate(PARTS):
        table = pandas.DataFrame(dict(zip("uvw", part, strict=True)))
        if k == 3:
            np.save(folder / f"{k}.npy", table.to_records(index=False))
        else:
            table.to_parquet(folder / f"{k}.parquet")


def killed_once(part: Any, mark: Path) -> Any:
    """Return a part, but kill the first worker that is asked for it."""
    if not mark.exists():
        mark.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return part


# Changes to the columns of a good file with three edges, and the end of the error's message.
WRONG_FILES: dict[str, tuple[dict[str, Any], str]] = {
    "far": ({"source": [0, 1, 9]}, r"partition 1 \(far\.parquet\): u of row 2 is 9; it must be"),
    "nan": ({"weight": [1, np.nan, 2]}, r"\(nan\.parquet\): the weight of row 1 \(1, 2\) is NaN; "),
    "null": ({"weight": [1, 2, None]}, r"null\.parquet: row 2 of column 'weight' is missing; "),
    "other": (
        {"km": [1, 2, 3], "weight": None},
        r"other\.parquet: the columns are .*'km'; source, target and weight must be among",
    ),
}


def assert_refused_plainly(
    solve: Callable[[list[Path]], object], folder: Path, worker: str
) -> None:
    """Assert that wrong files raise an error whose single line names the worker, file and row.

    The traceback may contain the caller, this file and the called function, but nothing of the
    engine.
    """
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    good: dict[str, Any] = {"source": [0, 1, 0], "target": [1, 2, 2], "weight": [1.0, 2.0, 3.0]}
    parquet.write_table(pyarrow.table(good), folder / "good.parquet")
    for name, (columns, words) in WRONG_FILES.items():
        wrong = {key: column for key, column in (good | columns).items() if column is not None}
        parquet.write_table(pyarrow.table(wrong), folder / f"{name}.parquet")
        with pytest.raises(InvalidGraphError, match=f"^worker {worker}: .*{words}") as caught:
            solve([folder / "good.parquet", folder / f"{name}.parquet"])
        assert_plain(caught.value)


def assert_plain(error: BaseException) -> None:
    """Assert that an error has one line, and that its traceback contains nothing of the engine."""
    assert "\n" not in str(error)
    shown = traceback.format_exception(error)
    assert sum(text.count("File ") for text in shown) <= 5, shown
    assert not any("distributed" in text or "ray/" in text for text in shown)
