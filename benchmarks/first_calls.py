"""Time first calls of small inputs, each in a new process whose caches are empty.

    python -m benchmarks.first_calls [--runs 5] [CALL ...]

The input is in memory, and clmst is imported, before the clock starts. The caches of clmst, of
PyOpenCL and of the drivers are empty folders. Python's own bytecode is there, as after an
installation. For each call the table has the bar that was set for two cores, the medians of the
wall time and of the processor time of this process, in seconds, and who answered. Helper processes
of clmst are not included in the processor time, which depends little on the load of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

_ROOT = Path(__file__).resolve().parents[1]

Call = Callable[[], object]


def _near(n: int, k: int) -> Any:
    """Return the distances of random points in space to their `k` nearest, as a CSR matrix."""
    from scipy import sparse
    from scipy.spatial import cKDTree

    points = np.random.default_rng(0).random((n, 3))
    found: Any = cKDTree(points).query(points, k + 1)
    distances, at = found
    parts = distances[:, 1:].ravel(), at[:, 1:].ravel(), np.arange(0, n * k + 1, k)
    return sparse.csr_array(parts, shape=(n, n))


def _points(n: int, d: int) -> Any:
    return np.random.default_rng(0).normal(size=(n, d))


def _hdbscan() -> Call:
    points = _points(1_797, 64)

    def call() -> object:
        from clmst.cluster import HDBSCAN

        return HDBSCAN().fit(points).forest_.stats["device"]

    return call


def _neighbours() -> Call:
    matrix = _near(20_000, 10)

    def call() -> object:
        import clmst

        return clmst.minimum_spanning_forest(matrix).stats["device"]

    return call


def _precomputed(*, is_sparse: bool) -> Call:
    points = _points(1_000, 2)
    near = _near(2_000, 15) if is_sparse else np.abs(points[:, None] - points).sum(axis=2)
    distances = near.maximum(near.T).tocsr() if is_sparse else near

    def call() -> object:
        from clmst.cluster import HDBSCAN

        return HDBSCAN(metric="precomputed").fit(distances).forest_.stats["device"]

    return call


def _rounds() -> Call:
    near = _near(20_000, 10)
    matrix = near.maximum(near.T).tocsr()

    def call() -> object:
        import clmst

        solver = clmst.RepeatedSolver(matrix)
        return solver.solve(np.linspace(1, 2, len(solver.edges))).stats["device"]

    return call


def _validity() -> Call:
    points, labels = _points(2_000, 8), np.arange(2_000) % 4

    def call() -> object:
        from clmst.cluster import validity_index

        return validity_index(points, labels) and ""

    return call


# The calls, with the seconds that a first call may take on two cores.
CALLS: dict[str, tuple[float, Callable[[], Call]]] = {
    "HDBSCAN 1,797 x 64": (1.0, _hdbscan),
    "10 nearest of 20,000": (0.5, _neighbours),
    "dense distances, 1,000": (0.7, lambda: _precomputed(is_sparse=False)),
    "sparse distances, 2,000 x 15": (0.7, lambda: _precomputed(is_sparse=True)),
    "RepeatedSolver, 20,000 x 10": (0.7, _rounds),
    "validity_index, 2,000 x 8": (0.7, _validity),
}


def measure(name: str) -> dict[str, Any]:
    """Make one of CALLS in this process, and return its times in seconds, and who answered."""
    call = CALLS[name][1]()
    import clmst  # noqa: F401 - imported before the clock starts

    began, worked = time.perf_counter(), time.process_time()
    who = call()
    seconds = time.perf_counter() - began
    return {"wall": seconds, "processor": time.process_time() - worked, "who": who}


def first_call(name: str, bytecode: Path) -> dict[str, Any]:
    """Make one of CALLS in a new process with empty caches, and return what `measure` returns.

    `bytecode` is the folder for Python's bytecode, which all processes share.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
        folders = ("CLMST_CACHE", "XDG_CACHE_HOME", "POCL_CACHE_DIR", "CUDA_CACHE_PATH")
        settings = dict.fromkeys(folders, cache) | {"PYTHONPYCACHEPREFIX": str(bytecode)}
        kept = {key: one for key, one in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks.first_calls", "--call", name],
            env=kept | settings, cwd=_ROOT, stdout=subprocess.PIPE, check=True, text=True,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def main(names: list[str], runs: int) -> None:
    """Time the calls in `names` in turns, `runs` times each, and print the table."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name in names:
            first_call(name, Path(folder))  # compiles the bytecode
        found = [{name: first_call(name, Path(folder)) for name in names} for _ in range(runs)]
    print("| first call | bar | wall | processor | answered by |\n|---|--:|--:|--:|---|")
    for name in names:
        wall, worked = (median(one[name][of] for one in found) for of in ("wall", "processor"))
        who = " ".join(sorted({str(one[name]["who"]) for one in found}))
        print(f"| {name} | {CALLS[name][0]:.1f} | {wall:.2f} | {worked:.2f} | {who} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("calls", nargs="*", metavar="CALL", help="a part of the call's name")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--call", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.call:
        print(json.dumps(measure(asked.call)), flush=True)
        os._exit(0)  # at once: the end of a process is not measured
    wanted = "|".join(map(re.escape, asked.calls))
    main([name for name in CALLS if re.search(wanted, name)], asked.runs)
