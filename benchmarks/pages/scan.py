"""Make the tables of docs/papers/scan.md, the page on Sun and Skadron's paper, from records."""

from __future__ import annotations

from benchmarks import stated
from benchmarks.boruvka_steps import (
    ALGORITHM_4,
    FINDING_OF,
    FIRST_MINIMA,
    KINDS,
    SEQUENTIAL,
    TOTAL_OF,
)
from benchmarks.figures import FROM_DEVICE, LARGEST_MIB, NUMPY, TO_DEVICE
from benchmarks.marked import table
from benchmarks.pages import Record, digits, of, part, span, wrapped
from benchmarks.runner import Row
from benchmarks.strategies import KRUSKAL

AUTO, SCANNING = "clmst auto", "clmst reduce-then-scan"
IN_PLACE, PROPAGATING = f"{SCANNING}, in place", "clmst scan-then-propagate"
ALLOCATED = ("clmst, 1 buffer allocated", "clmst, 2 buffers allocated")
SIZES = (1, 4, 16, 64, 128, 256, 512)
KERNEL, TOTAL = "kernel ms", "total ms"


def ms_of(record: Record, mib: int, way: str, what: str) -> float:
    """Return the median time in ms of a way of scanning `mib` MiB.

    `way` is the name of the way in the record. `what` is KERNEL for the time of the kernels, or
    TOTAL for the time of the whole call.
    """
    return of(record.row(MiB=mib, way=way), what)


@part("scans summary", "primitives_scans")
def summary(record: Record) -> str:
    """Make the table of the paper's speedups for its largest array, beside clmst's at that size."""

    def ms(way: str, what: str) -> float:
        return ms_of(record, LARGEST_MIB, way, what)

    def over_numpy(way: str, what: str) -> str:
        ratio = ms(NUMPY, what) / ms(way, what)
        return f"{digits(ratio, 3)} x ({digits(ms(way, what))} ms, NumPy {digits(ms(NUMPY, what))})"

    headings = ["", *(f"paper: {gpu}" for gpu in stated.SCANS["kernel"]), "H100, 512 MiB"]
    rows = []
    for what, key, figure in (("kernel", KERNEL, "Figure 6"), ("total", TOTAL, "Figure 8")):
        paper = [f"{ratio} x" for ratio in stated.SCANS[what].values()]
        name = "kernels" if what == "kernel" else "total"
        title = f"{name} over sequential"
        ours = f"its scheme, reduce-then-scan in place: {over_numpy(IN_PLACE, key)}"
        rows.append([f"{title} ({figure}, section 3)", *paper, ours])
        rows.append([f"{title}, one pass", "", "", over_numpy(AUTO, key)])
        clpp = [*stated.CLPP[what].values()]
        ours = f"its scheme, scan-then-propagate: {over_numpy(PROPAGATING, key)}"
        rows.append([f"CLPP's {name} over sequential", *clpp, ours])
    kernels = ms(IN_PLACE, KERNEL), ms(IN_PLACE, TOTAL)
    share = f"{100 * (1 - kernels[0] / kernels[1]):.1f} % of {digits(kernels[1])} ms"
    label = "transfers in the total of the paper's scheme (section 3)"
    rows.append([label, "about 86 %", "about 95 %", share])
    return table(headings, rows)


@part("scans", "primitives_scans")
def scans(record: Record) -> str:
    """Make the table for the paper's Figures 5 to 8: times of kernels and whole calls, by size."""
    kernels = {
        "one pass": AUTO, "reduce-then-scan": SCANNING, "in place": IN_PLACE,
        "scan-then-propagate": PROPAGATING, "PyOpenCL": "pyopencl", "NumPy": NUMPY,
    }  # fmt: skip
    totals = {name: way for name, way in kernels.items() if name != "reduce-then-scan"}
    headings = ["MiB", *kernels, *(f"total: {name}" for name in totals)]
    rows = [
        [f"{mib}"]
        + [digits(ms_of(record, mib, way, KERNEL)) for way in kernels.values()]
        + [digits(ms_of(record, mib, way, TOTAL)) for way in totals.values()]
        for mib in SIZES
    ]
    return table(headings, rows, texts=0)


@part("transfers", "primitives_scans")
def transfers(record: Record) -> str:
    """Make the table for the paper's Figure 9: times of transfers to the device and from it."""
    headings = ["MiB", "to the device, ms", "GB/s", "from the device, ms", "GB/s"]
    rows = []
    for mib in SIZES:
        cells = [f"{mib}"]
        for way in (TO_DEVICE, FROM_DEVICE):
            ms = ms_of(record, mib, way, TOTAL)
            cells += [digits(ms), digits(mib * 2**20 / ms * 1e-6, 3)]
        rows.append(cells)
    return table(headings, rows, texts=0)


