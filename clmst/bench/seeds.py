"""The effect of the seed of the filter's sample (SC '23, Figures 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clmst.algorithms.ecl.solve import FILTER_TARGET
from clmst.bench.grid import Grid
from clmst.bench.results import Results
from clmst.bench.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One graph under many seeds."""

    graph: str
    samples: int  # size of the sample
    rates: list[float]  # slots a second, the median of each seed
    # By how much the number of light edges exceeds its target, as a share of the target, for each
    # seed with which the filter was at work.
    distances: list[float]


def spreads(results: Results, machine: str) -> Iterator[Spread]:
    """Yield the spread of every graph that has slots, and size of sample."""
    grid = Grid.of(results, "seeds", "solve", machine)
    if grid is None:
        return
    for graph in grid.graphs:
        facts = grid.facts(graph)
        if not facts["n_slots"]:
            continue  # there is no throughput without work
        of_graph = [one for column in grid.columns if (one := grid.at(graph, column))]
        target = FILTER_TARGET * max(facts["n_vertices"], 1)
        for samples in dict.fromkeys(one.details["samples"] for one in of_graph):
            own = [one for one in of_graph if one.details["samples"] == samples]
            yield Spread(
                graph=graph,
                samples=samples,
                rates=[facts["n_slots"] / one.median for one in own],
                distances=[
                    one.details["light_edges"] / target - 1
                    for one in own
                    if "light_edges" in one.details
                ],
            )


def table(results: Results, machine: str) -> Table | None:
    """Return quartiles of throughput, and of the distance from the filter's target."""
    rows = []
    for one in spreads(results, machine):
        rates = np.quantile(one.rates, (0, 0.25, 0.5, 0.75, 1)) * 1e-6
        far = np.quantile(one.distances, (0, 0.5, 1)) if one.distances else ()
        rows.append(
            (
                one.graph,
                f"{one.samples:,}",
                f"{len(one.rates)}",
                *(f"{rate:,.0f}" for rate in rates),
                f"{rates[4] / rates[0]:.2f}",
                *([f"{distance:+.0%}" for distance in far] or ["", "", "no filter"]),
            )
        )
    if not rows:
        return None
    quartiles = ("least", "1st quartile", "median", "3rd quartile", "most", "most/least")
    return Table(
        title=f"Seeds of ecl, millions of slots a second: {results.name_of(machine)}",
        headings=("graph", "samples", "seeds", *quartiles, "target: least", "median", "most"),
        rows=rows,
        notes=(
            f"The target of the filter is {FILTER_TARGET:g} light edges a vertex; the last columns "
            "say by how much the seeds exceed it.",
        ),
    )
