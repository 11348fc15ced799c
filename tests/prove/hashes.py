"""One table of forests' hashes: what every algorithm gives for fixed inputs, on every device.

    python -m tests.prove.hashes --device intel --sizes tiny small medium > intel.json
    python -m tests.prove.hashes --oracle --sizes tiny small medium large > forest_hashes.json

Solves the inputs by every algorithm in every variant of a device, compares each forest's hash with
``forest_hashes.json``, and prints what the device gave, in the same form. Inputs follow from 64-bit
arithmetic alone, not from NumPy's generators. Exit status 1 if a hash differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import clmst
from clmst import Device, Forest, Graph, Points, UnsupportedDeviceError
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.solving import most_vertices
from clmst.bench.results import machine_facts
from clmst.core.points import Metric
from tests.helpers.forests import solve
from tests.helpers.variants import VARIANTS, as_variant
from tests.prove import shapes, weights
from tests.prove.draws import Draws
from tests.prove.sample import Sample

TABLE = Path(__file__).with_name("forest_hashes.json")

# Vertices, edges where these are drawn, and what it is for.
SIZES = {
    "tiny": (12, 30),  # simulators
    "small": (60, 200),
    "medium": (3000, 20_000),
    "large": (1 << 20, 1 << 22),  # GPUs
}
ORDERS = ("minimum", "maximum")
_MOST_OF_PRIM = 1 << 17

# By size: shape, weights and dtypes of each input.
_EVERY = weights.DTYPES
_ONE_OF_EACH_WIDTH = ("u1", "f4", "f8")
_INPUTS: dict[str, tuple[tuple[str, str, Sequence[str]], ...]] = {
    "tiny": (
        ("uniform", "any bits", _ONE_OF_EACH_WIDTH),
        ("complete", "small", ("f4",)),
        ("star", "tied", ("u1",)),
        ("path", "ruler", ("f4",)),
    ),
    "small": (
        ("uniform", "any bits", _EVERY),
        ("uniform", "special", _EVERY),
        ("skewed", "small", _EVERY),
        *((shape, "tied", ("f4",)) for shape in shapes.STRUCTURED),
    ),
    "medium": (
        ("uniform", "any bits", _EVERY),
        ("uniform", "neighbours", _ONE_OF_EACH_WIDTH),
        ("skewed", "small", _ONE_OF_EACH_WIDTH),
        ("few vertices", "any bits", ("f4",)),
        *(("path", order, ("f4",)) for order in weights.ORDERED),
        *(
            (shape, "small", ("u1", "f8"))
            for shape in ("star", "two hubs", "cliques joined by paths", "comb", "grid")
        ),
    ),
    "large": (
        ("uniform", "any bits", _ONE_OF_EACH_WIDTH),
        ("path", "bit-reversed", ("f4",)),
        ("star", "equal", ("f4",)),
        ("grid", "small", ("f4",)),
        ("comb", "falling", ("f8",)),
    ),
}
_METRICS: tuple[tuple[Metric, int], ...] = (
    ("euclidean", 2),
    ("euclidean", 3),
    ("rounded-euclidean", 2),
    ("great-circle", 2),
)


def inputs(size: str) -> Iterator[tuple[str, Sample]]:
    """Yield the inputs of a size, each after its name; points among small ones."""
    n, m = SIZES[size]
    table, orders = shapes.RANDOM | shapes.STRUCTURED, weights.RANDOM | weights.ORDERED
    for shape, order, dtypes in _INPUTS[size]:
        for dtype in dtypes:
            name = f"{shape}, {order} {dtype}, {size}"
            draws = Draws(*name.encode())
            vertices, u, v = table[shape](draws, n, m)
            w = orders[order](draws, u.size, np.dtype(dtype))
            yield name, Sample("fixed", shape, order, vertices, u, v, w)
    for metric, dimensions in _METRICS if size == "small" else ():
        name = f"{metric} points, {dimensions}-d, {size}"
        draws = Draws(*name.encode())
        coordinates = draws.integers(60, n * dimensions).reshape(n, dimensions).astype(np.float64)
        yield name, Sample.of_points(coordinates, metric, "points")


def hash_of(forest: Forest) -> str:
    """Return the SHA-256 of a forest: edge ids, endpoints and weights in order of ids, total."""
    order = np.argsort(forest.edge_ids, kind="stable")
    weights_ = forest.weights[order]
    digest = hashlib.sha256()
    digest.update(forest.edge_ids[order].astype("<u8").tobytes())
    digest.update(forest.edges[order].astype("<u4").tobytes())
    digest.update(weights_.astype(weights_.dtype.newbyteorder("<")).tobytes())
    total = forest.total_weight
    digest.update((total.hex() if isinstance(total, float) else str(total)).encode())
    return digest.hexdigest()


def graph_of(sample: Sample) -> Graph | Points:
    """Return an input as a caller gives it."""
    return sample.graph() if sample.coordinates is None else sample.points()


def by_oracle(sample: Sample) -> dict[str, str]:
    """Return the hashes of an input by Kruskal's algorithm on the host."""
    graph = sample.graph()
    return {order: hash_of(clmst.kruskal(graph, maximum=order == "maximum")) for order in ORDERS}


