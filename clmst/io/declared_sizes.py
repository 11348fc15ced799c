"""Sizes that a header declares: refused if no machine could hold them, checked at the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from clmst.core.errors import FileFormatError
from clmst.core.graph_checks import (
    BYTES_PER_EDGE,
    BYTES_PER_VERTEX,
    FREE_VERTICES,
    MAX_SLOTS,
    MAX_VERTICES,
)
from clmst.core.machine import physical_memory

# A header may declare FREE_VERTICES, or so many for each byte of its file on the disk: vertices
# without an edge take no text. Declared edges cost nothing until they are read.
VERTICES_PER_BYTE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSizes:
    """The numbers of vertices and edges that a header declares.

    Raises
    ------
    FileFormatError
        More than a graph may have, more than this machine's memory could hold, or more than
        a file of `file_bytes` may declare. The check comes before any allocation of that size.
    """

    n_vertices: int
    n_edges: int
    file_bytes: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        what = f"the header declares {self.n_vertices} vertices and {self.n_edges} edges"
        if self.n_vertices > MAX_VERTICES or self.n_edges > MAX_SLOTS:
            raise FileFormatError(
                f"{what}; there may be {MAX_VERTICES} vertices and {MAX_SLOTS} edges"
            )
        memory = physical_memory()
        needed = BYTES_PER_VERTEX * self.n_vertices + BYTES_PER_EDGE * self.n_edges
        if memory is not None and needed > memory:
            raise FileFormatError(
                f"{what}, which take at least {needed >> 20} MiB; "
                f"this machine has {memory >> 20} MiB of memory"
            )
        if self.file_bytes is not None:
            self._check_file(what, self.file_bytes)

    def _check_file(self, what: str, file_bytes: int) -> None:
        most = max(FREE_VERTICES, VERTICES_PER_BYTE * file_bytes)
        if self.n_vertices > most:
            raise FileFormatError(
                f"{what} in a file of {file_bytes} bytes; there may be {FREE_VERTICES} vertices, "
                f"or {VERTICES_PER_BYTE} for each byte of the file"
            )

    @classmethod
    def parse(
        cls, n_vertices: str, n_edges: str, *, line: int, file_bytes: int | None = None
    ) -> DeclaredSizes:
        """Read the two numbers of a header on line `line`."""
        counts = []
        for word in (n_vertices, n_edges):
            if not (word.isascii() and word.isdigit()):
                raise FileFormatError(
                    f"line {line}: the header says {word[:20]!r}; "
                    "it must give the numbers of vertices and edges"
                )
            significant = word.lstrip("0") or "0"
            counts.append(int(significant[:20]))  # more digits are too many in any case
        try:
            return cls(n_vertices=counts[0], n_edges=counts[1], file_bytes=file_bytes)
        except FileFormatError as error:
            raise FileFormatError(f"line {line}: {error}") from error

    def check_edges(self, n_edges: int, *, what: str = "edges") -> None:
        """Raise unless the file has as many edges as declared."""
        if n_edges != self.n_edges:
            raise FileFormatError(
                f"the header declares {self.n_edges} {what} but the file holds {n_edges}; "
                "they must be equal (is the file cut short?)"
            )