@part("buffers", "primitives_scans")
def buffers(record: Record) -> str:
    """Make the table of total times of scans, by the number of buffers and by who allocates them.

    A scan works in place in one buffer, or from one buffer to another. The buffers are kept for all
    calls, or allocated in each call. A sentence about the differences follows the table.
    """
    kept = {
        "kept: reduce-then-scan, one": IN_PLACE, "reduce-then-scan, two": SCANNING,
        "scan-then-propagate, two": PROPAGATING, "one pass, two": AUTO,
    }  # fmt: skip
    allocated = dict(zip(("allocated: reduce-then-scan, one", "two"), ALLOCATED, strict=True))
    ways = {**kept, **allocated}
    sizes = (1, 8, 16, 32, 64, 128, 256, 512)
    rows = [
        [f"{mib}", *(digits(ms_of(record, mib, way, TOTAL)) for way in ways.values())]
        for mib in sizes
    ]

    def difference(one: str, two: str) -> float:
        return ms_of(record, LARGEST_MIB, two, TOTAL) - ms_of(record, LARGEST_MIB, one, TOTAL)

    least, most = (
        pick(
            ms_of(record, mib, ALLOCATED[1], KERNEL) / ms_of(record, mib, ALLOCATED[0], KERNEL)
            for mib in sizes
        )
        for pick in (min, max)
    )
    text = (
        f"At {LARGEST_MIB} MiB, a call of reduce-then-scan takes "
        f"{digits(difference(IN_PLACE, SCANNING), 3)} ms more with two buffers than with one, if "
        "the buffers are kept from call to call. It takes "
        f"{digits(difference(*ALLOCATED), 3)} ms more with two buffers than with one if the "
        "buffers are allocated in each call. The kernels alone take "
        f"{digits(least, 3)} to {digits(most, 3)} times as long with two buffers as with one."
    )
    return f"{table(['MiB', *ways], rows, texts=0)}\n\n{wrapped(text)}"


def over_sequential(row: Row, what: str) -> float:
    """Return the speedup of Algorithm 4 with find-min-edge on a device over the sequential program.

    `what` is FINDING_OF for the step find-min-edge alone, or TOTAL_OF for all of the tree.
    """
    return of(row, what.format(SEQUENTIAL)) / of(row, what.format(ALGORITHM_4))


@part("algorithm 4 summary", "h200/boruvka_steps")
def algorithm_4_summary(record: Record) -> str:
    """Make the table of the paper's speedups by finding minimum edges on a GPU, beside ours.

    Both are of the paper's own program, Algorithm 4, over the same program on a CPU alone.
    """
    rows = []
    largest = {
        kind: max((r for r in record.rows if r["graph"] == kind), key=lambda row: row["edges"])
        for kind in KINDS
    }
    parts = {
        "finding minima": ("find-min-edge", FINDING_OF, "Figure 11, section 5"),
        "all of the tree": ("total", TOTAL_OF, "Figures 12 to 14"),
    }
    for key, (name, what, where) in parts.items():
        for kind, row in largest.items():
            mine, slow = (of(row, what.format(one)) for one in (ALGORITHM_4, SEQUENTIAL))
            ours = f"{digits(slow / mine, 3)} x ({digits(mine)} ms; sequential {digits(slow)})"
            paper = [f"{ratio} x" for ratio in stated.STEPS[key][kind].values()]
            rows.append([f"{name} over sequential, {kind} ({where})", *paper, ours])
    for kind, row in largest.items():
        mine, slow = (
            100 * of(row, FINDING_OF.format(one)) / of(row, TOTAL_OF.format(one))
            for one in (ALGORITHM_4, SEQUENTIAL)
        )
        ours = f"{digits(mine, 2)} % (sequential {digits(slow, 2)} %)"
        label = f"find-min-edge in the total, {kind} (section 4)"
        rows.append([label, stated.FINDING_SHARE[kind], "", ours])
    edges = min(row["edges"] for row in largest.values()) / 1e6
    return table(["", "paper: GTX 460", "paper: Tahiti", f"H200, {edges:.1f} M edges"], rows)


