"""What the rest of clmst knows of an algorithm: its record, and the class of its options.

Records are read for the command's help, which loads neither OpenCL nor NumPy: what checks options
is imported when some are made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args

from clmst.core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clmst.algorithms.shared.solution import Solution
    from clmst.runtime.device import Device
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.handles import Memory
    from clmst.runtime.launcher import Launcher
    from clmst.runtime.policy import Policy


class Solve(Protocol):
    """What every algorithm is: the same contract, the same edge set."""

    def __call__(
        self, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object
    ) -> Solution:
        """Enqueue the solve; the flags of the solution are complete when its queue has finished."""


class Begin(Protocol):
    """What an algorithm may be, too: a solve whose end the host learns with its result."""

    def __call__(
        self,
        graph: DeviceGraph,
        launch: Launcher,
        *,
        maximum: bool,
        options: object,
        verdict: Memory | None,
    ) -> Solution | None:
        """Enqueue the solve; the report of the solution tells whether there is one.

        There is none if the graph is not sound: so a `verdict` says that is enqueued, of the words
        of cl/device/verdict.cl. None, with nothing enqueued, if the host has to wait in between.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmRecord:
    """An algorithm: its name, what it is for, and what limits it.

    The name tells where its parts are: the package of "filter-boruvka" is ``filter_boruvka``, whose
    ``solve.py`` has a function ``solve``.
    """

    name: str  # what callers give as ``algorithm``
    folder: str = field(init=False)  # its package
    options: type[Any]  # the class of its options, which are the usual ones without arguments
    purpose: str  # what it is, in one line
    good_for: str  # when to take it, in one line
    # Where "auto" comes to it, the least first; a function of a device's policy and of the graph,
    # None for a large one. None: "auto" never takes it. The figures are in docs/algorithms.md.
    rank: int | Callable[[Policy, DeviceGraph | None], int] | None = None
    # Returns how many vertices it takes on a device; None: as many as a graph can have.
    most_vertices: Callable[[Device], int] | None = None
    # Bytes a vertex and an edge at the peak of a solve, beside the graph itself; weights of 32
    # bits. The larger of what edges stored once and twice take, on random graphs of average degree
    # 2 to 32. A function of a device's policy where that changes them. None: it has an error of its
    # own.
    bytes_needed: tuple[int, int] | Callable[[Policy], tuple[int, int]] | None = None
    # Whether it solves every graph in reasonable time, so that it can be offered for another one.
    takes_any_graph: bool = False
    # Whether it solves matrices and points (`dense.solve_matrix`), which list no edges.
    takes_complete_graphs: bool = False
    # On which devices its self-test solves the large known graph, too.
    large_self_test: Literal["always", "cpu", "never"] = "always"
    # Where graphs of one kind of weights are solved by different kernels: returns the name of the
    # kernels that solve a graph by the usual options, and options under which all graphs are. Its
    # self-test has these, so it tests what the solve needs, and builds nothing else. None, as the
    # function's result, too: all graphs have the same kernels.
    variant_of: Callable[[DeviceGraph], tuple[str, object] | None] | None = None

    def __post_init__(self) -> None:
        folder = f"clmst.algorithms.{self.name.replace('-', '_')}"
        object.__setattr__(self, "folder", folder)

    @property
    def solve(self) -> Solve:
        """What solves by it; loaded when it is first used."""
        found: Solve = _module(f"{self.folder}.solve").solve
        return found

    @property
    def begin(self) -> Begin | None:
        """What begins a solve by it that is read only once, if anything does."""
        found: Begin | None = getattr(_module(f"{self.folder}.solve"), "begin", None)
        return found

    def takes(self, device: Device, n_vertices: int) -> bool:
        """Return whether it takes so many vertices."""
        return self.most_vertices is None or n_vertices <= self.most_vertices(device)


@cache
def _module(name: str) -> Any:
    """Return a module, imported; waits while another thread imports it."""
    return import_module(name)


Options = TypeVar("Options")


def options_for(algorithm: str, kind: type[Options], options: object) -> Options:
    """Return the options of an algorithm: those given, or the defaults; raise for another class."""
    if options is None:
        hashable: Any = kind
        usual: Options = _usual(hashable)
        return usual
    if type(options) is not kind:  # those of a caller's class may raise when compared
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InvalidArgumentError(
            f"options is a {type(options).__name__}; {algorithm!r} takes {article} {kind.__name__}"
        )
    return options


@cache
def _usual(kind: Any) -> Any:
    """Return options that say nothing: made once, since making them costs a small solve 4 us."""
    return kind()


# ------------------------------------------------------- checks of the fields of options
#
# A class of options calls these in its ``__post_init__``. Each raises InvalidArgumentError, or puts
# Python's own value in place of the given one: `3` for ``np.int64(3)``. So options that mean the
# same are equal and have the same hash and text, and nothing below has to check a value again.


def check_alternatives(options: object, **alternatives: Any) -> None:
    """Check that each named field is one of its alternatives, the arguments of a ``Literal``."""
    from clmst.core.arguments import check_choice

    for name, known in alternatives.items():
        set_option(options, name, check_choice(name, getattr(options, name), get_args(known)))


def check_switches(options: object, *names: str) -> None:
    """Check that each named field is True or False."""
    from clmst.core.arguments import check_bool

    for name in names:
        set_option(options, name, check_bool(name, getattr(options, name)))


def check_whole_number(options: object, name: str, *, low: int, high: int | None = None) -> None:
    """Check that a field is an integer from `low` to `high`; an array of one is none."""
    from clmst.core.arguments import check_integer, is_array, shown

    value = getattr(options, name)
    if is_array(value):  # of one element, which Python takes for an integer
        raise InvalidArgumentError(f"{name} is {shown(value)}, an array; it must be an integer")
    set_option(options, name, check_integer(name, value, low=low, high=high))


def check_real_number(options: object, name: str, *, low: float, high: float) -> None:
    """Check that a field is a number from `low` to `high`."""
    from clmst.core.arguments import check_number

    check_number(name, getattr(options, name), low=low, high=high)
    set_option(options, name, float(getattr(options, name)))


def set_option(options: object, name: str, value: object) -> None:
    """Set a field of frozen options while they are being made."""
    object.__setattr__(options, name, value)


def as_tested(options: object) -> object:
    """Return the options under which a self-test runs the programs that a solve by `options` runs.

    A class of options says so by a method ``as_tested``. It resets what reaches a kernel only as an
    argument, or only tells the host what to do next: a seed, a count, a threshold. Such a number
    changes no program, so a device does not have to pass a self-test for each. Options without the
    method are tested as they are.
    """
    method = getattr(options, "as_tested", None)
    return options if method is None else method()
