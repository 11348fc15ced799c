"""Surrogate graphs: generated graphs of the kind and full size of those that papers measure.

The papers' graphs are not available everywhere; these are. Every number is a hash. So a name is
the same graph on every machine, byte for byte, and measurements of it can be compared. Weights
are 1 + hash(u, v) mod n, int32. Sizes, slots and forest weights are on record.

=================  =============================================================================
this module        those for the inputs of one paper, and families by parameters, by name
`surrogate`        what a surrogate graph is; building, caching
`rows`             from edges in any order to a symmetric CSR, in parallel
`lattice`          grids and road maps, written row by row
`drawn`, ...       one kind of graph each
=================  =============================================================================

>>> from clmst.generators import surrogates
>>> surrogates.find("2d-2e20.sym").name
'grid20'
>>> surrogates.find("random-2e10-d8").build()
Graph(n_vertices=1024, n_edges=4081, weights=int32)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from clmst.core.errors import InvalidArgumentError
from clmst.generators.edges import check_integer
from clmst.generators.surrogates.cliques import co_authors, web_crawl
from clmst.generators.surrogates.drawn import recursive_matrix, uniform
from clmst.generators.surrogates.growth import preferential, topology
from clmst.generators.surrogates.lattice import grid, road_map, triangulated
from clmst.generators.surrogates.surrogate import SurrogateGraph

__all__ = ["DEGREE_STUDY", "SIZE_STUDY", "SURROGATES", "SurrogateGraph", "find", "random", "rmat"]

GTGRAPH = (0.45, 0.22, 0.22)  # chances of a quarter in that generator
_GRAPH500 = (0.57, 0.19, 0.19)

# By rising number of slots. What they stand for: Fallin, Gonzalez, Seo and Burtscher, "A
# High-Performance MST Implementation for GPUs" (SC '23), table 2.
_ALL = (
    SurrogateGraph(
        name="internet",
        stands_for="internet",
        n_vertices=124_651,
        n_slots=374_960,
        total_weight=5_899_908_213,
        description="preferential attachment, one or two edges a vertex",
        recipe=partial(preferential, n=124_651, edges_per_vertex=2, second_may_fail=True),
    ),
    SurrogateGraph(
        name="road_ny",
        stands_for="USA-road-d.NY",
        n_vertices=264_196,
        n_slots=726_606,
        total_weight=26_584_787_130,
        description="road map of a city: a random spanning tree of a grid, many loops closed",
        recipe=partial(road_map, rows=514, columns=514, extra=0.38),
    ),
    SurrogateGraph(
        name="rmat16",
        stands_for="rmat16.sym",
        n_vertices=65_536,
        n_slots=1_044_454,
        total_weight=685_626_052,
        description="recursive matrix, 2**16 vertices",
        recipe=partial(recursive_matrix, scale=16, drawn=8 << 16, chances=GTGRAPH, seed=1),
    ),
    SurrogateGraph(
        name="cit",
        stands_for="citationCiteseer",
        n_vertices=268_495,
        n_slots=2_147_746,
        total_weight=11_754_169_066,
        description="preferential attachment, four edges a vertex",
        recipe=partial(preferential, n=268_495, edges_per_vertex=4),
    ),
    SurrogateGraph(
        name="grid20",
        stands_for="2d-2e20.sym",
        n_vertices=1_048_576,
        n_slots=4_190_208,
        total_weight=294_303_751_911,
        description="grid of 1024 x 1024",
        recipe=partial(grid, rows=1024, columns=1024),
    ),
    SurrogateGraph(
        name="amazon",
        stands_for="amazon0601",
        n_vertices=403_394,
        n_slots=4_840_178,
        total_weight=18_308_594_207,
        description="preferential attachment, six edges a vertex",
        recipe=partial(preferential, n=403_394, edges_per_vertex=6),
    ),
    SurrogateGraph(
        name="skitter",
        stands_for="as-skitter",
        n_vertices=1_696_415,
        n_slots=22_190_194,
        total_weight=397_262_603_975,
        description="Internet topology: copied links and triangles, 756 components",
        recipe=partial(
            topology, n=1_696_415, n_crumbs=755, in_crumbs=1_799, few=1.888, anyone=0.19, near=0.2
        ),
    ),
    SurrogateGraph(
        name="in2004",
        stands_for="in-2004",
        n_vertices=1_382_908,
        n_slots=27_204_840,
        total_weight=241_655_744_206,
        description="web crawl: sites of nearby pages, blocks, front pages, 134 components",
        recipe=partial(web_crawl, n=1_382_908, n_alone=133, listed=0.623),
    ),
    SurrogateGraph(
        name="patents",
        stands_for="cit-Patents",
        n_vertices=3_774_768,
        n_slots=30_197_860,
        total_weight=2_322_557_872_991,
        description="preferential attachment, four edges a vertex, large",
        recipe=partial(preferential, n=3_774_768, edges_per_vertex=4),
    ),
    SurrogateGraph(
        name="copapers",
        stands_for="coPapersDBLP",
        n_vertices=540_486,
        n_slots=30_311_602,
        total_weight=35_754_909_228,
        description="overlapping cliques of 4 to 83 vertices along a path",
        recipe=partial(co_authors, n=540_486, drawn=17_500_000),
    ),
    SurrogateGraph(
        name="road_usa",
        stands_for="USA-road-d.USA",
        n_vertices=23_951_236,
        n_slots=57_477_384,
        total_weight=246_764_124_156_503,
        description="road map of a country: a random spanning tree of a grid, some loops closed",
        recipe=partial(road_map, rows=4894, columns=4894, extra=0.2),
    ),
    SurrogateGraph(
        name="rmat22",
        stands_for="rmat22.sym",
        n_vertices=4_194_304,
        n_slots=67_092_480,
        total_weight=2_913_070_045_836,
        description="recursive matrix, 2**22 vertices",
        recipe=partial(recursive_matrix, scale=22, drawn=8 << 22, chances=GTGRAPH, seed=2),
    ),
    SurrogateGraph(
        name="r4_23",
        stands_for="r4-2e23.sym",
        n_vertices=8_388_608,
        n_slots=67_108_804,
        total_weight=10_084_704_069_243,
        description="uniform random, 2**23 vertices",
        recipe=partial(uniform, n=1 << 23, drawn=1 << 25),
    ),
    SurrogateGraph(
        name="lj",
        stands_for="soc-LiveJournal1",
        n_vertices=4_194_304,
        n_slots=92_081_714,
        total_weight=2_723_205_357_409,
        description="recursive matrix, 2**22 vertices in random order",
        recipe=partial(
            recursive_matrix,
            scale=22,
            drawn=11 << 22,
            chances=(0.50, 0.2, 0.2),
            seed=4,
            renamed=True,
        ),
    ),
    SurrogateGraph(
        name="tri24",
        stands_for="delaunay_n24",
        n_vertices=16_777_216,
        n_slots=100_630_530,
        total_weight=53_144_805_928_762,
        description="grid of 4096 x 4096, each square with a diagonal",
        recipe=partial(triangulated, rows=4096, columns=4096),
    ),
    SurrogateGraph(
        name="road_eur",
        stands_for="europe_osm",
        n_vertices=50_922_496,
        n_slots=108_164_164,
        total_weight=1_234_841_680_221_256,
        description="road map of a continent: a random spanning tree of a grid, few loops closed",
        recipe=partial(road_map, rows=7136, columns=7136, extra=0.062),
    ),
    SurrogateGraph(
        name="kron21",
        stands_for="kron_g500-logn21",
        n_vertices=2_097_152,
        n_slots=181_157_560,
        total_weight=550_360_320_641,
        description="recursive matrix, strongly skewed, 2**21 vertices in random order",
        recipe=partial(
            recursive_matrix, scale=21, drawn=48 << 21, chances=_GRAPH500, seed=3, renamed=True
        ),
    ),
)

SURROGATES: Mapping[str, SurrogateGraph] = MappingProxyType({one.name: one for one in _ALL})
"""The surrogates of the inputs of the SC '23 paper by name, in order of size."""


