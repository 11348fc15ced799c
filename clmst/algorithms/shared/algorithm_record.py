"""What the rest of clmst knows about an algorithm: its record and the class of its options.

The command's help reads the records, and it loads neither OpenCL nor NumPy. So the modules that
check options are imported only when options are made.
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
    """The function that every algorithm has: it enqueues a solve of a graph.

    All algorithms find the same edges.
    """

    def __call__(
        self, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object
    ) -> Solution:
        """Enqueue the solve of a graph and return the solution.

        The flags of the solution are complete once the queue of `launch` has finished. With
        `maximum`, the solution is the maximum spanning forest. `options` is None or of the
        algorithm's own class.
        """


class Begin(Protocol):
    """A function that an algorithm may have in addition: it enqueues a solve without any read-back.

    The host learns whether the solve succeeded when it reads the result.
    """

    def __call__(
        self,
        graph: DeviceGraph,
        launch: Launcher,
        *,
        maximum: bool,
        options: object,
        verdict: Memory | None,
    ) -> Solution | None:
        """Enqueue the solve and return a solution whose report says whether there is a forest.

        `maximum` and `options` are as in :class:`Solve`. There is no forest if the graph is faulty.
        An enqueued check of the graph may write to `verdict` whether it is faulty (the words of
        cl/device/verdict.cl). None as `verdict` means that the graph is known to be valid. Return
        None, with nothing enqueued, if the host has to wait during the solve.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmRecord:
    """An algorithm: its name, what the algorithm is for, and what limits it.

    The name determines where the parts of the algorithm are. The package of "filter-boruvka" is
    ``filter_boruvka``, whose module ``solve.py`` has a function ``solve``.
    """

    name: str  # the value of ``algorithm`` with which callers choose it
    folder: str = field(init=False)  # the name of the algorithm's package
    options: type[Any]  # the class of the options; without arguments it makes the defaults
    purpose: str  # what the algorithm is, in one line
    good_for: str  # when to use the algorithm, in one line
    # The position at which "auto" tries the algorithm; the least position is tried first. The rank
    # may be a function of a device's policy and of the graph, which is None for a large graph. If
    # the rank is None, "auto" never uses the algorithm. The figures are in docs/algorithms.md.
    rank: int | Callable[[Policy, DeviceGraph | None], int] | None = None
    # A function that returns the maximum number of vertices which the algorithm takes on a device.
    # With None, the algorithm takes as many vertices as a graph can have.
    most_vertices: Callable[[Device], int] | None = None
    # The memory that a solve takes at its peak, in bytes for each vertex and for each edge, without
    # the graph itself, with weights of 32 bits. It was measured on random graphs of average degree
    # 2 to 32, with edges stored once and stored twice, and is the greater of both. If the bytes
    # depend on a device's policy, the field is a function of the policy. If the field is None, the
    # algorithm itself raises an error when memory is too small.
    bytes_needed: tuple[int, int] | Callable[[Policy], tuple[int, int]] | None = None
    # Whether the algorithm solves every graph in reasonable time, so that an error about another
    # algorithm's memory can suggest it.
    takes_any_graph: bool = False
    # Whether the algorithm solves matrices and points, which do not list their edges
    # (`dense.solve_matrix`).
    takes_complete_graphs: bool = False
    # The devices on which the algorithm's self-test also solves the large known graph.
    large_self_test: Literal["always", "cpu", "never"] = "always"
    # Some algorithms solve graphs with the same kind of weights by different kernels, for example
    # by their size. For these algorithms, the function returns the name of the kernels that solve a
    # graph with the default options, and options with which these kernels solve all graphs. The
    # self-test uses these options, so it tests exactly what the solve needs and builds nothing
    # else. If the field is None, or the function returns None, all graphs have the same kernels.
    variant_of: Callable[[DeviceGraph], tuple[str, object] | None] | None = None

    def __post_init__(self) -> None:
        folder = f"clmst.algorithms.{self.name.replace('-', '_')}"
        object.__setattr__(self, "folder", folder)

    @property
    def solve(self) -> Solve:
        """The function that enqueues a solve. The module with it is imported at the first use."""
        found: Solve = _module(f"{self.folder}.solve").solve
        return found

    @property
    def begin(self) -> Begin | None:
        """The function that enqueues a solve without read-backs, or None if there is none."""
        found: Begin | None = getattr(_module(f"{self.folder}.solve"), "begin", None)
        return found

    def takes(self, device: Device, n_vertices: int) -> bool:
        """Return whether the algorithm can solve a graph of `n_vertices` vertices on a device."""
        return self.most_vertices is None or n_vertices <= self.most_vertices(device)


