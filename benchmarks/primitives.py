"""Time the primitives beside PyOpenCL's, NumPy's and outside peers, each result verified first.

See ``python -m benchmarks primitives --help``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

import clmst
from benchmarks import peers, plots, report
from benchmarks.case import Case, CopyLimit, Outcome, run_case
from benchmarks.cases import ENTRIES, Entry
from benchmarks.figures import LARGEST_MIB, Point, can_use_pyopencl, measure
from benchmarks.workspace import Workspace
from clmst.bench.canvas import can_draw
from clmst.bench.measurement import first_line
from clmst.bench.results import write_json
from clmst.cli.failure import reported
from clmst.cli.terminal import console

if TYPE_CHECKING:
    _NumberType = click.ParamType[int]
    _PeerType = click.ParamType[peers.Peer]
else:  # older releases of click have no generic ParamType
    _NumberType = _PeerType = click.ParamType

_COPY_BYTES = 2**30
_POWER = re.compile(r"2(?:\*\*|\^)(\d{1,2})")

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


class _Elements(_NumberType):
    """A number of elements, as digits or as a power of two."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number that `value` writes."""
        text = str(value).strip()
        if power := _POWER.fullmatch(text):
            return 1 << int(power[1])
        if not text.isdecimal() or int(text) == 0:
            self.fail(f"{text!r} is no positive number; write 1000000 or 2**20", param, ctx)
        return int(text)


class _Peer(_PeerType):
    """An outside peer."""

    name = "NAME=COMMAND"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> peers.Peer:
        """Return the peer that `value` writes."""
        try:
            return peers.Peer.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _chosen(_: click.Context, __: click.Parameter, value: str | None) -> Sequence[Entry]:
    """Return the entries that a list of names of cases and families means."""
    if value is None:
        return ENTRIES
    names = {name.strip() for name in value.split(",")}
    known = {entry.name for entry in ENTRIES} | {entry.family for entry in ENTRIES}
    if unknown := names - known:
        raise click.BadParameter(
            f"no case is called {sorted(unknown)[0]!r}; there are {', '.join(sorted(known))}"
        )
    return [entry for entry in ENTRIES if {entry.name, entry.family} & names]


def _drawable(_: click.Context, __: click.Parameter, folder: Path | None) -> Path | None:
    """Return the folder, provided that something can be drawn: better known before than after."""
    if folder is not None and not can_draw():
        raise click.BadParameter("pictures need Matplotlib: pip install matplotlib")
    return folder


def _space(device: str | None) -> Workspace:
    with reported():
        return Workspace(clmst.get_device(device))


device_option = click.option("--device", help="As of clmst solve.")
repetitions_option = click.option(
    "--repetitions", type=click.IntRange(min=1), default=9, show_default=True
)
json_option = click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures here."
)
plot_option = click.option(
    "--plot",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    callback=_drawable,
    help="Draw pictures too.",
)
markdown_option = click.option("--markdown", is_flag=True, help="Print the table as Markdown.")


@click.group(invoke_without_command=True, help=_HELP)
@device_option
@click.option("--only", callback=_chosen, metavar="CASE,...", help="Cases, or families of them.")
@click.option("--elements", type=_Elements(), help="For all cases, e.g. 2**20.")
@repetitions_option
@click.option("--no-numpy", is_flag=True, help="Do not time NumPy; results are compared with it.")
@click.option("--peer", "others", type=_Peer(), multiple=True, help="An outside peer.")
@click.option(
    "--peer-limit", type=click.FloatRange(0), default=120.0, show_default=True, help="Seconds."
)
@json_option
@plot_option
@markdown_option
@click.pass_context
def main(
    context: click.Context,
    *,
    device: str | None,
    only: Sequence[Entry],
    elements: int | None,
    repetitions: int,
    no_numpy: bool,
    others: tuple[peers.Peer, ...],
    peer_limit: float,
    json_file: Path | None,
    folder: Path | None,
    markdown: bool,
) -> None:
    """Run the cases, unless a subcommand is given."""
    warnings.filterwarnings("ignore", message="Non-empty compiler output")
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    space = _space(device)
    limit = CopyLimit(space, _copy_bytes(space, elements))
    outcomes: list[Outcome] = []
    for entry in only:
        click.echo(f"{entry.name} ...", err=True)
        size = elements or entry.elements(space)
        outcomes += _run(space, entry, size, limit, repetitions, with_numpy=not no_numpy)
        for other in others:
            answer = other.compete(entry.name, size, repetitions, time_limit=peer_limit)
            outcomes += [answer] if answer else []
        if json_file is not None:  # after each case, so that a run that is cut short leaves some
            write_json(json_file, report.as_json(space.facts(), outcomes))
    _show(space, outcomes, markdown=markdown)
    if folder is not None:
        plots.draw_comparisons(outcomes, folder, space.device.name)
    if any(outcome.ours and outcome.status != "ok" for outcome in outcomes):
        context.exit(1)


