"""Machines without OpenCL, or without a device: the host answers. In new processes, as a user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.processes import printed, run_python

# Whoever imports PyOpenCL learns that it is not there.
WITHOUT_PYOPENCL = "import sys; sys.modules['pyopencl'] = None\n"
START = """
import json, warnings
import numpy as np
from scipy import sparse
import clmst
said = []
warnings.showwarning = lambda message, kind, *_: said.append([kind.__name__, str(message)])
warnings.simplefilter("always")
def error_of(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
"""
SOLVES = """
rng = np.random.default_rng(0)
u, v, w = rng.integers(0, 40, (3, 300))
ends = u.astype(np.int32), v.astype(np.int32)  # SciPy 1.13 takes no other ones
A = sparse.coo_array((w.astype(float), ends), shape=(40, 40)).tocsr()
graph = clmst.Graph.from_edges(u, v, w - 20)
wide = clmst.Graph.from_edges(u, v, w + 2**60)
points = clmst.Points(rng.random((30, 3)))
right = []
for given in (A, A.tocoo(), sparse.csr_matrix(A + A.T), graph, wide, points, [[0, 1], [1, 0]]):
    for maximum in (False, True):
        solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
        for verify in (False, True):
            forest = solve(given, verify=verify)
            right.append(forest == clmst.kruskal(given, maximum=maximum))
            right.append(forest.verify(given).ok and forest.stats["device"] == "host")
            right.append(("proof" in forest.stats) == verify)
from scipy.sparse import csgraph
tree = clmst.csgraph.minimum_spanning_tree(A)
names = ("data", "indices", "indptr")
right.append(clmst.csgraph.minimum_spanning_tree(A.tocoo()).nnz == tree.nnz)
positive = sparse.csr_array((A.data + 1, A.indices, A.indptr), shape=A.shape)
tree = clmst.csgraph.minimum_spanning_tree(positive)
theirs = csgraph.minimum_spanning_tree(positive)
right += [np.array_equal(getattr(tree, name), getattr(theirs, name)) for name in names]
faults = [error_of(call) for call in (
    lambda: clmst.minimum_spanning_forest(sparse.csr_array([[0, np.nan], [1, 0]])),
    lambda: clmst.minimum_spanning_forest("graph.egr"),
    lambda: clmst.csgraph.minimum_spanning_tree(np.ones((2, 3))),
)]
found = {"right": right, "said": said, "faults": faults, "devices": clmst.devices()}
print(json.dumps(found))
"""
NAMED = """
graph = clmst.Graph.from_edges([0, 1, 2], [1, 2, 0], [3, 4, 5])
solve = clmst.minimum_spanning_forest
print(json.dumps([error_of(call) for call in (
    lambda: solve(graph, device="gpu"),
    lambda: solve(graph, device=7),
    lambda: solve(graph, algorithm="ecl"),
    lambda: solve(graph, options=clmst.EclOptions()),
    lambda: solve(graph, keep_on_device=True),
    lambda: solve(graph, profile=True),
    lambda: solve(clmst.Points(np.zeros((20_000, 2))), verify=True),
    lambda: clmst.to_device(graph),
    lambda: clmst.core_numbers(graph),
)] + [said]))
"""
NETWORKX = """
import networkx as nx
G = nx.gnm_random_graph(60, 3000 if LARGE else 200, seed=1)
for k, (_, _, data) in enumerate(G.edges(data=True)):
    data["weight"] = k * 7 % 11
ours, theirs = nx.minimum_spanning_tree(G, backend="clmst"), nx.minimum_spanning_tree(G)
from clmst.interop import networkx_backend as backend
print(json.dumps({
    "same": list(ours.edges(data=True)) == list(theirs.edges(data=True)),
    "should": [backend.should_run(name, (nx.path_graph(3000),), {}) for name in NAMES],
    "said": said,
}))
"""


@pytest.fixture(params=["no PyOpenCL", "no driver"])
def lacking(request: pytest.FixtureRequest) -> str:
    what: str = request.param
    return what


def run(program: str, lacking: str, folder: Path, device: str = "") -> Any:
    """Return the output of a program that runs without some package or device."""
    environment = {"CLMST_CACHE": str(folder / "cache"), "CLMST_DEVICE": device}
    if lacking == "no driver":
        (folder / "vendors").mkdir()
        environment["OCL_ICD_VENDORS"] = str(folder / "vendors")
    start = WITHOUT_PYOPENCL if lacking == "no PyOpenCL" else ""
    return printed("-c", start + START + program, **environment)


def words_of(lacking: str) -> str:
    return (
        "PyOpenCL is not installed; pip install pyopencl, and install a GPU driver"
        if lacking == "no PyOpenCL"
        else "no OpenCL device was found where OCL_ICD_VENDORS leads, '"
    )


def test_the_host_answers_with_one_warning(lacking: str, tmp_path: Path) -> None:
    """The same forests and errors, whatever a caller gives; one line says what to install."""
    found = run(SOLVES, lacking, tmp_path)
    assert all(found["right"])
    ((kind, message),) = found["said"]
    assert kind == "DeviceWarning"
    assert message.startswith(words_of(lacking))
    assert "the host computes" in message
    assert [kind for kind, _ in found["faults"]] == ["InvalidGraphError"] * 3
    assert "NaN" in found["faults"][0][1]
    assert found["devices"] == []


def test_who_asks_for_a_device_is_told(lacking: str, tmp_path: Path) -> None:
    *errors, said = run(NAMED, lacking, tmp_path)
    for kind, message in errors:
        assert kind == "UnsupportedDeviceError" or (message, lacking) == (
            "device is 7; it must be None, a name, a clmst.Device or a pyopencl.CommandQueue",
            "no driver",
        )
        assert kind != "UnsupportedDeviceError" or message.startswith(words_of(lacking))
    assert said in ([], [["DeviceWarning", said[0][1]]])  # of the points, which are too many


def test_a_device_that_the_environment_names_is_asked_for(lacking: str, tmp_path: Path) -> None:
    kind, message = run(
        "print(json.dumps(error_of(lambda: clmst.minimum_spanning_forest([[0, 1], [1, 0]]))))",
        lacking, tmp_path, "gpu",
    )  # fmt: skip
    assert kind == "UnsupportedDeviceError"
    assert message.startswith(words_of(lacking))


def test_networkx_backend(lacking: str, tmp_path: Path) -> None:
    """NetworkX may choose it for trees; for core numbers, which need a device, it may not."""
    pytest.importorskip("networkx")
    program = NETWORKX.replace("NAMES", "('minimum_spanning_tree', 'core_number')")
    found = run(program.replace("LARGE", "True"), lacking, tmp_path)
    assert found["same"]
    for_trees, for_cores = found["should"]
    assert for_trees is True
    assert for_cores.startswith(words_of(lacking))
    assert [kind for kind, _ in found["said"]].count("DeviceWarning") == 1


PAGES = """
from tests.helpers import pages
assert clmst.devices() == []
pages.main(%r)
"""


@pytest.mark.slow
def test_examples_of_pages(tmp_path: Path) -> None:
    """The README's and the clustering page's print what the pages say, and their commands run."""
    root = Path(__file__).parents[1]
    pages = [root / "README.md", root / "docs" / "clustering.md"]
    if not all(page.exists() for page in pages):
        pytest.skip("installed without the pages")
    pytest.importorskip("matplotlib")
    environment = {"CLMST_CACHE": str(tmp_path / "cache"), "CLMST_DEVICE": "",
                   "OCL_ICD_VENDORS": str(tmp_path), "PYTHONPATH": str(root)}  # fmt: skip
    done = run_python("-c", START + PAGES % [*map(str, pages)], environment=environment)
    assert done.stdout.count(" 0 wrong") == len(pages)


COMMAND = """
from click.testing import CliRunner
from clmst.cli import main
clmst.write_graph(clmst.generate("road", n=300, seed=1), "roads.gr")
def run(*words):
    outcome = CliRunner().invoke(main, ["solve", "roads.gr", "--json", *words])
    return outcome.exit_code, outcome.stdout, outcome.stderr
print(json.dumps([run(), run("--verify", "--maximum"), run("--device", "cpu"), run("--repeat", "2"),
    run("--algorithm", "ecl"), run("--profile"), run("--without", "lanes")]))
"""


def test_the_command_solves_on_the_host(lacking: str, tmp_path: Path) -> None:
    """As the library does: where nothing asks for a device. One warning says what to install."""
    plain, proved, *refused = run(
        f"import os; os.chdir({str(tmp_path)!r})" + COMMAND, lacking, tmp_path
    )
    for status, stdout, _ in (plain, proved):
        assert status == 0
        assert json.loads(stdout)["device"] == "host"
    assert plain[2].startswith(f"clmst: warning: {words_of(lacking)}")
    assert "warning" not in proved[2]
    for status, stdout, stderr in refused:
        assert (status, stdout) == (1, "")
        assert stderr.startswith(f"clmst: error: {words_of(lacking)}")


# What Python lacks on a system, and what it calls it. NumPy and SciPy, which look at the name when
# they are imported, keep this one.
SYSTEMS = {
    "darwin": ("no PyOpenCL", (), ("sched_getaffinity",), ()),
    "win32": (
        "no driver",
        ("fcntl", "resource", "pwd", "grp", "termios"),
        ("fork", "register_at_fork", "sched_getaffinity", "sysconf", "killpg", "setsid", "getuid"),
        ("SIGKILL", "SIGHUP", "pthread_sigmask"),
    ),
}
ELSEWHERE = """
import os, runpy, signal, sys
import numpy, scipy.sparse.csgraph, click.testing, rich.console, asyncio, platform, multiprocessing
import subprocess, tempfile, matplotlib, pandas
platform.platform()
for name in MODULES:
    sys.modules[name] = None
for module, names in ((os, CALLS), (signal, SIGNALS)):
    for name in names:
        delattr(module, name)
sys.platform = SYSTEM
runpy.run_path(SCRIPT, run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_other_systems(system: str, tmp_path: Path) -> None:
    """Import and the host's ways, where calls of Linux are missing; CI runs them on the systems."""
    lacking, modules, calls, signals = SYSTEMS[system]
    values = {"MODULES": modules, "CALLS": calls, "SIGNALS": signals, "SYSTEM": system}
    values["SCRIPT"] = str(Path(__file__).parent / "helpers" / "host_ways.py")
    program = WITHOUT_PYOPENCL * (lacking == "no PyOpenCL") + ELSEWHERE
    for word, value in values.items():
        program = program.replace(word, repr(value))
    folder = str(tmp_path)
    environment = {"CLMST_CACHE": folder, "OCL_ICD_VENDORS": folder, "CLMST_DEVICE": ""}
    done = run_python("-c", program, environment=environment)
    assert done.stdout.count("right: ") == 4
    assert "apt" not in done.stdout
