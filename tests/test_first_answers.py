"""The host answers first calls while helper processes build the kernels for a device."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.caches import with_compiled_programs
from tests.helpers.processes import printed

# Solves the same problem until a device has answered, and prints who answered, in order, and
# whether all answers are the same.
_PROGRAM = """
import json, sys, time
import numpy as np
from scipy import sparse
import clmst

kind, device = sys.argv[1], sys.argv[2] or None
rng = np.random.default_rng(0)
ends = rng.integers(0, 3_000, (2, 90_000))
matrix = sparse.coo_array((rng.random(90_000), (ends[0], ends[1])), shape=(3_000, 3_000)).tocsr()
matrix = matrix.maximum(matrix.T).tocsr()
u, v = rng.integers(0, 3_000, (2, 50_000))
points = clmst.Points(rng.normal(size=(700, 2)))
inputs = {
    "matrix": matrix, "points": points,
    "edges": clmst.Graph.from_edges(u, v, rng.random(50_000), n_vertices=3_000),
}
found, answers, until = [], [], time.monotonic() + 100
while time.monotonic() < until and not (answers and answers[-1][0] != "host"):
    forest = clmst.minimum_spanning_forest(inputs[kind], device=device)
    answers.append((forest.stats["device"], forest.stats["route"]["because"]))
    found.append((forest.edge_ids if kind != "points" else forest.edges, forest.total_weight))
    time.sleep(0.2)
same = all((a == found[0][0]).all() and b == found[0][1] for a, b in found)
print(json.dumps({"answers": answers, "same": bool(same)}))
"""


def answers(kind: str, cache: Path, *, device: str = "", helpers: str = "1") -> Any:
    """Return who answered one call after the other, in a process that begins with empty caches."""
    return printed("-c", _PROGRAM, kind, device, CLMST_CACHE=str(cache), CLMST_HELPERS=helpers)


@pytest.mark.parametrize("kind", ["matrix", "edges", "points"])
def test_the_host_answers_until_kernels_are_built(tmp_path: Path, kind: str) -> None:
    """The answers are the same. In a later process with the caches the device answers at once.

    The first answer comes before a device is opened. Points begin without any compiled program.
    Programs for graphs are those of all tests, so that helper processes only load and test them.
    """
    if kind != "points":
        with_compiled_programs(tmp_path)
    first = answers(kind, tmp_path)
    assert first["same"]
    by_host = [why for who, why in first["answers"] if who == "host"]
    assert len(first["answers"]) == len(by_host) + 1 > 1
    assert "is being opened" in by_host[0]
    assert all("are being built" in why or "is being opened" in why for why in by_host)
    again = answers(kind, tmp_path)
    assert [who != "host" for who, _ in again["answers"]] == [True]


def test_a_device_that_is_named_answers_itself(tmp_path: Path) -> None:
    (answer,) = answers("edges", with_compiled_programs(tmp_path), device="cpu")["answers"]
    assert answer[0] != "host"


def test_no_helpers_no_answers_of_the_host(tmp_path: Path) -> None:
    (answer,) = answers("edges", with_compiled_programs(tmp_path), helpers="0")["answers"]
    assert answer[0] != "host"


@pytest.mark.skipif(sys.platform != "linux", reason="only there drivers are known beforehand")
def test_without_a_driver_the_first_call_warns(tmp_path: Path) -> None:
    """The host answers, too, but not because a device is being opened."""
    (tmp_path / "none").mkdir()
    code = """
import json, warnings, clmst
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    forest = clmst.minimum_spanning_forest(clmst.Graph.from_edges([0], [1], [1]))
print(json.dumps([forest.stats["device"], [str(one.message) for one in given]]))
"""
    settings = {"CLMST_HELPERS": "1", "CLMST_CACHE": str(tmp_path / "cache")}
    who, (warning,) = printed("-c", code, OCL_ICD_VENDORS=str(tmp_path / "none"), **settings)
    assert who == "host"
    assert "no OpenCL device was found" in warning


def test_processes_that_end_early_share_the_builds(tmp_path: Path) -> None:
    """Each lives a little longer than its only call. Later ones build only what is still missing.

    So a device answers at last, although no process has waited for its kernels.
    """
    settings = {"CLMST_CACHE": str(tmp_path), "CLMST_HELPERS": "1"}
    who = ["host"]
    while who[-1] == "host":
        assert len(who) < 20
        who.append(printed("-c", _ONE_CALL, **settings)["who"])
    assert len(who) > 2


# Solves once, and ends when a helper has recorded one more build, or the device has answered.
_ONE_CALL = """
import json, os, time
from pathlib import Path
import numpy as np
import clmst

def records():
    found = Path(os.environ["CLMST_CACHE"]).glob("trust/*/built.txt")
    return sum(len(one.read_text().split()) for one in found)