@main.command("figures")
@device_option
@click.option(
    "--largest",
    type=click.IntRange(1),
    default=LARGEST_MIB,
    show_default=True,
    help="MiB; sizes are the powers of two up to it.",
)
@repetitions_option
@json_option
@plot_option
@markdown_option
def figures(
    *,
    device: str | None,
    largest: int,
    repetitions: int,
    json_file: Path | None,
    folder: Path | None,
    markdown: bool,
) -> None:
    """Kernel time, total time and speedup of exclusive scans, from 1 MiB up.

    As Figures 5 to 8 of Sun and Skadron, "Prefix Scan and Minimum Spanning Tree with OpenCL"
    (2013): 32-bit sums. Kernel time is the sum of the device's own times of all kernels; total
    time is host wall time with both transfers, from and to pageable memory. Speedups are over
    NumPy in one thread.
    """
    space = _space(device)
    if not can_use_pyopencl():
        click.echo("without PyOpenCL, whose scans need Mako: pip install mako", err=True)
    points: list[Point] = []
    for point in measure(space, largest, repetitions):
        click.echo(f"{point.mib} MiB, {point.name}: {point.kernel:.3f} ms", err=True)
        points.append(point)
    console().print(report.scan_table(points, markdown=markdown))
    if json_file is not None:
        facts = space.facts() | {"repetitions": repetitions}
        write_json(json_file, facts | {"points": [asdict(point) for point in points]})
    if folder is not None:
        plots.draw_scans(points, folder, space.device.name)


def _refuse_options(context: click.Context) -> None:
    """Raise if options stand before the subcommand, which would not see them."""
    source = click.core.ParameterSource.COMMANDLINE
    if any(context.get_parameter_source(name) is source for name in context.params):
        name = context.invoked_subcommand
        raise click.UsageError(f"options of {name!r} stand behind its name")


def _copy_bytes(space: Workspace, elements: int | None) -> int:
    """Return how large a buffer the limit copies: 1 GiB where that is a quarter of the memory."""
    capabilities = space.device.capabilities
    most = min(_COPY_BYTES, capabilities.global_memory // 4, capabilities.max_allocation)
    return most if elements is None else min(most, max(64 * elements, 2**20))


def _run(
    space: Workspace,
    entry: Entry,
    size: int,
    limit: CopyLimit,
    repetitions: int,
    *,
    with_numpy: bool,
) -> list[Outcome]:
    """Build a case and run it; a case that cannot be built is an outcome, too."""
    try:
        case = entry.build(space, size)
        return run_case(space, case if with_numpy else _without_numpy(case), limit, repetitions)
    except Exception as error:
        remark = first_line(error)
        failed = Outcome(
            case=entry.name, contestant="clmst", size=size, status="failed", remark=remark
        )
        failed.ours = True
        return [failed]
    finally:
        space.release()


def _without_numpy(case: Case) -> Case:
    """Return the case without the methods of NumPy."""
    kept = [method for method in case.methods if not method.name.startswith("NumPy")]
    return replace(case, methods=kept)


def _show(space: Workspace, outcomes: Sequence[Outcome], *, markdown: bool) -> None:
    screen = console()
    screen.print(f"{space.device.description}, driver {space.device.driver}")
    screen.print(report.table(outcomes, markdown=markdown))
    if (ratio := report.segment_ratio(outcomes)) is not None:
        screen.print(f"segmented_scan: the slowest segments take {ratio:.3f} x the quickest ones")
    for line in report.not_timed(outcomes):
        screen.print(line)
