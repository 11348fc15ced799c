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


def check_alternatives(options: object, **alternatives: Any) -> None:
    """Raise unless each field named is one of its alternatives, the arguments of a ``Literal``."""
    from clmst.core.arguments import check_choice

    for name, known in alternatives.items():
        check_choice(name, getattr(options, name), get_args(known))