@cache
def committed() -> dict[str, dict[str, str]]:
    """Return the table that every device must give."""
    table: dict[str, dict[str, str]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def algorithms_for(sample: Sample, device: Device) -> list[str]:
    """Return the algorithms that take an input. Only dense takes points as they are."""
    if sample.coordinates is not None:
        return ["auto", "dense"]
    names = [name for name in ALGORITHMS if sample.n <= most_vertices(name, device)]
    # prim grows a tree by one work-item or one work-group: minutes, of a million vertices on a GPU.
    return ["auto", *(name for name in names if name != "prim" or sample.n <= _MOST_OF_PRIM)]


def hash_on(graph: Any, order: str, algorithm: str, device: Device) -> str:
    """Return the hash of what an algorithm gives."""
    return hash_of(solve(graph, device, maximum=order == "maximum", algorithm=algorithm))


def compare(device: Device, sizes: Sequence[str], variants: Sequence[str]) -> dict[str, Any]:
    """Solve all inputs in all variants, and return what came of it."""
    found: dict[str, dict[str, Any]] = {}
    differing, refused = [], {}
    n_forests = 0
    for variant in variants:
        chosen = as_variant(device, variant)
        for size in sizes:
            for name, sample in inputs(size):
                graph = graph_of(sample)
                for order in ORDERS:
                    for algorithm in algorithms_for(sample, chosen):
                        try:
                            digest = hash_on(graph, order, algorithm, chosen)
                        except UnsupportedDeviceError as error:
                            refused[f"{algorithm}, {variant}"] = str(error)
                            continue
                        n_forests += 1
                        found.setdefault(name, {}).setdefault(order, digest)
                        if digest != committed()[name][order]:
                            differing.append([name, order, algorithm, variant, digest])
        chosen.release_memory()
    return {
        "device": machine_facts(device),
        "forests": n_forests,
        "differing": differing,
        "refused": refused,
        "hashes": found,
    }


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says."""
    made = argparse.ArgumentParser(
        prog="python -m tests.prove.hashes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--device", help="as of clmst.get_device")
    made.add_argument("--sizes", nargs="+", choices=SIZES, default=["tiny", "small", "medium"])
    made.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    made.add_argument(
        "--oracle", action="store_true", help="print the table by Kruskal's algorithm"
    )
    given = made.parse_args(arguments)
    if given.oracle:
        table = (
            f"{json.dumps(name)}: {json.dumps(by_oracle(one))}"  # a line an input
            for size in given.sizes
            for name, one in inputs(size)
        )
        print("{\n" + ",\n".join(table) + "\n}")
        return 0
    result = compare(clmst.get_device(given.device), given.sizes, given.variants)
    print(json.dumps(result, indent=1))
    counts = f"{result['forests']:,} forests, {len(result['differing'])} differ"
    print(f"{counts}, {len(result['refused'])} refused", file=sys.stderr)
    return int(bool(result["differing"]))


if __name__ == "__main__":
    sys.exit(main())