@cache
def _module(name: str) -> Any:
    """Import and return the module called `name`.

    The call waits while another thread imports it.
    """
    return import_module(name)


Options = TypeVar("Options")


def options_for(algorithm: str, kind: type[Options], options: object) -> Options:
    """Return `options`, or the default options of class `kind` if `options` is None.

    Raises
    ------
    InvalidArgumentError
        The options are of another class. The message names the algorithm. Instances of a subclass
        are also refused, since a caller's class may raise when it is compared.
    """
    if options is None:
        hashable: Any = kind
        usual: Options = _usual(hashable)
        return usual
    if type(options) is not kind:  # a caller's subclass may raise when it is compared
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InvalidArgumentError(
            f"options is a {type(options).__name__}; {algorithm!r} takes {article} {kind.__name__}"
        )
    return options


@cache
def _usual(kind: Any) -> Any:
    """Return the default options of the class `kind`.

    The result is cached, since making options takes 4 us, which matters to a small solve.
    """
    return kind()


# ------------------------------------------------------- checks of the fields of options
#
# A class of options calls these functions in its ``__post_init__``. Each raises
# InvalidArgumentError, or replaces the given value by Python's own: ``np.int64(3)`` by `3`. So
# options with the same meaning are equal and have the same hash and text, and no other code has to
# check their values again.


def check_alternatives(options: object, **alternatives: Any) -> None:
    """Check that each named field of the options is one of its `alternatives`.

    An alternative is the name of a field with a ``Literal`` type. Raises InvalidArgumentError.
    """
    from clmst.core.arguments import check_choice

    for name, known in alternatives.items():
        set_option(options, name, check_choice(name, getattr(options, name), get_args(known)))


def check_switches(options: object, *names: str) -> None:
    """Check that each named field of the options is True or False, else InvalidArgumentError."""
    from clmst.core.arguments import check_bool

    for name in names:
        set_option(options, name, check_bool(name, getattr(options, name)))


def check_whole_number(options: object, name: str, *, low: int, high: int | None = None) -> None:
    """Check that the field `name` of the options is an integer from `low` to `high`.

    None as `high` means no upper bound. An array of one integer is refused. Raises
    InvalidArgumentError.
    """
    from clmst.core.arguments import check_integer, is_array, shown

    value = getattr(options, name)
    if is_array(value):  # Python would take an array of one element for an integer
        raise InvalidArgumentError(f"{name} is {shown(value)}, an array; it must be an integer")
    set_option(options, name, check_integer(name, value, low=low, high=high))


def check_real_number(options: object, name: str, *, low: float, high: float) -> None:
    """Check that the field `name` of the options is a number from `low` to `high`.

    The field becomes a float. Raises InvalidArgumentError for any other value.
    """
    from clmst.core.arguments import check_number

    check_number(name, getattr(options, name), low=low, high=high)
    set_option(options, name, float(getattr(options, name)))


def set_option(options: object, name: str, value: object) -> None:
    """Set the field `name` of frozen options to `value` during their construction."""
    object.__setattr__(options, name, value)


def as_tested(options: object) -> object:
    """Return options for a self-test of the programs that a solve with `options` runs.

    A class of options implements this by a method ``as_tested``. The method resets every option
    that reaches a kernel only as an argument, or that only guides the host, for example a seed, a
    count or a threshold. An option of that kind changes no program, so a device does not have to
    pass a self-test for each value. Options without the method are tested unchanged.
    """
    method = getattr(options, "as_tested", None)
    return options if method is None else method()
