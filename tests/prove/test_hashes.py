"""One table of hashes for fixed inputs, which every algorithm gives on every device."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device
from clmst.algorithms.registry import ALGORITHMS
from tests.helpers.oclgrind import simulate
from tests.helpers.variants import Variant, extreme_variants, variants, variants_elsewhere
from tests.prove import hashes
from tests.whole.test_contract import compiled_for, weights_of

SIZES = ("tiny", "small", "medium")  # large ones are for GPUs, by the command


@pytest.mark.parametrize("size", SIZES)
def test_table_is_the_oracle_s(size: str) -> None:
    """A changed input, oracle or hash shows here, whatever the devices do."""
    for name, sample in hashes.inputs(size):
        assert hashes.by_oracle(sample) == hashes.committed()[name], name


def test_table_has_all_inputs_and_no_other() -> None:
    smaller = {name for name in hashes.committed() if not name.endswith(", large")}
    assert smaller == {name for size in SIZES for name, _ in hashes.inputs(size)}


def _cases() -> Iterator[object]:
    """Yield a variant and an algorithm for each case.

    The standard run takes "auto" on the first device as it is, and with everything forced off. The
    rest is for exhaustive runs, since the contract suite compares every algorithm on every variant
    with the oracle, whose table this is.
    """
    usual = {one.name for one in extreme_variants()}
    elsewhere = {one.name for one in variants_elsewhere()}
    for algorithm in ["auto", *sorted(ALGORITHMS)]:
        for variant in [one for one in variants() if one.name in elsewhere]:
            is_usual = algorithm == "auto" and variant.name in usual
            marks = [] if is_usual else [pytest.mark.exhaustive]
            yield pytest.param(variant, algorithm, id=f"{variant.name}-{algorithm}", marks=marks)


@pytest.mark.parametrize(("variant", "algorithm"), [*_cases()])
def test_device_gives_the_table(variant: Variant, algorithm: str) -> None:
    """In the weights and orders that the contract suite builds programs for, optimised as there.

    In other variants than the first driver's device as it is, one medium input of each shape;
    ``python -m tests.prove.hashes`` takes all of them in all variants.
    """
    device = variant.device
    chosen = set(weights_of(device))
    is_first = device is variants()[0].device
    n_forests = 0
    slow: set[str] = set()  # shapes of medium inputs
    for size in SIZES:
        for name, sample in hashes.inputs(size):
            if algorithm not in hashes.algorithms_for(sample, device):
                continue
            shape = name.partition(",")[0]
            is_slow = size == "medium" and not is_first
            if is_slow and (algorithm == "dense" or shape in slow):  # ten million cells each
                continue
            graph = hashes.graph_of(sample)
            for order in hashes.ORDERS:
                maximum = order == "maximum"
                if (sample.w.dtype, maximum) in chosen:
                    compiled = compiled_for(device, sample.w.dtype, maximum=maximum)
                    found = hashes.hash_on(graph, order, algorithm, compiled)
                    assert found == hashes.committed()[name][order], (name, order)
                    n_forests += 1
                    if is_slow:
                        slow.add(shape)
    device.release_memory()
    assert n_forests >= 15


@pytest.mark.slow
@pytest.mark.exhaustive
def test_simulator_gives_the_table(tmp_path: Path) -> None:
    """Oclgrind, which shares no compiler's back end with any other; tiny inputs."""
    outcome = simulate(tmp_path, "tests.helpers.simulated", "hashes", finds_uninitialized=False)
    found = json.loads(outcome.printed)
    assert found["forests"] >= 20
    assert found["differing"] == []
    assert outcome.faults == []


def test_every_part_of_a_forest_counts() -> None:
    """A hash that leaves something out would be equal where forests are not."""
    forest = clmst.kruskal(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], np.array([3, 1, 2], "i4")))
    changes: list[dict[str, Any]] = [
        {}, {"edges": forest.edges[::-1]}, {"weights": forest.weights + 1},
        {"edge_ids": forest.edge_ids + 1}, {"weights": forest.weights.astype("i8")},
    ]  # fmt: skip
    hashed = {hashes.hash_of(replace(forest, **changed)) for changed in changes}
    assert len(hashed) == 5
    turned = {name: getattr(forest, name)[::-1] for name in ("edges", "weights", "edge_ids")}
    assert hashes.hash_of(replace(forest, **turned)) in hashed  # whatever the order of the edges


@pytest.mark.exhaustive
@pytest.mark.slow
def test_command_finds_a_difference(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--sizes", "tiny", "--variants", "native"]
    assert hashes.main(arguments) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["device"]["device"] == any_device.name
    assert result["differing"] == []
    assert result["hashes"].items() <= hashes.committed().items()
    (name, *_) = result["hashes"]
    changed = hashes.committed() | {name: dict.fromkeys(hashes.ORDERS, "0" * 64)}
    monkeypatch.setattr(hashes, "committed", lambda: changed)
    assert hashes.main(arguments) == 1
    differing = json.loads(capsys.readouterr().out)["differing"]
    assert {one[0] for one in differing} == {name}
