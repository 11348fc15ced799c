"""Surrogate graphs: how one is made, which sizes are on record, and its file in the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from clmst.core.atomic_file import make_folder, replacing
from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.machine import cache_folder
from clmst.generators.surrogates.rows import symmetric_graph
from clmst.io.ecl import write_csr

_HEADER_BYTES = 8  # an ECL file begins with the numbers of vertices and slots


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateGraph:
    """A generated graph of the kind and size of an input in a paper.

    Attributes
    ----------
    name : str
        The name of the graph, by which :func:`find` finds it.
    stands_for : str
        The paper's name of the graph. It is empty for members of a family.
    n_vertices : int
        Number of vertices.
    n_slots : int
        Number of CSR entries (slots), of which each edge has two. If `is_exact` is false, this is
        an upper bound.
    total_weight : int or None
        Weight of the minimum spanning forest, for checking, or None if it is not on record.
    description : str
        A description in one line.
    recipe : callable
        Makes the graph.
    is_exact : bool
        Whether `n_slots` is exact. Otherwise it includes self-loops and duplicates, which the graph
        does not have.

    Examples
    --------
    >>> from clmst.generators import surrogates
    >>> surrogates.SURROGATES["grid20"].stands_for
    '2d-2e20.sym'
    """

    name: str
    stands_for: str
    n_vertices: int
    n_slots: int
    total_weight: int | None
    description: str
    recipe: Callable[[], Graph] = field(repr=False, compare=False)
    is_exact: bool = True

    def build(self) -> Graph:
        """Make the graph, a symmetric CSR with int32 weights 1 + hash(u, v) mod n.

        The arrays are the same on every machine. All cores are used. The peak of memory is about
        three times the size of the graph.

        Raises
        ------
        InvalidGraphError
            The graph does not have the sizes on record, so measurements of it would not be
            comparable.

        Examples
        --------
        >>> from clmst.generators import surrogates
        >>> surrogates.random(1024, 8).build()
        Graph(n_vertices=1024, n_edges=4081, weights=int32)
        """
        graph = self.recipe()
        if not self._has_sizes(graph.n_vertices, graph.n_slots):
            most = "" if self.is_exact else "at most "
            raise InvalidGraphError(
                f"the surrogate graph {self.name} came out with {graph.n_vertices} vertices and "
                f"{graph.n_slots} stored edges; it must have {self.n_vertices} and "
                f"{most}{self.n_slots}"
            )
        return graph

    def cached(self, folder: Path | None = None) -> Path:
        """Make an ECL file (``.egr``) of the graph unless it exists already, and return its path.

        A file with another header or length is made again. A file gets its name only when it is
        complete, so a write that was interrupted is never taken for a graph.

        Parameters
        ----------
        folder : Path, optional
            The folder of the file. By default it is the folder ``graphs`` in the folder that the
            environment variable ``CLMST_CACHE`` names, or in the user's cache folder for clmst.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        folder = cache_folder() / "graphs" if folder is None else folder
        path = folder / f"{self.name}.egr"
        if not self._is_file_of(path):
            make_folder(folder)
            graph = self.build()
            with replacing(path) as stream:
                write_csr(graph.indptr, graph.indices, graph.weights, stream)
        return path

    def load(self, folder: Path | None = None) -> Graph:
        """Return the graph from a file in the cache, which is made first if it is not there.

        The graph equals the result of :meth:`build`. Loading is faster than :meth:`Graph.read`,
        because the file is trusted and its CSR is not checked. See :meth:`cached` for `folder`.
        """
        with self.cached(folder).open("rb") as file:
            n, m = np.fromfile(file, "<u4", 2).tolist()
            return symmetric_graph(
                np.fromfile(file, "<u4", n + 1),
                np.fromfile(file, "<u4", m),
                np.fromfile(file, "<i4", m),
            )

    def _has_sizes(self, n: int, m: int) -> bool:
        return n == self.n_vertices and (m == self.n_slots if self.is_exact else m <= self.n_slots)

    def _is_file_of(self, path: Path) -> bool:
        """Return whether the file at `path` has the length and the declared sizes of this graph."""
        if not path.is_file() or (length := path.stat().st_size) < _HEADER_BYTES:
            return False
        n, m = np.fromfile(path, "<u4", 2).tolist()
        return self._has_sizes(n, m) and length == _HEADER_BYTES + 4 * (n + 1 + 2 * m)
