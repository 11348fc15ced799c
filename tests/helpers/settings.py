"""All algorithms for tests that run each of them, with filter-boruvka in each of its shapes."""

from __future__ import annotations

from typing import Any

from clmst import FilterBoruvkaOptions
from clmst.algorithms.registry import ALGORITHMS

SHAPES = {
    f"filter-boruvka-{shape}": {
        "algorithm": "filter-boruvka",
        "options": FilterBoruvkaOptions(shape=shape),
    }
    for shape in ("cpu", "gpu")
}
# Arguments of the public calls, by the name for a test's id.
SETTINGS: dict[str, dict[str, Any]] = dict(
    sorted(({name: {"algorithm": name} for name in ALGORITHMS} | SHAPES).items())
)
del SETTINGS["filter-boruvka"]  # the device would choose one of the two shapes
