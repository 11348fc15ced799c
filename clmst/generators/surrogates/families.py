"""Families of surrogate graphs by parameters, for studies of size and of degree; names of all."""

from __future__ import annotations

import re
from functools import partial

from clmst.core.errors import InvalidArgumentError
from clmst.generators.checks import check_integer
from clmst.generators.surrogates.catalogue import GTGRAPH, SURROGATES
from clmst.generators.surrogates.recursive import recursive_matrix
from clmst.generators.surrogates.surrogate import SurrogateGraph
from clmst.generators.surrogates.uniform import uniform

_MOST_SLOTS = (1 << 31) - 1  # readers of ECL files count in signed numbers of 32 bits
_SEED = 5

SIZE_STUDY = tuple(f"random-2e{scale}-d8" for scale in range(20, 28))
"""Names of uniform random graphs of 2**20 to 2**27 vertices."""

DEGREE_STUDY = tuple(f"random-2e20-d{degree}" for degree in (2, 4, 8, 16, 32, 64, 128))
"""Names of uniform random graphs of 2**20 vertices and rising degree."""


def random(n: int, degree: int) -> SurrogateGraph:
    """Return a graph such as r4_23 of any size: called ``random-2e20-d8``, ``random-1000-d4``.

    Parameters
    ----------
    n : int
        Number of vertices.
    degree : int
        How many neighbours a vertex has on average, but for the few loops and duplicates drawn.

    Raises
    ------
    InvalidArgumentError
        There would be more slots than an ECL file can hold, or more neighbours than vertices.
    """
    n = check_integer("n", n, low=2)
    degree = check_integer("degree", degree, low=1, high=n - 1)
    drawn = _drawn(n, degree)
    size = f"2e{n.bit_length() - 1}" if n.bit_count() == 1 else str(n)
    return SurrogateGraph(
        name=f"random-{size}-d{degree}",
        stands_for="r4-2e23.sym",
        n_vertices=n,
        n_slots=2 * drawn,
        total_weight=None,
        description=f"uniform random, {n} vertices of degree {degree}",
        recipe=partial(uniform, n=n, drawn=drawn),
        is_exact=False,
    )


def rmat(scale: int, degree: int) -> SurrogateGraph:
    """Return a graph such as rmat22 of 2**scale vertices: called ``rmat-2e20-d16``.

    Parameters
    ----------
    scale : int
        From 4 to 27.
    degree : int
        As of :func:`random`; the more there are, the more of them are duplicates.

    Raises
    ------
    InvalidArgumentError
        As :func:`random`.
    """
    scale = check_integer("scale", scale, low=4, high=27)
    degree = check_integer("degree", degree, low=1, high=(1 << scale) - 1)
    drawn = _drawn(1 << scale, degree)
    return SurrogateGraph(
        name=f"rmat-2e{scale}-d{degree}",
        stands_for="rmat22.sym",
        n_vertices=1 << scale,
        n_slots=2 * drawn,
        total_weight=None,
        description=f"recursive matrix, 2**{scale} vertices of degree {degree}",
        recipe=partial(recursive_matrix, scale=scale, drawn=drawn, chances=GTGRAPH, seed=_SEED),
        is_exact=False,
    )


def find(name: str) -> SurrogateGraph:
    """Return the surrogate graph of a name, of the graph it stands for, or of a family's member.

    Raises
    ------
    InvalidArgumentError
        There is none; the message lists what there is.
    """
    for one in SURROGATES.values():
        if name in (one.name, one.stands_for):
            return one
    if match := re.fullmatch(r"random-(2e)?(\d{1,10})-d(\d{1,10})", name):
        size = int(match[2])
        if match[1]:
            check_integer("the scale", size, low=1, high=31)
            size = 1 << size
        return random(size, int(match[3]))
    if match := re.fullmatch(r"rmat-2e(\d{1,10})-d(\d{1,10})", name):
        return rmat(int(match[1]), int(match[2]))
    raise InvalidArgumentError(
        f"there is no surrogate graph {name!r}; it must be one of {', '.join(SURROGATES)}, "
        "or of the families random-N-dD, random-2eS-dD and rmat-2eS-dD, with N or 2**S vertices "
        "of degree D"
    )


def _drawn(n: int, degree: int) -> int:
    """Return how many edges give each of n vertices so many neighbours, or raise."""
    if n * degree > _MOST_SLOTS:
        raise InvalidArgumentError(
            f"{n} vertices of degree {degree} have {n * degree} stored edges; "
            f"there may be up to 2**31 - 1 = {_MOST_SLOTS}"
        )
    return n * degree // 2
