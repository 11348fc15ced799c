"""The record of an algorithm, which the rest of clmst reads, and checks of algorithms' options.

The help of the command line reads the records, and must not load OpenCL or NumPy. So the modules
that check options are imported only when options are made.
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
    """A second function that an algorithm may have: it enqueues a solve without reads in between.

    The host reads from the device only once, after the solve. Only then does it learn whether the
    solve succeeded.
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
        """Enqueue the solve, and return a solution whose report says whether there is a forest.

        `maximum` asks for the maximum spanning forest. `options` is None or of the algorithm's own
        class. `verdict` is a buffer to which an enqueued check of the graph writes the faults that
        it finds (cl/device/verdict.cl). If it finds any, the solution does not have a forest. None
        as `verdict` means that the graph is known to be valid. Returns None, with nothing enqueued,
        if the host has to wait for the device during the solve.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmRecord:
    """The facts about an algorithm: its name, its purpose, its options and its limits.

    The name also says where the code is. For example, the package of "filter-boruvka" is
    ``filter_boruvka``, whose module ``solve.py`` has the function ``solve``.
    """

    name: str  # the value of ``algorithm`` with which callers choose it
    folder: str = field(init=False)  # the name of the algorithm's package
    options: type[Any]  # the class of the options; without arguments it makes the defaults
    purpose: str  # what the algorithm is, in one line
    good_for: str  # when to use the algorithm, in one line
    # "auto" tries the algorithms in ascending order of their ranks. The rank may be a function of
    # the device's settings of kernels (its policy) and of the graph, where None stands for a large
    # graph. If the rank is None, "auto" never uses the algorithm. Measured times, from which the
    # order follows, are in docs/algorithms.md.
    rank: int | Callable[[Policy, DeviceGraph | None], int] | None = None
    # A function that returns the maximum number of vertices which the algorithm takes on a device.
    # With None, the algorithm takes as many vertices as a graph can have.
    most_vertices: Callable[[Device], int] | None = None
    # The device memory that a solve takes at its peak, without the graph itself, for weights of 32
    # bits: (bytes for each vertex, bytes for each edge). It was measured on random graphs of
    # average degree 2 to 32, with edges stored once and with edges stored twice, and these are the
    # greater numbers. The field is a function of the policy, a device's settings of kernels, if the
    # numbers depend on it. If it is None, the algorithm itself raises an error when memory is too
    # small.
    bytes_needed: tuple[int, int] | Callable[[Policy], tuple[int, int]] | None = None
    # Whether the algorithm solves every graph in reasonable time. Then the error of another
    # algorithm for which memory is too small may suggest this one.
    takes_any_graph: bool = False
    # Whether the algorithm solves matrices and points, which do not list their edges
    # (`dense.solve_matrix`).
    takes_complete_graphs: bool = False
    # The devices on which the algorithm's self-test also solves the large test graph.
    large_self_test: Literal["always", "cpu", "never"] = "always"
    # Some algorithms choose among several kernels, for example by the size of the graph. For these
    # algorithms, the function returns a name for the kernels that solve a given graph with default
    # options, and options with which the same kernels solve any graph. The self-test uses these
    # options to test exactly these kernels. If the field is None, or the function returns None, all
    # graphs are solved by the same kernels.
    variant_of: Callable[[DeviceGraph], tuple[str, object] | None] | None = None

    def __post_init__(self) -> None:
        folder = f"clmst.algorithms.{self.name.replace('-', '_')}"
        object.__setattr__(self, "folder", folder)

    @property
    def solve(self) -> Solve:
        """The function that enqueues a solve. Its module is imported when this is first read."""
        found: Solve = _module(f"{self.folder}.solve").solve
        return found

    @property
    def begin(self) -> Begin | None:
        """The function that enqueues a solve without reads in between, or None if there is none."""
        found: Begin | None = getattr(_module(f"{self.folder}.solve"), "begin", None)
        return found

    def takes(self, device: Device, n_vertices: int) -> bool:
        """Return whether the algorithm can solve a graph of `n_vertices` vertices on a device."""
        return self.most_vertices is None or n_vertices <= self.most_vertices(device)


@cache
def _module(name: str) -> Any:
    """Import and return the module called `name`.

    If another thread is importing the module, the call waits for it.
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
    """Check that the named fields of the options have allowed values.

    `alternatives` has, by the name of each field, the ``Literal`` type that lists the allowed
    values. Raises InvalidArgumentError for any other value.
    """
    from clmst.core.arguments import check_choice

    for name, known in alternatives.items():
        set_option(options, name, check_choice(name, getattr(options, name), get_args(known)))


def check_switches(options: object, *names: str) -> None:
    """Raise InvalidArgumentError unless each named field of the options is True or False."""
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
    """Set the field `name` of an immutable options object to `value` while it is being made."""
    object.__setattr__(options, name, value)


def as_tested(options: object) -> object:
    """Return the options with which a device is tested before a solve with `options`.

    A class of options may have a method ``as_tested``. The method resets every option that does not
    change the compiled programs, for example a seed or a threshold, because a device need not pass
    a self-test for each seed or threshold. Options without the method are returned unchanged.
    """
    method = getattr(options, "as_tested", None)
    return options if method is None else method()
