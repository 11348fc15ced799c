"""The first reading of partitions, which counts their vertices or numbers the vertices' names.

Partitions are the pieces in which Dask or Ray stores a table of edges. Each worker returns the
names in its partitions. One process then numbers all names in the order in which they first occur
in the rows of all partitions, and returns to each partition the numbers of its names. So the
vertices have the same numbers as in a stream of all partitions. When a worker reads its partition
again, it finds the names in the same order, and replaces them by the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array
from clmst.scale.rows import StreamPiece
from clmst.scale.vertex_names import VertexNames, are_text


class NamesFoundError(InvalidGraphError):
    """A partition of a table has vertex names, which must be replaced by numbers first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionEnds:
    """The vertices that occur in a partition.

    A partition is a part of a table of edges, as Dask or Ray stores it. `names` is an array of the
    vertices' names in the order in which they first occur, or None if vertices are numbers.
    `n_vertices` is the greatest vertex number plus one, or the number of names.
    """

    n_vertices: int
    names: Array | None

    @classmethod
    def of(cls, pieces: Iterator[StreamPiece]) -> PartitionEnds:
        """Read all edges of a partition, piece by piece, and collect their vertices, in O(m)."""
        names = VertexNames()
        n_vertices = names.count(names.numbered(pieces))
        return cls(n_vertices=n_vertices, names=names.labels)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionNumbers:
    """The numbers for the vertex names of a partition, in the order in which names first occur."""

    numbers: Array  # int64, one per name
    checksum: int  # CRC-32 of the names, to notice a partition that has changed

    def numbered(self, pieces: Iterator[StreamPiece]) -> Iterator[StreamPiece]:
        """Yield the pieces of the partition with vertex numbers in place of names.

        A piece is a run of consecutive edges. A partition is read twice: first to number the names.
        Raise InvalidGraphError if the names differ from the names in the first reading.
        """
        names, chunk = VertexNames(), "a partition"
        for piece in names.numbered(pieces):
            chunk = piece.chunk
            if not piece.size:
                yield piece
                continue
            if names.labels is None or int(max(piece.u.max(), piece.v.max())) >= self.numbers.size:
                raise _changed(chunk)
            yield replace(piece, u=self.numbers[piece.u], v=self.numbers[piece.v])
        found = names.labels
        if (0 if found is None else found.size) != self.numbers.size or (
            found is not None and _checksum(found) != self.checksum
        ):
            raise _changed(chunk)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Numbering:
    """The numbers of the vertices of all partitions.

    `n_vertices` is the number of vertices. `labels` are their names in the order of their numbers,
    and `parts` has, for each partition, the numbers of its names. If the partitions have vertex
    numbers in place of names, `labels` and `parts` are None.
    """

    n_vertices: int
    labels: Array | None
    parts: Sequence[PartitionNumbers] | None

    @classmethod
    def of(cls, ends: Sequence[PartitionEnds], most: int | None) -> Numbering:
        """Assign numbers to the names of all partitions. If vertices are numbers, count them.

        `ends` are the vertices of each partition. Raise InvalidGraphError if there are more than
        `most` names, or if only some partitions have names. None as `most` means any number.
        """
        names = VertexNames()
        numbers = [np.zeros(0, np.int64)] * len(ends)
        for k, one in enumerate(ends):
            own = one.names
            if own is None and one.n_vertices:
                own = np.array([one.n_vertices - 1])
            if own is None:
                continue
            piece = StreamPiece(
                chunk=f"partition {k}", first_row=0, u=own, v=own, weights=None, edge_ids=None
            )
            for numbered in names.numbered(iter([piece])):
                numbers[k] = numbered.u
        labels = names.labels
        if labels is None:
            n_vertices = max((one.n_vertices for one in ends), default=0)
            return cls(n_vertices=n_vertices, labels=None, parts=None)
        if most is not None and labels.size > most:
            raise InvalidGraphError(
                f"the partitions have {labels.size} names of vertices; there may be n_vertices "
                f"names, {most}"
            )
        parts = [
            PartitionNumbers(numbers=of, checksum=0 if one.names is None else _checksum(one.names))
            for of, one in zip(numbers, ends, strict=True)
        ]
        return cls(n_vertices=labels.size, labels=labels, parts=parts)


def without_names(pieces: Iterator[StreamPiece]) -> Iterator[StreamPiece]:
    """Yield the pieces of a stream unchanged as long as their vertices are numbers.

    Raise NamesFoundError at the first piece that has vertex names.
    """
    for given in pieces:
        piece = given.with_arrays(0)
        if are_text(piece.u) or are_text(piece.v):
            raise NamesFoundError(f"{piece.chunk} has names for vertices")
        yield piece


def _checksum(names: Array) -> int:
    """Return the CRC-32 of an array of names."""
    return crc32("\0".join(names.tolist()).encode("utf-8", "surrogatepass"))


def _changed(chunk: str) -> InvalidGraphError:
    """Create the error for a partition that has other vertex names when it is read again.

    `chunk` is what the message calls the partition.
    """
    return InvalidGraphError(
        f"{chunk} has other names than when its vertices were counted; reading a partition again "
        "must give the same rows"
    )
