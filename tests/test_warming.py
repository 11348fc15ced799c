"""``clmst.warm`` and ``clmst warm``: what first calls need is built and proven at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import clmst
from clmst import Device, warming
from clmst.runtime import program
from tests.helpers.caches import use_own_cache
from tests.helpers.few_calls import few_calls
from tests.helpers.processes import printed, run_python

__all__ = ["few_calls"]

# The first call of each kind, with sizes and numbers that `warm` itself does not use.
CALLS = {
    "matrix": "clmst.minimum_spanning_forest(matrix(3_000, 6))",
    "large matrix": "clmst.minimum_spanning_forest(matrix(60_000, 12))",
    "matrix of float32": "clmst.minimum_spanning_forest(matrix(60_000, 12).astype('f4'))",
    "edges": "clmst.minimum_spanning_forest(edges(40_000, 150_000))",
    "many edges": "clmst.minimum_spanning_forest(edges(40_000, 2_200_000))",
    "near points": "clmst.minimum_spanning_forest(near(1_797, 10))",
    "ones": "clmst.minimum_spanning_forest((near(1_797, 10) > 0).astype(float))",
    "rounds": "rounds(matrix(2_000, 8))",
    "large rounds": "rounds(matrix(30_000, 8))",
    "HDBSCAN in few dimensions": "HDBSCAN().fit(points(3_300, 2))",
    "HDBSCAN in eight dimensions": "HDBSCAN().fit(points(1_500, 8))",
    "HDBSCAN in many dimensions": "HDBSCAN().fit(points(1_797, 64))",
    "HDBSCAN of many points": "HDBSCAN().fit(points(30_000, 3))",
    "HDBSCAN of distances": "HDBSCAN(metric='precomputed').fit(distances(900))",
    "HDBSCAN of a graph": "HDBSCAN(metric='precomputed').fit(sparse.csr_array(distances(300)))",
    "single linkage": "single_linkage(points(800, 3))",
    "single linkage in many dimensions": "single_linkage(points(1_797, 64))",
    "validity index": "validity_index(points(1_797, 64), np.arange(1_797) % 10)",
}
_PROGRAM = f"""
import json, logging
import numpy as np
from scipy import sparse
import clmst
from clmst.cluster import HDBSCAN, single_linkage, validity_index

tested = []
handler = logging.Handler()
handler.emit = lambda record: tested.append(record.getMessage())
logging.getLogger("clmst").addHandler(handler)
logging.getLogger("clmst").setLevel("INFO")
rng = np.random.default_rng(7)

def edges(n, m):
    return clmst.Graph.from_edges(*rng.integers(0, n, (2, m)), rng.random(m), n_vertices=n)