_MOST_SLOTS = (1 << 31) - 1  # readers of ECL files count in signed numbers of 32 bits
_SEED = 5

SIZE_STUDY = tuple(f"random-2e{scale}-d8" for scale in range(20, 28))
"""Names of uniform random graphs of 2**20 to 2**27 vertices."""

DEGREE_STUDY = tuple(f"random-2e20-d{degree}" for degree in (2, 4, 8, 16, 32, 64, 128))
"""Names of uniform random graphs of 2**20 vertices and rising degree."""


def random(n: int, degree: int) -> SurrogateGraph:
    """Return a graph such as r4_23 of any size: called ``random-2e20-d8``, ``random-1000-d4``.

    Vertices have `degree` neighbours on average, but for the few loops and duplicates drawn. Raise
    for more slots than an ECL file can hold, or more neighbours than vertices.
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
    """Return a graph such as rmat22 of 2**scale vertices, 4 to 27: called ``rmat-2e20-d16``.

    Degree and errors are as of :func:`random`; the greater the degree, the more are duplicates.
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
    """Return the surrogate graph of a name, of the graph it stands for, or of a family's member."""
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
    """Return the number of edges of n vertices of a degree, or raise if it is too large."""
    if n * degree > _MOST_SLOTS:
        raise InvalidArgumentError(
            f"{n} vertices of degree {degree} have {n * degree} stored edges; "
            f"there may be up to 2**31 - 1 = {_MOST_SLOTS}"
        )
    return n * degree // 2
