"""The table of devices of docs/performance.md."""

from __future__ import annotations

from benchmarks.marked import table
from benchmarks.pages import Record, digits, part, results_of
from clmst.bench.grid import Grid

RECORDS = ("h100", "h200", "intel_2_cores", "pocl_2_cores", "pocl_16_cores")
TITLES = ("H100", "H200", "Intel, 2 cores", "PoCL, 2 cores", "PoCL, 16 cores")
SOLVER = "clmst filter-boruvka"


@part("devices", *(f"bench/{name}" for name in RECORDS))
def devices(*records: Record) -> str:
    """Make the table of the same graphs on all devices."""
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