before = records()
points = clmst.Points(np.random.default_rng(0).normal(size=(700, 2)))
who = clmst.minimum_spanning_forest(points).stats["device"]
until = time.monotonic() + 60
while who == "host" and records() == before and time.monotonic() < until:
    time.sleep(0.02)
print(json.dumps({"who": who}))
"""


_ROUNDS = """
import json, sys, time
import numpy as np
from scipy import sparse
import clmst

rng = np.random.default_rng(0)
ends = rng.integers(0, 3_000, (2, 90_000))
matrix = sparse.coo_array((rng.random(90_000), (ends[0], ends[1])), shape=(3_000, 3_000)).tocsr()
solver = clmst.RepeatedSolver(matrix.maximum(matrix.T).tocsr())
edges, weights = solver.edges, rng.random(len(solver.edges))
answers, right = [], []

def seen(forest):
    present = clmst.Graph.from_edges(*edges.T, weights, n_vertices=3_000)
    expected = clmst.minimum_spanning_forest(present, device="cpu")
    answers.append(forest.stats["device"])
    right.append(bool((np.sort(forest.edge_ids) == np.sort(expected.edge_ids)).all()))

seen(solver.solve(weights))
if sys.argv[1] == "named":
    print(solver.device.name, file=sys.stderr)
until = time.monotonic() + 100
while time.monotonic() < until and answers.count("host") == len(answers):
    changed = rng.integers(0, len(edges), 20)
    weights[changed] = rng.random(20)
    seen(solver.update(changed, weights[changed]))
    time.sleep(0.1)
solver.close()
print(json.dumps({"answers": answers, "right": right}))
"""


@pytest.mark.parametrize("how", ["waiting", "named"])
def test_rounds_move_to_the_device_with_their_weights(tmp_path: Path, how: str) -> None:
    """At once if the caller asks which device it is."""
    cache = with_compiled_programs(tmp_path)
    found = printed("-c", _ROUNDS, how, CLMST_CACHE=str(cache), CLMST_HELPERS="1")
    assert found["answers"][0] == "host"
    assert found["answers"][-1] != "host"
    assert how == "waiting" or len(found["answers"]) == 2
    assert all(found["right"])


# Makes a call, waits until the helpers have nothing left to do, and makes the call again. Prints
# who has answered both calls, how many programs this process has compiled, and which self-tests it
# has run in the second call.
_TWICE = """
import json, sys, time
import numpy as np
from scipy import sparse
import clmst
from clmst.cluster import HDBSCAN
from clmst.runtime.child import helpers
from clmst.runtime.trust import Trust

rng = np.random.default_rng(0)
u, v = rng.integers(0, 3_000, (2, 50_000))
weights = rng.random(50_000)
matrix = sparse.coo_array((weights, (u, v)), shape=(3_000, 3_000)).tocsr()
mirrored = matrix.maximum(matrix.T).tocsr()
points, many = rng.normal(size=(700, 2)), rng.normal(size=(600, 64))
solver = None

def rounds():
    global solver
    solver = solver or clmst.RepeatedSolver(mirrored)
    return solver.solve(rng.random(len(solver.edges)))

call = {
    "matrix": lambda: clmst.minimum_spanning_forest(mirrored),
    "asymmetric": lambda: clmst.minimum_spanning_forest(matrix),
    "edges": lambda: clmst.minimum_spanning_forest(
        clmst.Graph.from_edges(u, v, weights, n_vertices=3_000)
    ),
    "clusters": lambda: HDBSCAN().fit(many).forest_,
    "points": lambda: clmst.minimum_spanning_forest(clmst.Points(points)),
    "rounds": rounds,
}[sys.argv[1]]
who = [call().stats["device"]]
until = time.monotonic() + 100
while (helpers.are_opening or helpers.are_rehearsing) and time.monotonic() < until:
    time.sleep(0.05)
tested, tests = [], Trust._tested
Trust._tested = lambda self, family, *rest, **named: (
    tested.append(family.name), tests(self, family, *rest, **named)
)[1]
who.append(call().stats["device"])
print(json.dumps({
    "who": who, "tested": tested, "built": sum(clmst.get_device().built.values()),
}))
"""


@pytest.mark.parametrize(
    "kind",
    [
        "clusters",
        "rounds",
        pytest.param("matrix", marks=pytest.mark.exhaustive),
        pytest.param("asymmetric", marks=pytest.mark.exhaustive),
        pytest.param("edges", marks=pytest.mark.exhaustive),
        pytest.param("points", marks=pytest.mark.exhaustive),
    ],
)
def test_a_device_answers_the_second_call_after_a_while(tmp_path: Path, kind: str) -> None:
    """Helpers build and test all kernels of the first call, although no other call asks for it."""
    cache = with_compiled_programs(tmp_path)
    found = printed("-c", _TWICE, kind, CLMST_CACHE=str(cache), CLMST_HELPERS="1")
    assert found["who"][0] == "host"
    assert found["who"][1] != "host"
    assert found["tested"] == []
    assert found["built"] == 0
