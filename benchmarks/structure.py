"""Measure the size of the code, and how hard it is to read: lines, classes, imports, calls.

    python -m benchmarks.structure
    python -m benchmarks.structure --before 62c08af --json sizes.json

A table has the numbers of files and lines of each package, and with ``--before`` also the numbers
of an earlier commit. For each class, the number of other files in which its name occurs as a word
is counted. The path of a solve is found by tracing the third solve of a SciPy matrix on the default
device. A "door" is a pair of files of which one calls a function of the other. A "step back" is a
door that leads to a file which the solve has reached before. Both are counted. The "import floors"
of a package are the modules of its longest chain of imports, without imports under TYPE_CHECKING.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
# The traced solves, of random graphs with float64 weights: the number of vertices, the algorithm,
# and whether the device is treated as a GPU. If it is, kernels have the settings for GPUs, and
# arrays are copied to the device.
PATHS = {
    "'auto', a small matrix": (2_000, "auto", False),
    "filter-boruvka on a CPU": (20_000, "filter-boruvka", False),
    "'auto' as on a GPU": (20_000, "auto", True),
}
FLOORS = ("repeated", "algorithms", "runtime", "bench")  # packages whose import floors are counted
KINDS = ("code", "docstrings", "comments", "imports", "blank")


# ---------------------------------------------------------------------------- lines


def lines_of(path: Path) -> Counter[str]:
    """Count the lines of a file: all lines, and the lines of each kind, such as comments and code.

    The keys of the result are "total" and KINDS.
    """
    text = path.read_text(encoding="utf-8")
    count = Counter(total=len(text.splitlines()))
    count["blank"] = sum(not line.strip() for line in text.splitlines())
    if path.suffix == ".cl":
        count["comments"] = _comment_lines_of_kernels(text)
    else:
        nodes = [*ast.walk(ast.parse(text))]
        count["docstrings"] = sum(map(_docstring_lines, nodes))
        count["imports"] = sum(
            (one.end_lineno or one.lineno) - one.lineno + 1
            for one in nodes
            if isinstance(one, ast.Import | ast.ImportFrom)
        )
        count["comments"] = sum(
            token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )
    count["code"] = count["total"] - sum(count[kind] for kind in KINDS)
    return count


def _comment_lines_of_kernels(text: str) -> int:
    count, is_open = 0, False
    for line in (line.strip() for line in text.splitlines()):
        starts = line.startswith(("//", "/*"))
        count += is_open or starts
        if line.startswith("/*") or is_open:
            is_open = "*/" not in line
    return count


def _docstring_lines(node: ast.AST) -> int:
    """Return the number of lines of a docstring, without blank lines inside it.

    `node` is a node of a syntax tree. The result is 0 if the node has no docstring.
    """
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return 0
    text = ast.get_docstring(node, clean=False)
    if text is None:
        return 0
    blank = sum(not line.strip() for line in text.split("\n")[1:-1])
    return 1 + text.count("\n") - blank


def package_of(path: Path, root: Path) -> str:
    """Return the heading of the table row in which a file is counted, such as ``clmst/io``.

    A file in ``clmst`` or ``cl`` is counted for its package. A module directly in ``clmst`` is
    counted in the row ``clmst/*.py``. Files elsewhere are counted for their top folder, such as
    ``tests``.
    """
    top, *below = path.relative_to(root).parts
    if top not in ("clmst", "cl"):
        return top
    return f"{top}/{below[0]}" if len(below) > 1 else f"{top}/*{path.suffix}"


def packages(root: Path) -> dict[str, Counter[str]]:
    """Count the files and lines of each package, and of the whole product.

    The product is what users get: the folders ``clmst`` and ``cl``. It is counted as a whole and by
    language. The keys of the result are the headings of the rows of a table.
    """
    found: dict[str, Counter[str]] = {}
    for folder in ("clmst", "cl", "tests", "benchmarks"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".py", ".cl"):
                count = lines_of(path)
                count["files"] = 1
                rows = [package_of(path, root)]
                if folder in ("clmst", "cl"):
                    rows += [f"product, {path.suffix}", "product"]
                for row in rows:
                    found[row] = found.get(row, Counter()) + count
    return dict(sorted(found.items()))


def classes(root: Path) -> dict[str, list[str]]:
    """Return the names of all classes in ``clmst``, and of classes that few files use.

    There are three lists: all classes, the classes whose name occurs in no other file, and the
    classes whose name occurs in one other file.
    """
    texts = {
        path: path.read_text(encoding="utf-8") for path in sorted((root / "clmst").rglob("*.py"))
    }
    words = {path: {*re.findall(r"\w+", text)} for path, text in texts.items()}
    others = {
        f"{path.relative_to(root)}: {node.name}": sum(
            node.name in known for other, known in words.items() if other != path
        )
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    }
    return {
        "all": [*others],
        "named nowhere else": [name for name, files in others.items() if files == 0],
        "named in one other file": [name for name, files in others.items() if files == 1],
    }


# ---------------------------------------------------------------------- import floors


def floors(root: Path, package: str) -> list[str]:
    """Return the longest chain of modules of a package in which each imports the next."""
    folder = root / "clmst" / package
    paths = {_dotted(path, root): path for path in sorted(folder.rglob("*.py"))}
    imports = {module: _imports(path, paths.keys()) for module, path in paths.items()}
    longest: dict[str, list[str]] = {}
    for module in TopologicalSorter(imports).static_order():  # raises where there is a cycle
        below = max((longest[one] for one in imports[module]), key=len, default=[])
        longest[module] = [module, *below]
    return max(longest.values(), key=len)


def _dotted(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _imports(path: Path, known: Collection[str]) -> set[str]:
    """Return the modules among `known` that are imported when a file is imported.

    Imports inside functions and under TYPE_CHECKING do not count.
    """
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            named = (f"{node.module}.{name.name}" for name in node.names)
            found |= {one if one in known else node.module for one in named}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        waiting += ast.iter_child_nodes(node)
    return found & set(known)


# ---------------------------------------------------------------- the path of a solve

_TRACED = """
import json, sys
import numpy as np, scipy.sparse
import clmst
"""
_SOLVE = """
from dataclasses import replace
n, algorithm, as_gpu = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "True"
u, v, w, _ = clmst.generate("random", n=n, seed=1).edges()
matrix = scipy.sparse.coo_array((w + 0.1, (u, v)), shape=(n, n)).tocsr()
matrix = (matrix + matrix.T).tocsr()
device = None
if as_gpu:
    from clmst.runtime.policy import GPU
    own = clmst.get_device()
    device = own.with_policy(replace(GPU, work_group_size=64))
    device.capabilities = replace(own.capabilities, host_arrays="copied")
solve = lambda: clmst.minimum_spanning_forest(matrix, algorithm=algorithm, device=device)
"""
_FOLLOWED = """
solve(), solve()
root = clmst.__file__.removesuffix("__init__.py")
frames, visits = [], []

def follow(frame, event, _):
    if event == "call":
        name = frame.f_code.co_filename
        module = name.removeprefix(root) if name.startswith(root) else None
        before = next((one for one in reversed(frames) if one), None)
        frames.append(module)
        if module and module != before:
            visits.append((before, module))
    elif event == "return" and frames:
        frames.pop()

sys.setprofile(follow)
solve()
sys.setprofile(None)
print(json.dumps(visits))
"""


def solve_path(
    root: Path, n: int, algorithm: str, as_gpu: bool = False, *, device: str | None = None
) -> dict[str, Any]:
    """Trace a solve of a random graph, and return its files in the order in which they are reached.

    The result also has the pairs of files of which one calls the other, their number, and how many
    of them lead back to a file that was reached before. `n` is the number of vertices of the graph.
    If `as_gpu` is true, the device is treated as a GPU whatever it is.
    """
    return files_of_call(_SOLVE, str(n), algorithm, str(as_gpu), root=root, device=device)


def files_of_call(
    code: str, *arguments: str, root: Path = HERE, device: str | None = None
) -> dict[str, Any]:
    """Trace a call, and return its files in the order in which they are reached.

    `code` is Python code that defines a function `solve`. The third call of `solve` is traced, in a
    new process with the command-line arguments `arguments`. The result also has the pairs of files
    of which one calls the other, their number, and how many of them lead back to a file that was
    reached before.
    """
    command = [sys.executable, "-c", _TRACED + code + _FOLLOWED, *arguments]
    environment = os.environ if device is None else {**os.environ, "CLMST_DEVICE": device}
    done = subprocess.run(
        command, cwd=root, check=True, capture_output=True, text=True, env=environment
    )
    visits = [(one, other) for one, other in json.loads(done.stdout)]
    order = list(dict.fromkeys(module for _, module in visits))
    place = {module: k for k, module in enumerate(order)}
    doors = dict.fromkeys((one, other) for one, other in visits if one)
    back = [(one, other) for one, other in doors if place[other] < place[one]]
    return {"files": order, "doors": len(doors), "back": len(back), "edges": list(doors)}


# ------------------------------------------------------------------------------ all


def measured(root: Path) -> dict[str, Any]:
    """Count the lines, classes and imports of the clone in the folder `root`."""
    return {
        "packages": packages(root),
        "classes": classes(root),
        "floors": {name: floors(root, name) for name in FLOORS if (root / "clmst" / name).is_dir()},
    }


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Check out the files of a commit into a temporary folder, which is removed afterwards."""
    archive = subprocess.run(["git", "archive", commit], cwd=HERE, check=True, capture_output=True)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def table(versions: Sequence[dict[str, Any]]) -> str:
    """Return a Markdown table of the numbers of files and lines of each package.

    `versions` has the counts of one or two versions of the code. A cell has the numbers of all
    versions, from the first to the last.
    """
    columns = ("files", "total", *KINDS)
    headings = ["package", *("lines" if name == "total" else name for name in columns)]
    lines = [headings, ["---"] + ["--:"] * len(columns)]
    empty: Counter[str] = Counter()
    for name in sorted({name for one in versions for name in one["packages"]}):
        counts = [one["packages"].get(name, empty) for one in versions]
        lines.append([name, *(_row([count[column] for count in counts]) for column in columns)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(numbers: Sequence[int]) -> str:
    return " > ".join(f"{number:,}" for number in numbers)


def remarks(versions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line of text for each count of classes, of imports, and of calls in a traced solve.

    `versions` has the counts of one or two versions of the code.
    """
    for what in versions[0]["classes"]:
        yield f"classes, {what}: {_row([len(one['classes'][what]) for one in versions])}"
    for name, chain in versions[-1]["floors"].items():
        yield f"import floors of {name}: {len(chain)} ({' > '.join(chain)})"
    for name, path in versions[-1]["paths"].items():
        yield (
            f"a solve, {name}: {len(path['files'])} files, {path['doors']} doors, "
            f"{path['back']} of them back to an earlier file"
        )


def main(arguments: list[str] | None = None) -> int:
    """Measure the code that the command line names, and print the results or write them to a file.

    Returns the exit status.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=HERE, help="another clone of clmst")
    parser.add_argument("--before", metavar="COMMIT", help="an earlier commit, beside it")
    parser.add_argument("--json", type=Path, help="where everything is written")
    given = parser.parse_args(arguments)
    root = given.root.resolve()
    versions = [measured(root)]
    versions[0]["paths"] = {name: solve_path(root, *what) for name, what in PATHS.items()}
    if given.before:
        with checked_out(given.before) as folder:
            versions.insert(0, measured(folder))
    print(table(versions), *remarks(versions), sep="\n")
    if given.json:
        given.json.write_text(json.dumps(versions, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
