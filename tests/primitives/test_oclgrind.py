"""Every access of every primitive, checked by an interpreter: no fault, and no race at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.oclgrind import simulate
from tests.primitives.simulated import CASES


@pytest.mark.external
@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "extent"),
    [
        ("gpu-shape", "brief"),
        ("cpu", "brief"),
        pytest.param("gpu", "whole", marks=pytest.mark.exhaustive),
        pytest.param("gpu-shape", "whole", marks=pytest.mark.exhaustive),
        pytest.param("cpu", "whole", marks=pytest.mark.exhaustive),
    ],
)
def test_no_access_is_wrong(tmp_path: Path, shape: str, extent: str) -> None:
    """The shape `gpu` differs from `gpu-shape` in the size of its work-groups alone.

    The standard run takes the first case of each family with work-groups of many work-items, and
    the first two with work-groups of one.
    """
    outcome = simulate(
        tmp_path, "tests.primitives.simulated", shape, extent, finds_uninitialized=shape != "gpu"
    )
    printed = json.loads(outcome.printed)
    assert printed["wrong"] == []
    assert outcome.faults == []
    assert outcome.races == []
    families = {name.split(":")[0] for name in printed["ran"]}
    assert families == {*CASES, "chain"}
