"""The largest graph: links have to fit a word."""

from __future__ import annotations

from clmst.core.errors import InvalidArgumentError

# Links hold 30 bits of a supervertex (LINK_NUMBER), of which there may be as many as vertices.
MAX_VERTICES = 1 << 30


def most_vertices(_: object) -> int:
    """Return how many vertices a graph may have, on any device."""
    return MAX_VERTICES


def check_vertices(n_vertices: int) -> None:
    """Raise if links cannot tell so many vertices apart."""
    if n_vertices > MAX_VERTICES:
        raise InvalidArgumentError(
            f"the graph has {n_vertices} vertices; 'filter-boruvka' takes at most {MAX_VERTICES}, "
            "'ecl' more"
        )
