"""A surrogate graph: the recipe of a named graph, its record, and its file in the cache."""

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

_HEADER_BYTES = 8  # of an ECL file: the numbers of vertices and of slots


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateGraph:
    """A generated graph of the kind and size of one of the papers' inputs.

    Attributes
    ----------
    name : str
    stands_for : str
        The paper's name of the graph; empty for members of families, which stand for none.
    n_vertices : int
    n_slots : int
        Stored edges, both directions counted; the most there can be where not `is_exact`.
    total_weight : int or None
        Of the minimum spanning forest, for checking, where it is recorded.
    description : str
        One line.
    recipe : callable
        Makes the graph.
    is_exact : bool
        Whether `n_slots` is a record, and not what is drawn before loops and duplicates go.
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
        """Make the graph: a symmetric CSR with int32 weights 1 + hash(u, v) mod n.

        The same arrays come out everywhere. All cores are used; memory peaks at about three
        times the graph's.

        Raises
        ------
        InvalidGraphError
            The graph has not the sizes on record, so measurements of it are not comparable.
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
        """Return the path of an ECL file (``.egr``) of the graph, made if it is not there yet.

        A file whose header or length is not the graph's is made again. It gets its name only
        once it is complete, so a write that was cut short is never taken for a graph.

        Parameters
        ----------
        folder : Path, optional
            Where the file is or shall be; the folder ``graphs`` in what the environment variable
            ``CLMST_CACHE`` names, or else in the user's cache of clmst, when left out.

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
        """Return the graph from its file in the cache, see :meth:`cached`, as :meth:`build` would.

        Quicker than :meth:`Graph.read`, which checks every slot of what may be anyone's file.
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
        """Return whether there is a file of the right length, with the sizes of the graph."""
        if not path.is_file() or (length := path.stat().st_size) < _HEADER_BYTES:
            return False
        n, m = np.fromfile(path, "<u4", 2).tolist()
        return self._has_sizes(n, m) and length == _HEADER_BYTES + 4 * (n + 1 + 2 * m)
