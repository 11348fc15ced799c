"""What runs inside Oclgrind: the small cases of every primitive, in one variant of its device.

Started by ``tests/primitives/test_oclgrind.py`` as ``python -m tests.primitives.simulated SHAPE``
in a process where Oclgrind is the only driver. Prints which cases ran, and which came out wrong.

Cases are in the modules ``tests/primitives/*_cases.py``. Each has a function ``cases()`` that
yields names with what returns whether a device does the case right, the broadest first: in the
shape of a GPU, which is slow, only the first few are run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path

from clmst import Device
from tests.oclgrind import POLICIES, only_device

FEW = 3

# What work-groups of many do with these they do with floats of the same width, in as many passes.
ONLY_BY_ONE_WORK_ITEM = {f"{dtype}, falling" for dtype in ("u4", "i4", "u8", "i8")}

# Shares of a GPU's size would take minutes; what matters in its shape is the size of work-groups.
SMALL_POLICIES = POLICIES | {
    "gpu": replace(
        POLICIES["gpu"],
        bytes_per_item=16,
        shares_per_compute_unit=3,
        chain_work_group_size=256,
        chain_bytes_per_item=16,
        compact_bytes_per_item=16,
        split_bytes_per_item=16,
    )
}


def case_modules() -> list[str]:
    """Return the names of the modules that have cases."""
    folder = Path(__file__).parent
    return [f"tests.primitives.{path.stem}" for path in sorted(folder.glob("*_cases.py"))]


def cases(shape: str) -> Iterator[tuple[str, Callable[[Device], bool]]]:
    """Yield all cases of all primitives, or a few of each for the largest shape."""
    for name in case_modules():
        family = name.rpartition(".")[2].removesuffix("_cases")
        found = import_module(name).cases()
        for case, is_right in islice(found, FEW if shape == "gpu" else None):
            if shape != "cpu" and case in ONLY_BY_ONE_WORK_ITEM:
                continue
            yield f"{family}: {case}", is_right


def main(shape: str) -> None:
    tuning = SMALL_POLICIES[shape]
    device = Device(only_device().cl_device, tuning=tuning, _trusted=True)
    device.check_usable()
    ran, wrong = [], []
    for name, is_right in cases(shape):
        ran.append(name)
        if not is_right(device):
            wrong.append(name)
    print(json.dumps({"ran": ran, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
