"""What a header promises: refused where no machine could hold it, checked at the end."""

from __future__ import annotations

import os
from dataclasses import dataclass

from clmst.core.errors import FileFormatError
from clmst.core.graph import MAX_SLOTS, MAX_VERTICES

# Least room that building a graph takes: row starts twice while sorting, endpoints and order.
_BYTES_PER_VERTEX = 12
_BYTES_PER_EDGE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """How many vertices and edges a header says that its file holds.

    Raises
    ------
    FileFormatError
        More than a graph may have, or more than this machine's memory could hold. This comes
        before anything of that size is allocated.
    """

    n_vertices: int
    n_edges: int

    def __post_init__(self) -> None:
        what = f"the header promises {self.n_vertices} vertices and {self.n_edges} edges"
        if self.n_vertices > MAX_VERTICES or self.n_edges > MAX_SLOTS:
            raise FileFormatError(
                f"{what}; there may be {MAX_VERTICES} vertices and {MAX_SLOTS} edges"
            )
        memory = physical_memory()
        needed = _BYTES_PER_VERTEX * self.n_vertices + _BYTES_PER_EDGE * self.n_edges
        if memory is not None and needed > memory:
            raise FileFormatError(
                f"{what}, which take at least {needed >> 20} MiB; "
                f"this machine has {memory >> 20} MiB of memory"
            )

    @classmethod
    def parse(cls, n_vertices: str, n_edges: str, *, line: int) -> Promise:
        """Read the two numbers of a header on line `line`."""
        counts = []
        for word in (n_vertices, n_edges):
            if not (word.isascii() and word.isdigit()):
                raise FileFormatError(
                    f"line {line}: the header says {word[:20]!r}; "
                    "it must give the numbers of vertices and edges"
                )
            significant = word.lstrip("0") or "0"
            counts.append(int(significant[:20]))  # more digits than that are too many in any case
        try:
            return cls(n_vertices=counts[0], n_edges=counts[1])
        except FileFormatError as error:
            raise FileFormatError(f"line {line}: {error}") from error

    def check_kept(self, n_edges: int, *, what: str = "edges") -> None:
        """Raise unless the file held as many edges as promised."""
        if n_edges != self.n_edges:
            raise FileFormatError(
                f"the header promises {self.n_edges} {what} but the file holds {n_edges}; "
                "they must be equal (is the file cut short?)"
            )


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine, or None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
