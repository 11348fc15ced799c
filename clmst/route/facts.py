"""The facts that the router is given, and the form of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

Form: TypeAlias = Literal["matrix", "graph", "list", "complete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFacts:
    """What the router knows about a device."""

    alone: bool  # work-groups have one work-item, as on CPUs
    compute_units: int
    host_arrays: Literal["shared", "wrapped", "copied"]
    doubles: bool

    @property
    def serial(self) -> bool:
        """Whether one work-item can solve a graph where it lies, in the memory of the host."""
        return self.alone and self.host_arrays != "copied"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseFacts:
    """What the router knows about a graph that lists its edges, and about the call.

    A fact that is None has not been read.
    """

    form: Form
    n_vertices: int
    n_entries: int  # slots, entries or edges as they are stored; cells of a complete graph
    device: DeviceFacts | None  # None: there is no device
    host_allowed: bool = True  # False: the caller named a device
    by_entry: bool = False  # ties go to the first entry, as in SciPy's function
    equal: bool | None = None  # all weights are equal
    canonical: bool | None = None  # rows rise, and the matrix is symmetric or a triangle
    refused: frozenset[str] = frozenset()  # ways whose kernels the device is not trusted with


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFacts:
    """What the router knows about points, or about a complete matrix, on a device."""

    n: int
    dimensions: int  # 0: a matrix of distances
    boxed: bool  # the distance to a box bounds the distances to the points in it
    device: DeviceFacts
    maximum: bool = False
    automatic: bool = True  # neither an algorithm nor options are given
    neighbours: int = 0  # k, if the distance of each point to its k-th nearest one is wanted
    refused: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFacts:
    """What the router knows about a stream of edges, when the next piece of it has come."""

    n_vertices: int
    n_new: int  # edges that no reduction has had, those of the piece included
    n_forest: int  # edges of the forest of the last reduction
    generated: bool = False  # the device generates the edges
    reduced: bool = False  # the host has reduced edges before
    refused: bool = False  # the device has no space for the edges, or is not trusted with them
    has_space: bool = True  # the memory limit holds the forest and a part of the stream beside it


class Way(NamedTuple):
    """The router's answer."""

    record: str  # a name in RECORDS
    because: str  # the facts that decided, in words
    variant: str = ""  # which form of the way, where there are several
    asks: str = ""  # a fact to be read first; then the other fields say nothing

    def as_stats(self) -> dict[str, str]:
        """Return the answer as ``stats["route"]`` of a forest has it."""
        return {"record": self.record, "variant": self.variant, "because": self.because}


# Why a rule has no answer: a text for `str.format`, and what it is about. It is only put together
# where somebody asks for it, since every solve goes through the rules.
Passed: TypeAlias = tuple[Any, ...]
Facts = TypeVar("Facts")
# The record that a rule may answer with, and the rule.
Rule: TypeAlias = tuple[str, Callable[[Facts], Way | Passed]]

_REFUSED = ("the device failed its self-test, or the data are not as it needs them",)


def ask(fact: str) -> Way:
    """Return the answer that a fact has to be read before the router can decide."""
    return Way("", "", "", fact)


def first_answer(rules: Iterable[Rule[Facts]], facts: Facts, refused: frozenset[str]) -> Way | None:
    """Return the answer of the first rule that has one whose record is not refused."""
    for record, rule in rules:
        if record not in refused:
            answer = rule(facts)
            if type(answer) is Way:
                return answer
    return None


def passed_over(
    rules: Iterable[Rule[Facts]], facts: Facts, refused: frozenset[str]
) -> list[tuple[str, str]]:
    """Return the rules before the first answer: the record of each, and why it had no answer."""
    reasons = []
    for record, rule in rules:
        answer = _REFUSED if record in refused else rule(facts)
        if type(answer) is Way:
            break
        reasons.append((record, answer[0].format(*answer[1:])))
    return reasons
