"""The facts that the router is given, and the form of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

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


class Way(NamedTuple):
    """The router's answer."""

    record: str  # a name in RECORDS
    because: str  # the facts that decided, in words
    asks: str = ""  # a fact to be read first; then the other fields say nothing


def ask(fact: str) -> Way:
    """Return the answer that a fact has to be read before the router can decide."""
    return Way("", "", fact)
