"""Options as text: what is set, what is refused, and that a text says what was read."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from clmst import (
    EclOptions,
    FilterBoruvkaOptions,
    InvalidArgumentError,
    PmaOptions,
    PrimBoruvkaOptions,
    PrimOptions,
)
from clmst.algorithms.option_texts import option_names, read, texts_with, with_options, write
from clmst.algorithms.registry import ALGORITHMS

SAME = {
    "pma variant=min gamma=64": PmaOptions(variant="min", gamma=64),
    "ecl filter=false filter_factor=2.5 samples=20": EclOptions(
        filter=False, filter_factor=2.5, samples=20
    ),
    "filter-boruvka targets=0.5,2.0": FilterBoruvkaOptions(targets=(0.5, 2.0)),
    "prim-boruvka rounds=2 prim.queue=heap": PrimBoruvkaOptions(
        rounds=2, prim=PrimOptions(queue="heap")
    ),
}


@pytest.mark.parametrize("text", SAME)
def test_text_is_read_and_written(text: str) -> None:
    """Results keep contestants as texts, of which a resumed run must make the same ones."""
    name, options = read(text)
    assert (name, options) == (text.split(maxsplit=1)[0], SAME[text])
    assert write(name, options) == text
    assert write(name, type(options)()) == name
    assert read("auto") == ("auto", None)


def test_words_of_a_value() -> None:
    assert with_options("pma", PmaOptions(gamma=3), ["gamma=none"]) == PmaOptions()
    assert with_options("pma", None, ["remove-parallel = no"]) == PmaOptions(remove_parallel=False)
    assert with_options("pma", None, []) is None


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_option_has_a_name(name: str) -> None:
    """What Python takes, a text can set."""
    names = [one.partition(".")[0] for one in option_names(name)]
    assert [*dict.fromkeys(names)] == [one.name for one in fields(ALGORITHMS[name].options_class)]
    assert not any(
        is_dataclass(one.default) for one in fields(ALGORITHMS[name].options_class)
    )  # whose parts would be left out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("pma gama=64", "there is no option 'gama'; pma takes variant, gamma, remove_parallel"),
        ("pma gamma", "an option is 'gamma'; it must be NAME=VALUE"),
        ("pma gamma=x", "gamma is 'x'; it must be an integer"),
        ("pma gamma=1", "gamma is 1; it must be at least 2"),
        ("pma variant=max", "variant is 'max'; it must be one of 'min', 'sort', 'hybrid'"),
        ("ecl filter=perhaps", "filter is 'perhaps'; it must be True or False"),
        ("ecl filter_factor=5", "filter_factor is 5.0; it must be 2 to 4"),
        ("prim-boruvka prim.queue=stack", "queue is 'stack'"),
        ("auto gamma=64", "the algorithm is 'auto'"),
        ("magic gamma=64", "no algorithm is called 'magic'"),
        ("", "no algorithm is called ''"),
    ],
)
def test_text_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=complaint):
        read(text)


def test_options_go_to_those_that_have_them() -> None:
    """An algorithm's own text is stronger; what none of them takes is refused."""
    texts = ["gamma=64", "samples=20"]
    found = texts_with(["auto", "pma", "pma gamma=8", "ecl", "pma gamma=64"], texts)
    assert found == ("auto", "pma gamma=64", "pma gamma=8", "ecl samples=20")
    complaint = "no option 'samples'; auto takes none; pma takes variant"
    with pytest.raises(InvalidArgumentError, match=complaint):
        texts_with(["auto", "pma"], texts)
