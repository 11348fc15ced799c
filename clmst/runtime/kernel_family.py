"""Families of kernels, which compute a result together, and the cases of their self-tests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import starmap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from clmst.core.errors import OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.core.weight_keys import WeightKind, weight_kind_or_none

if TYPE_CHECKING:
    from clmst.core.points import Metric
    from clmst.runtime.device import Device

# The case of a family that has only one.
ONLY: Hashable = ""
# How a refusal begins where the driver's compiler or a kernel ended the process that tested it.
ENDS_PROCESS = "its self-test ends the process"


class SelfTestResult(NamedTuple):
    """The result of a self-test: the reason of a refusal, whether it is final, the seconds."""

    reason: str | None
    lasts: bool
    seconds: float = 0.0


# What a self-test computed: its name, what the device found, and what is right.
Answer: TypeAlias = tuple[str, Any, Any]
Test: TypeAlias = "Callable[[Device, Any], Iterable[Answer] | str | None]"


@dataclass(frozen=True, slots=True)
class Case:
    """The facts that decide which kernels of a family run; None, 0 or empty for all others."""

    bits: int = 32  # of a word of weight
    kind: WeightKind | None = "unsigned"  # how a key is made of it
    maximum: bool | None = None
    symmetric: bool | None = None  # whether both directions of edges are stored
    # The algorithm, and which of its kernels, where graphs have different ones; see
    # ``AlgorithmRecord.variant_of``.
    algorithm: str = ""
    variant: str = ""
    metric: Metric | Literal[""] = ""  # of points; empty for a matrix
    dimension_class: int = 0  # of points, as kernels are built for them: 2, 3, or 0 for all others
    core: bool = False  # whether points have core distances
    # Of lists of near points, where these are asked for: as kernels are built for them.
    neighbours: int = 0
    products: bool = False  # whether tiles have squares of distances by products
    option_text: str = ""  # the algorithm's own options, written out; empty for the usual ones
    options: object = field(default=None, compare=False)  # these options, or those of the variant

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype whose weights have such words."""
        letter = {"signed": "i", "float": "f"}.get(self.kind or "", "u")
        return np.dtype(f"{letter}{self.bits // 8}")

    def __str__(self) -> str:
        """Return the case in words."""
        what = f"{self.bits}-bit {self.kind} weights" if self.kind else f"{self.bits}-bit words"
        words = [self.algorithm, what]
        if self.metric:
            words = ["points", self.metric, f"{self.dimension_class or 'more'} dimensions"]
            words += ["core distances"] * self.core
            words += [f"{self.neighbours} neighbours"] * bool(self.neighbours)
            words += ["by products"] * self.products
        if self.maximum is not None:
            words.append("maximum" if self.maximum else "minimum")
        if self.symmetric is not None:
            words.append("both directions" if self.symmetric else "each edge once")
        return ", ".join(filter(None, (*words, self.variant, self.option_text)))


@cache
def case_of(dtype: np.dtype[Any], **facts: Any) -> Case:
    """Return the case of weights that are stored as numbers of a dtype: made once, found fast."""
    kind = weight_kind_or_none(dtype)
    if kind is None:
        raise UnsupportedDeviceError(
            f"no device has keys of weights of {dtype}; they have no order"
        )
    return Case(8 * dtype.itemsize, kind, **facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFamily:
    """Kernels that compute a result together, and their self-test."""

    name: str  # as :class:`~clmst.runtime.verdicts.Verdict` has it
    what: str  # what these kernels compute, for tables
    # Solves known problems on a device in a case, and yields what came out and what must. Or
    # returns None if every answer was right, else one line that says what was wrong. As
    # "module:function" it is loaded when it runs: it takes what most solves do not need.
    test: str | Test
    cases: tuple[Hashable, ...] = (ONLY,)  # the usual cases, which `clmst devices --test` runs
    # Whether a device can run these kernels at all, of any kind and way of taking host arrays.
    # Where it cannot, nothing uses the family, and nothing tests it.
    suits: Callable[[Device], bool] = lambda _: True

    def failure(self, device: Device, case: Any) -> str | None:
        """Return what a device gets wrong in a case, or None."""
        test: Any = self.test
        if isinstance(test, str):
            home, name = test.split(":")
            test = getattr(import_module(home), name)
        found: Iterable[Answer] | str | None = test(device, case)
        if found is None or isinstance(found, str):
            return found
        return next(filter(None, starmap(difference, found)), None)


def survived(work: Callable[[Device, Any], object]) -> Test:
    """Return a test that passes if the process survives some work, whatever error that raises."""

    def test(device: Device, case: Any) -> None:
        try:
            work(device, case)
        except OutOfDeviceMemoryError:
            raise  # nothing was done
        except Exception:
            return

    return test


def difference(what: str, found: Any, expected: Any) -> str | None:
    """Return in one line how what came out differs from what is right; None if it does not."""
    found = found.to_host() if hasattr(found, "to_host") else np.asarray(found)
    expected = np.asarray(expected)
    if found.shape != expected.shape:
        return f"{found.size} {what} came out instead of {expected.size}"
    unequal = found != expected
    if not unequal.any():
        return None
    count = f"{int(unequal.sum())} of {unequal.size} " if unequal.ndim else ""
    return f"{count}{what} came out wrong"
