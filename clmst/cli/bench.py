"""``clmst bench``: run the benchmark, and show its tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clmst.bench.settings import (
    ALGORITHMS,
    DEGREES,
    EXPERIMENTS,
    LEAST_REPETITIONS,
    PEER_SECONDS,
    SEEDS,
    Settings,
    default_cache,
)
from clmst.cli.failure import CommandFailure, understood
from clmst.cli.options import (
    algorithm_option,
    device_option,
    json_option,
    numbers,
    options_option,
    quiet_option,
    words_of,
)
from clmst.cli.options import graphs as complete_graphs
from clmst.cli.terminal import STREAM, print_json, print_tables

if TYPE_CHECKING:
    from clmst.bench.peers import Peer
    from clmst.bench.results import Results
    from clmst.bench.tables import Table


_EPILOG = """\b
Other programs (--peer): COMMAND runs once for each graph. In it, {file} is replaced
by the name of an ECL graph (.egr), and {repetitions} by a number. If COMMAND has
neither, both are appended. The program warms up, solves the graph this many times,
prints the following lines, and ends with status 0.
    solve_ms X      one for each repetition: the time without transfers
    transfer_ms X   one for each repetition, or none: the time with both transfers
    weight W        the total weight of its forest, which clmst checks
    # ...           a remark
