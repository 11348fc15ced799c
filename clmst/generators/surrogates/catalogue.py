"""The surrogates of the inputs of one paper, by name, with their records."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from clmst.generators.surrogates.attachment import preferential
from clmst.generators.surrogates.co_authors import co_authors
from clmst.generators.surrogates.lattice import grid, road_map, triangulated
from clmst.generators.surrogates.recursive import recursive_matrix
from clmst.generators.surrogates.surrogate import SurrogateGraph
from clmst.generators.surrogates.topology import topology
from clmst.generators.surrogates.uniform import uniform
from clmst.generators.surrogates.web_crawl import web_crawl

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
