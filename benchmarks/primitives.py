"""Time clmst's primitives beside PyOpenCL's, NumPy's and outside programs (peers).

python -m benchmarks primitives compare [--only scan,sorting] [--peer CUB=./cub] [--no-numpy]
python -m benchmarks primitives scans [--largest 512] [--plot FOLDER]
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import click
import numpy as np

from benchmarks import peers, plots
from benchmarks.case import CopyLimit, Outcome, run_case
from benchmarks.cases import ENTRIES, Entry
from benchmarks.figures import LARGEST_MIB, can_use_pyopencl, measure
from benchmarks.runner import Cases, Row, Rows, Run, case
from benchmarks.workspace import Workspace
from clmst.bench.harness import first_line
from clmst.bench.peers import Peer, named_command
from clmst.primitives import split
from clmst.runtime.array import DeviceArray

_COPY_BYTES = 2**30
_POWER = re.compile(r"2(?:\*\*|\^)(\d{1,2})")
_SEGMENT_KINDS = "segmented_scan_kinds"

_HELP = f"""Time the primitives beside PyOpenCL's and NumPy's, in one run, by turns.

Every contestant's result is compared with NumPy's before it is timed; a wrong one is reported and
not timed. Times are host wall time from the first enqueue to the finished queue, with inputs and
outputs in the device's memory; calls of less than 1 ms are timed in batches of about 2 ms, and
contestants that need more than half a second three times only. "GB/s" is the traffic of the
contestant's own method, "of limit" how much of its time that traffic would take at the bandwidth
of the device's own copy, measured by turns with the contestants; "ratio" is a contestant's time
over that of the first of its case. NumPy works in one thread of the host.

The exit status is 1 if a result of clmst was wrong.

\b
Cases: {", ".join(entry.name for entry in ENTRIES[:6])},
{", ".join(entry.name for entry in ENTRIES[6:12])},
{", ".join(entry.name for entry in ENTRIES[12:])}.
Families: {", ".join(dict.fromkeys(entry.family for entry in ENTRIES))}.

\b
Outside peers: COMMAND is run as
    COMMAND case elements repetitions
and prints one line
    case elements median_ms verdict
where the verdict is "ok" or "wrong", by its own check of its own random input. Lines that begin
with "#" are remarks; exit status {peers.NOT_OFFERED} says that it does not offer the case.
"""


def _elements(_: click.Context, __: click.Parameter, given: Any) -> Any:
    """Parse numbers of elements, which are written as digits or as powers of two (2**20)."""
    if isinstance(given, tuple):
        return tuple(_elements(_, __, one) for one in given)
    text = str(given).strip()
    if given is None:
        return None
    if power := _POWER.fullmatch(text):
        return 1 << int(power[1])
    if not text.isdecimal() or int(text) == 0:
        raise click.BadParameter(f"{text!r} is not a positive number; write 1000000 or 2**20")
    return int(text)


def _parsed(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> list[Peer]:
    """Parse the outside programs (peers) of the command line, each given as NAME=COMMAND."""
    try:
        pairs = [named_command(text) for text in texts]
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return [Peer(name=name, command=command) for name, command in pairs]


def _chosen(_: click.Context, __: click.Parameter, value: str | None) -> Sequence[Entry]:
    """Return the benchmark cases that the option --only names, or all without the option.

    Each name in `value` is the name of a case, or of a family of cases, such as "sorting".
    """
    if value is None:
        return ENTRIES
    names = {name.strip() for name in value.split(",")}
    known = {entry.name for entry in ENTRIES} | {entry.family for entry in ENTRIES}
    if unknown := names - known:
        raise click.BadParameter(
            f"no case is called {sorted(unknown)[0]!r}; there are {', '.join(sorted(known))}"
        )
    return [entry for entry in ENTRIES if {entry.name, entry.family} & names]


def rows_of(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """Yield the row of each contestant in the table of results.

    A contestant is clmst or another program that does the work of a case. The ratio in a row is the
    time of the contestant divided by the time of the first contestant of the case. There is no
    ratio if the result of the first contestant is wrong.
    """
    for _, group in groupby(outcomes, lambda outcome: outcome.case):
        every = [*group]
        base = every[0].median if every[0].status == "ok" else None
        for one in every:
            is_right, bandwidth = one.status == "ok", None
            row: Row = {"case": one.case, "contestant": one.contestant, "elements": one.size}
            row |= {"ms": one.status, "GB/s": "", "of limit": "", "ratio": ""}
            if is_right:
                bandwidth = one.bandwidth
                row["ms"] = [1e3 * seconds for seconds in one.seconds]
                row["ratio"] = "" if base is None else f"{one.median / base:.2f}"
            if bandwidth is not None and one.limit_share is not None:
                row |= {"GB/s": f"{bandwidth * 1e-9:,.1f}", "of limit": f"{one.limit_share:.0%}"}
            yield row | {
                "_status": one.status, "_remark": one.remark, "_calls": one.calls,
                "_bytes": one.traffic, "_limit_share": one.limit_share if is_right else None,
                "_ours": one.ours,
            }  # fmt: skip


def remarks_on(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the remarks that follow the table of results.

    One says how much the time of a segmented scan depends on the kind of segments. Every compared
    program without times gets a remark with the reason.
    """
    times = [o.median for o in outcomes if o.case == _SEGMENT_KINDS and o.status == "ok"]
    if times:
        ratio = max(times) / min(times)
        yield f"segmented_scan: the slowest segments take {ratio:.3f} x the quickest ones"
    for one in outcomes:
        if one.status != "ok":
            yield f"{one.case}, {one.contestant}: {one.status}: {one.remark}"


