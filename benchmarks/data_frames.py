"""What it costs to make a graph of a data frame, by the kind of its ids.

python -m benchmarks.data_frames [EDGES]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from clmst import Graph
from clmst.bench.harness import median_seconds
from clmst.core.weight_keys import Array

DEFAULT_EDGES = 2_000_000


def main() -> None:
    """Print the time of each kind."""
    m = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_EDGES
    random = np.random.default_rng(0)
    far_apart = random.choice(10**9, m // 10, replace=False) + 10**9
    ends = random.integers(0, m // 10, (2, m))
    frames = {"0 .. n - 1": ends, "integers near 10**9": far_apart[ends]}
    weights = random.random(m)

    def frame_of(ids: Array) -> Any:
        return pd.DataFrame({"source": ids[0], "target": ids[1], "weight": weights})

    for name, ids in frames.items():
        frame = frame_of(ids)
        report(name, partial(Graph.from_pandas, frame))
        table = pa.Table.from_pandas(frame)
        report(f"{name}, Arrow", partial(Graph.from_arrow, table))
    names = frame_of(ends)
    names = names.assign(**{end: "v" + names[end].astype(str) for end in ("source", "target")})
    report("strings", partial(Graph.from_pandas, names))
    table = pa.Table.from_pandas(names)
    report("strings, Arrow", partial(Graph.from_arrow, table))
    categories = names.astype({"source": "category", "target": "category"})
    report("categories", partial(Graph.from_pandas, categories))


def report(name: str, make: Callable[[], Graph]) -> None:
    """Print the median time of five calls."""
    print(f"{name:<30} {median_seconds(make, 5):6.2f} s")


if __name__ == "__main__":
    main()