A program that fails, takes too long or gives a wrong weight is reported without times.
clmst includes two peers: --peer scipy and --peer networkx.
"""


def _peers(_context: object, _option: object, texts: Sequence[str]) -> tuple[Peer, ...]:
    """Parse the values of an option that names outside programs (peers) to compare with.

    `texts` are the values. Each is NAME=COMMAND, or the name of a peer that clmst includes. Raises
    a usage error if a value is neither. The other two arguments are click's, and are not used.
    """
    from clmst.bench.peers import Peer

    try:
        return tuple(map(Peer.parse, texts))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command(epilog=_EPILOG)
@click.argument("graphs", metavar="[GRAPH]...", nargs=-1, shell_complete=complete_graphs)
@click.option("--list", "listed", is_flag=True, help="List the named graphs, and exit.")
@device_option
@click.option(
    "--what", "experiments", metavar="NAME,...", callback=words_of(EXPERIMENTS), default="times",
    show_default=True, help=f"Experiments: {', '.join(EXPERIMENTS)}.",
)  # fmt: skip
@algorithm_option(
    "algorithms", text="The algorithm to time. Ratios are relative to the first one. May be "
                       "repeated. One of {names}.",
    multiple=True, default=ALGORITHMS,
)  # fmt: skip
@options_option
@click.option(
    "--repeat", "repetitions", metavar="N", type=click.IntRange(min=1), default=LEAST_REPETITIONS,
    show_default=True,
    help=f"Number of timed calls of each contestant. Fewer than {LEAST_REPETITIONS} need --quick.",
)  # fmt: skip
@click.option("--quick", is_flag=True, help=f"Allow fewer than {LEAST_REPETITIONS} repetitions.")
@click.option(
    "--transfers/--no-transfers", default=True, show_default=True,
    help="Also time solves whose graph and forest are on the host, transfers included.",
)  # fmt: skip
@click.option(
    "--peer", "peers", metavar="NAME[=COMMAND]", callback=_peers, multiple=True,
    help="Also time another program on the same graphs (see below). May be repeated.",
)  # fmt: skip
@click.option(
    "--peer-timeout", "peer_seconds", metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True), default=PEER_SECONDS, show_default=True,
    help="Stop a peer that runs longer than this.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path),
    help="Keep all results in this file, as JSON. It is written again after every graph.",
)  # fmt: skip
@click.option(
    "--resume",
    is_flag=True,
    help="Continue with the results in --output FILE, and measure only what has no times yet.",
)
@json_option
@click.option("--tables", "markdown", is_flag=True, help="Print the tables as Markdown.")
@click.option(
    "--plot", "folder", type=click.Path(file_okay=False, path_type=Path),
    help="Draw the figures into this folder.",
)  # fmt: skip
@click.option(
    "--merge",
    is_flag=True,
    help="Measure nothing. The arguments are files that --output wrote; show their results side "
    "by side.",
)
@click.option(
    "--cache", type=click.Path(file_okay=False, path_type=Path), default=default_cache,
    help="The folder in which generated graphs are kept. By default it is in the user's cache "
         "folder.",
)  # fmt: skip
@click.option(
    "--seeds", metavar="N", type=click.IntRange(min=1), default=SEEDS, show_default=True,
    help="Number of seeds, for the experiment seeds.",
)  # fmt: skip
@click.option(
    "--vertices",
    metavar="N,...",
    callback=numbers,
    default="",
    help="Numbers of vertices, for the experiment scaling.",
)
@click.option(
    "--degrees", metavar="N,...", callback=numbers, default=",".join(map(str, DEGREES)),
    show_default=True, help="Average degrees, for the experiment degree.",
)  # fmt: skip
@click.option(
    "--degree-vertices", metavar="N", type=click.IntRange(min=1),
    callback=lambda _context, _option, number: number or 0,
    help="Number of vertices of each graph, for the experiment degree.",
)  # fmt: skip
@quiet_option
def bench(
    *,
    graphs: tuple[str, ...],
    listed: bool,
    device_name: str | None,
    option_texts: tuple[str, ...],
    quick: bool,
    output: Path | None,
    resume: bool,
    as_json: bool,
    markdown: bool,
    folder: Path | None,
    merge: bool,
    quiet: bool,
    **measured: Any,  # the fields of Settings
) -> None:
    """Time clmst on the graphs of the papers, or on any GRAPH.

    GRAPH is a named graph (--list), one of the groups small, large and all, or a file that clmst
    reads. The default is the group small on a CPU, and elsewhere all graphs that fit into the
    memory of device and host. Graphs are generated when they are first needed, and kept.

    Every result is verified before it is timed. Contestants are timed in turns. The exit status is
    1 if clmst itself was wrong or failed anywhere.
    """
    if listed:
        print_tables([_named_graphs()], markdown=markdown)
        return
    from clmst.algorithms.option_texts import texts_with
    from clmst.core.errors import optional_import

    with understood():
        measured["algorithms"] = texts_with(measured["algorithms"], option_texts)
    if folder is not None:
        optional_import("matplotlib", extra="plot")  # checked before the work
    # In earlier versions --json took the name of a file.
    if output == STREAM or (as_json and not merge and any(one.endswith(".json") for one in graphs)):
        raise click.UsageError(
            "--json prints to stdout and takes no file name; --output must name a file"
        )
    if as_json and markdown:
        raise click.UsageError("--json and --tables both write to stdout; give only one of them")
    if merge:
        _refuse_to_measure(graphs, output, resume=resume)
        from clmst.bench.results import Results, merged

        results = merged({name: Results.load(Path(name)) for name in graphs})
        if output is not None:
            results.path = output
            results.save()
    else:
        settings = Settings(**measured)
        _refuse_contradictions(settings, output, quick=quick, resume=resume)
        results, machine = _measure(
            graphs, device_name, settings, output, resume=resume, quiet=quiet
        )
    _report(results, folder, markdown=markdown, as_json=as_json, quiet=quiet)
    if not merge:
        _raise_for_failures(results, machine)


def _named_graphs() -> Table:
    from clmst.bench.inputs import is_small
    from clmst.bench.tables import Table
    from clmst.generators.surrogates import CLOSER, SURROGATES

    rows = []
    for one in (*SURROGATES.values(), *CLOSER.values()):
        group = "" if one.name in CLOSER else "small" if is_small(one) else "large"
        sizes = f"{one.n_vertices:,}", f"{one.n_slots:,}"
        rows.append((one.name, one.stands_for, one.description, group, *sizes))
    return Table(
        title="Named graphs",
        headings=("graph", "stands for", "description", "group", "vertices", "slots"),
        rows=rows,
        n_names=4,
        notes=("There are also random-2e20-d8, random-1000-d4, rmat-2e20-d16 and their like.",),
    )


def _refuse_to_measure(graphs: tuple[str, ...], output: Path | None, *, resume: bool) -> None:
    if not graphs:
        raise click.UsageError("--merge has no files; name at least one that --output wrote")
    if resume:
        raise click.UsageError("--merge measures nothing, so it cannot be combined with --resume")
    if output is not None and output.exists():
        raise click.UsageError(f"{output} exists already; --merge must write a new file")


def _refuse_contradictions(
    settings: Settings, output: Path | None, *, quick: bool, resume: bool
) -> None:
    from clmst.bench.peers import duplicates

    if settings.repetitions < LEAST_REPETITIONS and not quick:
        raise click.UsageError(
            f"--repeat {settings.repetitions} is below {LEAST_REPETITIONS}; this is allowed only "
            "with --quick"
        )
    if twice := duplicates(settings.peers):
        raise click.UsageError(f"several peers are called {twice[0]}; names must differ")
    for peer in settings.peers:
        if peer.name.startswith("clmst"):
            raise click.UsageError(
                f"a peer is called {peer.name!r}; this name belongs to clmst "
                "itself, so choose another one"
            )
    if resume and output is None:
        raise click.UsageError("--resume continues the file of --output; give --output as well")
    if output is not None and output.exists() and not resume:
        raise click.UsageError(
            f"{output} exists already; continue it with --resume, or name another file"
        )


def _measure(
    names: tuple[str, ...],
    device_name: str | None,
    settings: Settings,
    output: Path | None,
    *,
    resume: bool,
    quiet: bool,
) -> tuple[Results, str]:
    """Run the benchmark. Returns all results, and a text that identifies this machine in them.

    `names` are the graphs. If `resume`, results in the file `output` are not measured again.
    """
    from clmst.bench.inputs import choose
    from clmst.bench.results import Results
    from clmst.bench.suite import Suite
    from clmst.runtime.discovery import get_device

    def tell(text: str) -> None:
        if not quiet:
            click.echo(text, err=True)

    results = Results.load(output) if resume and output and output.exists() else Results()
    results.path = output
    device = get_device(device_name)
    chosen, left_out = choose(names, device, settings.cache)
    tell(f"{device.description}, driver {device.driver}")
    if left_out:
        tell(f"left out because they need more memory: {', '.join(left_out)}")
    suite = Suite(device=device, settings=settings, results=results, tell=tell)
    suite.run(chosen)
    return results, suite.machine


def _report(
    results: Results, folder: Path | None, *, markdown: bool, as_json: bool, quiet: bool
) -> None:
    """Print tables, or JSON with all results, and draw figures.

    With `as_json` JSON is printed, with `markdown` tables in Markdown, and otherwise tables for a
    terminal, unless `quiet`. `folder` is where the figures go. None means that none are drawn.
    """
    from clmst.bench import report

    if as_json:
        print_json(results.as_json())
    elif markdown:
        click.echo(report.as_markdown(results))
    elif not quiet:
        for machine in results.machines:
            click.echo(machine)
        print_tables(report.all_tables(results))
    if folder is not None:
        from clmst.bench.figures import draw_all

        for path in draw_all(results, folder):
            if not quiet:
                click.echo(f"drew {path}", err=True)


def _raise_for_failures(results: Results, machine: str) -> None:
    """Raise CommandFailure if clmst was wrong or failed on this machine.

    Failures of peers, which are other programs, do not raise. `results` are all results, and
    `machine` is the identity of this machine.
    """
    own = [one for one in results.measurements.values() if one.ours and one.machine == machine]
    failed = [one for one in own if not one.is_ok]
    if failed:
        first = failed[0]
        raise CommandFailure(
            f"{len(failed)} of {len(own)} measurements have no times; the first is "
            f"{first.graph}, {first.experiment}, {first.contestant}, {first.scope}: "
            f"{first.status}: {first.remark}"
        )
