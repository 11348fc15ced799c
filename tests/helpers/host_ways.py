"""Check import and the work of the host on any system, even without an OpenCL driver.

    python -P tests/helpers/host_ways.py

This needs the wheel and its dependencies, nothing of the tests. If there is a device, it is used,
too.
"""

from __future__ import annotations

import io
import json
import pkgutil
import platform
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from scipy import sparse

import clmst
from clmst.cli import main as command


def check(fact: bool, words: str) -> None:
    """Exit unless a fact holds. ``assert`` is not used, since it may be switched off."""
    if not fact:
        sys.exit(f"wrong: {words}")


def import_everything(_: Path) -> None:
    """Import every module, whatever packages and system calls are missing."""
    for module in pkgutil.walk_packages(clmst.__path__, "clmst."):
        if not module.name.endswith("__main__") and module.name != "clmst.runtime.child_main":
            import_module(module.name)
    for name in clmst.__all__:
        getattr(clmst, name)


def solve(_: Path) -> None:
    """Compare forests of graphs in host memory with the oracle's, edge for edge, and prove them."""
    rng = np.random.default_rng(1)
    u, v = rng.integers(0, 300, (2, 2000))
    weights = rng.integers(0, 50, 2000)
    graph = clmst.Graph.from_edges(u, v, weights, n_vertices=300)
    upper = sparse.csr_array(np.triu(rng.random((60, 60)) * (rng.random((60, 60)) < 0.2), 1))
    points = clmst.Points(rng.random((200, 2)))
    for given in (graph, upper, points, [[0, 2, 3], [2, 0, 4], [3, 4, 0]]):
        found = clmst.minimum_spanning_forest(given, verify=True)
        check(found == clmst.kruskal(given), f"the forest of a {type(given).__name__}")
    most = clmst.maximum_spanning_forest(graph)
    check(most == clmst.kruskal(graph, maximum=True), "the maximum forest")
    tree = clmst.csgraph.minimum_spanning_tree(upper)
    theirs = sparse.csgraph.minimum_spanning_tree(upper)
    check(np.array_equal(tree.toarray(), theirs.toarray()), "SciPy's function")


def use_files(folder: Path) -> None:
    """Write graphs and forests to files, read them, and compare."""
    graph = clmst.generate("road", n=500, seed=1)
    forest = clmst.minimum_spanning_forest(graph)
    for name in ("a.gr", "a.mtx", "a.egr", "a.npz", "a.csv", "a.gr.gz"):
        clmst.write_graph(graph, folder / name)
        read = clmst.minimum_spanning_forest(clmst.read_graph(folder / name))
        check(read.total_weight == forest.total_weight, f"the forest of {name}")
    clmst.write_forest(forest, folder / "tree.npz")
    check(clmst.read_forest(folder / "tree.npz", graph) == forest, "the forest of a file")


def use_the_command(folder: Path) -> None:
    """Run commands that need no device. An error must be one line."""
    roads, text, tree = (str(folder / name) for name in ("roads.gr", "roads.mtx", "roads.npz"))
    for words in (
        ["generate", "road", "--n", "400", "--seed", "2", "--output", roads],
        ["convert", roads, text],
        ["solve", text, "--verify", "--output", tree],
        ["verify", roads, tree],
        ["--versions"],
    ):
        outcome = CliRunner().invoke(command, words)
        check(outcome.exit_code == 0, f"clmst {' '.join(words)}: {outcome.output}")
    outcome = CliRunner().invoke(command, ["solve", str(folder / "missing.gr")])
    check(outcome.exit_code == 1 and "Traceback" not in outcome.output, outcome.output)


def main() -> None:
    """Do all steps, and print the time of each."""
    warnings.simplefilter("ignore", clmst.DeviceWarning)
    with redirect_stdout(io.StringIO()) as report:
        clmst.show_versions(as_json=True)
    facts = json.loads(report.getvalue())
    print(f"Python {platform.python_version()} on {platform.platform()}, {facts['devices']}")
    with tempfile.TemporaryDirectory() as place:
        for step in (import_everything, solve, use_files, use_the_command):
            began = time.perf_counter()
            step(Path(place))
            print(f"right: {step.__name__}, {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
