"""No files import one another in a circle, imports inside functions included.

An import below ``if TYPE_CHECKING`` does not count: it never runs. Names of modules in strings do
not count either: the tables of :mod:`clmst` and of the registry say what is loaded when it is first
used, and the files that they name are not known to them otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

import clmst

PACKAGE = Path(clmst.__file__).parent

# Which file may import upwards, and what users get from it. Each import is inside a function.
EXCEPTIONS = {
    ("clmst.core.graph", "clmst.io"): "Graph.read reads a file, whatever its format",
    ("clmst.core.graph", "clmst.drawing.thumbnail"): "notebooks show a graph as a picture",
    ("clmst.core.forest", "clmst.drawing.thumbnail"): "notebooks show a forest as a picture",
    ("clmst.core.cluster_methods", "clmst.points.dendrogram"): (
        "Forest.linkage and Forest.cut answer by a dendrogram, which a device may build"
    ),
    ("clmst.runtime.device_graph", "clmst.algorithms.csr_validation.device_arrays"): (
        "DeviceGraph.from_arrays lets kernels check the caller's arrays"
    ),
}

Graph = dict[str, set[str]]  # of each module, those that it imports


def running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, but for those that only type checkers read."""
    yield node
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        inner = list(node.orelse)
    for one in inner:
        yield from running(one)


def names_in(node: ast.AST, package: str) -> list[str]:
    """Return the full names that an import statement imports. Other nodes import none."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
    home = ".".join([*above, *([node.module] if node.module else [])])
    return [f"{home}.{alias.name}" for alias in node.names]


@cache
def imports_of(folder: Path) -> Graph:
    """Return which modules of a package import which others."""
    paths = {}
    for path in sorted(folder.rglob("*.py")):
        words = path.relative_to(folder.parent).with_suffix("").parts
        paths[".".join(words[:-1] if words[-1] == "__init__" else words)] = path
    graph: Graph = {name: set() for name in paths}
    for name, path in paths.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node in running(ast.parse(path.read_text(encoding="utf-8"))):
            for asked in names_in(node, package):
                found = asked
                while found and found not in paths:  # a name that a module defines
                    found = found.rpartition(".")[0]
                graph[name] |= {found} - {"", name}
    return graph


def circles(graph: Graph) -> list[list[str]]:
    """Return the sets of modules that all reach one another."""
    names = sorted(graph)
    at = {name: i for i, name in enumerate(names)}
    ends = [(at[one], at[other]) for one in names for other in graph[one]]
    rows, columns = np.array(ends, int).reshape(-1, 2).T
    matrix = sparse.coo_array((np.ones(len(ends)), (rows, columns)), shape=(len(at), len(at)))
    _, labels = csgraph.connected_components(matrix.tocsr(), connection="strong")
    groups = ([name for name in names if labels[at[name]] == label] for label in set(labels))
    return [group for group in groups if len(group) > 1]


def without(graph: Graph, *left_out: tuple[str, str]) -> Graph:
    """Return a graph without some of its imports."""
    return {one: {x for x in graph[one] if (one, x) not in left_out} for one in graph}


def test_no_files_import_one_another() -> None:
    graph = imports_of(PACKAGE)
    assert len(graph) > 200
    assert circles(without(graph, *EXCEPTIONS)) == []


def test_exceptions_are_few_and_needed() -> None:
    graph = imports_of(PACKAGE)
    assert len(EXCEPTIONS) <= 5
    for one in EXCEPTIONS:
        others = [other for other in EXCEPTIONS if other != one]
        assert circles(without(graph, *others)) != [], f"{one} closes no circle any more"


@pytest.mark.parametrize(
    ("text", "is_circle"),
    [
        ("from pack import low\n", True),
        ("from pack.low import number\n", True),
        ("import pack.low\n", True),
        ("from . import low\n", True),
        ("from .low import number\n", True),
        ("def call():\n    from pack.low import number\n", True),
        ("class A:\n    def call(self):\n        import pack.low as low\n", True),
        ("if TYPE_CHECKING:\n    from pack.low import number\n", False),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from pack.low import number\n", True),
        ("import numpy\n", False),
        ("name = 'pack.low'\n", False),
    ],
)
def test_planted_circle_is_found(text: str, is_circle: bool, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "low.py").write_text("from pack import middle\nnumber = 1\n")
    (folder / "middle.py").write_text("def call():\n    from pack.top import other\n")
    (folder / "top.py").write_text(text)
    expected = [["pack.low", "pack.middle", "pack.top"]] if is_circle else []
    assert circles(imports_of(folder)) == expected
