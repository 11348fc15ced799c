"""Make the tables of docs/papers/hybrid.md, the page on Ma and Wan's paper, from records.

The paper has three algorithms for graphs whose weights change. MP goes over a list of edges, CU
over an adjacency matrix, and the Hybrid solves dense parts, which are sets of vertices with many
edges among them, by CU and the rest by MP.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from benchmarks import stated
from benchmarks.marked import table
from benchmarks.pages import Record, digits, of, part, span, wrapped
from benchmarks.rounds import CU, HYBRID, MP, REPEATED, accumulated, repaid, repaid_after
from benchmarks.runner import Row, Run

PREPARE, ROUND = "prepare", "round"
MEDIANS = Run(devices=())  # takes the median of times


@part("strategies density", "strategies_density")
def density(record: Record) -> str:
    """Make the table for the paper's Table 5: times of MP and CU by the density of the graph.

    MP solves from a list of edges, and CU from an adjacency matrix.
    """
    headings = ["p", "paper: MP s (T. 5)", "CU s (T. 5)", "MP / CU (T. 5)"]
    headings += ["2 cores: MP ms", "CU ms", "MP / CU"]
    rows = []
    for row in record.rows:
        p, (mp, cu) = row["p"], (of(row, MP), of(row, CU))
        paper = [f"{seconds:.2f}" for seconds in stated.DENSITY_SECONDS[p]]
        cells = [f"{p}", *paper, f"{stated.DENSITIES[p]:.2f}", digits(mp, 3), digits(cu, 3)]
        rows.append([*cells, digits(mp / cu, 3)])
    return table(headings, rows, texts=0)


def _rounds(row: Row, other: Row) -> str:
    rounds = repaid_after(MEDIANS, row, other)
    # The numbers are medians of three to five rounds, so more than two digits would not be
    # significant.
    return "never" if rounds is None else "over 1,000" if rounds > 1000 else f"{rounds:.0f}"


@part("rounds", "rounds")
def rounds(record: Record) -> str:
    """Make the table for the paper's Figure 9 on two CPU cores.

    It has, for each algorithm, the time to prepare it and the time of a round, which is one solve
    with new weights.
    """
    first, *_ = record.rows
    headings = ["2 cores", "preparing, ms", "a round, ms", "least to greatest"]
    headings += ["of `one-shot`", "repaid in round", "all rounds, s"]
    rows = []
    for row in record.rows:
        after = "" if row is first else str(repaid(row, first) or "never")
        cells = [f"`{row['contestant']}`", digits(of(row, PREPARE), 3), digits(of(row, ROUND), 3)]
        cells += [span(row[ROUND]), digits(of(row, ROUND) / of(first, ROUND), 3), after]
        rows.append([*cells, digits(accumulated(row)[-1] / 1e3, 3)])
    return table(headings, rows)


def ways_of_graphs(record: Record) -> Iterator[tuple[str, list[Row]]]:
    """Yield each graph of a record with its rows of MP, CU, a `RepeatedSolver`, and the Hybrid.

    The `RepeatedSolver` uses one device. The other three are algorithms of Ma and Wan: MP goes over
    a list of edges, CU over an adjacency matrix, and the Hybrid uses both on two devices.
    """
    for graph in record.groups("graph"):
        names = (MP, CU, REPEATED, HYBRID)
        yield graph, [record.row(graph=graph, contestant=name) for name in names]


def of_sizes(text: str) -> list[str]:
    """Return three cells of a table about a graph that has dense clusters of vertices.

    They are the numbers of vertices and of vertices in clusters, and the density of the clusters.
    `text` is the description of the graph, such as
    ``clustered:n=600,clusters=2,cluster_size=100,density=0.6``.
    """
    found = dict(one.split("=") for one in text.partition(":")[2].split(","))
    clustered = int(found["clusters"]) * int(found["cluster_size"])
    return [f"{int(found['n']):,}", f"{clustered:,}", found["density"]]


@part("rounds hybrid", "rounds_hybrid")
def hybrid(record: Record) -> str:
    """Make the table for Figure 9 of Ma and Wan's paper: rounds of new weights on a GPU and a CPU.

    The Hybrid is the paper's strategy that solves the dense parts of a graph on the GPU and all
    other edges on the CPU. Preparing it takes long, and its rounds take less time than the rounds
    of the other strategies. Sentences below the table say after how many rounds the Hybrid has
    saved the time of its preparation. `record` has the measured times.
    """
    headings = ["n", "in clusters", "density", MP, CU, "`RepeatedSolver` alone", HYBRID]
    headings += ["Hybrid, preparing", "Hybrid / CU", "Hybrid / MP"]
    headings += ["repaid beside CU after", "beside MP after"]
    rows, after = [], dict[str, list[float]]()
    shares = dict[str, list[float]]()
    for graph, (mp, cu, solver, own) in ways_of_graphs(record):
        times = [digits(of(row, ROUND), 3) for row in (mp, cu, solver, own)]
        cells = [*of_sizes(graph), *times, digits(of(own, PREPARE), 3)]
        cells += [digits(of(own, ROUND) / of(row, ROUND), 2) for row in (cu, mp)]
        rows.append([*cells, _rounds(own, cu), _rounds(own, mp)])
        if stated.HYBRID_SIZE in own["_graph"]:
            for name, other in ((CU, cu), (MP, mp)):
                needed = repaid_after(MEDIANS, own, other)
                after.setdefault(name, []).append(float("inf") if needed is None else needed)
                shares.setdefault(name, []).append(of(own, ROUND) / of(other, ROUND))
    said = " ".join(
        f"A round of the Hybrid takes {digits(min(values), 2)} to {digits(max(values), 2)} times "
        f"as long as a round of {name} (median {median(values):.2f}), so preparing pays after "
        f"{min(after[name]):.0f} to {max(after[name]):.0f} rounds."
        for name, values in shares.items()
    )
    text = (
        "A round is one solve of the same graph under new weights. CU solves from a matrix of "
        "weights on the GPU, MP solves from a list of edges on the CPU, and the Hybrid divides the "
        "graph between both. Preparing the Hybrid pays as soon as its shorter rounds have saved as "
        f"much time as the preparation took. We measured graphs of {stated.HYBRID_SIZE}, the "
        f"paper's size. {said} In the paper a round of the Hybrid takes about "
        f"{stated.HYBRID} times as long as a round of CU or MP alone. There, preparing the Hybrid "
        f"takes {stated.HYBRID_PREPARING}, and pays after {stated.HYBRID_REPAID} rounds (section "
        "4.3)."
    )
    return f"{table(headings, rows, texts=0)}\n\n{wrapped(text)}"
