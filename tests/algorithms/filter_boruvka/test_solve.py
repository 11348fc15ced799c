"""Which shape filter-boruvka solves in, what its options refuse, and the names it had."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, FilterBoruvkaOptions, InvalidArgumentError
from clmst.core.errors import FormerNameWarning
from tests.forests import assert_same_forest
from tests.variants import GPU_SHAPE

GRAPH = clmst.generate("grid", rows=20, columns=20, seed=1)
EXPECTED = clmst.kruskal(GRAPH)
CPU = FilterBoruvkaOptions(shape="cpu")


def shape_of(device: Device, **arguments: Any) -> str:
    """Return the shape of a solve, which is right."""
    forest = clmst.minimum_spanning_forest(GRAPH, device=device, **arguments)
    assert_same_forest(forest, EXPECTED)
    assert forest.stats["algorithm"] == "filter-boruvka"
    return str(forest.stats["shape"])


@pytest.mark.parametrize("shape", ["cpu", "gpu"])
def test_shape_that_is_asked_for(device: Device, shape: Any) -> None:
    assert shape_of(device, options=FilterBoruvkaOptions(shape=shape)) == shape


def test_shape_goes_by_the_work_groups(any_device: Device) -> None:
    own = "cpu" if any_device.policy.work_group_size == 1 else "gpu"
    assert shape_of(any_device, algorithm="filter-boruvka") == own
    serial = any_device.with_policy(replace(any_device.policy, work_group_size=1))
    assert shape_of(serial, algorithm="filter-boruvka") == "cpu"
    shaped = any_device.with_policy(GPU_SHAPE)
    assert shape_of(shaped, algorithm="filter-boruvka") == "gpu"


def test_launches_are_of_the_gpu_shape(any_device: Device) -> None:
    assert shape_of(any_device, options=FilterBoruvkaOptions(launches="separate")) == "gpu"


@pytest.mark.parametrize("shape", ["auto", "cpu", "gpu"])
def test_no_slots(any_device: Device, shape: Any) -> None:
    """Both shapes tell the same of nothing."""
    empty = clmst.Graph.from_edges([], [], np.array([], np.int32), n_vertices=4)
    options = FilterBoruvkaOptions(shape=shape)
    forest = clmst.minimum_spanning_forest(empty, device=any_device, options=options)
    assert (forest.n_edges, forest.stats["rounds"]) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"shape": "tpu"}, "shape is 'tpu'; it must be one of 'auto', 'gpu', 'cpu'"),
        ({"shape": "cpu", "launches": "mixed"}, "launches is 'mixed' and shape is 'cpu'; only the"),
        ({"shape": "cpu", "targets": (1.0, 0.5)}, "must be positive and rise"),
        ({"shape": "cpu", "seed": -1}, "seed is -1"),
        ({"targets": (1, 2, 3, 4)}, "there are 4 targets; at most 3 can be given, unless shape is"),
    ],
)
def test_options_that_mean_nothing(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        FilterBoruvkaOptions(**arguments)


# ------------------------------------------------------------------------------ former names


def rounds(device: Device, **arguments: Any) -> str:
    with clmst.RepeatedSolver(GRAPH, devices=device, **arguments) as solver:
        forest = solver.solve(GRAPH.weights)
        assert_same_forest(forest, EXPECTED)
        return str(forest.stats["shape"])


@pytest.mark.parametrize("solve", [shape_of, rounds])
def test_former_name_warns_and_works(any_device: Device, solve: Callable[..., str]) -> None:
    """It meant the shape of a CPU on every device."""
    shaped = any_device.with_policy(GPU_SHAPE)
    words = r"algorithm='lone-boruvka' is algorithm='filter-boruvka' with .*\(shape='cpu'\) now"
    with pytest.warns(FormerNameWarning, match=words) as caught:
        assert solve(shaped, algorithm="lone-boruvka") == "cpu"
    assert [one.filename for one in caught] == [__file__]
    assert issubclass(FormerNameWarning, DeprecationWarning)
    with pytest.warns(FormerNameWarning):
        assert solve(shaped, algorithm="lone-boruvka", options=CPU) == "cpu"
    with (
        pytest.warns(FormerNameWarning),
        pytest.raises(InvalidArgumentError, match="a former name, and options are EclOptions"),
    ):
        solve(shaped, algorithm="lone-boruvka", options=clmst.EclOptions())


def test_former_options_warn_and_work() -> None:
    with pytest.warns(
        FormerNameWarning, match=r"FilterBoruvkaOptions\(shape='cpu', ...\)"
    ) as caught:
        options = clmst.LoneBoruvkaOptions(targets=(0.1, 0.2, 0.4, 0.8, 1.6), seed=2)
    assert [one.filename for one in caught] == [__file__]
    assert options == FilterBoruvkaOptions(shape="cpu", targets=(0.1, 0.2, 0.4, 0.8, 1.6), seed=2)


def test_present_names_do_not_warn(any_device: Device) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", FormerNameWarning)
        shape_of(any_device, algorithm="filter-boruvka", options=CPU)
