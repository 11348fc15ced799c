"""The facts by which the router chooses how to solve, its answer, and the evaluation of its rules.

The answer is a :class:`Way`. A rule chooses one way of solving, or says why it does not. Facts are
named tuples, because every solve creates some, and small solves notice microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

Form: TypeAlias = Literal["matrix", "graph", "list", "complete"]


class DeviceFacts(NamedTuple):
    """The properties of a device by which an algorithm or kernel is chosen."""

    alone: bool  # whether work-groups have one work-item, as on CPUs
    compute_units: int
    # How kernels get arrays of the host. "shared": by their pointers. "wrapped": in a buffer around
    # the host's memory, without a copy. "copied": by a copy in the memory of the device.
    host_arrays: Literal["shared", "wrapped", "copied"]

    @property
    def serial(self) -> bool:
        """Whether one work-item of the device can solve a graph directly in the host's memory."""
        return self.alone and self.host_arrays != "copied"


class SparseFacts(NamedTuple):
    """The facts that decide how a graph with a list of edges is solved: sizes, device and call.

    `equal` and `canonical` are None if they have not been determined yet.
    """

    form: Form
    n_vertices: int
    n_entries: int  # number of stored slots, entries or edges, or of cells of a complete graph
    device: DeviceFacts | None  # None if no device is usable
    host_allowed: bool = True  # False if the caller named a device, which then has to solve
    by_entry: bool = False  # whether the first of equal entries wins, as in SciPy's function
    equal: bool | None = None  # whether all weights are equal
    # Whether the matrix has sorted rows and is either symmetric or a triangle.
    canonical: bool | None = None
    refused: frozenset[str] = frozenset()  # ways that failed on the device, or do not fit the data


class PointFacts(NamedTuple):
    """The facts that decide how points, or a complete matrix of distances, are solved."""

    n: int  # number of points, or of rows
    dimensions: int  # dimensions of the points; 0 for a matrix
    boxed: bool  # whether the distance to a box bounds the distances to all points in the box
    unrounded: bool  # whether the metric has distances that are not rounded to integers
    device: DeviceFacts
    maximum: bool = False  # whether the maximum spanning tree is wanted
    automatic: bool = True  # whether the call gives neither an algorithm nor options
    neighbours: int = 0  # k, if the distance of each point to its k-th nearest point is wanted
    refused: frozenset[str] = frozenset()  # ways that failed on the device, or do not fit the data


class StreamFacts(NamedTuple):
    """The facts about a stream of edges that are known when further edges have just been read."""

    n_vertices: int
    # Number of edges that have not been reduced yet, including those that have just been read. A
    # reduction replaces all edges in memory by their forest.
    n_new: int
    n_forest: int  # number of edges of the forest of the last reduction
    generated: bool = False  # whether the device generates the edges
    reduced: bool = False  # whether edges on the host have been reduced before
    refused: bool = False  # whether the device lacks space, or has failed its self-test
    has_space: bool = True  # whether the memory limit has space for new edges beside the forest


class Way(NamedTuple):
    """The choice of how to compute a forest, or a fact that must be known before choosing.

    The package `clmst.route` makes the choice by rules about the graph and the device.
    """

    record: str  # the name of the way, a key of RECORDS
    because: str  # the facts that decided, in words
    variant: str = ""  # which variant of the way, if it has several
    asks: str = ""  # a fact that must be determined first; the other fields are empty then

    def as_stats(self) -> dict[str, str]:
        """Return the chosen way of solving as a dict, as a forest's ``stats["route"]`` has it."""
        return {"record": self.record, "variant": self.variant, "because": self.because}


# The reason why a rule does not apply: a text for `str.format`, and the arguments for the text.
# Every solve evaluates the rules, so the text is formatted only when the function `passed_over`
# needs it.
Passed: TypeAlias = tuple[Any, ...]
Facts = TypeVar("Facts")
# The name of a way of computing a forest, and the function that chooses it or returns the reason
# why it does not apply.
Rule: TypeAlias = tuple[str, Callable[[Facts], Way | Passed]]

_REFUSED = ("the device failed the self-test of this way, or the way does not fit the data",)


def ask(fact: str) -> Way:
    """Return a Way that names a `fact` which must be known before a way of solving is chosen.

    The caller then determines the fact, for example by reading the graph, and asks again.
    """
    return Way("", "", "", fact)


def first_answer(rules: Iterable[Rule[Facts]], facts: Facts, refused: frozenset[str]) -> Way | None:
    """Return the answer of the first rule that applies to `facts`, or None if no rule applies.

    Each rule chooses one way of computing a forest. Rules for ways in `refused`, whose self-test
    the device has failed, are skipped.
    """
    for record, rule in rules:
        if record not in refused:
            answer = rule(facts)
            if type(answer) is Way:
                return answer
    return None


def passed_over(
    rules: Iterable[Rule[Facts]], facts: Facts, refused: frozenset[str]
) -> list[tuple[str, str]]:
    """Return the ways of solving whose rules come before the first rule that applies to `facts`.

    Each element is the name of a way and, in words, the reason why its rule does not apply. Rules
    for ways in `refused`, whose self-test the device has failed, do not apply.
    """
    reasons = []
    for record, rule in rules:
        answer = _REFUSED if record in refused else rule(facts)
        if type(answer) is Way:
            break
        reasons.append((record, in_words(answer)))
    return reasons


def in_words(passed: Passed) -> str:
    """Format the reason why a rule does not apply.

    `passed` has a format text, followed by the values to insert.
    """
    text, *about = passed
    return str(text.format(*about))
