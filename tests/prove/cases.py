"""The case of a number, and what comes of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import clmst
from clmst.core.errors import UnsupportedDeviceError
from tests.helpers.bounds import bounds
from tests.helpers.forests import solve
from tests.helpers.variants import as_variant
from tests.prove import input_forms, oracle, repeated, sample, settings, subjects
from tests.prove.draws import Draws
from tests.prove.oracle import Expected
from tests.prove.primitives.case import PrimitiveCase
from tests.prove.primitives.case import case_of as primitive_case_of
from tests.prove.sample import Sample

# What a run is of; "rest" is all but solves and primitives, block by block in turn.
REST = ("repeated", *subjects.GRAPHS)
SUBJECTS = ("solves", "primitives", "rest", *REST)
PER_GRAPH = 8  # cases of each graph, in a row
_DENSE = 700  # vertices that dense is given at most: beyond, "auto" takes its turn
_CHECKED = 16  # one graph in 16 checks the oracle itself


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A graph, one way to solve it, and the draws that are left for it."""

    sample: Sample
    algorithm: str
    option: str
    variant: str
    maximum: bool
    input_form: str  # of `input_forms.applicable`, or "repeated"
    lowered: bool  # limits that keep small graphs from some ways of solving
    key: int  # of the draws of the input form
    subject: str = "solves"  # or a name in subjects.GRAPHS

    @cached_property
    def named(self) -> str:
        """Algorithm and option in one."""
        return f"{self.algorithm}: {self.option}"

    def __str__(self) -> str:
        drawn = self.sample
        return (
            f"{self.subject}: {drawn.kind}: {drawn.n} vertices, {drawn.m} edges, {drawn.w.dtype}; "
            f"{self.named}, {'maximum' if self.maximum else 'minimum'}, {self.input_form}, "
            f"{self.variant}{', limits lowered' if self.lowered else ''}"
        )

    @property
    def is_for_some_devices(self) -> bool:
        """Whether it has an option that not every device takes."""
        return (self.algorithm, self.option) in settings.FOR_SOME_DEVICES

    @property
    def counted(self) -> tuple[str, ...]:
        """What it counts as, as "table/entry"."""
        drawn = self.sample
        return (
            f"family/{drawn.family}",
            f"graph/{drawn.family}: {drawn.shape}",
            f"weights/{drawn.order}",
            f"dtype/{self.dtype}",
            f"vertices/{_size(drawn.n)}",
            f"algorithm/{self.named}",
            f"variant/{self.variant}",
            f"input form/{self.input_form}",
            f"order/{'maximum' if self.maximum else 'minimum'}",
            f"limits/{'lowered' if self.lowered else 'as shipped'}",
        )

    @property
    def dtype(self) -> str:
        """The weights' dtype, as NumPy writes it."""
        dtype = self.sample.w.dtype
        return "bool" if dtype.kind == "b" else dtype.str[1:]

    @property
    def sizes(self) -> dict[str, int]:
        """What there is to take away from it."""
        return {"vertices": self.sample.n, "edges": self.sample.m}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a case.

    "refused" is an UnsupportedDeviceError, or an option that not every device takes; "error"
    another one of clmst's, although nothing was wrong with what was given; "foreign error" any
    other exception.
    """

    verdict: str  # one of these, "right" or "wrong"; "crash" or "hang" if its process was lost
    detail: str = ""
    solves: int = 1  # forests that were compared


def _size(n: int) -> str:
    bounds = (0, 1, 60, 400, 4000)
    low = 0
    for high in bounds:
        if n <= high:
            return f"{low:04} to {high:04}"
        low = high + 1
    return f"{low:04} and more"


# --------------------------------------------------------------------- number -> case


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Which cases there are: blocks of one dtype, one variant and a quarter of the options."""

    seed: int
    block: int  # cases in a row; a multiple of PER_GRAPH
    subject: str = "solves"

    def case(self, number: int) -> Any:  # callers know which of the two
        """Return a Case or PrimitiveCase: a pure function of its number and the plan."""
        if self.subject == "primitives":
            return primitive_case_of(self.seed, number)
        block, index = divmod(number, self.block)
        subject = self.subject
        if subject == "rest":
            block, turn = divmod(block, len(REST))
            subject = REST[turn]
        return _case_of(self.seed, block, index, number, subject)

    def doubts(self, number: int, case: Case | PrimitiveCase) -> str | None:
        """Return the error in the oracle's answer if this case checks it. Otherwise return None."""
        if isinstance(case, PrimitiveCase) or not self.checks_oracle(number):
            return None
        expected = expected_of(case.sample, maximum=case.maximum)
        return oracle.doubts(case.sample, expected, maximum=case.maximum)

    def checks_oracle(self, number: int) -> bool:
        """Whether the oracle itself is checked: with a graph's first case, now and then."""
        graph, first = divmod(number, PER_GRAPH)
        is_drawn = Draws(self.seed, 5, graph).one_in(_CHECKED)
        return self.subject != "primitives" and first == 0 and is_drawn


