"""The facts that the router gets, its answer (:class:`Way`), and the evaluation of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

Form: TypeAlias = Literal["matrix", "graph", "list", "complete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFacts:
    """The facts about a device by which an algorithm or kernel is chosen."""

    alone: bool  # whether work-groups have one work-item, as on CPUs
    compute_units: int
    # How kernels get arrays of the host. "shared": by their pointers. "wrapped": in a buffer around
    # the host's memory, without a copy. "copied": by a copy in the memory of the device.
    host_arrays: Literal["shared", "wrapped", "copied"]

    @property
    def serial(self) -> bool:
        """Whether a single work-item can solve a graph in the host's memory, without a copy."""
        return self.alone and self.host_arrays != "copied"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseFacts:
    """The facts about a graph that lists the edges, and about the call that solves the graph.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFacts:
    """The facts about points, or about a complete matrix of distances, on a device."""

    n: int  # number of points, or of rows
    dimensions: int  # dimensions of the points; 0 for a matrix
    boxed: bool  # whether the distance to a box bounds the distances to all points in the box
    device: DeviceFacts
    maximum: bool = False  # whether the maximum spanning tree is wanted
    automatic: bool = True  # whether the call gives neither an algorithm nor options
    neighbours: int = 0  # k, if the distance of each point to its k-th nearest point is wanted
    refused: frozenset[str] = frozenset()  # ways that failed on the device, or do not fit the data


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFacts:
    """The facts about a stream of edges, each time the next piece has been read."""

    n_vertices: int
    n_new: int  # number of edges that have not been reduced yet, including the edges of the piece
    n_forest: int  # number of edges of the forest of the last reduction
    generated: bool = False  # whether the device generates the edges
    reduced: bool = False  # whether edges on the host have been reduced before
    refused: bool = False  # whether the device lacks space, or has failed its self-test
    has_space: bool = True  # whether the memory limit has space for new edges beside the forest


class Way(NamedTuple):
    """The choice of how to compute a forest, or a fact that must be known before choosing.

    The router, which is this package, makes the choice by rules about the graph and the device.
    """

    record: str  # the name of the way, a key of RECORDS
    because: str  # the facts that decided, in words
    variant: str = ""  # which variant of the way, if it has several
    asks: str = ""  # a fact that must be determined first; the other fields are empty then

    def as_stats(self) -> dict[str, str]:
        """Return the answer as a dict, in the form of a forest's ``stats["route"]``."""
        return {"record": self.record, "variant": self.variant, "because": self.because}


# A rule says when a way of computing a forest is chosen. This is the reason why a rule does not
# apply: a text for `str.format`, and the arguments of the text. It is only formatted for the
# function `passed_over`, because every solve evaluates the rules.
Passed: TypeAlias = tuple[Any, ...]
Facts = TypeVar("Facts")
# The name of a way of computing a forest, and the function that chooses it or returns the reason
# why it does not apply.
Rule: TypeAlias = tuple[str, Callable[[Facts], Way | Passed]]

_REFUSED = ("the device failed the self-test of this way, or the way does not fit the data",)


def ask(fact: str) -> Way:
    """Return the answer that the fact of this name must be known before a way is chosen.

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
    """Return the rules before the first one that applies to `facts`.

    Each element is the name of the rule's way and, in words, the reason why the rule does not
    apply. Rules for ways in `refused` do not apply.
    """
    reasons = []
    for record, rule in rules:
        answer = _REFUSED if record in refused else rule(facts)
        if type(answer) is Way:
            break
        reasons.append((record, in_words(answer)))
    return reasons


def in_words(passed: Passed) -> str:
    """Return the reason `passed` why a rule does not apply, as a text."""
    text, *about = passed
    return str(text.format(*about))
