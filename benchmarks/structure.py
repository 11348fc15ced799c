"""What the code is like to enter: files on the way of a solve, import floors, namesakes, lines.

    python -m benchmarks.structure
    python -m benchmarks.structure --root OTHER_CLONE --json other.json

The path of a solve is traced, not read: the second solve of a matrix of SciPy's, on the default
device. A door is a place where a function of one file calls one of another; a step back is a door
to a file that the path has been in before. The import floors of a package are the modules of its
longest chain of imports, those under TYPE_CHECKING left out.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Collection
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
# Vertices, the algorithm, and the shape of filter-boruvka ("" for its own choice on the device).
PATHS = {
    "as 'auto' chooses": (2_000, "auto", ""),
    "filter-boruvka": (20_000, "filter-boruvka", ""),
    "filter-boruvka in the shape of a GPU": (20_000, "filter-boruvka", "gpu"),
}
PACKAGES = ("repeated", "algorithms", "runtime", "bench")


# ---------------------------------------------------------------------------- lines


def lines_of(path: Path) -> Counter[str]:
    """Return how many lines of a file are code, docstrings, comments and blank."""
    text = path.read_text(encoding="utf-8")
    count = Counter(total=len(text.splitlines()))
    count["blank"] = sum(not line.strip() for line in text.splitlines())
    if path.suffix == ".cl":
        count["comments"] = _comment_lines_of_kernels(text)
    else:
        count["docstrings"] = sum(map(_docstring_lines, ast.walk(ast.parse(text))))
        count["comments"] = sum(
            token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )
    count["code"] = count["total"] - count["blank"] - count["docstrings"] - count["comments"]
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
    """Return the lines of a node's docstring that are not blank."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return 0
    text = ast.get_docstring(node, clean=False)
    if text is None:
        return 0
    blank = sum(not line.strip() for line in text.split("\n")[1:-1])
    return 1 + text.count("\n") - blank


def product(root: Path) -> list[Path]:
    """Return the files that users get."""
    return sorted([*(root / "clmst").rglob("*.py"), *(root / "cl").rglob("*.cl")])


def lines(root: Path) -> dict[str, Any]:
    """Return the lines of the product, and its ten longest files."""
    files = {str(path.relative_to(root)): lines_of(path) for path in product(root)}
    longest = sorted(files, key=lambda name: -files[name]["total"])[:10]
    return {
        "files": len(files),
        **dict(sum(files.values(), Counter())),
        "longest": {name: dict(files[name]) for name in longest},
    }


# ------------------------------------------------------------------------ namesakes


def namesakes(root: Path) -> dict[str, Any]:
    """Return kernel files without a module of their name, and modules without a test of theirs.

    A name is the file's own or its folder's.
    """
    modules = {word for path in (root / "clmst").rglob("*.py") for word in _names(path)}
    tests = {word for path in (root / "tests").rglob("*.py") for word in _names(path)}
    kernels = sorted((root / "cl").rglob("*.cl"))
    python = [path for path in (root / "clmst").rglob("*.py") if path.stem != "__init__"]
    return {
        "kernel_files": len(kernels),
        "kernel_files_without_module": _without(kernels, modules, root),
        "modules": len(python),
        "modules_without_test": _without(sorted(python), tests, root),
    }


def _names(path: Path) -> set[str]:
    return {path.stem.removeprefix("test_"), path.parent.name} - {"__init__"}


def _without(paths: list[Path], known: set[str], root: Path) -> list[str]:
    """Return the files whose stem nothing is named after, nor a folder of an algorithm's."""
    found = []
    for path in paths:
        deep = len(path.relative_to(root).parts) > 3  # below a folder of its own
        names = {path.stem, path.parent.name} if deep else {path.stem}
        if not names & known:
            found.append(str(path.relative_to(root)))
    return found


# ---------------------------------------------------------------------- import floors


def floors(root: Path, package: str) -> list[str]:
    """Return the longest chain of imports inside a package of clmst, from the top down."""
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
    """Return which of the known modules a file imports when it is imported."""
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
n, algorithm, shape = int(sys.argv[1]), *sys.argv[2:]
made_of = clmst.FilterBoruvkaOptions
shapes = {"shape": shape} if "shape" in made_of.__dataclass_fields__ else {}  # else an older clone
options = made_of(**shapes) if shape else None
u, v, w, _ = clmst.generate("random", n=n, seed=1).edges()
matrix = scipy.sparse.coo_array((w, (u, v)), shape=(n, n)).tocsr()
solve = lambda: clmst.minimum_spanning_forest(matrix, algorithm=algorithm, options=options)
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
    root: Path, n: int, algorithm: str, shape: str = "", *, device: str | None = None
) -> dict[str, Any]:
    """Return the files that a solve goes through, in order, and the doors between them."""
    command = [sys.executable, "-c", _TRACED, str(n), algorithm, shape]
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
    """Return everything."""
    return {
        "lines": lines(root),
        "namesakes": namesakes(root),
        "floors": {
            name: floors(root, name) for name in PACKAGES if (root / "clmst" / name).is_dir()
        },
        "paths": {name: solve_path(root, *what) for name, what in PATHS.items()},
    }


def table(found: dict[str, Any]) -> str:
    """Return it for people."""
    count, named = found["lines"], found["namesakes"]
    rows = [
        f"product: {count['files']} files, {count['total']:,} lines: {count['code']:,} of code, "
        f"{count['docstrings']:,} of docstrings, {count['comments']:,} of comments, "
        f"{count['blank']:,} blank",
        "longest files, in lines, of code, of docstrings:",
        *(
            f"  {name} {one['total']}, {one['code']}, {one.get('docstrings', 0)}"
            for name, one in count["longest"].items()
        ),
        f"kernel files without a module of their name or folder: "
        f"{len(named['kernel_files_without_module'])} of {named['kernel_files']}",
        f"modules without a test of their name or folder: "
        f"{len(named['modules_without_test'])} of {named['modules']}",
    ]
    for name, chain in found["floors"].items():
        rows.append(f"import floors of {name}: {len(chain)} ({' > '.join(chain)})")
    for name, path in found["paths"].items():
        rows.append(
            f"a solve, {name}: {len(path['files'])} files, {path['doors']} doors, "
            f"{path['back']} of them back to an earlier file"
        )
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.structure",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--root", type=Path, default=HERE, help="another clone of clmst")
    parser.add_argument("--json", type=Path, help="where everything is written")
    given = parser.parse_args(arguments)
    found = measured(given.root.resolve())
    print(table(found))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
