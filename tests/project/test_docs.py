"""The pages and the README: every block of code runs or is understood, links lead somewhere."""

from __future__ import annotations

import json
import re
import shlex
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from PIL import Image

import clmst
from benchmarks import command_page, gallery
from clmst.cli import root
from tests.helpers.pages import BLOCK, blocks, commands, run_examples, takes_minutes, write_files
from tests.helpers.processes import needs_entry_points

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SITE = sorted(DOCS.rglob("*.md"))
LOG = ROOT / "benchmarks/log.md"  # for people who change clmst; not on the site
PAGES = [ROOT / "README.md", *SITE, LOG]
PAGE_NAMES = [page.relative_to(ROOT).as_posix().removeprefix("docs/") for page in PAGES]
# The blocks of one page are files; tests/algorithms/test_add_an_algorithm.py writes and runs them.
EXAMPLES = [page for page in PAGES if page.name != "add_an_algorithm.md"]

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)

# What a block may be. "text" shows what is printed or drawn, and promises nothing else; "c" is a
# kernel, which the test of its page builds.
LANGUAGES = {"python", "sh", "json", "text", "c"}

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="installed without the pages")


def anchors(page: Path) -> set[str]:
    """Return the anchors that MkDocs and GitHub make from the headings of a page."""
    headings = HEADING.findall(re.sub(BLOCK, "", page.read_text(encoding="utf-8")))
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()).strip() for heading in headings)
    return {re.sub(r" +", "-", heading) for heading in plain}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to run examples in, with small files of the names that the pages use."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", EXAMPLES, ids=[page.name for page in EXAMPLES])
def test_examples_print_what_they_say(page: Path, folder: Path) -> None:
    """The blocks of a page run one after the other, as a reader would; comments say the output."""
    if 'device="cpu"' in page.read_text(encoding="utf-8") and not a_cpu_is_usable():
        pytest.skip("the page solves on a CPU device, and there is none")
    by_networkx = {"index.md", "networkx.md"}
    if page.name in by_networkx:
        needs_entry_points()
    if page.name == "networkx.md" and [*map(int, version("networkx").split(".")[:2])] < [3, 4]:
        pytest.skip("the page is of NetworkX 3.4 and later")
    run_examples(page)


def a_cpu_is_usable() -> bool:
    return any(e.usable and e.device.capabilities.kind == "cpu" for e in clmst.devices())


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_commands_run(page: Path, folder: Path) -> None:
    """Each ``clmst`` command of a page runs; those that take minutes are parsed."""
    for line in commands(page):
        name, *arguments = shlex.split(line, comments=True)
        if name == "clmst":
            run_or_parse(arguments)


def run_or_parse(arguments: list[str]) -> None:
    """Run a command on whatever device there is, or parse it where that would take minutes."""
    if takes_minutes(arguments):
        command = root.main.commands[arguments[0]]
        above = click.Context(root.main, info_name="clmst", **root.main.context_settings)
        command.make_context(arguments[0], arguments[1:], parent=above).close()
        return
    outcome = CliRunner().invoke(root.main, arguments)
    assert outcome.exit_code == 0, f"clmst {shlex.join(arguments)}: {outcome.output}"


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_blocks_are_of_a_known_kind(page: Path) -> None:
    """A block in no known language would be run by nobody; JSON is JSON."""
    named = {language for language, _ in BLOCK.findall(page.read_text(encoding="utf-8"))}
    assert named <= LANGUAGES
    for block in blocks(page, "json"):
        json.loads(block)


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links name files that are there, and headings that the files have."""
    text = re.sub(BLOCK, "", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem == "architecture" or page.stem[:7] == "inside_"]
)
def test_files_that_are_named_exist(page: Path) -> None:
    """A newcomer goes by these pages from one file to the next."""
    text = re.sub(BLOCK, "", page.read_text(encoding="utf-8"))
    named = set(re.findall(r"`([\w/]+/\w+\.(?:py|cl|md))`", text))
    folders = ("benchmarks", "cl", "clmst", "docs", "tests")
    files = [path.as_posix() for one in folders for path in (ROOT / one).rglob("*.*")]
    assert len(named) > 3
    assert {one for one in named if not any(file.endswith(f"/{one}") for file in files)} == set()


def test_every_page_is_in_the_menu() -> None:
    """A page that the menu lacks would be found by nobody."""
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"[:-] ([\w/]+\.md)$", menu, re.MULTILINE)
    notebooks = [f"notebooks/{one.stem}.md" for one in (ROOT / "examples/notebooks").iterdir()]
    pages = [page.relative_to(DOCS).as_posix() for page in SITE]
    assert sorted(listed) == sorted([*pages, *notebooks])


def test_the_page_of_the_command_has_its_options() -> None:
    """The tables of docs/command.md are those that the command makes now, for every sub-command."""
    text = command_page.PAGE.read_text(encoding="utf-8")
    assert text == command_page.rendered(text), "run: python -m benchmarks.command_page"
    tabled = set(re.findall(r"<!-- options: (\w+) -->", text))
    assert tabled == set(root.main.commands)


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_lines_are_short(page: Path) -> None:
    """Prose is wrapped at 100; tables, code, pictures and commands are as long as they are."""
    text = re.sub(BLOCK, "", page.read_text(encoding="utf-8"))
    limit = 120 if page.name == "README.md" else 100
    exempt = re.compile(r" *\||    |!\[|<!--")
    long = [x for x in text.splitlines() if len(x) > limit and not exempt.match(x)]
    assert not long


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if k % 4 == 0 else pytest.mark.exhaustive)
        for k, name in enumerate(gallery.PICTURES)  # the standard run takes every fourth picture
    ],
)
def test_pictures_of_the_gallery_are_drawn(name: str, tmp_path: Path) -> None:
    """Each picture that the gallery shows can be made again, in the size that it has there."""
    pytest.importorskip("matplotlib")
    gallery.draw(name, tmp_path / "made.png", clmst.get_device())
    with Image.open(tmp_path / "made.png") as made:
        assert made.width == gallery.PIXELS
    assert f"(images/{name}.png)" in (DOCS / "gallery.md").read_text(encoding="utf-8")
