"""Pages, pictures and records of runs agree, and numbers without a record are marked."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from click import ClickException, Command, Context, Group
from click.testing import CliRunner
from PIL import Image

from benchmarks import pages, stated
from benchmarks.__main__ import CASES
from benchmarks.__main__ import main as cases
from benchmarks.ecl import PEER
from benchmarks.marked import names_in
from benchmarks.pages import evidence, performance
from benchmarks.pages.ecl_mst import DEFAULT, ODD, milliseconds
from clmst.bench.canvas import CONTENT
from clmst.cli import root
from clmst.core.errors import ClmstError

IMAGES = pages.DOCS / "images"
RECORDS = IMAGES / "data"
# Pages on which each number of ours is made from a record or marked; the log has older tables.
README = "../README.md"  # beside the folder of the pages
STRICT = (README, "performance.md", *(f"papers/{page}.md" for page in (
    "boruvka", "ecl_mst", "hybrid", "past", "pma", "other_programs", "scan",
)))  # fmt: skip

pytestmark = pytest.mark.skipif(not pages.DOCS.exists(), reason="installed without the pages")


def names_of_records() -> set[str]:
    """Return the names of all records that are kept, without ``.json``."""
    return {
        path.relative_to(RECORDS).with_suffix("").as_posix() for path in RECORDS.rglob("*.json")
    }


# ------------------------------------------------------------------------------ pages


def test_pages_say_what_their_records_say() -> None:
    assert pages.stale() == [], "run: python -m benchmarks.pages"


def test_each_part_and_each_record_is_on_a_page() -> None:
    """A record that no page shows could be changed without notice."""
    assert pages.unplaced() == set()
    assert pages.records_used() == names_of_records()


@pytest.mark.parametrize("name", STRICT)
def test_numbers_without_a_record_are_marked(name: str) -> None:
    page = pages.DOCS / name
    assert [*pages.unmarked(page)] == []
    assert f"{pages.MARK} marks" in re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))


def test_all_pages_of_papers_are_strict() -> None:
    found = {f"papers/{page.name}" for page in (pages.DOCS / "papers").glob("*.md")}
    assert found == set(STRICT) - {README, "performance.md"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("| graph | ms |\n|---|--:|\n| road | 4.64 |\n", 1),
        ("| graph | ms † |\n|---|--:|\n| road | 4.64 |\n", 0),
        ("| graph † | ms |\n|---|--:|\n| road | 4.64 |\n", 0),
        ("| graph | ms |\n|---|--:|\n| road † | 4.64 |\n| grid | 3 |\n", 1),
        ("| graph | paper, ms | ms (T. 3) |\n|---|--:|--:|\n| road | 4.64 | 5 |\n", 0),
        ("| graph | s |\n|---|--:|\n| road | 4 s ([record](images/data/a.json)) |\n", 0),
        ("| graph | measured on | s |\n|---|---|--:|\n| road | 2 cores | 4 † |\n", 0),
        ("| what | why |\n|---|---|\n| weights of 1 to 1000 | no reason |\n", 0),
        ("A solve takes 4.64 ms.\n", 1),
        ("† A solve takes 4.64 ms.\n", 0),
        ("It gains 12 % here.\n", 1),
        ("The paper gains 12 %.\n", 0),
        ("    python -m benchmarks pma table  # 12 s\n", 0),
        ("<!-- record: pma table -->\nIt takes 4.64 ms.\n<!-- end -->\n", 0),
    ],
)
def test_numbers_without_a_mark_are_found(text: str, found: int, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    assert len([*pages.unmarked(page)]) == found


# What is changed, in which file, and to what: of records, of pages, of what the papers state.
SEEDED: Mapping[str, tuple[str, str, str]] = {
    "a time of a record": ("images/data/h200/pma_table.json", "72.303377", "7.2303377"),
    "a time that no table shows": ("images/data/primitives_scans.json", "0.5226", "5.226"),
    "one repetition of nine": ("images/data/bench/h100_more.json", "0.0009137", "0.0009138"),
    "a per cent of a record": ("images/data/two_cores/pma_reduction.json", "90.98", "90.89"),
    "a size of a record": ("images/data/ecl_inputs.json", "209311", "209321"),
    "two digits of a table": ("papers/pma.md", "8.363", "8.336"),
    "a mean": ("papers/ecl_mst.md", "| 5.10 |", "| 4.10 |"),
    "a ratio": ("performance.md", "| 2.96 |", "| 9.26 |"),
    "a ratio of a table of experiments": ("experiments.md", "| 57.8 |", "| 5.78 |"),
    "an effect in per cent": ("papers/ecl_mst.md", "| +58.7% |", "| -58.7% |"),
    "a decimal point": ("performance.md", "| 12.3 |", "| 1.23 |"),
    "a number in a sentence": ("papers/hybrid.md", "128 to 312 rounds", "6 to 12 rounds"),
    "a number of the paper": ("papers/ecl_mst.md", "| 26.2 |", "| 62.2 |"),
    "a device": ("papers/scan.md", "(NVIDIA H100 80GB HBM3,", "(NVIDIA H200 80GB HBM3,"),
    "a state": ("papers/scan.md", "without measurements |", "without measurements | whole |"),
    "a reason": ("papers/scan.md", "4.2 million of the paper's 128 million", "128 million"),
    "a command": (
        "papers/pma.md",
        "benchmarks pma parallel --device",
        "benchmarks pma par --device",
    ),
    "seconds of a command": ("papers/hybrid.md", "| 36 s † |", "| 3 s † |"),
    "a date of a record": ("images/data/two_cores/studies_counts.json", "2026-11-29", "2026-11-30"),
    "a machine of a record": ("images/data/rounds_hybrid.json", "NVIDIA H200", "NVIDIA H100"),
    "seconds of a record": (
        "images/data/h200/ecl_seeds.json",
        '"took_seconds": ',
        '"took_seconds": 1',
    ),
    "a seed of a sample": ("images/data/h200/ecl_seeds.json", "117.43", "11.743"),
    "a count of launches": ("images/data/two_cores/studies_counts.json", ": 301,", ": 103,"),
    "a gain over a paper": ("papers/past.md", "| 5.84 |", "| 15.8 |"),
    "a gain in a sentence": (
        "papers/past.md",
        "takes 5.73 to 7.23 times",
        "takes 57.3 to 72.3 times",
    ),
    "a program's record": (
        "papers/other_programs.md",
        "[h100](../images/data/bench/h100.json), ",
        "",
    ),
    "a program without a record": (
        "papers/other_programs.md",
        "protocol | not kept |",
        "protocol | [h100](../images/data/bench/h100.json) |",
    ),
    "a mark that is taken away": ("papers/boruvka.md", "| New York † |", "| New York |"),
    "a mark of the README": (README, "| 18 † |", "| 18 |"),
    "a paragraph without a mark": ("papers/scan.md", "## Not done", "It takes 3.1 ms.\n\n## Not"),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the pages, in which nothing is wrong."""
    docs = tmp_path_factory.mktemp("pages") / "docs"
    shutil.copytree(pages.DOCS, docs, ignore=shutil.ignore_patterns("*.png", "*.svg", "reference"))
    shutil.copy(pages.DOCS / README, docs / README)
    assert faults(docs) == []
    return docs


