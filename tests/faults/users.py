"""Processes of a user who solves on a driver with faults."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.mock_driver import MockDriver

# No guard by `if __name__ == "__main__"`, as in many a script: a child must not run it again.
SOLVE = """
import json, sys
import numpy as np
import clmst
from tests.helpers.bounds import bounds
of_large_graphs = bounds(small_slots=0, small_edges=0, slots_on_host=0)
of_large_graphs.__enter__()
u, v = np.random.default_rng(1).integers(0, 3000, (2, 12000))
weights = np.random.default_rng(2).random(12000)
found = {}
for bits in (32, 64):
    graph = clmst.Graph.from_edges(u, v, weights.astype(f"f{bits // 8}"), n_vertices=3000)
    try:
        forest = clmst.minimum_spanning_forest(graph, algorithm=ALGORITHM, device=DEVICE)
    except clmst.ClmstError as error:
        found[bits] = [type(error).__name__, str(error)]
        continue
    is_right = forest.edge_ids.tolist() == clmst.kruskal(graph).edge_ids.tolist()
    found[bits] = [forest.stats["algorithm"] if is_right else "wrong", forest.stats["device"]]
print(json.dumps(found))
"""
AUTO = SOLVE.replace("ALGORITHM", '"auto"').replace("DEVICE", "None")
ECL = SOLVE.replace("ALGORITHM", '"ecl"').replace("DEVICE", "None")


def of_one_width(program: str) -> str:
    """Return the program with weights of 32 bits only, which builds half as many kernels."""
    assert "(32, 64)" in program
    return program.replace("(32, 64)", "(32,)")


# What a process says of work that takes over a second, as it may on a busy machine.
PROGRESS = "compiling and testing kernels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    """Processes of a user, whose driver is a mock."""

    folder: Path

    def mock(self, **how: Any) -> MockDriver:
        return MockDriver(log=str(self.folder / "deaths"), **how)

    def start(self, mock: MockDriver, program: str) -> subprocess.Popen[str]:
        """Start a process whose cache is in the folder.

        The caches of drivers, which have compiled programs only, are those of all tests. The mock
        driver acts before a program is looked for in any of them.
        """
        pipe = subprocess.PIPE
        cache = {"CLMST_CACHE": str(self.folder / "cache" / "clmst")}
        environment = mock.environment(self.folder) | cache
        return subprocess.Popen(
            [sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True, env=environment
        )

    def run(self, mock: MockDriver, program: str = AUTO) -> dict[str, Any]:
        """Return the result of a process. Text that the driver prints is not part of it."""
        with self.start(mock, program) as process:
            output, said = process.communicate(timeout=300)
        complaints = [line for line in said.splitlines() if not line.startswith(PROGRESS)]
        assert (process.returncode, complaints) == (0, [])
        found: dict[str, Any] = json.loads(output)
        return found

    def verdicts(self) -> dict[tuple[str, str], str | None]:
        """Return the reasons of all verdicts by family and case."""
        files = self.folder.rglob("trust/*/*.jsonl")
        lines = [line for path in files for line in path.read_text().splitlines() if line]
        contents = map(json.loads, lines)
        return {(one["family"], one["case"]): one["reason"] for one in contents}

    def markers(self) -> list[Path]:
        return list(self.folder.rglob("*.began"))


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something holds; fail if it takes too long."""
    until = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)
