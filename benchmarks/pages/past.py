"""Make the tables of docs/papers/past.md: how much faster clmst is than each paper's method."""

from __future__ import annotations

from benchmarks import stated
from benchmarks.ecl import PEER
from benchmarks.figures import LARGEST_MIB, NUMPY
from benchmarks.marked import table
from benchmarks.pages import Record, digits, mean, of, part, span, wrapped
from benchmarks.pages.ecl_mst import DEFAULT, ECL, milliseconds
from benchmarks.pages.hybrid import ROUND, of_sizes, ways_of_graphs
from benchmarks.pages.pma import BORUVKA, STUDIED, gain
from benchmarks.pages.scan import AUTO, IN_PLACE, KERNEL, PROPAGATING, SCANNING, TOTAL, ms_of
from benchmarks.studies import PAPER_STEPS


@part("past ecl", "bench/h200_ecl")
def past_ecl(*records: Record) -> str:
    """Make the table of ECL-MST's times, divided by the times of two algorithms of clmst.

    Both solve surrogates, which are generated graphs of the size and kind of the paper's.
    """
    ms = milliseconds(*records)
    rows = []
    for name, label in ((ECL, "`ecl`"), (DEFAULT, "`filter-boruvka`")):
        ratios = {graph: own[PEER, "solve"] / own[name, "solve"] for graph, own in ms.items()}
        ends = [pick(ratios, key=lambda graph: ratios[graph]) for pick in (min, max)]
        cells = [f"{digits(ratios[graph], 3)}, {graph}" for graph in ends]
        rows.append([label, mean([*ratios.values()]), *cells])
    headings = [f"ECL-MST's time divided by that of ({len(ms)} surrogates)", "geometric mean"]
    return table([*headings, "least", "most"], rows)


@part("past scan", "primitives_scans")
def past_scan(record: Record) -> str:
    """Make the table that compares a scan in one pass with other ways of scanning.

    They are Sun and Skadron's scheme, the scheme of the library CLPP, and NumPy.
    """
    ways = {
        "one pass": AUTO, "reduce-then-scan, in place: the paper's scheme": IN_PLACE,
        "reduce-then-scan, two buffers": SCANNING,
        "scan-then-propagate: CLPP's scheme": PROPAGATING, "NumPy, one thread": NUMPY,
    }  # fmt: skip
    rows = []
    for label, way in ways.items():
        cells = [label]
        for what in (KERNEL, TOTAL):
            time, own = (ms_of(record, LARGEST_MIB, one, what) for one in (way, AUTO))
            cells += [digits(time), digits(time / own, 3)]
        rows.append(cells)
    headings = [f"{LARGEST_MIB} MiB", "kernels, ms", "over one pass"]
    return table([*headings, "total, ms", "over one pass"], rows)


@part("past boruvka", "two_cores/studies_counts")
def past_boruvka(record: Record) -> str:
    """Make the table of the number of kernel launches of `boruvka`, in two variants.

    One does the steps of the paper, Vineet et al. (HPG '09), and the other has clmst's steps.
    """
    headings = ["family", "degree", "vertices", "edges", "rounds", "launches: the paper's steps"]
    rows, shares = [], []
    for row in record.rows:
        theirs, ours = (row[f"{text}: launches"] for text in (PAPER_STEPS, BORUVKA))
        shares.append(ours / theirs)
        sizes = [f"{row[name]:,}" for name in ("vertices", "edges", f"{BORUVKA}: rounds")]
        cells = [row["family"], f"{row['degree']:g}", *sizes, f"{theirs:,}", f"{ours:,}"]
        rows.append([*cells, digits(shares[-1], 3)])
    text = (
        f"With clmst's steps, `boruvka` needs {mean(shares)} times as many launches of kernels as "
        f"with the paper's steps, by geometric mean over these graphs ({span(shares)} times on "
        "single graphs)."
    )
    return f"{table([*headings, 'launches: `boruvka`', 'share'], rows)}\n\n{wrapped(text)}"


@part("past pma", "h200/studies_degrees")
def past_pma(record: Record) -> str:
    """Make the table of times of `boruvka` and of the best variant of `pma`, by average degree.

    Both are given as ratios to the times of other algorithms, such as the default one.
    """
    rows = []
    for degree, here in record.groups("degree").items():
        over_min = [of(row, BORUVKA) / of(row, "pma variant=min") for row in here]
        over_auto = [min(of(row, name) for name in STUDIED) / of(row, "auto") for row in here]
        cells = [mean([gain(row, [*STUDIED]) for row in here]), mean(over_min), mean(over_auto)]
        rows.append([f"{degree:g}", *cells])
    headings = ["degree", "`boruvka` / the quickest variant", "`boruvka` / min"]
    return table([*headings, 'the quickest variant / "auto"'], rows, texts=0)


@part("past hybrid", "rounds_hybrid")
def past_hybrid(record: Record) -> str:
    """Make the table that compares a `RepeatedSolver` on one GPU with strategies of Ma and Wan.

    The table has the time of a round, which is one solve with new weights.
    """
    headings = ["n", "density", "a round of `RepeatedSolver`, ms", "MP over it", "CU over it"]
    rows, largest = [], list[float]()
    for graph, (mp, cu, solver, hybrid) in ways_of_graphs(record):
        n, _, density = of_sizes(graph)
        own = of(solver, ROUND)
        ratios = [of(row, ROUND) / own for row in (mp, cu, hybrid)]
        rows.append([n, density, digits(own, 3), *(digits(one, 3) for one in ratios)])
        if stated.HYBRID_SIZE in solver["_graph"]:
            largest.append(ratios[1])
    text = (
        "A round is one solve of the same graph under new weights. CU is the paper's strategy "
        "that solves on a GPU from a matrix of all weights. For graphs of the paper's size, "
        f"{stated.HYBRID_SIZE}, a round of CU takes {span(largest)} times as long as a round of "
        "`RepeatedSolver` on the same GPU, depending on the density of the graph."
    )
    return f"{table([*headings, 'Hybrid over it'], rows, texts=0)}\n\n{wrapped(text)}"
