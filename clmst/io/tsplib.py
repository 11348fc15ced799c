"""Read TSPLIB ``.tsp`` files: points, or a matrix of distances, as a complete graph.

A file begins with lines ``KEYWORD : value``. Sections follow, each of which is a line with the name
of the section and lines of numbers. The distances EUC_2D, EUC_3D and GEO are supported, and
EXPLICIT with each of its matrix formats.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.points import Metric, Points
from clmst.core.weight_keys import Array
from clmst.io.files import DeclaredSizes, SourceFile
from clmst.io.text import GrowingArray, blocks, line_error, numbers, word_error, words_of

# Kinds of distances between points: the metric, and the number of coordinates of a point.
_POINTS: dict[str, tuple[Metric, int]] = {
    "EUC_2D": ("rounded-euclidean", 2),
    "EUC_3D": ("rounded-euclidean", 3),
    "GEO": ("great-circle", 2),
}
_KINDS = (*_POINTS, "EXPLICIT")

# The names of sections that contain numbers, and whether the section is read.
_SECTIONS = {
    "NODE_COORD_SECTION": True,
    "EDGE_WEIGHT_SECTION": True,
    "DISPLAY_DATA_SECTION": False,
    "FIXED_EDGES_SECTION": False,
    "TOUR_SECTION": False,
    "DEPOT_SECTION": False,
    "DEMAND_SECTION": False,
    "EDGE_DATA_SECTION": False,
}


# A section of weights lists a triangle of the matrix. For each format by rows: whether it is the
# upper triangle, and whether the diagonal is included. A triangle by columns is read as the other
# triangle by rows.
_TRIANGLES = {
    "UPPER_ROW": (True, False),
    "LOWER_ROW": (False, False),
    "UPPER_DIAG_ROW": (True, True),
    "LOWER_DIAG_ROW": (False, True),
    "UPPER_COL": (False, False),
    "LOWER_COL": (True, False),
    "UPPER_DIAG_COL": (False, True),
    "LOWER_DIAG_COL": (True, True),
}
_FULL = "FULL_MATRIX"


def read(source: SourceFile) -> Graph:
    """Read the TSPLIB file `source` as a graph that lists all pairs of points.

    :func:`read_points` returns the points themselves.
    """
    return read_points(source).to_graph()


def read_points(source: SourceFile, chosen_metric: Metric | None = None) -> Points | DenseGraph:
    """Read the TSPLIB file `source` as a complete graph with int64 weights: points or distances.

    Points are in the order of the file. `chosen_metric` replaces the file's metric, unless it is
    None. Raises :class:`FileFormatError` if `chosen_metric` is given for a file that lists
    distances.
    """
    file = _File(file_bytes=source.stored)
    for line, text in blocks(source.stream):
        file.take(line, text)
    n = file.dimension()
    kind = file.value("EDGE_WEIGHT_TYPE", _KINDS)
    if kind == "EXPLICIT":
        if chosen_metric is not None:
            raise FileFormatError(
                f"the file lists a matrix, not points; the metric {chosen_metric!r} takes points"
            )
        layout = file.value("EDGE_WEIGHT_FORMAT", (_FULL, *_TRIANGLES))
        return DenseGraph(_matrix(n, file.numbers("EDGE_WEIGHT_SECTION"), layout))
    metric, dimensions = _POINTS[kind]
    table = file.numbers("NODE_COORD_SECTION")
    _check_count(table.size, n * (dimensions + 1), "NODE_COORD_SECTION")
    rows = table.reshape(n, dimensions + 1)
    _check_names(rows[:, 0])
    return Points(rows[:, 1:], metric if chosen_metric is None else chosen_metric)


def _check_count(found: int, expected: int, section: str) -> None:
    if found != expected:
        raise FileFormatError(
            f"{section} holds {found} numbers; by the header it must hold {expected} (is the file "
            "cut short?)"
        )


def _check_names(names: Array) -> None:
    distinct, counts = np.unique(names, return_counts=True)
    if distinct.size < names.size:
        twice = distinct[counts > 1][0]
        raise FileFormatError(f"there are two nodes {twice:g}; each must be there once")


def _matrix(n: int, values: Array, layout: str) -> Array:
    """Build the symmetric n x n matrix of which a file lists some cells.

    `values` are the listed cells, and `layout` is TSPLIB's name for their order, such as
    UPPER_ROW.
    """
    is_upper, has_diagonal = _TRIANGLES.get(layout, (True, True))
    n_cells = n * n if layout == _FULL else n * (n - 1) // 2 + n * has_diagonal
    _check_count(values.size, n_cells, "EDGE_WEIGHT_SECTION")
    if layout == _FULL:
        return values.reshape(n, n)
    off = 1 - has_diagonal
    rows, columns = np.triu_indices(n, off) if is_upper else np.tril_indices(n, -off)
    matrix = np.zeros((n, n), values.dtype)
    matrix[rows, columns] = matrix[columns, rows] = values
    return matrix


@dataclass(slots=True)
class _File:
    """The keywords and sections of a file that have been read so far."""

    specified: dict[str, str] = field(default_factory=dict)
    sections: dict[str, GrowingArray] = field(default_factory=dict)
    section: str = ""
    ended: bool = False
    line: int = 1  # the line that declares the dimension, for messages
    file_bytes: int | None = None

    def take(self, first: int, text: bytes) -> None:
        """Parse a block of text that begins with line `first` of the file.

        The lines hold keywords with values, names of sections, and the numeric data of sections.
        Raises :class:`FileFormatError` if a line is malformed.
        """
        lines, start = text.split(b"\n"), 0
        for k, line in enumerate([*lines, b"EOF"]):
            if b"A" <= line.lstrip()[:1] <= b"z":
                if not self.ended:
                    self._take_numbers(lines[start:k], range(first + start, first + k))
                if k < len(lines) and not self.ended:
                    self._take_words(first + k, words_of(line))
                start = k + 1

    def _take_numbers(self, lines: list[bytes], at: range) -> None:
        """Parse lines of numeric data, and add the numbers to the present section.

        `at` has the numbers of the lines in the file. Sections that clmst does not use are skipped.
        Raises :class:`FileFormatError` if the lines are outside of a section.
        """
        if not self.section:
            for line, one in zip(at, lines, strict=True):
                for word in words_of(one):
                    raise word_error(
                        (line, word), "is outside of a section; a line must be 'KEYWORD : value'"
                    )
        elif _SECTIONS[self.section]:
            self.sections[self.section].append(numbers(lines, at))

    def _take_words(self, line: int, words: list[str]) -> None:
        """Parse a line of words: ``KEYWORD : value``, the name of a section, or EOF."""
        key, _, value = " ".join(words).partition(":")
        key = key.strip().upper()
        if key == "EOF":
            self.ended = True
        elif key in _SECTIONS:
            if key in self.sections:
                raise line_error(line, f"there is a second {key}; a file holds one")
            self.section = key
            self.sections[key] = GrowingArray()
        elif not value:
            raise word_error((line, words[0]), "begins neither a section nor 'KEYWORD : value'")
        else:
            self.section = ""
            self.specified[key] = value.strip()
            if key == "DIMENSION":
                self.line = line

    def dimension(self) -> int:
        """Return the number of nodes that the header declares."""
        n = self.value("DIMENSION")
        return DeclaredSizes.parse(n, "0", line=self.line, file_bytes=self.file_bytes).n_vertices

    def value(self, key: str, known: Iterable[str] = ()) -> str:
        """Return the value that the header gives for `key`.

        Raises :class:`FileFormatError` if the key is missing, or if the value is not one of
        `known`.
        """
        if key not in self.specified:
            raise FileFormatError(f"there is no line '{key} : ...'; it must be there")
        value = self.specified[key]
        if known and value.upper() not in known:
            raise FileFormatError(
                f"{key} is {value}, which is not supported; it must be one of {', '.join(known)}"
            )
        return value.upper() if known else value

    def numbers(self, section: str) -> Array:
        """Return the numbers of a section, and remove them from this object to save memory.

        Raises :class:`FileFormatError` if the file does not have the section.
        """
        if section not in self.sections:
            raise FileFormatError(f"there is no {section}; it must be there")
        return self.sections[section].take()
