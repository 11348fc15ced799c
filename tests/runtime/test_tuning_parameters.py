"""Declared parameters: each field of a policy has a legal range, and fields follow one another."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from clmst import algorithms
from clmst.runtime import policy
from clmst.runtime.policy import Policy
from clmst.runtime.tuning_parameters import PARAMETERS, TuningParameter
from clmst.runtime.tuning_rules import changes, conflicts, fitted
from tests.runtime.test_policy import CAPABILITIES

CPU, GPU = (policy.choose(CAPABILITIES[kind]) for kind in ("cpu", "gpu"))


def test_every_field_is_declared() -> None:
    """A field without a declaration could not be tuned, nor be read from a table."""
    assert set(PARAMETERS) == {field.name for field in fields(Policy)}


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=PARAMETERS)
def test_declaration_is_sound(parameter: TuningParameter) -> None:
    assert list(parameter.tries) == sorted(set(parameter.tries))
    assert len(parameter.tries) > 1
    assert all(map(parameter.allows, parameter.tries))
    assert set(parameter.algorithms) <= {"auto", *algorithms.ALGORITHMS}
    assert parameter.unit
    assert parameter.help.endswith("."), "the docstring of Policy does not describe it"


def test_legal_values() -> None:
    size = PARAMETERS["work_group_size"]
    assert [size.allows(v) for v in (1, 32, 96, 1024)] == [True] * 4
    assert not any(map(size.allows, (0, 2, 33, 1056, -32, 32.0, "32", None, True, [32])))
    assert size.rule == "1, or a multiple of 32 up to 1024"
    real = TuningParameter(name="x", unit="", least=0.5, most=4, multiple_of=0, tries=(1, 2.5))
    assert [real.allows(v) for v in (0.5, 1, 3.25)] == [True] * 3
    assert not any(map(real.allows, (0.4, 4.01, float("nan"), float("inf"), "1", True)))
    assert real.rule == "a number from 0.5 to 4"
    assert PARAMETERS["radix_bits"].rule == "an integer from 1 to 8"


def test_what_matters() -> None:
    """A search must not waste time on what changes no kernel of the algorithm."""
    assert PARAMETERS["hub_row"].matters("ecl", GPU)
    assert not PARAMETERS["hub_row"].matters("ecl", CPU)
    assert not PARAMETERS["hub_row"].matters("boruvka", GPU)
    assert PARAMETERS["rows_per_item"].matters("ecl", CPU)
    assert not PARAMETERS["rows_per_item"].matters("ecl", GPU)
    assert PARAMETERS["work_group_size"].matters("boruvka", CPU)
    resident = replace(GPU, resident_groups_per_compute_unit=1)
    alone = replace(GPU, resident_groups_per_compute_unit=0)
    assert PARAMETERS["separate_rounds"].matters("filter-boruvka", resident)
    assert not PARAMETERS["separate_rounds"].matters("filter-boruvka", alone)


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