def _case_of(seed: int, block: int, index: int, number: int, subject: str) -> Case:
    dtype, variant, maximum, turns = settings.part_of(seed, block)
    draws, drawn = Draws(seed, 3, number), None
    if subject == "points":
        dtype = "f8"
        drawn = points_of(seed, number // PER_GRAPH)
    drawn = drawn or sample_of(seed, number // PER_GRAPH, dtype)
    algorithm, option = turns[(index + block) % len(turns)]
    if subject not in ("solves", "repeated") or (algorithm == "dense" and drawn.n > _DENSE):
        algorithm, option = "auto", "default"
    maximum &= subject not in ("dendrograms", "points", "cores")
    if subject == "solves":
        input_form = _input_form(draws, drawn, algorithm, option)
    elif subject == "repeated":
        input_form = "repeated, two devices" if draws.one_in(8) else "repeated"
        if not getattr(settings.OPTIONS[algorithm][option], "single_direction", True):
            algorithm, option = "auto", "default"
    else:
        input_form = draws.choice(subjects.GRAPHS[subject].forms)
    return Case(
        subject=subject,
        sample=drawn,
        algorithm=algorithm,
        option=option,
        variant=variant,
        maximum=maximum,
        input_form=input_form,
        lowered=draws.one_in(2) or input_form == subjects.BY_PASSES,
        key=draws.word(),
    )


def _input_form(draws: Draws, drawn: Sample, algorithm: str, option: str) -> str:
    """Return an input form by name. Solvers take each edge once, which one option excludes."""
    options = settings.OPTIONS[algorithm][option]
    if draws.one_in(32) and getattr(options, "single_direction", True) and drawn.n <= 400:
        return "repeated, two devices" if draws.one_in(8) else "repeated"
    return draws.choice([name for name, _ in input_forms.applicable(drawn, algorithm)])


@lru_cache(maxsize=4)
def sample_of(seed: int, number: int, dtype: str) -> Sample:
    """Return a graph by its number."""
    return sample.draw(Draws(seed, 4, number), dtype)


@lru_cache(maxsize=4)
def points_of(seed: int, number: int) -> Sample:
    """Return points by their number."""
    return sample.draw_points(Draws(seed, 6, number))


_expected: dict[bool, tuple[Sample, Expected]] = {}


def expected_of(drawn: Sample, *, maximum: bool) -> Expected:
    """Return the oracle's answer, found once for cases of a graph in a row."""
    known = _expected.get(maximum)
    if known is None or known[0] is not drawn:
        known = drawn, oracle.solve(drawn, maximum=maximum)
        _expected[maximum] = known
    return known[1]


# -------------------------------------------------------------------- case -> outcome


class DeviceVariants:
    """The variants of a device, each made once."""

    def __init__(self, name: str | None) -> None:
        self.device = clmst.get_device(name)
        self._variants: dict[str, clmst.Device] = {}

    def variant(self, name: str) -> clmst.Device:
        """Return a variant of the device, and free the memory that the others hold."""
        if name not in self._variants:
            for other in self._variants.values():
                other.release_memory()
            self._variants[name] = as_variant(self.device, name)
        return self._variants[name]


def run(case: Case | PrimitiveCase, variants: DeviceVariants) -> Outcome:
    """Run a case; errors become its outcome."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", clmst.DeviceWarning)  # no device is to fail
            if isinstance(case, PrimitiveCase):
                wrong, solves = case.compare(variants.variant(case.variant))
            elif case.lowered:
                with bounds(**settings.LOWERED):
                    wrong, solves = _compare(case, variants)
            else:
                wrong, solves = _compare(case, variants)
    except UnsupportedDeviceError as error:
        return Outcome(verdict="refused", detail=str(error))
    except clmst.ClmstError as error:
        is_choice = isinstance(error, clmst.InvalidArgumentError)
        if is_choice and isinstance(case, Case) and case.is_for_some_devices:
            return Outcome(verdict="refused", detail=str(error))
        return Outcome(verdict="error", detail=f"{type(error).__name__}: {error}")
    except Exception as error:
        return Outcome(verdict="foreign error", detail=f"{type(error).__name__}: {error}")
    if wrong is not None:
        return Outcome(verdict="wrong", detail=wrong, solves=solves)
    return Outcome(verdict="right", solves=solves)


def differs(one: clmst.Device, other: clmst.Device) -> bool:
    """Return whether two variants of a device are not the same."""
    return (one.without, one.policy) != (other.without, other.policy)


def _compare(case: Case, variants: DeviceVariants) -> tuple[str | None, int]:
    drawn, draws, device = case.sample, Draws(case.key), variants.variant(case.variant)
    options = settings.OPTIONS[case.algorithm][case.option]
    if case.input_form.startswith("repeated"):
        devices: Any = device
        strategy = None
        if case.input_form != "repeated":
            # A GPU in its shape is the GPU as it is: there the second device goes without more.
            others = (
                ("gpu-shape", "no-lanes") if case.variant == "native" else ("native", "no-lanes")
            )
            twins = (variants.variant(name) for name in others)
            devices = [device, next(one for one in twins if differs(one, device))]
            strategy = draws.choice(["split", "cores"])
        return repeated.solve(
            drawn,
            draws,
            devices,
            algorithm=case.algorithm,
            options=options,
            maximum=case.maximum,
            strategy=strategy,
        )
    if case.subject != "solves":
        task = subjects.Task(
            sample=drawn,
            draws=draws,
            device=device,
            expected=expected_of(drawn, maximum=case.maximum),
            maximum=case.maximum,
            form=case.input_form,
        )
        return subjects.GRAPHS[case.subject].compare(task), 1
    input_form = dict(input_forms.applicable(drawn, case.algorithm))[case.input_form]
    given = input_form(drawn, draws, device)
    how: dict[str, Any] = {"maximum": case.maximum, "algorithm": case.algorithm, "options": options}
    if draws.one_in(8):
        kept: Any = solve(given.graph, device, keep_on_device=True, **how)
        forest = kept.to_host()
    else:
        forest = solve(given.graph, device, **how)
    expected = expected_of(drawn, maximum=case.maximum)
    wrong = oracle.difference(forest, expected, drawn.n, labels=draws.one_in(8))
    return wrong or given.wrong_ids(forest, drawn, expected.ids), 1
