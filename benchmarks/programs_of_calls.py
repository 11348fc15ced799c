"""Record which OpenCL programs are built by a user's first call, in ``runtime/programs.json``.

    python -m benchmarks.programs_of_calls nvidia
    python -m benchmarks.programs_of_calls intel

The argument is a device. With the file, clmst can start to build the programs of a call before the
call asks for them. Each of many calls runs in a process of its own, without the caches of clmst and
of the driver. So all of its self-tests run and all of its programs are built. (A self-test solves
known problems before clmst trusts a device with its kernels.)

Calls that begin with the same self-test share one list of programs. The programs that all of these
calls need come first, then all others. Within each of the two groups, the programs that took
longest to build come first. The file has separate lists for each policy, which is a set of values
that adapt kernels to a kind of device. Only the lists of this device's policy are replaced.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from clmst.core.machine import usable_cores

_ROOT = Path(__file__).resolve().parents[1]
TABLE = _ROOT / "clmst" / "runtime" / "programs.json"

_DTYPES = ("f8", "f4", "i4", "i8")
Call = Callable[[], object]


def _ends(n: int, m: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, n, (2, m))


def _weights(m: int, dtype: str) -> np.ndarray:
    return np.random.default_rng(1).permutation(m).astype(dtype)


def _matrix(n: int, degree: int, dtype: str) -> Any:
    from scipy import sparse

    m = n * degree // 2
    u, v = _ends(n, m)
    matrix = sparse.csr_array((_weights(m, dtype), (u, v)), shape=(n, n))
    return matrix.maximum(matrix.T).tocsr()


def _points(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(n, d))


def _graph(name: str, n: int, dtype: str) -> Call:
    import clmst

    if name == "edges":
        u, v = _ends(n, 4 * n)
        graph: Any = clmst.Graph.from_edges(u, v, _weights(4 * n, dtype), n_vertices=n)
    else:
        graph = _matrix(n, 4 if name == "sparse matrix" else 16, dtype)
    if name == "rounds":
        return lambda: _round(graph)
    return lambda: clmst.minimum_spanning_forest(graph)


def _round(graph: Any) -> object:
    import clmst

    solver = clmst.RepeatedSolver(graph)
    return solver.solve(np.linspace(1, 2, len(solver.edges)))


def _clusters(n: int, d: int) -> Call:
    from clmst.cluster import HDBSCAN

    points = _points(n, d)
    return lambda: HDBSCAN().fit(points)


def _linkage(n: int, d: int) -> Call:
    from clmst.cluster import single_linkage

    points = _points(n, d)
    return lambda: single_linkage(points)


def _distances(n: int) -> Call:
    from clmst.cluster import HDBSCAN

    points = _points(n, 2)
    distances = np.abs(points[:, None] - points).sum(axis=2)
    return lambda: HDBSCAN(metric="precomputed").fit(distances)


def _validity(n: int, d: int) -> Call:
    from clmst.cluster import validity_index

    points = _points(n, d)
    return lambda: validity_index(points, np.arange(n) % 4)


# The calls whose programs are recorded: those that users are most likely to make first.
CALLS: dict[str, Callable[[], Call]] = {
    f"{name}, {n} vertices, {dtype}": partial(_graph, name, n, dtype)
    for name, n, dtype in product(
        ("matrix", "sparse matrix", "edges", "rounds"), (1_000, 50_000, 200_000), _DTYPES
    )
}
for _name, _call in (("HDBSCAN", _clusters), ("single linkage", _linkage)):
    for _n, _d in (
        *product((1_000, 5_000, 50_000), (2, 3, 8, 64)),
        *product((150_000,), (2, 3, 8)),
    ):
        CALLS[f"{_name}, {_n} x {_d}"] = partial(_call, _n, _d)
CALLS["HDBSCAN of distances"] = partial(_distances, 500)
CALLS["validity index"] = partial(_validity, 2_000, 8)


def record(name: str) -> dict[str, Any]:
    """Run one of CALLS in this process, and return the programs that it builds.

    `name` is the name of the call. Returns a dict: "test" is the name of the call's first
    self-test, or None if there is none. "programs" maps each program that is requested after that,
    as JSON text, to the seconds that building it took.
    """
    from clmst.runtime import specialisation
    from clmst.runtime.device import Device
    from clmst.runtime.trust import Trust

    programs: dict[str, float] = {}
    tests: list[str] = []
    program, tested = Device.program, Trust._tested

    def seen_program(self: Any, source: Any, prelude: Any = None, /, **defines: Any) -> Any:
        began = time.perf_counter()
        made = program(self, source, prelude, **defines)
        if tests:
            own = prelude and (prelude.name, prelude.text, prelude.records)
            checked = specialisation.check_request(source, prelude, defines)
            numbers = {macro: int(value) for macro, value in checked.items()}
            asked = json.dumps((source, own, numbers), sort_keys=True)
            programs.setdefault(asked, time.perf_counter() - began)
        return made

    def seen_test(self: Any, family: Any, case: Any, **how: Any) -> Any:
        tests.append(f"{family.name}: {case}")
        return tested(self, family, case, **how)

    call = CALLS[name]()
    with patch.object(Device, "program", seen_program), patch.object(Trust, "_tested", seen_test):
        call()
    return {"test": tests[0] if tests else None, "programs": programs}


def _recorded(device: str, name: str) -> dict[str, Any]:
    """Record the programs of one of CALLS in a new process with empty caches.

    `device` and `name` are the names of the device and of the call. Returns the result of
    :func:`record`.
    """
    with tempfile.TemporaryDirectory() as cache:
        settings = {
            "CLMST_CACHE": cache, "CLMST_DEVICE": device, "CLMST_HELPERS": "0",
            "CUDA_CACHE_DISABLE": "1",
        }  # fmt: skip
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks.programs_of_calls", "--call", name],
            env=os.environ | settings, cwd=_ROOT, stdout=subprocess.PIPE, check=True, text=True,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def main(device: str) -> None:
    """Find out which OpenCL programs the calls in CALLS need on a device, and store the lists.

    The lists are written to ``programs.json``.
    """
    import clmst
    from clmst.runtime import policy

    kind = policy.name_of(clmst.get_device(device).policy)
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    known = [json.dumps(one, sort_keys=True) for one in table["programs"]]
    calls: dict[str, list[dict[str, float]]] = {}

    with ThreadPoolExecutor(max(usable_cores() // 2, 1)) as threads:
        records = threads.map(partial(_recorded, device), CALLS)
        for name, found in zip(CALLS, records, strict=True):
            print(f"{name}: {found['test']}, {len(found['programs'])} programs", flush=True)
            if found["test"] is not None:
                calls.setdefault(found["test"], []).append(found["programs"])
    lists = {test: _ordered(one) for test, one in calls.items()}
    others = {name: one for name, one in table["calls"].items() if name != kind}
    texts_of_others = {known[k] for tests in others.values() for one in tests.values() for k in one}
    programs = sorted(texts_of_others.union(*lists.values()))
    place = {text: number for number, text in enumerate(programs)}
    kept = {
        name: {test: [place[known[k]] for k in one] for test, one in tests.items()}
        for name, tests in others.items()
    }
    kept[kind] = {test: [place[text] for text in one] for test, one in sorted(lists.items())}
    rows = ",\n".join(programs)
    groups = ",\n".join(f'"{name}": {{\n{_lines(one)}\n}}' for name, one in sorted(kept.items()))
    text = f'{{"programs": [\n{rows}\n],\n"calls": {{\n{groups}\n}}}}\n'
    TABLE.write_text(text, encoding="utf-8")


def _ordered(records: list[dict[str, float]]) -> list[str]:
    """Join the programs of several calls to one list.

    `records` has, for each call, the seconds that building each program took. The programs that all
    of these calls need come first, then all others. Within each of the two groups, the programs
    that take longest to build come first.
    """
    seconds: dict[str, float] = {}
    for record in records:
        for text, time_taken in record.items():
            seconds[text] = max(seconds.get(text, 0.0), time_taken)
    shared = set(seconds).intersection(*records)
    return sorted(seconds, key=lambda text: (text not in shared, -seconds[text]))


def _lines(calls: dict[str, list[int]]) -> str:
    """Format the programs that follow each self-test as JSON, with one self-test per line.

    `calls` has the numbers of the programs, by the name of the self-test.
    """
    return ",\n".join(f"{json.dumps(test)}: {one}" for test, one in sorted(calls.items()))


if __name__ == "__main__":
    if sys.argv[1] == "--call":
        print(json.dumps(record(sys.argv[2])))
    else:
        main(sys.argv[1])