@pytest.mark.parametrize("seed", SEEDED)
def test_changed_numbers_are_noticed(seed: str, copied: Path) -> None:
    """A test of the tests above: each of these changes, by itself, makes one of them fail."""
    name, right, wrong = SEEDED[seed]
    text = (copied / name).read_text(encoding="utf-8")
    assert right in text
    try:
        (copied / name).write_text(text.replace(right, wrong, 1), encoding="utf-8")
        assert faults(copied) != []
    finally:
        (copied / name).write_text(text, encoding="utf-8")


def faults(docs: Path) -> list[str]:
    """Return the errors in the pages of a folder."""
    wrong = pages.stale(docs) + [fault for name in STRICT for fault in pages.unmarked(docs / name)]
    return wrong + programs_in_wrong_records(docs)


def programs_in_wrong_records(docs: Path) -> list[str]:
    """Return the names of other programs of which the page says that other records have times."""
    text = (docs / "papers/other_programs.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    said = {row[0]: set(re.findall(r"data/([\w/]+)\.json", row[-1])) for row in rows[1:]}
    found: dict[str, set[str]] = {name: set() for name in said}
    for path in (docs / "images/data/bench").glob("*.json"):
        for one in json.loads(path.read_text(encoding="utf-8"))["measurements"]:
            if not one["ours"]:
                found.setdefault(one["contestant"], set()).add(f"bench/{path.stem}")
    return [name for name in found if found[name] != said.get(name)]


def test_the_readme_says_what_its_record_says() -> None:
    """A cell with a link to a record has the numbers of the record."""
    text = (pages.DOCS / README).read_text(encoding="utf-8")
    linked = re.findall(r"\| ([^|]*) \(\[record\]\(docs/images/data/([\w/]+)\.json\)\) \|", text)
    record = {name: pages.Record(path=RECORDS / f"{name}.json", name=name) for _, name in linked}
    (points,), (hdbscan,) = (
        record[f"h200/{name}"].rows for name in ("points_trees", "clustering_hdbscan")
    )
    blocks = record["blocks_h200"].row(what="hdbscan", points=300_000_000, dimensions=2)
    ratios = {
        graph: ms[PEER, "solve"] / ms[DEFAULT, "solve"]
        for graph, ms in milliseconds(record["bench/h200_ecl"]).items()
    }
    every, usual = [*ratios.values()], [one for name, one in ratios.items() if name != ODD]
    of_ecl = (
        f"{pages.mean(every)} ({pages.span(every)}), without the graph {ODD} {pages.mean(usual)} "
        f"({pages.span(usual)})"
    )
    assert linked == [
        (performance.seconds(points), "h200/points_trees"),
        (performance.seconds(hdbscan), "h200/clustering_hdbscan"),
        (f"{pages.digits(blocks['by blocks, s'], 3)} s", "blocks_h200"),
        (performance.beside_scipy(record["h200/beside_scipy"]), "h200/beside_scipy"),
        (of_ecl, "bench/h200_ecl"),
    ]
    assert f"{len(ratios)} surrogate graphs" in text


# ------------------------------------------------------------------ tables of the papers


@pytest.mark.parametrize("page", evidence.ENTRIES)
def test_each_table_and_figure_of_a_paper_has_a_state(page: str) -> None:
    """It is whole, and then has a command and a record, or there is one reason why it is not."""
    tables, figures = stated.PAPERS[page]
    every = {*evidence.names(1, tables, "Table"), *evidence.names(1, figures)}
    assert {name for entry in evidence.ENTRIES[page] for name in entry.of} == every
    for entry in evidence.ENTRIES[page]:
        assert entry.missing or (entry.command and entry.records), entry.of
        assert entry.missing or not entry.machine, entry.of
        assert entry.command or not (entry.quick or entry.records), entry.of


def test_each_paper_has_a_table() -> None:
    assert evidence.ENTRIES.keys() == stated.PAPERS.keys()
    placed = {
        name for page in pages.pages() for name in names_in(page.read_text("utf-8"), "record")
    }
    assert {f"evidence {page}" for page in stated.PAPERS} <= placed


COMMANDS = sorted({
    line
    for entries in evidence.ENTRIES.values()
    for entry in entries
    for line in (entry.command, entry.quick)
    if line
})  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_papers_can_be_parsed(line: str) -> None:
    """Commands, options and values exist. Nothing is measured here."""
    parse(line)


@pytest.mark.parametrize("page", STRICT)
def test_commands_on_pages_can_be_parsed(page: str) -> None:
    """Commands in blocks, and those within sentences and tables."""
    text = re.sub(r"\\\n\s*", "", (pages.DOCS / page).read_text(encoding="utf-8"))
    program = r"(?:\w+=\S+\s+)*(?:python\s+-m\s+benchmarks|clmst)\s"
    lines = re.findall(rf"^    ({program}.*)$", text, re.MULTILINE)
    lines += re.findall(rf"`({program}[^`]+)`", text)
    for line in lines:
        if "$(" not in line and "..." not in line:  # the shell or the reader fills these in
            parse(line)


@pytest.mark.parametrize(
    "line",
    [
        "python -m benchmarks pma tabel",
        "python -m benchmarks pma table --shard 0.5",
        "clmst bench --what abalation",
        "python -m benchmarks studies roads --place Berlin",
    ],
)
def test_wrong_commands_are_noticed(line: str) -> None:
    with pytest.raises((ClickException, ClmstError)):
        parse(line)


def parse(line: str) -> None:
    """Parse a command as a shell and its program do, but do not run it."""
    words = shlex.split(line, comments=True)
    while re.match(r"[A-Z_]+=", words[0]):
        del words[0]
    command: Command = root.main if words[0] == "clmst" else cases
    words = words[1:] if words[0] == "clmst" else words[3:]
    context = Context(command, **command.context_settings)
    while isinstance(command, Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        context = Context(found, parent=context, info_name=name, **found.context_settings)
    command.parse_args(context, [*words])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "line",
    [entry.quick for entries in evidence.ENTRIES.values() for entry in entries if entry.quick],
)
def test_smallest_sizes_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pages.DOCS.parent)
    words = shlex.split(line)
    main, words = (root.main, words[1:]) if words[0] == "clmst" else (cases, words[3:])
    words += ["--cache", str(tmp_path)] if main is root.main else []
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "| " in result.output or main is root.main


