"""Families of kernels: what their self-tests yield is compared, and worded, in one way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from clmst import Device, UnsupportedDeviceError
from clmst.runtime.kernel_family import ONLY, Answer, Case, KernelFamily, case_of, difference

RIGHT = np.array([[0, 1], [2, 3]])


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        (RIGHT, RIGHT.astype(np.uint8), None),
        (RIGHT + np.array([[0, 0], [1, 0]]), RIGHT, "1 of 4 ends came out wrong"),
        (RIGHT[:1], RIGHT, "2 ends came out instead of 4"),
        ((), RIGHT, "0 ends came out instead of 4"),
        (None, RIGHT, "1 ends came out instead of 4"),
        (True, True, None),
        (False, True, "ends came out wrong"),
        (np.array([np.inf, -0.0]), np.array([np.inf, 0.0]), None),
        (np.array([np.nan]), np.array([1.0]), "1 of 1 ends came out wrong"),
    ],
)
def test_what_came_out_is_compared(found: Any, expected: Any, words: str | None) -> None:
    assert difference("ends", found, expected) == words


def test_the_first_difference_ends_a_test(any_device: Device) -> None:
    """What follows may take what came out wrong."""

    def test(*_: object) -> Iterator[Answer]:
        yield "sums", 1, 1
        yield "sums again", 1, 2
        raise AssertionError

    family = KernelFamily(name="sums", what="sums", test=test)
    assert family.failure(any_device, ONLY) == "sums again came out wrong"


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case(64, None), "64-bit words"),
        (case_of(np.dtype("f2")), "16-bit float weights"),
        (case_of(np.dtype("bool"), maximum=False), "8-bit unsigned weights, minimum"),
        (
            Case(32, "signed", True, False, variant="one launch", option_text="Options()"),
            "32-bit signed weights, maximum, each edge once, one launch, Options()",
        ),
        (
            Case(maximum=False, symmetric=True, algorithm="ecl"),
            "ecl, 32-bit unsigned weights, minimum, both directions",
        ),
        (
            Case(64, "float", metric="euclidean", core=True, neighbours=8, products=True),
            "points, euclidean, more dimensions, core distances, 8 neighbours, by products",
        ),
    ],
)
def test_a_case_says_what_it_sets(case: Case, words: str) -> None:
    """Verdicts are kept under these words, so no two cases may have the same."""
    assert str(case) == words


def test_weights_without_an_order_have_no_case() -> None:
    with pytest.raises(UnsupportedDeviceError, match="weights have dtype complex64"):
        case_of(np.dtype("complex64"))
