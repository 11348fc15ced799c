"""First uses killed at random moments: the next process is right, quick, and condemns nothing.

    python -m tests.faults.killed [--count 10] [--device NAME] [--unproven] [--seed 0]

A process with empty caches solves two graphs, of 32-bit and of 64-bit weights; a signal ends it at
a moment that is uniform over the time that this usually takes. Only what was ended before it was
done counts. ``--unproven`` lets the driver count as not proven, so that its tests run in a child.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.faults.mock_driver import MockDriver, first_use

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_MOST_SECONDS = 600
# Of a child's start, and of a machine that has other work: a process after a killed one may take as
# much more than a first one.
_ALLOWED_SECONDS = 60

_PROGRAM = """
import json, sys, time
import numpy as np
import clmst
from clmst.core.kruskal import kruskal
u, v = np.random.default_rng(1).integers(0, 20_000, (2, 100_000))
weights = np.random.default_rng(2).random(100_000)
graphs = [clmst.Graph.from_edges(u, v, weights.astype(t), n_vertices=20_000) for t in "fd"]
expected = [kruskal(graph).edge_ids.tolist() for graph in graphs]
print("ready", flush=True)
began = time.perf_counter()
device = clmst.get_device(sys.argv[1] or None)
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


def _started(environment: Mapping[str, str], device: str) -> subprocess.Popen[str]:
    """Start a first use, and wait until it is about to call."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, device], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _finished(environment: Mapping[str, str], device: str) -> float:
    """Return the seconds of a use; raise unless it is right, and all self-tests passed."""
    with _started(environment, device) as process:
        output, complaint = process.communicate(timeout=_MOST_SECONDS)
    assert process.returncode == 0, complaint
    is_right, seconds, reasons = json.loads(output)
    assert is_right, "the forests are wrong"
    assert reasons, "nothing was tested"
    assert set(reasons) == {None}, f"condemned: {reasons}"
    return float(seconds)


def kill_many(
    count: int, device: str, *, unproven: bool, seed: int, names: tuple[signal.Signals, ...]
) -> Iterator[Killed]:
    """Kill `count` first uses by each signal; check and yield each."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="clmst-killed-") as name:
        folder = Path(name)
        mock = MockDriver(log=str(folder / "deaths"), is_proven=not unproven)
        environment = mock.environment(folder)
        caches = _caches(folder)
        first = _finished(first_use(environment, next(caches)), device)
        for one in names:
            done = 0
            while done < count:
                cache = next(caches)
                after = rng.random() * first
                if not _is_killed(first_use(environment, cache), device, one, after):
                    continue
                done += 1
                in_test = any(path.stat().st_size for path in cache.rglob("*.began"))
                seconds = _finished(first_use(environment, cache), device)
                assert not list(cache.rglob("*.began")), "a marker is left"
                assert seconds < 2 * first + _ALLOWED_SECONDS, f"{seconds} s, {first} s before"
                yield Killed(one.name, after, in_test, first, seconds)


def _caches(folder: Path) -> Iterator[Path]:
    """Yield empty folders, each of which goes when the next one comes."""
    number = 0
    while True:
        cache = folder / str(number)
        cache.mkdir()
        yield cache
        shutil.rmtree(cache, ignore_errors=True)
        number += 1


def _is_killed(
    environment: Mapping[str, str], device: str, number: signal.Signals, after: float
) -> bool:
    """Let a first use end by a signal; return False if it was done before."""
    with _started(environment, device) as process:
        time.sleep(after)
        os.kill(process.pid, number)
        output, _ = process.communicate(timeout=_MOST_SECONDS)
    return output == ""


def main() -> None:
    """Kill first uses by each signal, and print what came of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--device", default="")
    parser.add_argument("--unproven", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for one in kill_many(
        asked.count, asked.device, unproven=asked.unproven, seed=asked.seed, names=SIGNALS
    ):
        print(one, flush=True)
    print("After each, the next use was right, and nothing was condemned.")


if __name__ == "__main__":
    main()
