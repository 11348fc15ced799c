"""Numbers from papers, which pictures and tables show beside the measurements of this project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Sun and Skadron (2013): how many times as fast as sequential code their scan is, for arrays of
# 512 MB on two GPUs (section 3, Figures 6 and 8).
SCANS: Mapping[str, Mapping[str, float]] = {
    "kernel": {"GTX 460": 21.7, "Tahiti": 82.7},
    "total": {"GTX 460": 3.1, "Tahiti": 1.7},
}
# Sun and Skadron: how many times as fast as sequential code the scan of the library CLPP is. Where
# the number is below 1, it is slower.
CLPP: Mapping[str, Mapping[str, str]] = {
    "kernel": {"GTX 460": "2.1 x", "Tahiti": "1 / 2.2"},
    "total": {"GTX 460": "1.4 x", "Tahiti": "1 / 2.7"},
}
# Sun and Skadron: GB/s of transfers between host and device (section 3, Figure 9).
TRANSFERS = {"GTX 460": 3.3, "Tahiti": 2.0}
# Sun and Skadron: how many times as fast as sequential code their spanning trees are, for graphs
# with 128 M edges (section 5, Figures 11 and 14).
STEPS: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "finding minima": {
        "dense": {"GTX 460": 1.92, "Tahiti": 1.71},
        "sparse": {"GTX 460": 4.11, "Tahiti": 3.67},
    },
    "all of the tree": {
        "dense": {"GTX 460": 1.26, "Tahiti": 1.22},
        "sparse": {"GTX 460": 1.28, "Tahiti": 1.27},
    },
}
STEPS_EDGES = 1 << 27
# Sun and Skadron: the share of the total time that finding minima takes on the GTX 460 (section 4).
FINDING_SHARE = {"dense": "about 45 %", "sparse": "about 30 %"}

# How many tables and how many figures each paper has, by the name of its page in docs/papers.
PAPERS: Mapping[str, tuple[int, int]] = {
    "ecl_mst": (5, 7), "boruvka": (1, 13), "pma": (1, 8), "scan": (0, 14), "hybrid": (6, 10),
}  # fmt: skip

# Nobari et al. (PPoPP '12), Table 1: the milliseconds, for each graph, of Vineet's program and of
# the three variants of PMA (MinPMA, SortPMA, HybridPMA), in this order.
PMA_VARIANTS = ("pma min", "pma sort", "pma hybrid")
PMA: Mapping[str, tuple[float | str, ...]] = {
    "New York": (29, 18, 27, 18),
    "San Francisco": (30, 19, 27, 19),
    "Colorado": (38, 25, 37, 24),
    "Florida": (79, 51, 81, 50),
    "Northwest USA": (83, 59, 86, 58),
    "Northeast USA": (112, 81, 118, 80),
    "California": (137, 103, 144, 102),
    "Great Lakes": (193, 158, 213, 157),
    "USA-East": (242, 195, 267, 193),
    "USA-West": (430, 346, 469, 343),
    "USA-Central": ("-", 912, 1170, 900),
    "USA-Full": ("-", 1378, 1909, 1361),
    "Arxiv Astro Physics": (39, 32, 30, 30),
    "Penn Road network": (180, 108, 169, 106),
    "Amazon co-purchasing": (274, 175, 218, 164),
    "Google graph": (334, 240, 268, 231),
    "Internet topology": (934, 839, 799, 797),
    "US patents citation": (2434, 1482, 1494, 1221),
}
# Nobari et al., Table 1: the milliseconds, for each graph, of Prim's, Kruskal's and Borůvka's
# algorithms by Boost on a CPU, in this order.
PMA_CPU: Mapping[str, tuple[float | str, ...]] = {
    "New York": (183, 216, 541),
    "San Francisco": (207, 255, 477),
    "Colorado": (290, 359, 592),
    "Florida": (780, 987, 2139),
    "Northwest USA": (835, 1111, 1576),
    "Northeast USA": (1120, 1571, 2811),
    "California": (1451, 2003, 3246),
    "Great Lakes": (2076, 3004, 4832),
    "USA-East": (2752, 3944, 6964),
    "USA-West": (4852, 7158, 12052),
    "USA-Central": ("-", "-", 52306),
    "USA-Full": ("-", "-", 46890),
    "Arxiv Astro Physics": (93, 347, 354),
    "Penn Road network": (1603, 5522, 3315),
    "Amazon co-purchasing": (1457, 5923, 24047),
    "Google graph": (2616, 9730, 59671),
    "Internet topology": (7000, 24629, 1408810),
    "US patents citation": ("-", "-", 97175),
}
# Nobari et al.: the values of gamma, the maximum number of vertices of a tree, that are best for
# each graph (section 6.2, Figures 4(a) and 7).
GAMMAS: Mapping[str, tuple[int, ...]] = {
    "road map (Florida)": (8,),
    "random, degree 8": (5, 6),
    "random, degree 64": (200,),
    "dense R-MAT": (14,),
}

# Fallin et al. (SC '23), Tables 3 and 4: the milliseconds of ECL-MST on two GPUs. The keys are the
# names of clmst's surrogates for the paper's graphs.
ECL_MST_MACHINES = ("Titan V", "RTX 3080 Ti")
ECL_MST: Mapping[str, tuple[float, float]] = {
    "internet": (0.3, 0.3), "road_ny": (0.6, 0.4), "rmat16": (0.6, 0.4), "cit": (1.2, 0.7),
    "grid20": (4.9, 2.8), "amazon": (2.6, 1.6), "skitter": (26.2, 19.0), "in2004": (17.6, 12.6),
    "patents": (36.8, 19.8), "copapers": (4.3, 2.5), "road_usa": (28.3, 18.1),
    "rmat22": (45.6, 24.1), "r4_23": (92.1, 48.2), "lj": (35.3, 18.6), "tri24": (49.1, 32.9),
    "road_eur": (56.0, 33.8), "kron21": (97.9, 50.9),
}  # fmt: skip
# Fallin et al., Tables 3 and 4: the milliseconds of ECL-MST on two GPUs, including the copies to
# the GPU and back.
ECL_MST_COPIES: Mapping[str, tuple[float, float]] = {
    "internet": (0.8, 0.9), "road_ny": (1.6, 1.5), "rmat16": (1.9, 1.8), "cit": (5.6, 5.0),
    "grid20": (12.6, 8.6), "amazon": (12.4, 10.5), "skitter": (72.1, 58.4),
    "in2004": (73.6, 60.8), "patents": (106.8, 79.0), "copapers": (66.0, 56.3),
    "road_usa": (142.4, 111.5), "rmat22": (160.0, 120.5), "r4_23": (208.8, 149.3),
    "lj": (212.1, 186.7), "tri24": (263.2, 237.8), "road_eur": (309.2, 272.0),
    "kron21": (400.2, 348.8),
}  # fmt: skip
# Fallin et al.: geometric means over all graphs. The first two are of the times without copies, one
# for each GPU. The other two are of the times with the copies to the GPU and back.
ECL_MST_MEANS = (10.3, 6.3, 41.1, 34.6)
# Fallin et al.: geometric means over the connected graphs, in the same order.
ECL_MST_CONNECTED = (7.0, 4.4, 29.0, 24.7)
# Fallin et al., Tables 3 and 4: the milliseconds of the other programs, without copies. For each
# GPU there are the names of the programs, and for each graph their times in the order of the names.
# None stands for a program that needs a connected graph. The key is the GPU on which ECL-MST ran.
# Programs for CPUs ran on the host of that GPU.
ECL_OTHERS: Mapping[str, tuple[str, ...]] = {
    "Titan V": (
        "Jucele", "Gunrock", "UMinho GPU", "Lonestar CPU", "PBBS", "UMinho CPU", "PBBS serial",
    ),
    "RTX 3080 Ti": (
        "Jucele", "Gunrock", "cuGraph", "UMinho GPU", "Lonestar CPU", "PBBS", "UMinho CPU",
        "PBBS serial",
    ),
}  # fmt: skip
ECL_OTHERS_MS: Mapping[str, Mapping[str, tuple[float | None, ...]]] = {
    "Titan V": {
        "internet": (1.5, 2.9, 7.2, 129, 26.3, 9.4, 29.5),
        "road_ny": (3, 5.1, 3.9, 159, 32.7, 14, 74.1),
        "rmat16": (None, None, 106.6, 177, 17.8, 67.9, 52.6),
        "cit": (4, 9.9, 166.6, 381, 47.8, 107, 164.1),
        "grid20": (14.7, 19.5, 27.8, 1071, 106.3, 91.6, 517.6),
        "amazon": (None, None, 289.5, 642, 74.5, 167.4, 463.6),
        "skitter": (None, None, 1512.1, 2023, 334, 868.1, 1517.9),
        "in2004": (None, None, 873.5, 1453, 324.3, 387.4, 1761.5),
        "patents": (None, None, 3385.9, 7779, 808.1, 1658.7, 3264.8),
        "copapers": (30.4, 63.3, 2087.4, 1840, 250.5, 1102.2, 1962.8),
        "road_usa": (148.4, 235.8, 66.8, 6537, 2390.9, 685, 9439.7),
        "rmat22": (None, None, 5937.1, 20568, 993.7, 4118.2, 5033.4),
        "r4_23": (208.7, 299.2, 7405, 18072, 1985.3, 4801.6, 9361.5),
        "lj": (None, None, 11629, 15221, 1056.4, 4421.3, 5940.3),
        "tri24": (193.8, 280.7, 394.2, 9123, 3020.2, 1098.6, 15678),
        "road_eur": (784.3, 410.6, 98.5, 12864, 4584.6, 1657.9, 18996),
        "kron21": (None, None, 3205.7, 31010, 892, 3544.8, 6595.8),
    },
    "RTX 3080 Ti": {
        "internet": (1.1, 2, 4.7, 5.2, 236, 23.2, 15.3, 32.8),
        "road_ny": (2.2, 3.9, 11.2, 3, 256, 21.3, 21.4, 80.7),
        "rmat16": (None, None, 4, 76.1, 264, 11.6, 61.7, 55.2),
        "cit": (2.6, 6.4, 11.7, 121.5, 462, 29.8, 90.2, 178.8),
        "grid20": (6.9, 15.6, 39.9, 16.1, 1113, 68.2, 71, 572.6),
        "amazon": (None, None, 17.7, 240.6, 673, 44.8, 136.2, 500.9),
        "skitter": (None, None, 61.6, 1224.8, 2030, 154.9, 781.5, 1632.6),
        "in2004": (None, None, 59.3, 738.1, 1488, 157.6, 394, 1872.7),
        "patents": (None, None, 148.9, 2860.3, 8413, 293.2, 1449.6, 3199.8),
        "copapers": (20.3, 45.8, 43.2, 1682, 1925, 145.9, 1047.2, 2087.8),
        "road_usa": (76.8, 183.3, 761.8, 38.5, 5726, 1020.8, 524.2, 9972.5),
        "rmat22": (None, None, 192.9, 4876.7, 18047, 409.6, 3632.2, 4806.1),
        "r4_23": (108.7, 242.4, 370.8, 6076.1, 16676, 826.6, 4231.5, 10054),
        "lj": (None, None, 202.3, 9560.6, 12463, 494.6, 4087, 5823.5),
        "tri24": (107.8, 281.7, 579.3, 205.3, 7337, 1348.7, 955.2, 17750),
        "road_eur": (519.5, 304.4, 3710.5, 59, 12418, 2135.7, 1116.9, 22020),
        "kron21": (None, None, 251.9, 2570, 33392, 369.4, 4475, 7435.6),
    },
}  # fmt: skip
# Fallin et al., Table 5: the milliseconds of ECL-MST on an RTX 3080 Ti, and of eight programs, each
# of which has one optimisation less than the program before. Only connected graphs are listed.
ECL_ABLATION_MS: Mapping[str, tuple[float, ...]] = {
    "internet": (0.3, 0.3, 0.3, 0.3, 0.4, 0.6, 0.7, 0.6, 2.4),
    "road_ny": (0.4, 0.5, 0.4, 0.4, 0.6, 0.7, 0.9, 1.0, 1.0),
    "cit": (0.7, 1.1, 1.8, 2.5, 5.6, 10.1, 12.4, 8.1, 25.0),
    "grid20": (2.8, 3.2, 2.8, 2.8, 4.3, 8.5, 9.8, 15.1, 17.2),
    "copapers": (2.5, 4.7, 9.4, 18.7, 34.3, 72.0, 151.7, 61.0, 123.6),
    "road_usa": (18.1, 22.6, 23.0, 22.7, 31.7, 47.4, 65.3, 86.5, 75.4),
    "r4_23": (48.2, 62.7, 62.2, 163.5, 292.7, 557.6, 706.3, 474.2, 509.9),
    "tri24": (32.9, 38.9, 31.4, 45.7, 64.9, 104.1, 155.9, 155.6, 146.0),
    "road_eur": (33.8, 43.2, 43.8, 43.9, 60.1, 78.4, 101.6, 162.9, 139.7),
}  # fmt: skip
# Fallin et al., Table 2: for each graph, the numbers of CSR entries (which the paper calls edges),
# vertices and components, the average degree and the maximum degree.
TABLE_2: Mapping[str, tuple[int, int, int, float, int]] = {
    "internet": (387_240, 124_651, 1, 3.1, 151),
    "road_ny": (730_100, 264_346, 1, 2.8, 8),
    "rmat16": (967_866, 65_536, 3_900, 14.8, 569),
    "cit": (2_313_294, 268_495, 1, 8.6, 1_318),
    "grid20": (4_190_208, 1_048_576, 1, 4.0, 4),
    "amazon": (4_886_816, 403_394, 7, 12.1, 2_752),
    "skitter": (22_190_596, 1_696_415, 756, 13.1, 35_455),
    "in2004": (27_182_946, 1_382_908, 134, 19.7, 21_869),
    "patents": (33_037_894, 3_774_768, 3_627, 8.8, 793),
    "copapers": (30_491_458, 540_486, 1, 56.4, 3_299),
    "road_usa": (57_708_624, 23_947_347, 1, 2.4, 9),
    "rmat22": (65_660_814, 4_194_304, 428_640, 15.7, 3_687),
    "r4_23": (67_108_846, 8_388_608, 1, 8.0, 26),
    "lj": (85_702_474, 4_847_571, 1_876, 17.7, 20_333),
    "tri24": (100_663_202, 16_777_216, 1, 6.0, 26),
    "road_eur": (108_109_320, 50_912_018, 1, 2.1, 13),
    "kron21": (182_081_864, 2_097_152, 553_159, 86.8, 213_904),
}

# Ma and Wan, Table 5: the time of the algorithm MP divided by the time of CU, for random graphs, by
# the probability that a pair is an edge. MP goes over a list of edges, CU over an adjacency matrix.
DENSITIES: Mapping[float, float] = {
    0.1: 0.22, 0.2: 0.40, 0.3: 0.56, 0.4: 0.67, 0.5: 1.04,
    0.6: 0.97, 0.7: 1.36, 0.8: 1.28, 0.9: 1.37, 1.0: 1.66,
}  # fmt: skip
# Ma and Wan: seconds of the algorithms MP and CU, by the probability of an edge.
DENSITY_SECONDS: Mapping[float, tuple[float, float]] = {
    0.1: (0.45, 2.06), 0.2: (0.77, 1.92), 0.3: (1.08, 1.92), 0.4: (1.49, 2.20), 0.5: (1.99, 1.91),
    0.6: (1.87, 1.92), 0.7: (2.84, 2.07), 0.8: (2.68, 2.08), 0.9: (2.92, 2.12), 1.0: (3.21, 1.92),
}  # fmt: skip
# Ma and Wan, Table 3: how many times as fast as Kruskal's algorithm the algorithm MP is with 8
# threads, for each graph of 262,144 vertices, by the schedule of OpenMP that divides the edges
# among the threads.
SCHEDULES: Mapping[str, Mapping[str, float]] = {
    "circulant (k=8)": {"static": 3.60, "dynamic": 0.12, "guided": 4.43},
    "grid": {"static": 2.85, "dynamic": 0.15, "guided": 3.04},
    "RMAT (8x edges)": {"static": 4.23, "dynamic": 0.24, "guided": 5.12},
}
# Ma and Wan, Table 6: the seconds that the k-core decomposition of a complete graph takes, by the
# number of vertices.
CORES: Mapping[int, float] = {
    16: 0.000037, 64: 0.000151, 128: 0.000509, 512: 0.009187,
    1024: 0.037616, 4096: 0.625885, 16384: 10.952923,
}  # fmt: skip
# Ma and Wan: the time to prepare their Hybrid, which solves dense parts by CU and the rest by MP,
# and the number of solves with new weights after which the Hybrid has saved as much time.
HYBRID_PREPARING, HYBRID_REPAID = "18.42 s", 6
# Ma and Wan, section 4.3: the time of a solve by the Hybrid divided by the time of CU or MP, and
# the size of the graph.
HYBRID, HYBRID_SIZE = 0.5, "49,152 vertices"


def pma_speedups(variant: str, graphs: Sequence[str]) -> tuple[list[float], list[int]]:
    """Return the paper's speedups of a variant of PMA over Vineet's program, for some graphs.

    Graphs for which the paper has no times are left out. The first result has the speedups. The
    second has, for each speedup, the index of its graph in `graphs`.
    """
    place = 1 + PMA_VARIANTS.index(variant) if variant in PMA_VARIANTS else 0
    found: dict[int, float] = {}
    for number, graph in enumerate(graphs):
        vineet, *others = PMA.get(graph, ("-",))
        if place and isinstance(vineet, int | float):
            found[number] = vineet / float(others[place - 1])
    return [*found.values()], [*found]


LOOK: Mapping[str, Any] = {
    "linestyle": "", "markersize": 11, "markerfacecolor": "none", "markeredgewidth": 1.4,
}  # fmt: skip


def mark(
    panel: Any, where: float, values: Mapping[str, float], whose: str, color: str = "#000000"
) -> None:
    """Draw the values that a paper states for several machines, with hollow markers.

    All markers are at x = `where` in the Matplotlib axes `panel`. `values` maps the name of each
    machine to its value. The labels in the legend are `whose` and the name of the machine.
    """
    for marker, (name, value) in zip("*pd", values.items(), strict=False):
        look = {**LOOK, "marker": marker, "markeredgecolor": color}
        panel.plot([where], [value], label=f"{whose}, {name}", **look)
