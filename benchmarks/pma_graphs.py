"""The graphs of PMA's experiments, at a share of the paper's sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from clmst import Graph
from clmst.generators import generate

DEGREES = (4, 8, 16, 32, 64)
_MILLION = 1_000_000
_LEAST = 1000  # vertices, however small the share

Make: TypeAlias = Callable[[], Graph]


def road(n: int, degree: float) -> Make:
    """Return a maker of a road map."""
    return partial(generate, "road", n=n, average_degree=degree)


def recursive(n: int, edge_factor: int) -> Make:
    """Return a maker of a recursive matrix of at least so many vertices."""
    return partial(generate, "rmat", scale=(n - 1).bit_length(), edge_factor=edge_factor)


def table_graphs(share: float) -> Mapping[str, Make]:
    """Return graphs of the kinds of Table 1 by name: of their vertices and edges, about."""

    def of(n: int) -> int:
        return max(round(n * share), _LEAST)

    attach = partial(generate, "preferential")
    return {
        "New York": road(of(264_000), 2.8),
        "Florida": road(of(1_070_000), 2.5),
        "California": road(of(1_800_000), 2.5),
        "USA-West": road(of(6_200_000), 2.4),
        "USA-Full": road(of(23_900_000), 2.4),
        "Amazon co-purchasing": partial(attach, n=of(410_000), edges_per_vertex=8),
        "Google graph": recursive(of(876_000), 6),
        "Internet topology": recursive(of(1_700_000), 7),
        "US patents citation": partial(attach, n=of(3_800_000), edges_per_vertex=4),
        "clusters (SSCA#2)": partial(
            generate, "cliques", count=max(of(_MILLION) // 17, 2), size=17, chained=True
        ),
    }


def gamma_graphs(share: float) -> Mapping[str, Make]:
    """Return the graphs of Figures 4(a) and 7 by name."""
    n = max(round(_MILLION * share), _LEAST)
    return {
        "road map (Florida)": road(n, 2.5),
        "random, degree 8": partial(generate, "random", n=n, average_degree=8.0),
        "random, degree 64": partial(generate, "random", n=n // 4, average_degree=64.0),
        "dense R-MAT": recursive(10_000, max(round(1000 * share), 16)),
    }


def reduction_graphs(share: float) -> Mapping[str, Make]:
    """Return the graphs of Figure 8 by name."""
    n = max(round(_MILLION * share), _LEAST)
    return {
        "road map (Florida)": road(n, 2.5),
        "random, degree 60": partial(generate, "random", n=n, average_degree=60.0),
        "R-MAT, degree 20": recursive(n, 10),
        "clusters (SSCA#2)": partial(generate, "cliques", count=n // 17, size=17, chained=True),
    }


def degree_graphs(share: float) -> Mapping[str, Make]:
    """Return random graphs of rising average degree, as of Figure 4(b)."""
    n = max(round(_MILLION * share), _LEAST)
    return {
        f"random, degree {degree}": partial(generate, "random", n=n, average_degree=float(degree))
        for degree in DEGREES
    }


EXPERIMENTS: Mapping[str, Callable[[float], Mapping[str, Make]]] = {
    "table": table_graphs,
    "gamma": gamma_graphs,
    "parallel": degree_graphs,
    "reduction": reduction_graphs,
    "workers": degree_graphs,
}
"""The graphs of each experiment, made from the share."""
OF_THE_PAPER = ("table", "gamma", "parallel", "reduction")