# --------------------------------------------------------------------------- pictures


def drawn_from(record: Path, folder: Path) -> dict[str, str]:
    """Return the digests of the pictures that are drawn from a record of a case, by file name.

    A record is called after its case: pma_table is of ``pma table``. So is its picture, but where a
    case draws several into a folder. A case that draws none has none.
    """
    picture = folder / f"{record.stem}.png"
    case = [record.stem] if record.stem in CASES else record.stem.split("_")
    result = CliRunner().invoke(cases, [*case, "--from", str(record), "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    files = picture.iterdir() if picture.is_dir() else (picture,)
    return {file.name: digest_of(file) for file in files}


def digest_of(picture: Path) -> str:
    """Return the digest of what a picture shows, as it says itself."""
    with Image.open(picture) as image:
        return str(image.info.get(CONTENT, "none"))


WITHOUT_PICTURE = {"blocks_h200", "ecl_inputs", "ecl_warps"}
DRAWN = sorted(path for path in RECORDS.glob("*.json") if path.stem not in WITHOUT_PICTURE)
# Pictures of records of one H200 and its host. Such a record need not have one.
DRAWN += sorted(
    path for path in RECORDS.glob("h200/*.json") if (IMAGES / f"h200_{path.stem}.png").exists()
)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(
            path,
            id=path.relative_to(RECORDS).with_suffix("").as_posix(),
            marks=[] if k % 4 == 0 else pytest.mark.exhaustive,
        )
        for k, path in enumerate(DRAWN)  # the standard run takes every fourth record
    ],
)
def test_pictures_show_their_records(record: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = drawn_from(record, tmp_path)
    assert found
    prefix = "" if record.parent == RECORDS else f"{record.parent.name}_"
    assert found == {name: digest_of(IMAGES / f"{prefix}{name}") for name in found}


@pytest.mark.exhaustive
def test_the_picture_of_seeds_shows_its_record(tmp_path: Path) -> None:
    """The record is not called after its case, which also makes records without times."""
    pytest.importorskip("matplotlib")
    words = ["--from", str(RECORDS / "h200/ecl_seeds.json"), "--plot", str(tmp_path / "a.png")]
    result = CliRunner().invoke(cases, ["ecl", "thresholds", *words])
    assert result.exit_code == 0, result.output
    assert digest_of(tmp_path / "a.png") == digest_of(IMAGES / "ecl_seeds.png") != "none"


def test_picture_of_a_changed_record_is_another_one(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text = (RECORDS / "pma_table.json").read_text(encoding="utf-8")
    record = tmp_path / "pma_table.json"
    record.write_text(text.replace("4.64", "464", 1), encoding="utf-8")
    (found,) = drawn_from(record, tmp_path).values()
    assert found not in ("none", digest_of(IMAGES / "pma_table.png"))


@pytest.mark.exhaustive
def test_pictures_of_several_machines_show_their_records(tmp_path: Path) -> None:
    """``clmst bench --merge`` and ``benchmarks ecl throughput`` draw the same pictures again."""
    pytest.importorskip("matplotlib")
    names = ("h100", "h200", "intel_2_cores", "pocl_2_cores", "pocl_16_cores")
    files = [str(RECORDS / "bench" / f"{name}.json") for name in names]
    words = ["bench", "--merge", *files, "--tables", "--plot", str(tmp_path)]
    result = CliRunner().invoke(root.main, words)
    assert result.exit_code == 0, result.output
    ecl = str(RECORDS / "bench" / "h200_ecl.json")
    picture = str(tmp_path / "ecl_throughput.png")
    result = CliRunner().invoke(cases, ["ecl", "throughput", ecl, "--plot", picture])
    assert result.exit_code == 0, result.output
    for name in ("devices_throughput.png", "ecl_throughput.png"):
        assert digest_of(tmp_path / name) == digest_of(IMAGES / name) != "none"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("record", "drawn", "picture"),
    [
        ("h200_ablation", "ablation.png", "h200_ablation.png"),
        ("h200_ecl", "throughput.png", "h200_throughput.png"),
    ],
)
def test_pictures_of_one_machine_show_their_records(
    record: str, drawn: str, picture: str, tmp_path: Path
) -> None:
    """``clmst bench --merge`` of a single record draws the same picture again."""
    pytest.importorskip("matplotlib")
    words = ["bench", "--merge", str(RECORDS / "bench" / f"{record}.json"), "--plot", str(tmp_path)]
    result = CliRunner().invoke(root.main, words)
    assert result.exit_code == 0, result.output
    assert digest_of(tmp_path / drawn) == digest_of(IMAGES / picture) != "none"


@pytest.mark.parametrize("name", [page for page in STRICT if page != README])
def test_pictures_without_a_record_are_marked(name: str) -> None:
    """They have a dagger in their description; all others have the digest of what they show."""
    page = pages.DOCS / name
    for words, file in re.findall(r"!\[([^\]]*)\]\(([^)]+\.png)\)", page.read_text("utf-8")):
        has_digest = digest_of(page.parent / file) != "none"
        assert has_digest != (pages.MARK in words), file


def test_records_are_json_with_a_device() -> None:
    for path in RECORDS.rglob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        assert pages.Record(path=path, name=path.stem).devices
        assert content.get("points") or content.get("measurements")
