"""Make, for each paper, the list of its tables and figures that this project has repeated.

For each of them, the list has the command, the record with the results, and what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.marked import table
from benchmarks.pages import MARK, Make, Record, part, wrapped

WHOLE = "whole"
DRAWING = "a drawing of the method, without measurements"
NO_RECORD = "not kept"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """How this project repeats some tables or figures of a paper, and what is missing."""

    # The names of the tables and figures, such as "Table 3".
    of: tuple[str, ...]
    # The part of these tables or figures that the entry is about, if another entry is about the
    # rest of them.
    which: str = ""
    # The command that measures what the tables or figures show, or "" if nothing is measured.
    command: str = ""
    # The command with the smallest sizes, for a trial. It takes seconds on two cores.
    quick: str = ""
    records: tuple[str, ...] = ()
    # `machine` is the machine on which the results were measured. It is given for entries without a
    # record. `date` is given for entries whose record does not have the date.
    machine: str = ""
    date: str = ""
    # How long the command takes, if the record does not say it.
    seconds: str = ""
    # The reason why the tables or figures are only repeated in part, or "" if they are whole.
    missing: str = ""


def rendered(entries: Sequence[Entry], records: Sequence[Record]) -> str:
    """Return a table of what was repeated of one paper, and commands that repeat it, as Markdown.

    Each of `entries` is a table or figure of the paper, and becomes a row. Below the table is a
    list of quick commands: one for each entry, with sizes so small that it takes less than a
    minute. `records` has the files of measurements that the entries name. A date or a time that is
    not from one of these files gets the mark ``†``.
    """
    known = {one.name: one for one in records}
    rows = []
    for entry in entries:
        own = [known[name] for name in entry.records]
        machines = [*dict.fromkeys(one.devices for one in own)] or _marked(entry.machine)
        dates = [*dict.fromkeys(one.date for one in own if one.date)] or _marked(entry.date)
        if entry.command and not dates:
            dates = ["date not kept"]
        took = [one.took for one in own if one.took] or _marked(entry.seconds)
        kept = ", ".join(f"`{name}`" for name in entry.records)
        rows.append([
            ", ".join(filter(None, [*entry.of, entry.which])),
            f"`{entry.command}`" if entry.command else "",
            kept or (NO_RECORD if entry.command else ""),
            "; ".join([*machines, *dates]),
            "; ".join(took),
            entry.missing or WHOLE,
        ])  # fmt: skip
    headings = ["in the paper", "command", "record", "machine, date", "takes", "state"]
    quick = [
        f"    {entry.quick}  # {', '.join([*entry.of, *filter(None, [entry.which])])}"
        for entry in entries
        if entry.quick
    ]
    text = (
        "The commands below make the measurements of the table above for the smallest inputs. Each "
        "takes less than a minute on two cores that do nothing else; the first ones also build "
        "kernels. Run them from the root of a clone of the repository, in an environment that has "
        "clmst with its extras: `. .venv/bin/activate`, then `pip install '.[cpu,bench]'` "
        "([Install](../install.md)). Only counts come out as on this page, such as numbers of "
        "edges, rounds and percentages. Times, curves and crossings of inputs this small may come "
        "out in any order: the commands only show that the measurement can be repeated. If other "
        "programs use the cores, add `--clock cpu`, where `--help` lists it."
    )
    files = (
        "Commands of `python -m benchmarks` write their measurements to a record, a file with "
        "measured numbers, with `--json FILE`. If `--help` lists `--plot`, that option draws the "
        "picture, and `--from docs/images/data/NAME.json --plot FILE` draws the picture of a kept "
        "record again, without measuring. For `clmst bench` these options are `--output FILE` and "
        "`--plot FOLDER`. The commands:"
    )
    made = table(headings, rows, texts=len(headings))
    return "\n".join([made, "", wrapped(text), "", wrapped(files), "", *quick])


def _marked(text: str) -> list[str]:
    return [f"{text} {MARK}"] if text else []


def _evidence(page: str, entries: Sequence[Entry]) -> None:
    """Register the table of a paper's `entries` as the part "evidence PAGE" of a page.

    `page` is the name of the page on the paper, such as "ecl_mst".
    """
    needed = dict.fromkeys(name for entry in entries for name in entry.records)
    make: Make = lambda *records: rendered(entries, records)  # noqa: E731
    part(f"evidence {page}", *needed)(make)


def names(first: int, last: int, kind: str = "Figure") -> tuple[str, ...]:
    """Return the names of tables or figures from one number to another, such as "Figure 1"."""
    return tuple(f"{kind} {number}" for number in range(first, last + 1))


H100 = "NVIDIA H100, driver 580.159.04"
H200 = "NVIDIA H200, driver 580.159.04"
TWO_CORES = "two cores of an AMD EPYC, Intel's CPU runtime 2026.22.10"
OF_ECL = "bench/h200_ecl"
SURROGATES = "surrogates stand for the inputs, which are not on our machines"
_NAMES = (
    "internet internet-close road_ny rmat16 rmat16-close cit grid20 amazon skitter in2004 patents "
    "copapers road_usa rmat22 r4_23 lj lj-close tri24 road_eur kron21"
)
_PLACES = (
    "New York", "San Francisco", "Colorado", "Florida", "Northwest USA", "Northeast USA",
    "California", "Great Lakes", "USA-East", "USA-West",
)  # fmt: skip
_ROADS = "python -m benchmarks studies roads --device nvidia --repetitions 5 --kruskal " + " ".join(
    f'--place "{place}"' for place in _PLACES
)
_SMALL_ROADS = (
    'python -m benchmarks studies roads --place "New York" --share 0.02 --repetitions 1 --clock cpu'
)
_DEGREES = (
    "python -m benchmarks studies degrees --degree 4 --degree 8 --degree 16 --degree 32 "
    "--repetitions 5 --kruskal --device nvidia"
)
_SIZES = (
    "python -m benchmarks studies sizes --family random --family rmat --family ssca2 "
    "--vertices 1000000 --vertices 3000000 --vertices 5000000 --degree 6 --degree 12 --degree 24 "
    "--repetitions 5 --kruskal --device nvidia"
)
_STEPS = (
    "python -m benchmarks boruvka_steps --device nvidia --smallest 262144 --largest 4194304 "
    "--sequential --paper --repetitions 3"
)
_SCANS = "python -m benchmarks primitives scans --largest 512 --repetitions 5 --device nvidia"

ENTRIES: dict[str, tuple[Entry, ...]] = {
    "ecl_mst": (
        Entry(of=names(1, 2), missing=DRAWING),
        Entry(
            of=("Table 1",),
            missing="a list of programs; [Other programs](other_programs.md) says how each was "
            "built",
        ),
        Entry(
            of=("Table 2",),
            command=f"python -m benchmarks ecl inputs {_NAMES}",
            quick="python -m benchmarks ecl inputs internet road_ny rmat16",
            records=("ecl_inputs",), missing=SURROGATES,
        ),
        Entry(
            of=names(3, 4, "Table"), which="ECL-MST",
            command="clmst bench all --device nvidia --algorithm filter-boruvka --algorithm ecl "
            "--repeat 9 --peer ECL-MST=./ecl --peer-timeout 30 --output h200_ecl.json",
            quick="clmst bench rmat16 --algorithm filter-boruvka --algorithm ecl --quick "
            "--repeat 1",
            records=(OF_ECL, "bench/h200_close", "bench/h100", "bench/h100_more"),
            missing=SURROGATES,
        ),
        Entry(
            of=names(3, 4, "Table"), which="programs on CPUs",
            command="python -m benchmarks beside_native *.egr --passes 3 --repetitions 4 "
            "--peer PBBS=./pbbs --peer 'PBBS serialMST=./serial' --peer GBBS=./gbbs "
            "--peer MASTIFF=./mastiff",
            machine=TWO_CORES, date="2026-11-24, 2026-11-26",
            missing="of 8 surrogates only, and the times were not kept in a record",
        ),
        Entry(
            of=names(3, 4, "Table"), which="other programs on a GPU",
            command="clmst bench GRAPHS --repeat 9 --device nvidia --peer-timeout 20 "
            "--peer ECL-MST=./ecl --peer Jucele=./jucele --peer Gunrock=./gunrock "
            "--peer RAFT=./raft --peer UMinho=./uminho_gpu --peer Lonestar=./lonestar_gpu",
            machine=H200, date="2026-11-26", seconds="150 s",
            missing="of 7 surrogates only, and the times of these programs were not kept in a "
            "record",
        ),
        Entry(
            of=names(3, 4),
            command="python -m benchmarks ecl throughput docs/images/data/bench/h200_ecl.json "
            "--plot ecl_throughput.png",
            quick="python -m benchmarks ecl throughput docs/images/data/bench/h200_ecl.json",
            records=(OF_ECL,),
            missing="the bars of programs other than ECL-MST are the paper's; our times of these "
            "programs were not kept",
        ),
        Entry(
            of=("Table 5", "Figure 5"),
            command="clmst bench all --what ablation --device nvidia --repeat 9 --no-transfers "
            "--resume --output h200_ablation.json",
            quick="clmst bench rmat16 --what ablation --quick --repeat 1",
            records=("bench/h200_ablation",),
            missing="16 of the 17 surrogates: on kron21 the nine programs took longer than the "
            "140 s † that were allowed, in the last of three runs",
        ),
        Entry(
            of=names(6, 7),
            command="python -m benchmarks ecl thresholds rmat16 cit amazon copapers patents "
            "skitter in2004 r4_23 rmat22 lj tri24 kron21 --seeds 99 --timed --repetitions 3 "
            "--device nvidia --json ecl_seeds.json --plot ecl_seeds.png",
            quick="python -m benchmarks ecl thresholds rmat16 --seeds 3 --timed --repetitions 1",
            records=("h200/ecl_seeds", "h200/ecl_seeds_kron21"),
            missing="surrogates stand for the twelve inputs with an average degree above 4, on "
            "which `ecl` filters",
        ),
    ),
    "boruvka": (
        Entry(of=(*names(1, 3), *names(5, 12)), missing=DRAWING),
        Entry(
            of=("Figure 4",),
            command="python -m benchmarks primitives splits --repetitions 5 --device nvidia",
            quick="python -m benchmarks primitives splits --elements 2**14 --repetitions 1",
            records=("h200/primitives_splits",),
        ),
        Entry(
            of=("Table 1",), command=_ROADS, quick=_SMALL_ROADS, records=("h200/studies_roads",),
            missing="surrogates of full size stand for the road maps, and the program of 2009 was "
            "not run",
        ),
        Entry(
            of=("Figure 13",), which="a, c, e", command=_SIZES,
            quick="python -m benchmarks studies sizes --family rmat --vertices 1000 --degree 6 "
            "--repetitions 1 --kruskal",
            records=("h200/studies_sizes",),
            missing="the program of 2009 was not run, and the CPU's program is Kruskal's algorithm "
            "by SciPy, not Boost's; the run was stopped before the last graph",
        ),
        Entry(
            of=("Figure 13",), which="b, d, f", command=_DEGREES,
            quick="python -m benchmarks studies degrees --family rmat --vertices 1000 "
            "--degree 4 --repetitions 1",
            records=("h200/studies_degrees",),
            missing="the program of 2009 was not run, and the CPU's program is Kruskal's algorithm "
            "by SciPy, not Boost's",
        ),
    ),
    "pma": (
        Entry(of=names(1, 3), missing=DRAWING),
        Entry(
            of=("Table 1",),
            command="python -m benchmarks pma table --device nvidia --share 1 --repetitions 5 "
            "--kruskal",
            quick="python -m benchmarks pma table --share 0.01 --repetitions 1 --kruskal",
            records=("h200/pma_table",),
            missing="surrogates of full size stand for the 18 networks; of the CPU's three "
            "algorithms, Kruskal's alone",
        ),
        Entry(
            of=("Figure 4",), which="a",
            command="python -m benchmarks pma gamma --device nvidia --share 1 --repetitions 5",
            quick="python -m benchmarks pma gamma --share 0.005 --repetitions 1",
            records=("h200/pma_gamma",),
            missing="two degrees of random graphs",
        ),
        Entry(
            of=("Figure 4",), which="b",
            command="python -m benchmarks pma parallel --device nvidia --share 1 --repetitions 5",
            quick="python -m benchmarks pma parallel --share 0.005 --repetitions 1",
            records=("pma_parallel",), seconds="18 s",
        ),
        Entry(
            of=("Figure 5",), command=_DEGREES,
            quick="python -m benchmarks studies degrees --family ssca2 --vertices 1000 "
            "--degree 4 --repetitions 1",
            records=("h200/studies_degrees",),
        ),
        Entry(
            of=("Figure 6",),
            command=_SIZES,
            quick="python -m benchmarks studies sizes --family random --vertices 1000 "
            "--vertices 2000 --degree 6 --repetitions 1",
            records=("h200/studies_sizes",),
            missing="three sizes; without the SSCA#2 graph of 5,000,000 vertices and degree 24, "
            "before which the run was stopped",
        ),
        Entry(
            of=("Figure 7",),
            command="python -m benchmarks pma gamma --device nvidia --share 1 --repetitions 5",
            records=("h200/pma_gamma",),
            missing="a surrogate stands for the road map of Florida",
        ),
        Entry(
            of=("Figure 8",),
            command="python -m benchmarks pma reduction --share 1 --repetitions 3 --device nvidia",
            quick="python -m benchmarks pma reduction --share 0.005 --repetitions 1",
            records=("pma_reduction", "two_cores/pma_reduction"),
            missing="a surrogate stands for the road map of Florida",
        ),
    ),
    "scan": (
        Entry(of=names(1, 4), missing=DRAWING),
        Entry(
            of=names(5, 8), command=_SCANS,
            quick="python -m benchmarks primitives scans --largest 2 --repetitions 1",
            records=("primitives_scans",), date="2026-11-26", seconds="29 s",
            missing="neither CLPP nor Merrill's code was run: their homes have closed",
        ),
        Entry(
            of=("Figure 9",), command=_SCANS,
            records=("primitives_scans",), date="2026-11-26", seconds="29 s",
        ),
        Entry(
            of=names(10, 14), command=_STEPS,
            quick="python -m benchmarks boruvka_steps --smallest 4096 --largest 4096 "
            "--sequential --paper --repetitions 1",
            records=("h200/boruvka_steps", "boruvka_steps"),
            missing="Algorithm 4 up to 4.2 million of the paper's 128 million edges; the record of "
            "the H100 has clmst's `boruvka` up to 134 million, without Algorithm 4",
        ),
    ),
    "hybrid": (
        Entry(of=("Table 1",), missing="a list of sizes of graphs, without measurements"),
        Entry(of=names(1, 2), missing=DRAWING),
        Entry(
            of=("Table 2", "Figure 4"),
            command="python -m benchmarks strategies sets --vertices 16384 "
            "--union-find atomic-half --union-find atomic-full",
            quick="python -m benchmarks strategies sets --vertices 256 --repetitions 1",
            machine=f"{TWO_CORES}; {H100}; 16 cores with PoCL", date="2026-11-26, 2026-11-27",
            seconds="27 s",
            missing="n = 16,384 with one thread and on a GPU only; the times were not kept in a "
            "record",
        ),
        Entry(
            of=("Table 3",),
            command="POCL_MAX_PTHREAD_COUNT=8 python -m benchmarks strategies schedules --scale 18 "
            "--repetitions 5 --device cpu",
            quick="python -m benchmarks strategies schedules --scale 8 --repetitions 1",
            records=("h200/strategies_schedules",),
        ),
        Entry(
            of=("Figure 3",),
            command="POCL_MAX_PTHREAD_COUNT=8 python -m benchmarks strategies families --scale 16 "
            "--scale 18 --scale 20 --repetitions 5 --device cpu",
            quick="python -m benchmarks strategies families --scale 8 --repetitions 1",
            records=("h200/strategies_families",),
            missing="8 threads in the record; other numbers of threads are without one",
        ),
        Entry(of=("Figure 5",), missing="no counters of cache misses on our machines"),
        Entry(
            of=("Figure 6",),
            command="POCL_MAX_PTHREAD_COUNT=8 python -m benchmarks strategies families --scale 16 "
            "--scale 18 --scale 20 --repetitions 5 --device cpu",
            records=("h200/strategies_families",),
            missing="the record is of MP with 8 threads; times on a GPU were not kept",
        ),
        Entry(
            of=("Table 4", "Figure 7"),
            command="POCL_MAX_PTHREAD_COUNT=8 python -m benchmarks strategies complete "
            "--largest 16384 --repetitions 3 --device nvidia --device cpu",
            quick="python -m benchmarks strategies complete --largest 512 --repetitions 1",
            records=("h200/strategies_complete",),
        ),
        Entry(
            of=("Table 5", "Figure 8"), which="two devices",
            command="POCL_MAX_PTHREAD_COUNT=8 python -m benchmarks strategies density "
            "--vertices 16384 --probability 0.1 --probability 0.3 --repetitions 3 "
            "--device nvidia --device cpu",
            quick="python -m benchmarks strategies density --vertices 1024 --probability 0.1 "
            "--probability 0.4 --probability 0.7 --probability 1.0 --repetitions 3",
            records=("h200/strategies_density",),
            missing="two of the ten densities: making the graphs of 67 million edges and more took "
            "longer than the run was allowed",
        ),
        Entry(
            of=("Table 5", "Figure 8"), which="all densities",
            command="python -m benchmarks strategies density --vertices 4096 --probability 0.1 "
            "--probability 0.2 --probability 0.3 --probability 0.4 --probability 0.5 "
            "--probability 0.6 --probability 0.7 --probability 0.8 --probability 0.9 "
            "--probability 1.0 --device intel",
            records=("strategies_density",),
            missing="4,096 vertices, not 16,384, and both strategies on the same CPU",
        ),
        Entry(
            of=("Figure 9",), which="one device",
            command="python -m benchmarks rounds --device intel --repetitions 30",
            quick="python -m benchmarks rounds "
            "clustered:n=600,clusters=2,cluster_size=100,density=0.6 --repetitions 2",
            records=("rounds",), date="2026-11-27", seconds="36 s",
            missing="a Hybrid needs two devices",
        ),
        Entry(
            of=("Figure 9",), which="Hybrid",
            command="python -m benchmarks rounds "
            "clustered:n=49152,clusters=4,cluster_size=4096,density=0.75 --repetitions 30 "
            "--contestant CU --contestant MP --contestant MP+CU --contestant Hybrid "
            "--contestant repeated --device nvidia --device cpu",
            quick="python -m benchmarks rounds "
            "clustered:n=600,clusters=2,cluster_size=100,density=0.6 --repetitions 2 "
            "--contestant CU --contestant MP --contestant repeated",
            records=("h200/rounds", "rounds_hybrid"), seconds="44 s",
            missing="a generated graph with four clusters stands for the paper's R-MAT graph",
        ),
        Entry(
            of=("Table 6", "Figure 10"),
            command="python -m benchmarks cores complete --smallest 16 --largest 16384 "
            "--repetitions 9 --device nvidia",
            quick="python -m benchmarks cores complete --smallest 16 --largest 128 "
            "--repetitions 1",
            records=("h200/cores_complete",),
        ),
    ),
}  # fmt: skip

for _page, _entries in ENTRIES.items():
    _evidence(_page, _entries)
