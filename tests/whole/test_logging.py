"""The logger "clmst": what was chosen at DEBUG, what was fallen back to at INFO.

Compilations and self-tests are in ``tests/core/test_long_work.py``.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device, StreamedWarning
from tests.helpers.processes import run_python
from tests.helpers.wrong_families import WrongFamilies
from tests.scale.edges import limit_for_passes, random_edges

U, V, W = random_edges(400, 3000, n_weights=50)
GRAPH = clmst.Graph.from_edges(U, V, W, n_vertices=400)
MATRIX = sparse.csr_array(np.triu(np.arange(1.0, 26).reshape(5, 5), 1))
EQUAL = sparse.csr_array(np.triu(np.ones((5, 5)), 1))

WAYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "edges, auto": (GRAPH, {"verify": True}),
    "edges, boruvka": (GRAPH, {"algorithm": "boruvka"}),
    "on the device": (GRAPH, {"algorithm": "ecl", "keep_on_device": True}),
    "small matrix": (MATRIX, {}),
    "equal weights": (EQUAL, {}),
    "points": (clmst.Points(np.random.default_rng(1).random((500, 2))), {}),
    "complete graph": (clmst.DenseGraph(np.add.outer(np.arange(5.0), np.arange(5.0))), {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_solve_names_algorithm_and_device(
    any_device: Device, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What the forest's figures say, whatever way a graph goes."""
    given, how = WAYS[way]
    with caplog.at_level(logging.DEBUG, "clmst"):
        stats = clmst.minimum_spanning_forest(given, **how).stats
    said = [one.getMessage() for one in caplog.records if one.levelname == "DEBUG"]
    assert said
    assert said[-1].startswith(f"algorithm {stats['algorithm']}")
    assert said[-1].endswith(f" on {stats['device'].replace('host', 'the host')}")


def test_nothing_is_said_unless_it_is_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    for given, how in (WAYS["small matrix"], WAYS["edges, boruvka"]):
        clmst.minimum_spanning_forest(given, **how)
    assert caplog.records == []


def test_a_name_is_resolved_once(any_device: Device) -> None:
    """A process learns which device a name means, when it is first used."""
    script = """
import logging
logging.basicConfig(level=logging.DEBUG, format="%(name)s %(levelname)s %(message)s")
import clmst
for _ in range(3):
    clmst.get_device(NAME)
"""
    said = run_python("-c", script.replace("NAME", repr(any_device.name))).stderr
    words = f"clmst DEBUG device {any_device.description}, since {any_device.name} was asked for"
    assert said.count(words) == 1


def test_a_stream_that_falls_back_to_passes(
    any_device: Device, caplog: pytest.LogCaptureFixture
) -> None:
    limit = limit_for_passes(3000, 1000)
    with caplog.at_level(logging.INFO, "clmst"), pytest.warns(StreamedWarning) as warned:
        clmst.stream_minimum_spanning_forest(
            [random_edges(3000, 12_000, n_weights=7)], 3000, memory_limit=limit, device=any_device
        )
    (record,) = (one for one in caplog.records if one.getMessage() == str(warned[0].message))
    assert (record.name, record.levelname) == ("clmst", "INFO")


def test_a_proof_that_the_host_has_to_do(
    any_device: Device, caplog: pytest.LogCaptureFixture, wrong: WrongFamilies
) -> None:
    wrong.names = {"proof"}
    with caplog.at_level(logging.INFO, "clmst"):
        forest = clmst.minimum_spanning_forest(
            GRAPH, device=Device(any_device.cl_device), verify=True
        )
    said = [one.getMessage() for one in caplog.records]
    expected = f"the host proves a forest of {any_device.description}: "
    assert [one for one in said if one.startswith(expected)] == [
        expected + forest.stats["proof"]["reason"]
    ]


def test_a_caller_whose_module_has_no_name() -> None:
    """As code that ``exec`` runs in a mapping of its own; it was a KeyError."""
    code = compile("clmst.minimum_spanning_forest([[0] * 9] * 9)", "caller.py", "exec")
    with pytest.warns(clmst.GraphWarning, match="most cells of the matrix are 0") as warned:
        exec(code, {"clmst": clmst})
    assert warned[0].filename == "caller.py"


@pytest.mark.parametrize("lacking", ["PyOpenCL", "a driver"])
def test_a_machine_without_a_device(lacking: str, tmp_path: Path) -> None:
    """The host's forests are a fall-back, too: the log has what the warning says."""
    script = """
import logging, sys, warnings
warnings.simplefilter("ignore")
logging.basicConfig(level=logging.DEBUG, format="%(levelname)s %(message)s")
if LACKING == "PyOpenCL":
    sys.modules["pyopencl"] = None
import clmst
for _ in range(2):
    clmst.minimum_spanning_forest([[0, 1], [1, 0]])
"""
    environment = {"OCL_ICD_VENDORS": str(tmp_path), "CLMST_DEVICE": ""}
    done = run_python("-c", script.replace("LACKING", repr(lacking)), environment=environment)
    said = [line for line in done.stderr.splitlines() if line.startswith(("INFO", "DEBUG"))]
    assert [line.partition(" ")[0] for line in said] == ["INFO", "DEBUG", "DEBUG"]
    assert "the host computes" in said[0]
    assert said[1] == "DEBUG algorithm prim on the host"
