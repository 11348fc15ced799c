"""Policies: what kernels need of the numbers, legal ranges, and fields that follow others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clmst.algorithms import registry
from clmst.runtime import policy
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import PARAMETERS, Policy, TuningParameter
from clmst.runtime.tuning import Identity, changes, conflicts, fitted, shipped
from clmst.runtime.tuning_table import SHIPPED
from tests.variants import GPU_SHAPE

CAPABILITIES = {
    kind: Capabilities(
        kind=kind,
        compute_units=2,
        max_work_group_size=256,
        local_memory=32768,
        global_memory=1 << 30,
        max_allocation=1 << 28,
        host_arrays="copied",
        buffer_alignment=128,
        int64_atomics=True,
        doubles=True,
        lanes="local",
        lane_width=32,
    )
    for kind in ("gpu", "cpu", "accelerator")
}


# The shapes that devices in the shipped table get.
MEASURED = {
    entry.title: shipped(
        Identity(device=entry.device or "", platform="", vendor=entry.vendor or "", driver=""),
        CAPABILITIES[entry.kind or ""],
    ).policy
    for entry in SHIPPED
}


@pytest.mark.parametrize(
    ("tuning", "has_groups"),
    [
        *((policy.choose(one), kind != "cpu") for kind, one in CAPABILITIES.items()),
        (GPU_SHAPE, True),
        *((one, not title.endswith("cpu")) for title, one in MEASURED.items()),
    ],
    ids=[*CAPABILITIES, "tests", *MEASURED],
)
def test_kernels_can_have_the_shape(tuning: Policy, has_groups: bool) -> None:
    """The ranges that cl/ states; `conflicts` and the declarations have the rules of fields."""
    assert (tuning.work_group_size > 1) == has_groups
    assert tuning.work_group_size <= 256
    assert tuning.hub_row > 4  # as many slots already go to a lane group
    assert 16 * tuning.stage_capacity + 12 * tuning.work_group_size + 8 <= 32768
    assert tuning.split_work_group_size * tuning.split_bytes_per_item <= 32768
    for name, parameter in PARAMETERS.items():
        assert parameter.allows(getattr(tuning, name)), name
    assert conflicts(tuning) == []


# ------------------------------------------------------------------- declared fields

CPU, GPU = (policy.choose(CAPABILITIES[kind]) for kind in ("cpu", "gpu"))


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=PARAMETERS)
def test_declaration_is_sound(parameter: TuningParameter) -> None:
    assert list(parameter.tries) == sorted(set(parameter.tries))
    assert len(parameter.tries) > 1
    assert all(map(parameter.allows, parameter.tries))
    assert set(parameter.algorithms) <= {"auto", *registry.ALGORITHMS}
    assert parameter.unit
    assert parameter.help.endswith("."), "it has no description"


def test_legal_values() -> None:
    size = PARAMETERS["work_group_size"]
    assert [size.allows(v) for v in (1, 32, 96, 1024)] == [True] * 4
    assert not any(map(size.allows, (0, 2, 33, 1056, -32, 32.0, "32", None, True, [32])))
    assert size.rule == "1, or a multiple of 32 up to 1024"
    real = PARAMETERS["filter_target"]
    assert [real.allows(v) for v in (0.125, 1, 3.25, 64)] == [True] * 4
    assert not any(map(real.allows, (0.12, 64.01, float("nan"), float("inf"), "1", True)))
    assert real.rule == "a number from 0.125 to 64"
    assert PARAMETERS["radix_bits"].rule == "an integer from 1 to 8"


@pytest.mark.parametrize(
    ("name", "algorithm", "tuned", "matters"),
    [
        ("hub_row", "ecl", GPU, True),
        ("hub_row", "ecl", CPU, False),
        ("hub_row", "boruvka", GPU, False),
        ("rows_per_item", "ecl", CPU, True),
        ("rows_per_item", "ecl", GPU, False),
        ("work_group_size", "boruvka", CPU, True),
        *(
            (
                "separate_rounds", "filter-boruvka",
                replace(GPU, resident_groups_per_compute_unit=n), bool(n),
            )
            for n in (0, 1)
        ),
    ],
)  # fmt: skip
def test_what_matters(name: str, algorithm: str, tuned: Policy, matters: bool) -> None:
    """A search must not waste time on what changes no kernel of the algorithm."""
    assert PARAMETERS[name].matters(algorithm, tuned) is matters


@pytest.mark.parametrize("start", [CPU, GPU], ids=["cpu", "gpu"])
@pytest.mark.parametrize("name", PARAMETERS)
def test_others_follow(start: Policy, name: str) -> None:
    """Whatever a field is set to, the policy that comes of it breaks no rule."""
    for value in PARAMETERS[name].tries:
        assert conflicts(fitted(start, name, value)) == []


def test_fitting() -> None:
    assert changes(GPU, fitted(GPU, "work_group_size", 1)) == {
        "work_group_size": 1,
        "split_work_group_size": 1,
        "slots_per_item": 256,
    }
    grouped = fitted(CPU, "work_group_size", 512)
    assert (grouped.stage_capacity, grouped.rows_per_item) == (512, 1)
    assert (grouped.split_work_group_size, grouped.slots_per_item) == (512, 16)
    assert changes(CPU, CPU) == {}
    assert changes(CPU, fitted(CPU, "radix_bits", 5)) == {"radix_bits": 5}


def test_conflicts_name_the_rule() -> None:
    assert conflicts(replace(GPU, stage_capacity=128)) == [
        "stage_capacity is at least work_group_size"
    ]
    assert conflicts(replace(GPU, work_group_size=96)) == ["work_group_size divides 1024"]
    assert len(conflicts(replace(GPU, work_group_size=1))) == 2