def matrix(n, degree):
    ends = rng.integers(0, n, (2, n * degree // 2))
    one = sparse.csr_array((rng.random(ends.shape[1]), ends), shape=(n, n))
    return one.maximum(one.T).tocsr()

def points(n, d):
    return rng.normal(size=(n, d))

def distances(n):
    given = points(n, 2)
    return np.abs(given[:, None] - given).sum(axis=2)

def near(n, k):
    far = distances(n)
    columns = np.argsort(far, axis=1)[:, 1 : k + 1]
    starts = np.arange(0, n * k + 1, k)
    kept = np.take_along_axis(far, columns, 1).ravel()
    return sparse.csr_array((kept, columns.ravel(), starts), shape=(n, n))

def rounds(graph):
    solver = clmst.RepeatedSolver(graph)
    solver.solve(rng.random(len(solver.edges)))

device, found = clmst.get_device(), {{}}
for name, call in {CALLS!r}.items():
    before, n = set(device.built), len(tested)
    eval(call)
    asked = [one.label for one in device.built if one not in before]
    found[name] = dict(asked=asked, tested=[one for one in tested[n:] if "testing" in one])
print(json.dumps(found))
"""
_WARM = """
import json
import clmst
done = clmst.warm()
print(json.dumps(dict(
    seconds=done.seconds, n_built=done.n_built, n_ready=done.n_ready, refused=done.refused,
    labels=[one.label for one in done.device.built],
)))
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a folder of caches. Programs that other tests have compiled are there already."""
    with pytest.MonkeyPatch.context() as patch:
        yield use_own_cache(patch, tmp_path_factory.mktemp("warmed"))


@pytest.fixture(scope="module")
def warmed(cache: Path) -> Any:
    """Return what ``clmst.warm`` has built and found in a process of its own."""
    return printed("-c", _WARM, CLMST_CACHE=str(cache), CLMST_HELPERS="0")


@pytest.fixture(scope="module")
def called(cache: Path, warmed: Any) -> Any:
    """Return what the calls after it ask for, in another process with the same caches."""
    return printed("-c", _PROGRAM, CLMST_CACHE=str(cache), CLMST_HELPERS="0")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CALLS)
def test_calls_after_it_build_and_test_nothing(name: str, warmed: Any, called: Any) -> None:
    """Nothing that they ask for is missing, whatever other tests have compiled before."""
    assert called[name]["tested"] == []
    assert [one for one in called[name]["asked"] if one not in warmed["labels"]] == []


@pytest.mark.exhaustive
def test_a_second_time_it_only_loads(cache: Path, warmed: Any) -> None:
    again = printed("-c", _WARM, CLMST_CACHE=str(cache), CLMST_HELPERS="0")
    assert again["n_built"] == 0
    assert again["n_ready"] == warmed["n_built"] + warmed["n_ready"] > 40
    assert sorted(again["labels"]) == sorted(warmed["labels"])
    assert again["refused"] == warmed["refused"] == []
    assert again["seconds"] < warmed["seconds"] / 2


# ----------------------------------------------------------- with few calls instead of all


@pytest.mark.parametrize(
    ("what", "made"),
    [("graphs", ["graphs"]), ("points", ["points"]), ("all", ["graphs", "points"])],
)
def test_it_makes_the_calls_of_its_kind(
    what: warming.What, made: list[str], few_calls: list[str], any_device: Device
) -> None:
    assert clmst.warm(what, Device(any_device.cl_device)).n_built <= 2  # with the trial
    assert few_calls == made


def test_it_takes_the_given_device_and_is_repeated(
    few_calls: list[str], any_device: Device
) -> None:
    first = Device(any_device.cl_device)
    assert clmst.warm(device=first).device is first
    again = clmst.warm(device=Device(any_device.cl_device))
    assert len(few_calls) == 2
    assert (again.n_built, again.n_ready) == (0, len(first.built))
    for record in first.trust.store.folder.glob("warmed-*.json"):
        record.write_text('{"calls": 2, "programs": [["a.cl", null')
    clmst.warm(device=Device(any_device.cl_device))
    assert len(few_calls) == 4


def test_a_lost_program_is_built_again(few_calls: list[str], any_device: Device) -> None:
    first = clmst.warm(device=Device(any_device.cl_device))
    if not first.n_built:
        pytest.skip("the driver has programs in a cache of its own")
    for binary in (first.device.trust.store.folder.parents[1] / "binaries").glob("*"):
        binary.unlink()
    again = clmst.warm(device=Device(any_device.cl_device))
    assert again.n_built == first.n_built
    assert len(few_calls) == 2


@pytest.mark.parametrize("what", ["", "graph", None, 1, "ALL"])
def test_other_words(what: Any, few_calls: list[str]) -> None:
    with pytest.raises(clmst.InvalidArgumentError, match="'graphs', 'points', 'all'"):
        clmst.warm(what)
    assert few_calls == []


def test_other_devices(few_calls: list[str]) -> None:
    with pytest.raises(clmst.InvalidArgumentError):
        clmst.warm(device="no such device")
    with pytest.raises(clmst.InvalidArgumentError):
        clmst.warm(device=3.5)
    assert few_calls == []


def test_caches_that_cannot_be_written(
    few_calls: list[str], any_device: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (file := tmp_path / "file").touch()
    with monkeypatch.context() as patch:
        patch.setenv("CLMST_CACHE", str(file / "cache"))
        with pytest.raises(clmst.FileWriteError, match="CLMST_CACHE names another folder"):
            clmst.warm(device=any_device)
    monkeypatch.setattr(program, "is_shared", lambda _: False)
    with pytest.raises(clmst.FileWriteError, match="keeps no programs"):
        clmst.warm(device=any_device)
    assert few_calls == []


def test_it_shows_how_far_it_has_come(tmp_path: Path) -> None:
    """In lines, as nothing here is a terminal; and which program is being built."""
    script = (
        "from itertools import islice\n"
        "from clmst import warming\n"
        "from clmst.core import long_work\n"
        "long_work.PATIENCE = long_work._LOOK_SECONDS = 0.01\n"
        "long_work._SECONDS_BETWEEN['lines'] = 0.05\n"
        "every = warming.calls_of\n"
        "warming.calls_of = lambda device: islice(every(device), 2)\n"
        "warming.ahead.specialisations = lambda *_: []\n"
        "warming.warm('graphs')\n"
    )
    environment = {"CLMST_CACHE": str(tmp_path), "CLMST_PROGRESS": "1"}
    lines = run_python("-c", script, environment=environment).stderr.splitlines()
    assert any(": building kernels of " in line and " 0 of 3 steps, " in line for line in lines)
    assert any(" 1 of 3 steps, compiling " in line for line in lines)
