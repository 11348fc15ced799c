"""How large a graph is whose links fit a word, as filter-boruvka and lone-boruvka have them."""

from __future__ import annotations

from clmst.core.errors import InvalidArgumentError

# Links hold 30 bits of a supervertex (LINK_NUMBER), of which there may be as many as vertices.
MAX_VERTICES = 1 << 30


def most_vertices(_: object) -> int:
    """Return how many vertices algorithms with such links take, on any device."""
    return MAX_VERTICES


def check_vertices(algorithm: str, n_vertices: int) -> None:
    """Raise if links of `algorithm` cannot tell so many vertices apart."""
    if n_vertices > MAX_VERTICES:
        raise InvalidArgumentError(
            f"the graph has {n_vertices} vertices; {algorithm!r} takes at most {MAX_VERTICES}, "
            "'ecl' more"
        )