def _copy_bytes(space: Workspace, elements: int | None) -> int:
    """Return the number of bytes in the copy that measures the bandwidth of the device.

    The copy has at most 1 GiB and at most a quarter of the device's memory. `elements` is the
    number of elements of every case, or None if it differs between cases. If it is given, the copy
    has at most 64 bytes for each element, or at most 1 MiB if that is more.
    """
    capabilities = space.device.capabilities
    most = min(_COPY_BYTES, capabilities.global_memory // 4, capabilities.max_allocation)
    return most if elements is None else min(most, max(64 * elements, 2**20))


def _run(
    space: Workspace, entry: Entry, size: int, limit: CopyLimit, repetitions: int, *,
    with_numpy: bool,
) -> list[Outcome]:  # fmt: skip
    """Build a benchmark case, run it, and return the outcome of each of its methods.

    `entry` is the case, `size` the number of elements, and `limit` a plain copy that is timed in
    the same turns. Each method is timed `repetitions` times. If `with_numpy` is false, NumPy is not
    timed. If the case cannot be built, the only outcome is one that has the error.
    """
    try:
        built = entry.build(space, size)
        if not with_numpy:
            kept = [method for method in built.methods if not method.name.startswith("NumPy")]
            built = replace(built, methods=kept)
        return run_case(space, built, limit, repetitions)
    except Exception as error:
        return [
            Outcome(
                case=entry.name, contestant="clmst", size=size, status="failed",
                remark=first_line(error), ours=True,
            )
        ]  # fmt: skip
    finally:
        space.release()


@click.group(cls=Cases)
def main() -> None:
    """Time primitives."""


@main.add_command
@case(
    click.option("--only", callback=_chosen, metavar="CASE,...", help="Cases, or families."),
    click.option("--elements", callback=_elements, help="For all cases, e.g. 2**20."),
    click.option("--no-numpy", is_flag=True, help="Results are compared with it all the same."),
    click.option(
        "--peer", "others", callback=_parsed, multiple=True, metavar="NAME=COMMAND",
        help="An outside peer.",
    ),
    click.option(
        "--peer-limit", type=click.FloatRange(0), default=120.0, show_default=True, help="Seconds."
    ),
    description=_HELP, draw=plots.draw_comparisons,
)  # fmt: skip
def compare(
    run: Run, *, only: Sequence[Entry], elements: int | None, no_numpy: bool,
    others: list[Peer], peer_limit: float,
) -> Rows:  # fmt: skip
    """Time the benchmark cases of primitives, such as sorts and scans, beside other libraries.

    Every result is verified before it is timed. `only` has the cases to run. Each case has
    `elements` elements or, if that is None, its own default number. PyOpenCL and NumPy do the same
    work. If `no_numpy` is true, NumPy is not timed. `others` are outside programs (peers) that do
    the work, too. Each of them may take `peer_limit` seconds for a case.
    """
    warnings.filterwarnings("ignore", message="Non-empty compiler output")
    space = Workspace(run.device)
    limit = CopyLimit(space, _copy_bytes(space, elements))
    outcomes: list[Outcome] = []
    for entry in only:
        size = elements or entry.elements(space)
        found = _run(space, entry, size, limit, run.repetitions, with_numpy=not no_numpy)
        for other in others:
            answer = peers.answer_of(
                other, entry.name, size, run.repetitions, time_limit=peer_limit
            )
            found += [answer] if answer else []
        outcomes += found
        yield from rows_of(found)
    yield from remarks_on(outcomes)
    if any(outcome.ours and outcome.status != "ok" for outcome in outcomes):
        raise click.exceptions.Exit(1)


@main.add_command
@case(
    click.option(
        "--largest", type=click.IntRange(1), default=LARGEST_MIB, show_default=True,
        help="MiB; sizes are the powers of two up to it.",
    ),
    draw=plots.draw_scans,
)  # fmt: skip
def scans(run: Run, largest: int) -> Rows:
    """Time exclusive scans from 1 MiB up: kernels alone and whole calls, with speedups.

    This repeats Figures 5 to 8 of Sun and Skadron, "Prefix Scan and Minimum Spanning Tree with
    OpenCL" (2013), for sums of 32-bit integers. Kernel time is the sum of the times that the device
    measures for its kernels. Total time is wall time of the host. It includes both transfers, from
    and to pageable memory. Speedups are over NumPy in one thread. --plot names a folder for two
    pictures.
    """
    if not can_use_pyopencl():
        yield "without PyOpenCL, whose scans need Mako: pip install mako"
    yield from measure(Workspace(run.device), largest, run.repetitions)


# Pairs of the bytes of a record and the bits of its key, as in Figure 4 of Vineet et al. (HPG '09).
_FIELDS = ((4, 8), (4, 16), (4, 24), (4, 32), (8, 32), (8, 48), (8, 64))


@main.add_command
@case(
    click.option(
        "--elements", "sizes", callback=_elements, multiple=True, show_default=True,
        default=("2**20", "2**22", "2**24"), help="Records; again for more.",
    )
)  # fmt: skip
def splits(run: Run, sizes: tuple[int, ...]) -> Rows:
    """Time splits, which are stable sorts by some bits of a key, by the sizes of record and key.

    This repeats Figure 4 of Vineet et al. (HPG '09).
    """
    rng = np.random.default_rng(0)
    for size in sizes:
        for record_bytes, key_bits in _FIELDS:
            dtype = np.dtype(f"u{record_bytes}")
            records = rng.integers(0, np.iinfo(dtype).max, size, dtype, endpoint=True)
            keys = records & dtype.type((1 << key_bits) - 1)
            expected = records[np.argsort(keys, kind="stable")]
            given = DeviceArray.from_host(records, run.device)
            out = DeviceArray.empty(size, dtype, run.device)

            def difference(found: DeviceArray, expected: Any = expected) -> str:
                return "" if np.array_equal(found.to_host(), expected) else "another order"

            way = partial(split, given, key_bits=key_bits, out=out)
            wait = run.device.queue.finish
            times = run.turns({"ms": way}, difference, wait=wait)["ms"]
            row: Row = {"records": size, "bytes": record_bytes, "key bits": key_bits, "ms": times}
            yield row | {"M records/s": size / run.of(times) * 1e-3}
