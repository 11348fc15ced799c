"""Time the calls of ``thirty_calls.py`` in this tree and in another commit, in turns.

    python -m benchmarks beside_commit HEAD~1
    python -m benchmarks beside_commit 828e2643 --device gpu --only HDBSCAN --repetitions 15
    python -m benchmarks beside_commit 828e2643 --device gpu --graph rmat16.egr --graph kron21.egr

With ``--graph``, the graph in a file is solved instead: on the device, from and to the host as
a SciPy matrix, and the same with weights of doubles.

Three processes take turns. One imports clmst from this tree as it is. Two import it from the
commit, which is checked out into a temporary folder. A folder with another tree can be given in
place of a commit, for machines without the repository. The second process of the commit is the
control. It runs the same code as the first, so the ratio of their times shows noise alone. All
three must return the same arrays, or the table says that they differ.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import click

from benchmarks.runner import Row, Rows, Run, case
from benchmarks.thirty_calls import CALLS, FORMS

_ROOT = Path(__file__).resolve().parents[1]
_PROGRAM = Path(__file__).with_name("thirty_calls.py")
NOW, BEFORE, CONTROL = "now", "before", "before again"


class Version:
    """A process that runs calls with the clmst of one source tree."""

    def __init__(self, tree: Path, device: str | None) -> None:
        paths = filter(None, (str(tree), os.environ.get("PYTHONPATH")))
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        if device is not None:
            environment["CLMST_DEVICE"] = device
        self._process = subprocess.Popen(
            [sys.executable, str(_PROGRAM)], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip

    def ask(self, word: str, name: str) -> Any:
        """Let the process prepare, time or forget a call, and return its answer.

        `word` is the request, such as "time", and `name` the name of the call. Both are explained
        in ``thirty_calls.py``. Blocks until the answer comes.

        Raises RuntimeError if the process has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{word} {name}\n")
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process ended at {word} {name}")
        return json.loads(answer)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


@contextmanager
def _tree_of(commit: str) -> Iterator[Path]:
    """Check out a commit of this repository into a temporary folder, and yield the folder's path.

    The folder is removed afterwards. If `commit` is the path of a folder, that path is yielded, and
    nothing is checked out or removed.
    """
    if Path(commit).is_dir():
        yield Path(commit).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ("git", "-C", str(_ROOT), "worktree")
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def row_of_call(versions: dict[str, Version], name: str, repetitions: int) -> Row | str:
    """Time one call by several versions of clmst in turns, and return the row of the table.

    `versions` has a process for each version, by name. `name` is the name of the call, and
    `repetitions` the number of times that each version is timed. In each turn the versions are
    timed in a new random order. If the call fails, a text with the error is returned instead.
    """
    found = {which: version.ask("prepare", name) for which, version in versions.items()}
    failed = {which: one["error"] for which, one in found.items() if isinstance(one, dict)}
    if failed:
        return f"{name}: {failed}"
    times: dict[str, list[float]] = {which: [] for which in versions}
    for turn in range(repetitions + 1):
        for which in random.sample([*versions], len(versions)):
            spent = versions[which].ask("time", name)
            if turn:  # the first turn warms up
                times[which].append(spent)
    for version in versions.values():
        version.ask("forget", name)
    return {
        "call": name, **times, "same arrays": "yes" if len(set(found.values())) == 1 else "NO"
    }  # fmt: skip


def _compared(run: Run, versions: dict[str, Version], names: Sequence[str]) -> Rows:
    ratios: dict[str, list[float]] = {NOW: [], CONTROL: []}
    for name in names:
        row = row_of_call(versions, name, run.repetitions)
        if isinstance(row, dict):
            for which, found in ratios.items():
                found.append(run.of(row[which]) / run.of(row[BEFORE]))
                row[f"{which} / {BEFORE}"] = found[-1]
        yield row
    if ratios[NOW]:
        means = {which: geometric_mean(found) for which, found in ratios.items()}
        yield (
            f"{NOW} / {BEFORE}: geometric mean {means[NOW]:.3f}, greatest {max(ratios[NOW]):.3f}; "
            f"{CONTROL} / {BEFORE}: {means[CONTROL]:.3f}, greatest {max(ratios[CONTROL]):.3f}"
        )


@case(
    click.argument("commit"),
    click.option("--only", multiple=True, help="Part of a call's name; again for more."),
    click.option(
        "--graph", "graphs", multiple=True, type=click.Path(exists=True, path_type=Path),
        help="A file with a graph, whose calls are timed instead; again for more.",
    ),
    repetitions=15,
)  # fmt: skip
def main(run: Run, commit: str, only: tuple[str, ...], graphs: tuple[Path, ...]) -> Rows:
    """Time thirty calls in this tree beside another commit, with a control for noise."""
    every = [f"{form}: {path.resolve()}" for form in FORMS for path in graphs] or [*CALLS]
    names = [name for name in every if not only or any(part in name for part in only)]
    with ExitStack() as stack:
        tree = stack.enter_context(_tree_of(commit))
        versions = {}
        for which, place in ((NOW, _ROOT), (BEFORE, tree), (CONTROL, tree)):
            versions[which] = Version(place, run.device.name)
            stack.callback(versions[which].end)
        yield from _compared(run, versions, names)
