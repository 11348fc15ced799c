"""Run the blocks of code on the pages of documentation, as a reader would.

`tests/project/test_docs.py` runs them in a clone. ``python3 run.py fresh`` runs this file in an
environment with the wheel of clmst and nothing of the clone, page by page:

    python pages.py PAGE [PAGE ...]
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import clmst

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^ *print\(.*\) +# (.*)$", re.MULTILINE)

# Commands that take minutes.
TAKES_MINUTES = (["bench"], ["devices", "--test"], ["warm"])


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in one language."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [block for named, block in found if named == language]


def commands(page: Path) -> list[str]:
    """Return the lines of all shell blocks of a page. Continued lines are joined."""
    text = "".join(blocks(page, "sh")).replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def takes_minutes(arguments: list[str]) -> bool:
    """Return whether a ``clmst`` command takes minutes.

    Pages show such commands, but they are not run.
    """
    return any(arguments[: len(slow)] == slow for slow in TAKES_MINUTES)


def write_files(folder: Path) -> None:
    """Write small files with the names that the pages use."""
    roads = clmst.generate("road", n=300, seed=1)
    clmst.write_graph(roads, folder / "roads.gr")
    packed = gzip.compress((folder / "roads.gr").read_bytes())
    for name in ("roads.gr.gz", "USA-road-d.NY.gr.gz"):
        (folder / name).write_bytes(packed)
    for name in ("graph.mtx", "GRAPH.egr"):
        clmst.write_graph(roads, folder / name)
    places = np.random.default_rng(1).integers(0, 1000, (20, 2)).tolist()
    lines = [f"{number} {x} {y}" for number, (x, y) in enumerate(places, 1)]
    head = ["NAME: small", "TYPE: TSP", "DIMENSION: 20", "EDGE_WEIGHT_TYPE: EUC_2D"]
    text = "\n".join([*head, "NODE_COORD_SECTION", *lines, "EOF", ""])
    (folder / "pcb3038.tsp").write_text(text, encoding="utf-8")
    blobs = np.random.default_rng(2).normal(np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0))
    np.savetxt(folder / "points.csv", blobs, delimiter=",", header="x,y", comments="")
    for name in ("h200.json", "mi300.json"):
        (folder / name).write_text("{}", encoding="utf-8")


def run_examples(page: Path) -> None:
    """Run the Python blocks of a page in sequence.

    Comments after ``print`` must state the output.
    """
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page.name, "exec"), names)
        said = [re.sub(r": .*$", "", words) for words in PRINTED.findall(block)]
        if said:
            assert printed.getvalue().splitlines() == said


def _run_command(line: str) -> str | None:
    """Run a ``clmst`` command of a page in this environment.

    Returns a description of the failure, or None.
    """
    name, *arguments = shlex.split(line, comments=True)
    if name != "clmst" or takes_minutes(arguments):
        return None
    command = [sys.executable, "-m", "clmst", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{line}\n{done.stdout}{done.stderr}"


def main(pages: list[str]) -> None:
    """Run everything that the pages show, each page in a folder of its own.

    Exits with status 1 if something failed.
    """
    print(f"Python {sys.version.split()[0]}, {Path(clmst.__file__).parent}")
    failures = 0
    for page in map(Path, pages):
        wrong, start = [], time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            write_files(Path(folder))
            try:
                run_examples(page)
            except Exception as error:  # whatever a reader would see
                wrong.append(f"{type(error).__name__}: {error}")
            wrong += filter(None, map(_run_command, commands(page)))
            os.chdir("/")
        print(f"{page.name}: {time.perf_counter() - start:.1f} s, {len(wrong)} wrong", flush=True)
        for one in wrong:
            print("  " + one.replace("\n", "\n  "))
        failures += len(wrong)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main(sys.argv[1:])
