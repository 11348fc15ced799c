"""Surrogate graphs: generated graphs of the kind and full size of the graphs that papers measure.

The papers' graphs are not available everywhere, but these are. Every random number is a hash, so a
name stands for the same graph on every machine, byte for byte, and measurements can be compared.
Weights are 1 + hash(u, v) mod n, as int32. The numbers of vertices and slots (CSR entries) and the
weight of the forest are on record for each graph.

=============  =============================================================================
this module    surrogates of one paper's inputs, and families with parameters, by name
`surrogate`    one surrogate graph: how it is built and cached
`rows`         a symmetric CSR from edges in any order, in parallel
`lattice`      grids and road maps, written row by row
`drawn`, ...   one kind of graph each
=============  =============================================================================

>>> from clmst.generators import surrogates
>>> surrogates.find("2d-2e20.sym").name
'grid20'
>>> surrogates.find("random-2e10-d8").build()
Graph(n_vertices=1024, n_edges=4081, weights=int32)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.generators.edges import check_integer
from clmst.generators.random_graphs import GTGRAPH
from clmst.generators.surrogates.cliques import co_authors, web_crawl
from clmst.generators.surrogates.drawn import recursive_matrix, uniform
from clmst.generators.surrogates.growth import preferential, topology
from clmst.generators.surrogates.lattice import grid, road_map, triangulated
from clmst.generators.surrogates.surrogate import SurrogateGraph

__all__ = [
    "CLOSER", "DEGREE_STUDY", "SIZE_STUDY", "SURROGATES", "SurrogateGraph", "find", "random",
    "rmat",
]  # fmt: skip

_GRAPH500 = (0.57, 0.19, 0.19)

# The surrogate graphs in order of the number of slots (CSR entries). The columns are the name, the
# paper's graph for which it stands, the numbers of vertices and slots, and the weight of the
# forest. The paper is Fallin, Gonzalez, Seo and Burtscher, "A High-Performance MST Implementation
# for GPUs" (SC '23). Its graphs are in table 2.
_RECORD = """\
internet  internet             124_651      374_960          5_899_908_213
road_ny   USA-road-d.NY        264_196      726_606         26_584_787_130
rmat16    rmat16.sym            65_536    1_044_454            685_626_052
cit       citationCiteseer     268_495    2_147_746         11_754_169_066
grid20    2d-2e20.sym        1_048_576    4_190_208        294_303_751_911
amazon    amazon0601           403_394    4_840_178         18_308_594_207
skitter   as-skitter         1_696_415   22_190_194        397_262_603_975
in2004    in-2004            1_382_908   27_204_840        241_655_744_206
patents   cit-Patents        3_774_768   30_197_860      2_322_557_872_991
copapers  coPapersDBLP         540_486   30_311_602         35_754_909_228
road_usa  USA-road-d.USA    23_951_236   57_477_384    246_764_124_156_503
rmat22    rmat22.sym         4_194_304   67_092_480      2_913_070_045_836
r4_23     r4-2e23.sym        8_388_608   67_108_804     10_084_704_069_243
lj        soc-LiveJournal1   4_194_304   92_081_714      2_723_205_357_409
tri24     delaunay_n24      16_777_216  100_630_530     53_144_805_928_762
road_eur  europe_osm        50_922_496  108_164_164  1_234_841_680_221_256
kron21    kron_g500-logn21   2_097_152  181_157_560        550_360_320_641
"""
_DESCRIPTIONS = """\
internet  preferential attachment, one or two edges a vertex
road_ny   road map of a city: a random spanning tree of a grid, many loops closed
rmat16    recursive matrix, 2**16 vertices
cit       preferential attachment, four edges a vertex
grid20    grid of 1024 x 1024
amazon    preferential attachment, six edges a vertex
skitter   Internet topology: copied links and triangles, 756 components
in2004    web crawl: sites of nearby pages, blocks, front pages, 134 components
patents   preferential attachment, four edges a vertex, large
copapers  overlapping cliques of 4 to 83 vertices along a path
road_usa  road map of a country: a random spanning tree of a grid, some loops closed
rmat22    recursive matrix, 2**22 vertices
r4_23     uniform random, 2**23 vertices
lj        recursive matrix, 2**22 vertices in random order
tri24     grid of 4096 x 4096, each square with a diagonal
road_eur  road map of a continent: a random spanning tree of a grid, few loops closed
kron21    recursive matrix, strongly skewed, 2**21 vertices in random order
"""
_RECIPES: dict[str, Callable[[], Graph]] = {
    "internet": partial(preferential, n=124_651, edges_per_vertex=2, second_may_fail=True),
    "road_ny": partial(road_map, rows=514, columns=514, extra=0.38),
    "rmat16": partial(recursive_matrix, scale=16, drawn=8 << 16, chances=GTGRAPH, seed=1),
    "cit": partial(preferential, n=268_495, edges_per_vertex=4),
    "grid20": partial(grid, rows=1024, columns=1024),
    "amazon": partial(preferential, n=403_394, edges_per_vertex=6),
    "skitter": partial(
        topology, n=1_696_415, n_paths=755, in_paths=1_799, few=1.888, anyone=0.19, near=0.2
    ),
    "in2004": partial(web_crawl, n=1_382_908, n_alone=133, listed=0.623),
    "patents": partial(preferential, n=3_774_768, edges_per_vertex=4),
    "copapers": partial(co_authors, n=540_486, drawn=17_500_000),
    "road_usa": partial(road_map, rows=4894, columns=4894, extra=0.2),
    "rmat22": partial(recursive_matrix, scale=22, drawn=8 << 22, chances=GTGRAPH, seed=2),
    "r4_23": partial(uniform, n=1 << 23, drawn=1 << 25),
    "lj": partial(
        recursive_matrix, scale=22, drawn=11 << 22, chances=(0.50, 0.2, 0.2), seed=4, renamed=True
    ),
    "tri24": partial(triangulated, rows=4096, columns=4096),
    "road_eur": partial(road_map, rows=7136, columns=7136, extra=0.062),
    "kron21": partial(
        recursive_matrix, scale=21, drawn=48 << 21, chances=_GRAPH500, seed=3, renamed=True
    ),
}


# Three surrogates that are closer to their graphs, in the same columns. Their maximum degrees and
# numbers of components are in docs/papers/ecl_mst.md.
_CLOSER_RECORD = """\
internet-close  internet           124_651     374_956      5_814_303_357
rmat16-close    rmat16.sym          65_536     967_944        647_461_435
lj-close        soc-LiveJournal1 4_847_571  85_949_878  2_269_710_485_115
"""
_CLOSER_DESCRIPTIONS = """\
internet-close  preferential attachment as internet, with smaller hubs
rmat16-close    recursive matrix as rmat16, of less skewed degrees
lj-close        a network grown as skitter, 1,876 components
"""
_RECIPES |= {
    "internet-close": partial(
        preferential, n=124_651, edges_per_vertex=2, second_may_fail=True, anyone=9
    ),
    "rmat16-close": partial(
        recursive_matrix, scale=16, drawn=485_400, chances=(0.45, 0.185, 0.185), seed=1
    ),
    "lj-close": partial(
        topology, n=4_847_571, n_paths=1_875, in_paths=4_400, few=2.5, anyone=0.38, near=0.2
    ),
}


def _recorded(record: str, described: str) -> Iterator[SurrogateGraph]:
    """Yield the surrogate graphs that the text `record` lists, one per line.

    A line of `record` has the name, the paper's graph for which it stands, the numbers of vertices
    and slots (CSR entries), and the weight of the forest. A line of `described` has the name and a
    description. The function that generates the graph comes from _RECIPES.
    """
    descriptions = dict(line.split(maxsplit=1) for line in described.splitlines())
    for name, stands_for, *sizes in map(str.split, record.splitlines()):
        n_vertices, n_slots, total_weight = map(int, sizes)
        yield SurrogateGraph(
            name=name, stands_for=stands_for, n_vertices=n_vertices, n_slots=n_slots,
            total_weight=total_weight, description=descriptions[name], recipe=_RECIPES[name],
        )  # fmt: skip


SURROGATES: Mapping[str, SurrogateGraph] = MappingProxyType(
    {one.name: one for one in _recorded(_RECORD, _DESCRIPTIONS)}
)
"""Surrogates of the graphs in the ECL-MST paper (SC '23), by name, in order of size."""

CLOSER: Mapping[str, SurrogateGraph] = MappingProxyType(
    {one.name: one for one in _recorded(_CLOSER_RECORD, _CLOSER_DESCRIPTIONS)}
)
"""Alternative surrogates of three of the paper's graphs, by name.

They are closer to the paper's graphs in degrees, numbers of components and sizes.

Recorded times were measured with the graphs in :data:`SURROGATES`, not with these.
"""


_MOST_SLOTS = (1 << 31) - 1  # readers of ECL files count with signed 32-bit integers
_SEED = 5

SIZE_STUDY = tuple(f"random-2e{scale}-d8" for scale in range(20, 28))
"""Names of uniform random graphs with 2**20 to 2**27 vertices and degree 8."""

DEGREE_STUDY = tuple(f"random-2e20-d{degree}" for degree in (2, 4, 8, 16, 32, 64, 128))
"""Names of uniform random graphs with 2**20 vertices and degrees from 2 to 128."""


def random(n: int, degree: int) -> SurrogateGraph:
    """Return a uniform random surrogate graph of any size, similar to the graph ``r4_23``.

    Its name has the number of vertices and the degree, as in ``random-2e20-d8`` (2**20 vertices) or
    ``random-1000-d4``. The graph is built later, by its methods.

    Parameters
    ----------
    n : int
        Number of vertices.
    degree : int
        Average number of neighbours of a vertex, apart from the few self-loops and duplicates that
        are drawn.

    Raises
    ------
    InvalidArgumentError
        The graph would have more slots than an ECL file can hold, or more neighbours than vertices.

    Examples
    --------
    >>> from clmst.generators import surrogates
    >>> surrogates.random(1000, 4).name
    'random-1000-d4'
    """
    n = check_integer("n", n, low=2)
    degree = check_integer("degree", degree, low=1, high=n - 1)
    drawn = _drawn(n, degree)
    size = f"2e{n.bit_length() - 1}" if n.bit_count() == 1 else str(n)
    return SurrogateGraph(
        name=f"random-{size}-d{degree}", stands_for="", n_vertices=n, n_slots=2 * drawn,
        total_weight=None, description=f"uniform random, {n} vertices of degree {degree}",
        recipe=partial(uniform, n=n, drawn=drawn), is_exact=False,
    )  # fmt: skip


def rmat(scale: int, degree: int) -> SurrogateGraph:
    """Return a recursive-matrix surrogate graph with 2**scale vertices, similar to ``rmat22``.

    Its name has the scale and the degree, as in ``rmat-2e20-d16``. The graph is built later, by its
    methods.

    Parameters
    ----------
    scale : int
        Base-2 logarithm of the number of vertices, from 4 to 27.
    degree : int
        Average number of neighbours of a vertex before duplicates are merged. The larger it is, the
        more edges are duplicates.

    Raises
    ------
    InvalidArgumentError
        The graph would have more slots than an ECL file can hold, or more neighbours than vertices.

    Examples
    --------
    >>> from clmst.generators import surrogates
    >>> surrogates.rmat(10, 8).n_vertices
    1024
    """
    scale = check_integer("scale", scale, low=4, high=27)
    degree = check_integer("degree", degree, low=1, high=(1 << scale) - 1)
    drawn = _drawn(1 << scale, degree)
    return SurrogateGraph(
        name=f"rmat-2e{scale}-d{degree}", stands_for="", n_vertices=1 << scale, n_slots=2 * drawn,
        total_weight=None, description=f"recursive matrix, 2**{scale} vertices of degree {degree}",
        recipe=partial(recursive_matrix, scale=scale, drawn=drawn, chances=GTGRAPH, seed=_SEED),
        is_exact=False,
    )  # fmt: skip


def find(name: str) -> SurrogateGraph:
    """Return the surrogate graph with a given name.

    The name is a surrogate's own, such as ``skitter``, or the name of the paper's graph for which
    it stands, such as ``as-skitter``. It may also name a member of a family: ``random-N-dD`` has N
    vertices of average degree D, and ``random-2eS-dD`` and ``rmat-2eS-dD`` have 2**S vertices.

    Raises
    ------
    InvalidArgumentError
        A graph with this name does not exist. The message lists all names.

    Examples
    --------
    >>> from clmst.generators import surrogates
    >>> surrogates.find("as-skitter").name
    'skitter'
    """
    for one in SURROGATES.values():
        if name in (one.name, one.stands_for):
            return one
    if name in CLOSER:
        return CLOSER[name]
    if match := re.fullmatch(r"random-(2e)?(\d{1,10})-d(\d{1,10})", name):
        size = int(match[2])
        if match[1]:
            check_integer("the scale", size, low=1, high=31)
            size = 1 << size
        return random(size, int(match[3]))
    if match := re.fullmatch(r"rmat-2e(\d{1,10})-d(\d{1,10})", name):
        return rmat(int(match[1]), int(match[2]))
    known = ", ".join([*SURROGATES, *CLOSER])
    raise InvalidArgumentError(
        f"there is no surrogate graph {name!r}; it must be one of {known}, "
        "or of the families random-N-dD, random-2eS-dD and rmat-2eS-dD, with N or 2**S vertices "
        "of degree D"
    )


def _drawn(n: int, degree: int) -> int:
    """Return the number of edges to draw for a graph of n vertices with an average degree.

    Raises InvalidArgumentError if the graph would have more than 2**31 - 1 CSR entries.
    """
    if n * degree > _MOST_SLOTS:
        raise InvalidArgumentError(
            f"{n} vertices of degree {degree} have {n * degree} stored edges; "
            f"there may be up to 2**31 - 1 = {_MOST_SLOTS}"
        )
    return n * degree // 2
