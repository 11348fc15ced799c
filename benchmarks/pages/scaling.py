"""Make parts of docs/scaling.md and docs/performance.md from the record of solves by blocks."""

from __future__ import annotations

from benchmarks.marked import table
from benchmarks.pages import Record, digits, part, wrapped

_TITLES = {"tree": "tree", "hdbscan": "HDBSCAN(50, 5)"}
_TIMES = ("by blocks, s", "by 2 devices, s", "at once, s")
_A_BILLION = 1_000_000_000


@part("blocks on GPUs", "blocks_h200")
def blocks(record: Record) -> str:
    """Make the table of solves by blocks, and an estimate for a thousand million points."""
    rows, estimates = [], []
    for row in record.rows:
        sizes = ("points", "dimensions", "points a block", "cores of the host")
        times = ["" if row[name] is None else digits(row[name], 3) for name in _TIMES]
        rows.append([
            _TITLES[row["what"]], *(f"{row[name]:,}" for name in sizes), *times,
            f"{row['peak, GiB']:.1f}",
        ])  # fmt: skip
        if row["what"] == "hdbscan":
            more = _A_BILLION / row["points"]
            seconds = digits(row["by blocks, s"] * more / 60, 2)
            n_bytes = digits(row["peak, GiB"] * more * 2**30 / 1e9, 3)
            steps = ", ".join(f"{name} {digits(s, 2)} s" for name, s in row["_steps, s"].items())
            estimates.append((row["dimensions"], seconds, n_bytes, steps))
    (_, plane_minutes, plane_bytes, steps), (_, minutes, n_bytes, _) = estimates
    said = (
        f"The steps of HDBSCAN in the plane took: {steps}. At the same rate, and with the same "
        f"bytes for each point, a thousand million points would take {plane_minutes} minutes and "
        f"{plane_bytes} GB of the host's memory in the plane, and {minutes} minutes and {n_bytes} "
        "GB in space. That is an estimate and was not tried. The heights of all merges alone are 8 "
        "GB. The clusters would take up to 137 GB of the device's memory, by the table above. The "
        "tree would be found in passes over its edges, which take 36 GB of the device, since a "
        "reduction would need 222 GB."
    )
    headings = [
        "what", "points", "dimensions", "points a block", "cores", "one GPU, s", "two GPUs, s",
        "without blocks, s", "peak of the host's memory, GiB",
    ]  # fmt: skip
    return f"{table(headings, rows)}\n\n{wrapped(said)}"


@part("HDBSCAN by blocks", "blocks_h200")
def clusters(record: Record) -> str:
    """Say how long HDBSCAN of the most points takes, in the plane and in space."""
    found = [row for row in record.rows if row["what"] == "hdbscan"]
    said = (
        f"HDBSCAN of {row['points']:,} points in {row['dimensions']} dimensions, in blocks of "
        f"{row['points a block']:,} points, takes {digits(row['by blocks, s'], 3)} s on one GPU, "
        f"and at most {row['peak, GiB']:.1f} GiB of the host's memory. The host has "
        f"{row['cores of the host']} cores."
        for row in found
    )
    return wrapped(" ".join(said))
