"""Find graphs on which filter-boruvka is slow, by a model of the time that a solve should take.

    python -m benchmarks landscape measure FILE.jsonl [--cells 400] [--seed 0] [--seconds 420]
        [--targets] [--held-out] [--family TEXT ...] [--most-entries 2**26] [--peer NAME=COMMAND
        ...]
    python -m benchmarks landscape report FILE.jsonl... [--plot MAP.png] [--held-out]

The landscape is a large set of graphs, which are called cells. They differ in family, average
degree (2 to 256), number of vertices (2**12 to 2**25), kind of weights, and in whether each edge is
stored once or twice. ``measure`` draws cells at random, by a seed. Each graph is made on the device
and first solved by another algorithm. If it is small, Kruskal's algorithm on the host solves it,
too. Then filter-boruvka is timed on the device, and must find the same forest. FILE gets a line for
each cell. Cells that FILE already has are skipped, so a run that was stopped can go on.

filter-boruvka solves the lightest edges first, about as many as a target says. --targets times ten
fixed targets beside the default choice. --held-out draws graphs only from the families that were
not used for tuning. --peer also times an outside program, as ``clmst bench`` does, on each graph
with integer weights, with both directions stored.

``report`` fits a model to the cells of all families that are not held out. It lists the cells
that take more than 1.5 times as long as the model, and those that take more than 1.2 times as long
as the best of ten targets. The model of a solve is

    a launches + b (bytes read once at the rate of a copy) + c (gathers)

The bytes are the sizes of the row offsets, columns and weights. There is a gather for each end of
an edge, but for at most five ends per vertex. A gather costs as much as a random read from a table
that has a word for each vertex. These rates are measured on the device together with the cells. The
factors a, b and c are fitted to all cells so that the sum of the relative deviations is least.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import click
import numpy as np

import clmst
from benchmarks import landscape_report
from benchmarks.agreement import Agreement
from benchmarks.case import CopyLimit
from benchmarks.landscape_graphs import (
    FAMILIES,
    LAYOUTS,
    LOG_VERTICES,
    STRUCTURED,
    WEIGHTS,
    Cell,
)
from benchmarks.landscape_report import HELD_OUT, read_lines
from benchmarks.runner import Cases, Row, Rows, Run, Way, case
from benchmarks.workspace import Workspace
from clmst.algorithms.solving import solution_by
from clmst.bench.agreement import Reference
from clmst.bench.contestants import release, solving
from clmst.bench.harness import WrongResultError, first_line, median_seconds
from clmst.bench.peers import Peer
from clmst.bench.results import machine_facts
from clmst.core.weight_keys import Array
from clmst.io import write_graph
from clmst.primitives import gather
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

ALGORITHM, OTHER = "filter-boruvka", "ecl"
DEFAULT = "default"
TARGETS: tuple[tuple[float, ...], ...] = (
    (), (0.4,), (0.6,), (0.8,), (1.0,), (1.5,), (2.0,), (3.0,), (0.6, 1.8), (1.0, 3.0),
)  # fmt: skip
_STRUCTURED_LOG_EDGES = (16, 20)
_KRUSKAL_SLOTS = 1 << 16
_MEMORY, _PEER_SECONDS = Path("/dev/shm"), 20.0
# Number of bytes that are copied to measure the bandwidth of a device. On a GPU, they are more than
# the caches hold.
_COPIED_BYTES = {"gpu": 1 << 28, "cpu": 1 << 24}


def every_cell(wanted: Callable[[str], bool], seed: int, most_entries: int) -> list[Cell]:
    """Return the parameters of all graphs of the landscape in random order.

    A run measures the first ones of the result.

    There is one graph for each family, degree and number of vertices. The kind of weights, and
    whether edges are stored once or twice, are drawn at random by `seed`. `wanted` is a function
    that selects families by name. Graphs with more than `most_entries` CSR entries are left out.
    """
    structures = [
        (name, degree, log_size)
        for name, family in FAMILIES.items()
        for degree in family.degrees
        for log_size in LOG_VERTICES
        if 8 * degree <= 1 << log_size
    ]
    structures += [(name, 0, log_size) for name in STRUCTURED for log_size in _STRUCTURED_LOG_EDGES]
    drawn = random.Random(seed)
    cells = [
        Cell(
            family=family, degree=degree, log_size=log_size,
            weights=drawn.choice([*WEIGHTS]) if degree else "its own",
            layout=drawn.choice(LAYOUTS),
        )
        for family, degree, log_size in drawn.sample(structures, len(structures))
    ]  # fmt: skip
    return [one for one in cells if wanted(one.family) and one.entries <= most_entries]


# ------------------------------------------------------------------------------ measuring


def constants_of(run: Run) -> Row:
    """Measure the rates of a device for the model of a solve's time, in milliseconds.

    Returns a dict with the time of one launch ("launch"), the time per byte of a copy ("byte"), and
    the time of one random read from a table ("gathers"). The last is a dict for tables of several
    sizes, whose keys are the binary logarithms of their numbers of words.
    """
    space, rng = Workspace(run.device), np.random.default_rng(0)
    n_bytes = _COPIED_BYTES.get(run.device.capabilities.kind, 1 << 24)

    def ms(call: Way) -> float:
        def waited() -> None:
            call()
            space.finish()

        return 1e3 * median_seconds(waited, run.repetitions, warm_ups=2)

    def gathered(b: int, count: int) -> float:
        indices = space.put(rng.integers(0, 1 << b, count, np.uint32))
        table, out = space.empty(1 << b, np.uint32), space.empty(count, np.uint32)
        return ms(lambda: gather(table, indices, out))

    launch, count = gathered(0, 1), n_bytes // 16
    copied = ms(CopyLimit(space, n_bytes).contestant(space).call)
    return {
        "launch": launch,
        "byte": max(copied - launch, 0) / (2 * n_bytes),
        "gathers": {b: max(gathered(b, count) - launch, 0) / count for b in LOG_VERTICES},
    }


def right_forest(resident: DeviceGraph) -> Reference:
    """Solve a graph by an algorithm that is not timed, and return the forest as the expected one.

    If the graph is small, the forests of this algorithm and of filter-boruvka are first compared
    with the forest of Kruskal's algorithm on the host. Raises WrongResultError if a forest differs.
    """
    if resident.n_slots <= _KRUSKAL_SLOTS:
        agreement = Agreement("the host's Kruskal", clmst.kruskal(resident.graph))
        for name in (ALGORITHM, OTHER):
            found = clmst.minimum_spanning_forest(resident, algorithm=name)
            if difference := agreement.difference(found):
                raise WrongResultError(f"{name}: {difference}")
    launch = Launcher(resident.device, resident.device.queue)
    _, solution = solution_by(OTHER, resident, launch, maximum=False)
    slots = np.flatnonzero(solution.in_forest.to_host())
    return Reference(slots=slots, n_slots=resident.n_slots, total_weight=0, how=OTHER)


def kernels_of(resident: DeviceGraph) -> dict[str, float]:
    """Solve a graph once by filter-boruvka, and return the milliseconds of each kernel, by name.

    They are measured by the device's own clock.
    """
    launch = Launcher.of(resident.device, profile=True)
    solution_by(ALGORITHM, resident, launch, maximum=False)
    launch.queue.finish()
    assert launch.profile is not None
    return {name: one.milliseconds for name, one in launch.profile.summary().items()}


def timed(run: Run, resident: DeviceGraph, reference: Reference, *, with_targets: bool) -> Row:
    """Verify and time filter-boruvka on a graph, with its default options and with fixed targets.

    filter-boruvka first solves one or more ranges of light weights. A target says up to which
    number of edges per vertex each range goes. Fixed targets are timed only if `with_targets` is
    true. `reference` is the expected forest.
    """
    options: dict[str, Any] = {DEFAULT: None}
    if with_targets:
        options |= {str(one): clmst.FilterBoruvkaOptions(targets=one) for one in TARGETS}
    sizes = {}

    def way(name: str) -> Way:
        call = solving(resident, ALGORITHM, name, options[name]).call

        def solve() -> Any:
            outcome = call()
            sizes[name] = outcome.stats["worklist_sizes"]
            return outcome

        return solve

    times = run.turns(
        {name: way(name) for name in options}, lambda found: found.difference(reference),
        rehearsals=1,
    )  # fmt: skip
    own, kernels = times.pop(DEFAULT), kernels_of(resident)
    return {"ms": own, "_kernels": kernels, "_targets": times, "_sizes": sizes}


def peers_beside(
    peers: Sequence[Peer], resident: DeviceGraph, slots: Array, repetitions: int
) -> dict[str, list[float] | str]:
    """Time outside programs on a graph, and return the milliseconds of each, by name.

    A peer is a program that reads the graph from a file and times itself. `resident` is the graph,
    and `slots` are the CSR entries of its forest, whose weight every peer must find. If a peer
    fails or finds another weight, a text about that takes the place of the times.
    """
    graph = resident.graph
    total = int(graph.weights[slots].sum(dtype=np.int64))
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.exists() else None) as folder:
        file = Path(folder, "cell.egr")
        write_graph(graph.symmetrised(), file)
        found = {
            one.name: one.compete(file, repetitions, total, time_limit=_PEER_SECONDS)
            for one in peers
        }
    return {
        name: [1e3 * each for each in one.solve] if one.status == "ok" else one.remark
        for name, one in found.items()
    }


def measured(
    run: Run, cell: Cell, seed: int, *, with_targets: bool, peers: Sequence[Peer] = ()
) -> Row:
    """Generate and time one graph of the landscape, and return the row of results.

    `cell` has the parameters of the graph, and `seed` decides its random numbers. If `with_targets`
    is true, filter-boruvka is also timed with fixed numbers of light edges that it solves first.
    `peers` are outside programs that solve the same graph. If anything fails, the row has the
    reason instead of times.
    """
    row = asdict(cell)
    begun = monotonic()
    try:
        resident = cell.made(seed, run.device)
        row |= {"n": resident.n_vertices, "slots": resident.n_slots}
        run.device.queue.finish()
        row["_made"] = monotonic() - begun
        reference = right_forest(resident)
        row |= timed(run, resident, reference, with_targets=with_targets)
        if peers and resident.graph.weights.dtype == np.int32:
            row["_peers"] = peers_beside(peers, resident, reference.slots, run.repetitions)
    except Exception as error:
        # A wrong forest, or a device that runs out of memory, must not stop the measurement of
        # other graphs.
        row["failed"] = first_line(error)
    row["_seconds"] = monotonic() - begun
    return row


def _shown(row: Row) -> Row:
    """Return those columns of a measured row that are printed while a run is under way.

    The file of results gets all columns of the row.
    """
    shown = {name: row[name] for name in ("family", "degree", "log_size", "weights", "layout")}
    if "failed" in row:
        return shown | {"failed": row["failed"]}
    shown |= {"slots": row["slots"], "ms": row["ms"], "kernels": sum(row["_kernels"].values())}
    targets = {name: median(times) for name, times in row["_targets"].items()}
    shown |= {
        f"{name} / ms": median(times) / median(row["ms"]) if isinstance(times, list) else times
        for name, times in row.get("_peers", {}).items()
    }
    if targets:
        best = min(targets, key=lambda name: targets[name])
        shown |= {"best target": best, "to it": median(row["ms"]) / targets[best]}
    return shown


@click.group(cls=Cases)
def main() -> None:
    """Time filter-boruvka over a landscape of graphs, and find where it is slow."""


main.add_command(landscape_report.report)


@main.add_command
@case(
    click.argument("file", type=click.Path(path_type=Path, dir_okay=False)),
    click.option("--cells", default=400, show_default=True),
    click.option("--seed", default=0, show_default=True),
    click.option("--seconds", type=float, default=None, help="No cell begins later."),
    click.option("--targets", "with_targets", is_flag=True, help="Ten fixed windows, too."),
    click.option("--held-out", is_flag=True, help="The families on which nothing is tuned."),
    click.option("--family", "families", multiple=True, help="Part of a name; again for more."),
    click.option("--most-entries", default=1 << 26, show_default=True),
    click.option(
        "--peer", "peers", multiple=True, help="A program to time beside; as clmst bench."
    ),
    repetitions=5,
)
def measure(
    run: Run, *, file: Path, cells: int, seed: int, seconds: float | None, with_targets: bool,
    held_out: bool, families: tuple[str, ...], most_entries: int,
    peers: tuple[str, ...],
) -> Rows:  # fmt: skip
    """Time the graphs that FILE does not have yet, and append a line to FILE for each."""

    def wanted(family: str) -> bool:
        named = not families or any(part in family for part in families)
        return named and (family in HELD_OUT) == held_out

    begun, device = monotonic(), run.device.name
    known = {_key(row) for row in read_lines([file]) if row.get("device") == device}
    chosen = every_cell(wanted, seed, most_entries)[:cells]
    left = [one for one in chosen if (*asdict(one).values(), seed, with_targets) not in known]
    if left:
        constants = constants_of(run)
        _append(
            file, {"device": device, "constants": constants, "facts": machine_facts(run.device)}
        )
    for done, cell in enumerate(left):
        if seconds is not None and monotonic() - begun > seconds:
            yield f"{len(left) - done} of {len(chosen)} cells are left: the same command goes on"
            return
        row = measured(
            run, cell, seed, with_targets=with_targets, peers=[Peer.parse(one) for one in peers]
        )
        release(run.device)
        _append(file, {"device": device, "seed": seed, "with_targets": with_targets, **row})
        yield _shown(row)
    yield f"all of {len(chosen)} cells are in {file}"


def _key(row: Row) -> tuple[Any, ...] | None:
    """Return the parameters that identify the graph of a row, or None if it has no graph.

    Rows without a graph have the rates of a device.
    """
    if "family" not in row:
        return None
    names = ("family", "degree", "log_size", "weights", "layout", "seed", "with_targets")
    return tuple(row[name] for name in names)


def _append(file: Path, row: Row) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")
