"""Time the conversion of a data frame to a graph, for several kinds of vertex ids.

python -m benchmarks data_frames [--edges 2000000]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click
import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.runner import Rows, Run, case
from clmst import Graph


@case(click.option("--edges", "m", default=2_000_000, show_default=True), repetitions=5)
def main(run: Run, m: int) -> Rows:
    """Time the conversion of data frames and Arrow tables to graphs."""
    random = np.random.default_rng(0)
    far_apart = random.choice(10**9, m // 10, replace=False) + 10**9
    ends, weights = random.integers(0, m // 10, (2, m)), random.random(m)
    frames = {
        name: pd.DataFrame({"source": ids[0], "target": ids[1], "weight": weights})
        for name, ids in (("0 .. n - 1", ends), ("integers near 10**9", far_apart[ends]))
    }
    names = frames["0 .. n - 1"]
    strings = names.assign(**{end: "v" + names[end].astype(str) for end in ("source", "target")})
    frames["strings"] = strings
    categories = strings.astype({"source": "category", "target": "category"})
    makes: dict[str, Callable[[], Graph]] = {}
    for name, frame in frames.items():
        makes[name] = partial(Graph.from_pandas, frame)
        makes[f"{name}, Arrow"] = partial(Graph.from_arrow, pa.Table.from_pandas(frame))
    makes["categories"] = partial(Graph.from_pandas, categories)
    for name, make in makes.items():
        yield {"ids": name, "ms": run.turns({name: make}, warm_ups=0)[name]}
