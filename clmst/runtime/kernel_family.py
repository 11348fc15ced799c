"""Families of kernels that compute a result together, and the cases in which they are tested."""

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

# A self-test has cases, the settings that need kernels of their own. If it has only one case, this
# is the name of that case.
ONLY: Hashable = ""
BUILD_NAME = "build"  # the name of the family for builds of programs
TRIAL_NAME = "trial"  # the name of the family for the first small test of a device
# If kernels are refused because the compiler or a kernel has crashed the process that ran their
# self-test, the reason of the refusal begins with this text.
ENDS_PROCESS = "its self-test ends the process"


class SelfTestResult(NamedTuple):
    """The result of a self-test of kernels on a device.

    `reason` says why the test failed, and is None if the device passed. `lasts` says whether the
    result may be stored on the disk for later processes. `seconds` is the duration of the test.
    """

    reason: str | None
    lasts: bool  # False if another attempt may have another result, so that it must not be kept
    seconds: float = 0.0


# One answer of a self-test: the name of the quantity, the value that the device computed, and the
# right value.
Answer: TypeAlias = tuple[str, Any, Any]
Test: TypeAlias = "Callable[[Device, Any], Iterable[Answer] | str | None]"


@dataclass(frozen=True, slots=True)
class Case:
    """The facts that decide which kernels of a family run, so that each case is tested by itself.

    A fact that does not matter for a family is None, 0 or empty.
    """

    bits: int = 32  # bits of a stored weight
    kind: WeightKind | None = "unsigned"  # the kind of number from which the sort key is computed
    maximum: bool | None = None  # whether the forest is a maximum one
    symmetric: bool | None = None  # whether both directions of edges are stored
    # The algorithm, and which of its kernels run, if that depends on the graph. See
    # ``AlgorithmRecord.variant_of``.
    algorithm: str = ""
    variant: str = ""
    metric: Metric | Literal[""] = ""  # the metric of points; empty for a matrix of weights
    power: float = 0.0  # of points: the power of the metric "minkowski"; 0 for all other metrics
    dimension_class: int = 0  # of points: 2, 3, or 0 for all others, as kernels are built
    core: bool = False  # whether points have core distances
    # The number of neighbours in the lists of near points, for which kernels are built. 0 if no
    # lists of neighbours are wanted.
    neighbours: int = 0
    products: bool = False  # whether tiles compute squared distances from inner products
    option_text: str = ""  # the algorithm's own options as text; empty for the defaults
    options: object = field(default=None, compare=False)  # the options as an object

    @property
    def dtype(self) -> np.dtype[Any]:
        """A dtype whose values have this many bits and this kind."""
        letter = {"signed": "i", "float": "f"}.get(self.kind or "", "u")
        return np.dtype(f"{letter}{self.bits // 8}")

    def __str__(self) -> str:
        """Describe the case in words, for tables and messages."""
        what = f"{self.bits}-bit {self.kind} weights" if self.kind else f"{self.bits}-bit words"
        words = [self.algorithm, what]
        if self.metric:
            metric = f"{self.metric} p={self.power!r}" if self.power else self.metric
            words = ["points", metric, f"{self.dimension_class or 'more'} dimensions"]
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
    """Return the case of a self-test for weights of a dtype. Equal calls return the same object.

    `facts` are further fields of the :class:`Case`. Raises UnsupportedDeviceError if kernels do not
    have sort keys for the dtype.
    """
    kind = weight_kind_or_none(dtype)
    if kind is None:
        raise UnsupportedDeviceError(
            f"weights have dtype {dtype}; only numbers have the order that kernels need"
        )
    return Case(8 * dtype.itemsize, kind, **facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFamily:
    """A set of kernels that compute a result together, with the self-test of the set."""

    name: str  # the name in a :class:`~clmst.runtime.verdicts.Verdict`
    what: str  # what these kernels compute; tables of devices show it
    # The self-test. It gets a device and a case, which says which kernels are tested, and solves
    # known problems. It either yields answers, or returns None if all answers were right, and
    # otherwise a line of text about the first fault. A string "module:function" is imported when
    # the test runs, because most solves do not need it.
    test: str | Test
    cases: tuple[Hashable, ...] = (ONLY,)  # the common cases, which `clmst devices --test` runs
    # A function that returns whether the kernels are made for a device at all, by its kind and by
    # how it accesses host arrays. If not, the family is neither used nor tested on the device.
    suits: Callable[[Device], bool] = lambda _: True

    def failure(self, device: Device, case: Any) -> str | None:
        """Run the self-test of these kernels on a device.

        `case` says which of the kernels are tested. Returns a line that says what was wrong, or
        None if all answers were right.
        """
        test: Any = self.test
        if isinstance(test, str):
            home, name = test.split(":")
            test = getattr(import_module(home), name)
        found: Iterable[Answer] | str | None = test(device, case)
        if found is None or isinstance(found, str):
            return found
        return next(filter(None, starmap(difference, found)), None)


def survived(work: Callable[[Device, Any], object]) -> Test:
    """Create a self-test that passes if calling `work` does not end the process.

    The test passes even if `work` raises an error. Only OutOfDeviceMemoryError is passed on,
    because then the work was not tried.
    """

    def test(device: Device, case: Any) -> None:
        try:
            work(device, case)
        except OutOfDeviceMemoryError:
            raise  # nothing has been tried
        except Exception:
            return

    return test


def difference(what: str, found: Any, expected: Any) -> str | None:
    """Compare `found`, what a device computed, with `expected`, what is right.

    Returns None if both are equal, else the difference in one line. `what` names the quantity.
    """
    found = found.to_host() if hasattr(found, "to_host") else np.asarray(found)
    expected = np.asarray(expected)
    if found.shape != expected.shape:
        return f"{found.size} {what} came out instead of {expected.size}"
    unequal = found != expected
    if not unequal.any():
        return None
    count = f"{int(unequal.sum())} of {unequal.size} " if unequal.ndim else ""
    return f"{count}{what} came out wrong"
