"""First uses killed at random moments: the next process is right, quick, and condemns nothing.

    python -m tests.faults.killed [--count 10] [--device NAME] [--unproven] [--helpers 2] [--seed 0]

A process with empty caches solves two graphs, of 32-bit and of 64-bit weights; a signal ends it at
a moment that is uniform over the time that this usually takes. Only what was ended before it was
done counts. ``--unproven`` lets the driver count as not proven, so that its tests run in a child.
``--helpers`` lets so many processes build programs side by side. No process may outlive its parent.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from tests.faults.users import Users
from tests.helpers.processes import all_ended

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_MOST_SECONDS = 600
# Of a child's start, and of a machine that has other work: a process after a killed one may take as
# much more than a first one.
_ALLOWED_SECONDS = 60

_PROGRAM = """
import json, time
import numpy as np
import clmst
from clmst.core.kruskal import kruskal
u, v = np.random.default_rng(1).integers(0, 20_000, (2, 100_000))
weights = np.random.default_rng(2).random(100_000)
graphs = [clmst.Graph.from_edges(u, v, weights.astype(t), n_vertices=20_000) for t in "fd"]
expected = [kruskal(graph).edge_ids.tolist() for graph in graphs]
print("ready", flush=True)
began = time.perf_counter()
device = clmst.get_device(DEVICE)
found = [clmst.minimum_spanning_forest(g, device=device).edge_ids.tolist() for g in graphs]
seconds = time.perf_counter() - began
reasons = [one.reason for one in device.trust.verdicts()]
print(json.dumps([found == expected, seconds, reasons]), flush=True)
"""


class Killed(NamedTuple):
    """A first use that was killed, and the one after it."""

    signal: str
    after: float  # seconds from its first call on
    in_test: bool  # whether that was in the middle of a self-test in the process
    first: float  # seconds of a first use that nobody kills
    next: float  # and of the one after this


@dataclass(frozen=True, slots=True)
class FirstUses:
    """First uses of a device."""

    device: str
    is_proven: bool  # whether its driver counts as proven

    @contextmanager
    def users(self) -> Iterator[Users]:
        """Yield a user whose caches are empty."""
        with tempfile.TemporaryDirectory("clmst-killed", ignore_cleanup_errors=True) as name:
            yield Users(folder=Path(name))

    def start(self, users: Users) -> subprocess.Popen[str]:
        """Start a use, and wait until it is about to call."""
        mock = users.mock(is_proven=self.is_proven)
        process = users.start(mock, _PROGRAM.replace("DEVICE", repr(self.device or None)))
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    def seconds(self, users: Users) -> float:
        """Return the seconds of one use.

        Raises unless the result is right and all self-tests passed.
        """
        with self.start(users) as process:
            output, complaint = process.communicate(timeout=_MOST_SECONDS)
        assert process.returncode == 0, complaint
        is_right, seconds, reasons = json.loads(output)
        assert is_right, "the forests are wrong"
        assert reasons, "nothing was tested"
        assert set(reasons) == {None}, f"condemned: {reasons}"
        return float(seconds)

    def is_killed(self, users: Users, number: signal.Signals, after: float) -> bool:
        """Let a use end by a signal; return False if it was done before."""
        with self.start(users) as process:
            time.sleep(after)
            os.kill(process.pid, number)
            with all_ended(users.folder / "cache" / "clmst"):
                output, _ = process.communicate(timeout=_MOST_SECONDS)
        return output == ""


def kill_many(
    count: int, device: str, *, unproven: bool, seed: int, names: tuple[signal.Signals, ...],
    helpers: int = 0,
) -> Iterator[Killed]:  # fmt: skip
    """Kill `count` first uses by each signal; check and yield each."""
    with patch.dict(os.environ, CLMST_HELPERS=str(helpers)):
        yield from _killed(count, device, unproven=unproven, seed=seed, names=names)


def _killed(
    count: int, device: str, *, unproven: bool, seed: int, names: tuple[signal.Signals, ...]
) -> Iterator[Killed]:
    rng, uses = random.Random(seed), FirstUses(device, is_proven=not unproven)
    with uses.users() as users:
        first = uses.seconds(users)
    for one in names:
        done = 0
        while done < count:
            after = rng.random() * first
            with uses.users() as users:
                if not uses.is_killed(users, one, after):
                    continue
                done += 1
                in_test = any(path.stat().st_size for path in users.markers())
                seconds = uses.seconds(users)
                assert not users.markers(), "a marker is left"
                assert seconds < 2 * first + _ALLOWED_SECONDS, f"{seconds} s, {first} s before"
                yield Killed(one.name, after, in_test, first, seconds)


def main() -> None:
    """Kill first uses by each signal, and print what came of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--device", default="")
    parser.add_argument("--unproven", action="store_true")
    parser.add_argument("--helpers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for one in kill_many(
        asked.count, asked.device, unproven=asked.unproven, seed=asked.seed, names=SIGNALS,
        helpers=asked.helpers,
    ):  # fmt: skip
        print(one, flush=True)
    print("After each, the next use was right, and nothing was condemned.")


if __name__ == "__main__":
    main()
