"""First calls of points of many dimensions: the programs that each builds, as JSON.

    python -m tests.points.first_calls native 64 384

For ``tests.points.test_first_call``, in a process whose caches are all empty, of every usable
device that is no simulator. Each door has a device and a cache of its own, so that no door finds
what another one built, and takes points of these dimensions one after the other. Devices compile
without optimisation.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from clmst import Device, Points, core_distances, minimum_spanning_forest
from clmst.cluster import HDBSCAN
from clmst.core.machine import cache_folder
from tests.unoptimised import compile_quickly
from tests.variants import as_variant, variants

DOORS: dict[str, Callable[[np.ndarray, Device], object]] = {
    "tree": lambda X, device: minimum_spanning_forest(Points(X), device=device),
    "core distances": lambda X, device: core_distances(X, 5, device=device),
    "HDBSCAN": lambda X, device: HDBSCAN(min_cluster_size=5, device=device).fit(X),
}


class Builds(logging.Handler):
    """What is compiled, as the log has it."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        what, _, rest = record.getMessage().partition(" (")
        if what == "compiling kernels":
            self.names.append(rest.partition(")")[0])

    def taken(self) -> list[str]:
        """Return what was compiled since the last time."""
        taken, self.names = self.names, []
        return taken


def main(shape: str, *dimensions: str) -> None:
    """Print what each door builds on each device, a list for each number of dimensions."""
    compile_quickly()
    builds, empty = Builds(), cache_folder()
    logger = logging.getLogger("clmst")
    logger.addHandler(builds)
    logger.setLevel(logging.INFO)
    found = []
    for native in {one.device.platform: one.device for one in variants()}.values():
        for door, call in DOORS.items():
            os.environ["CLMST_CACHE"] = str(Path(empty, native.platform, door))
            device = as_variant(Device(native.cl_device), shape)
            builds.taken()
            by_dimensions = []
            for d in map(int, dimensions):
                call(np.random.default_rng(d).normal(size=(200, d)), device)
                by_dimensions.append(builds.taken())
            found.append([native.platform, door, by_dimensions])
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
