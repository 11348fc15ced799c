"""The JSON summary of a forest."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from clmst.core.forest import Forest
from clmst.io import write_forest


def summary(folder: Path, forest: Forest) -> Any:
    def refuse(word: str) -> None:
        pytest.fail(f"{word} is no JSON")

    write_forest(forest, folder / "forest.json")
    return json.loads((folder / "forest.json").read_text(), parse_constant=refuse)


def forest_of(weights: np.ndarray, **attributes: Any) -> Forest:
    edges = np.stack([np.arange(weights.size), np.arange(weights.size) + 1], axis=1)
    ids = np.arange(weights.size)
    return Forest(n_vertices=9, edges=edges, weights=weights, edge_ids=ids, **attributes)


def test_integers_are_exact(tmp_path: Path) -> None:
    weights = np.array([2**64 - 1, 2**64 - 1, 7], np.uint64)
    assert summary(tmp_path, forest_of(weights, maximum=True)) == {
        "n_vertices": 9,
        "n_edges": 3,
        "n_components": 6,
        "total_weight": 2 * (2**64 - 1) + 7,
        "weight_dtype": "uint64",
        "maximum": True,
        "stats": {},
    }


@pytest.mark.parametrize("weight", [0.1, 1e300, -5e-324])
def test_floats_read_back_the_same(tmp_path: Path, weight: float) -> None:
    assert summary(tmp_path, forest_of(np.array([weight])))["total_weight"] == weight


@pytest.mark.parametrize("weight", [math.inf, -math.inf])
def test_infinities_are_strings(tmp_path: Path, weight: float) -> None:
    assert summary(tmp_path, forest_of(np.array([weight])))["total_weight"] == str(weight)


def test_statistics_are_made_plain(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Phase:
        name: str
        seconds: np.float64

    stats = {
        "algorithm": "Borůvka",
        "rounds": np.int32(3),
        "sizes": np.array([4, 2, 1]),
        "profile": MappingProxyType({"phases": (Phase("hook", np.float64(0.25)),), 7: None}),
        "path": Path("a"),
    }
    assert summary(tmp_path, forest_of(np.array([1]), stats=stats))["stats"] == {
        "algorithm": "Borůvka",
        "rounds": 3,
        "sizes": [4, 2, 1],
        "profile": {"phases": [{"name": "hook", "seconds": 0.25}], "7": None},
        "path": "a",
    }
