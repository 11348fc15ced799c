"""JSON ``.json``: a summary of a forest, without its edges."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, BinaryIO

import numpy as np

from clmst.io.file_edges import FileEdges


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write sizes, total weight and statistics of a forest.

    Integers are exact and floats the shortest decimals that read back the same. JSON has no
    infinities: those are the strings ``"inf"`` and ``"-inf"``.
    """
    forest = listing.forest
    assert forest is not None
    summary = {
        "n_vertices": forest.n_vertices,
        "n_edges": forest.n_edges,
        "n_components": forest.n_components,
        "total_weight": forest.total_weight,
        "weight_dtype": str(forest.weights.dtype),
        "maximum": forest.maximum,
        "stats": forest.stats,
    }
    text = json.dumps(_plain(summary), indent=2, allow_nan=False, ensure_ascii=False)
    stream.write(f"{text}\n".encode())


def _plain(value: Any) -> Any:
    """Return `value` in the types of JSON."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(entry) for entry in value]
    return str(value)