@part("algorithm 4", "h200/boruvka_steps")
def algorithm_4(record: Record) -> str:
    """Make the table for the paper's Figures 10 to 14: Algorithm 4 with and without a GPU."""
    columns = {
        "sequential: finding ms": FINDING_OF.format(SEQUENTIAL),
        "Algorithm 4: finding ms": FINDING_OF.format(ALGORITHM_4),
        "sequential: total ms": TOTAL_OF.format(SEQUENTIAL),
        "Algorithm 4: total ms": TOTAL_OF.format(ALGORITHM_4),
        "`boruvka`: finding ms": "finding minima", "`boruvka`: wall ms": "solve",
        "Kruskal ms": KRUSKAL,
    }  # fmt: skip
    rows = []
    for row in record.rows:
        cells = [digits(of(row, name), 3) for name in columns.values()]
        cells.insert(2, digits(over_sequential(row, FINDING_OF), 3))
        cells.insert(5, digits(over_sequential(row, TOTAL_OF), 3))
        rows.append([row["graph"], f"{row['vertices']:,}", f"{row['edges']:,}", *cells])
    headings = ["graph", "vertices", "edges", *columns]
    headings.insert(5, "ratio")
    headings.insert(8, "ratio")
    finding, total = (
        [over_sequential(row, what) for row in record.rows] for what in (FINDING_OF, TOTAL_OF)
    )
    shares = [
        100 * of(row, FINDING_OF.format(SEQUENTIAL)) / of(row, TOTAL_OF.format(SEQUENTIAL))
        for row in record.rows
    ]
    text = (
        f"The step find-min-edge is {span(finding)} times as fast on the device as in one thread "
        f"of the host. All of the tree is {span(total)} times as fast, because find-min-edge takes "
        f"only {span(shares, 2)} per cent of the sequential program's time. `boruvka`, whose steps "
        "are all on the device, is "
        f"{span([of(row, TOTAL_OF.format(SEQUENTIAL)) / of(row, 'solve') for row in record.rows])} "
        "times as fast as the sequential program."
    )
    return f"{table(headings, rows)}\n\n{wrapped(text)}"


@part("steps summary", "boruvka_steps")
def steps_summary(record: Record) -> str:
    """Make the table of the speedups of `boruvka` over sequential code, beside the paper's.

    All are for about 128 M edges. There are speedups of finding minimum edges, and of all steps of
    Borůvka's algorithm together.
    """
    headings = ["", "paper: GTX 460", "paper: Tahiti", "H100, 134 M edges"]
    rows = []
    largest = {
        kind: max((r for r in record.rows if r["graph"] == kind), key=lambda row: row["edges"])
        for kind in ("dense", "sparse")
    }
    own = {
        "finding minima": ("finding minima", FIRST_MINIMA),
        "all of the tree": ("solve", KRUSKAL),
    }
    names = {"finding minima": "finding", "all of the tree": "total"}
    figures = {"finding minima": "Figure 11, section 5", "all of the tree": "Figures 12 to 14"}
    slow = {FIRST_MINIMA: "NumPy's first level", KRUSKAL: "Kruskal"}
    for what, said in stated.STEPS.items():
        for kind, row in largest.items():
            mine, other = own[what]
            ours = (
                f"{digits(of(row, other) / of(row, mine), 3)} x ({digits(of(row, mine), 3)} ms; "
                f"{slow[other]} {digits(of(row, other), 4)})"
            )
            label = f"{names[what]} over sequential, {kind} ({figures[what]})"
            rows.append([label, *(f"{ratio} x" for ratio in said[kind].values()), ours])
    for kind, row in largest.items():
        share = of(row, "finding minima") / (of(row, "finding minima") + of(row, "other steps"))
        label = f"finding in the total, {kind} (section 4)"
        rows.append([label, stated.FINDING_SHARE[kind], "", f"{100 * share:.1f} %"])
    return table(headings, rows)


@part("steps", "boruvka_steps")
def steps(record: Record) -> str:
    """Make the table of the times of the steps of `boruvka`, beside sequential code.

    The step that finds minimum edges is compared with all other steps.
    """
    columns = {
        "finding ms": "finding minima", "other steps ms": "other steps",
        "NumPy's first minima ms": FIRST_MINIMA, "wall ms": "solve", "Kruskal ms": KRUSKAL,
    }  # fmt: skip
    rows = [
        [row["graph"], f"{row['vertices']:,}", f"{row['edges']:,}"]
        + [digits(of(row, name), 4 if name == "solve" else 3) for name in columns.values()]
        for row in record.rows
    ]
    return table(["graph", "vertices", "edges", *columns], rows)
