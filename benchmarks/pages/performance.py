"""Make the tables of docs/performance.md from records."""

from __future__ import annotations

from benchmarks.beside_scipy import SCIPY
from benchmarks.marked import table
from benchmarks.pages import Record, digits, of, part, results_of, span, wrapped
from benchmarks.runner import Row
from clmst.bench.grid import Grid

RECORDS = ("h100", "h200", "intel_2_cores", "pocl_2_cores", "pocl_16_cores")
TITLES = ("H100", "H200", "Intel, 2 cores", "PoCL, 2 cores", "PoCL, 16 cores")
SOLVER = "clmst filter-boruvka"


@part("devices", *(f"bench/{name}" for name in RECORDS))
def devices(*records: Record) -> str:
    """Make the table of the times of the same graphs on several devices."""
    results = results_of(*records)
    (grid,) = Grid.each(results, "times")
    own = grid.ordered([SOLVER])
    machines = [next(iter(record.content["machines"])) for record in records]
    rows = []
    for graph in own.graphs:
        cells = {column.machine: one for column in own.columns if (one := own.at(graph, column))}
        if len(cells) > 1:
            times = [digits(1e3 * cells[m].median, 3) if m in cells else "" for m in machines]
            rows.append([graph, f"{results.graphs[graph]['n_slots']:,}", *times])
    return table(["surrogate", "CSR entries", *TITLES], rows)


@part("small matrices", "two_cores/beside_scipy_small")
def small(record: Record) -> str:
    """Make the table that compares two functions of clmst with SciPy's, on small matrices."""
    ways = {"clmst": "`minimum_spanning_forest`", "csgraph": "`clmst.csgraph`"}
    rows, found = [], dict[str, list[tuple[int, float]]]()
    for row in record.rows:
        shape, form, _ = row["matrix"].split(", ")
        ratios = {name: of(row, SCIPY) / of(row, name) for name in ways}
        for name, ratio in ratios.items():
            found.setdefault(name, []).append((row["vertices"], ratio))
        sizes = [f"{row['vertices']:,}", shape.rpartition(" x ")[2], form, f"{row['entries']:,}"]
        rows.append([*sizes, *(digits(ratio, 2) for ratio in ratios.values())])
    said = " ".join(
        f"{title} is {span([ratio for n, ratio in found[name] if n <= 30], 2)} times as fast as "
        f"SciPy's function for matrices of up to 30 vertices, and "
        f"{span([ratio for n, ratio in found[name] if 30 < n <= 300], 2)} times as fast for "
        f"matrices of 100 to 300 vertices."
        for name, title in ways.items()
    )
    headings = ["vertices", "degree", "form", "entries", *ways.values()]
    return f"{table(headings, rows, texts=0)}\n\n{wrapped(said)}"


@part("large matrices", "h200/beside_scipy")
def large(record: Record) -> str:
    """Make the table that compares two functions of clmst with SciPy's, on large matrices."""
    ways = {"device": "`minimum_spanning_forest`", "csgraph": "`clmst.csgraph`"}
    headings = ["graph like", "vertices", "entries", *(f"{title}, ms" for title in ways.values())]
    headings += ["SciPy, ms", *(f"SciPy / {title}" for title in ways.values())]
    rows = []
    for row in record.rows:
        name, _ = row["matrix"].split(", ")
        cells = [name, f"{row['vertices']:,}", f"{row['entries']:,}"]
        cells += [digits(of(row, way), 3) for way in (*ways, SCIPY)]
        rows.append([*cells, *(digits(of(row, SCIPY) / of(row, way), 2) for way in ways)])
    return table(headings, rows)


@part("tree of many points", "h200/points_trees")
def tree_of_points(record: Record) -> str:
    """Make the sentence with the time of the minimum spanning tree of many points on a GPU."""
    (row,) = record.rows
    return wrapped(
        f"The tree of {row['points']:,} evenly spread points in {row['dimensions']} dimensions "
        f"takes {seconds(row)} (measured on {record.date})."
    )


@part("HDBSCAN of many points", "h200/clustering_hdbscan")
def hdbscan(record: Record) -> str:
    """Make the sentence with the time of HDBSCAN of many points on a GPU, from host to host."""
    (row,) = record.rows
    least, most = (digits(1e-3 * one, 3) for one in (min(row["ms"]), max(row["ms"])))
    return wrapped(
        f"HDBSCAN of {row['points']:,} points in {row['dimensions']} dimensions takes "
        f"{seconds(row)}. The quickest call took {least} s and the slowest {most} s. The host has "
        f"{record.content['host_cores']} cores."
    )


def seconds(row: Row) -> str:
    """Return the median of the times in the column "ms" of a row, such as "0.458 s"."""
    return f"{digits(1e-3 * of(row, 'ms'), 3)} s"


def beside_scipy(record: Record) -> str:
    """Return the range of times of a record of ``beside_scipy``, and how they compare with SciPy's.

    The times are of ``clmst.minimum_spanning_forest``. README.md has this text.
    """
    times = [of(row, "device") for row in record.rows]
    ratios = [of(row, SCIPY) / of(row, "device") for row in record.rows]
    return f"{span(times, 2)} ms, {span(ratios, 2)} times as fast as SciPy"
