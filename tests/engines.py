"""What the tests of Dask and of Ray share: edges, their parts as files, and workers that die."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scale.edges import random_edges

N = 60
EDGES = random_edges(N, 2000)
PARTS = list(zip(*(np.array_split(column, 8) for column in EDGES), strict=True))


def write_parts(folder: Path) -> None:
    """Write the parts as files: Parquet, and one structured array."""
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
    """Return a part, but kill the worker that is asked for it first."""
    if not mark.exists():
        mark.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return part
