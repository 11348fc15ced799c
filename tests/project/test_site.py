"""The built site, as a browser gets it: links, the reference, the search, the way from home."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter, deque
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import clmst
from tests.helpers.processes import needs, run_python

ROOT = Path(__file__).parents[2]
MODULES = ("cluster", "csgraph", "dask", "drawing", "generators", "io", "primitives", "ray")
MARKS = re.compile(r":(?:attr|class|data|exc|func|meth|mod):(?:`|<code>)|\[\d\]_|\.\. \[\d")

pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(not (ROOT / "docs").exists(), reason="installed without the pages"),
]


class Read(HTMLParser):
    """The ids of a page, where its links and pictures lead, and those that a reader clicks."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.clicks: list[str] = []  # of the article and the tabs, which every width of page has
        self._in: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        named = {name: value or "" for name, value in attrs}
        if "id" in named:
            self.ids.append(named["id"])
        lead = [named[name] for name in ("href", "src") if name in named]
        self.links += lead
        if tag in {"article", "nav"}:
            self._in.append(named.get("class", tag))
        if tag == "a" and self._in and ("md-content" in self._in[-1] or "tabs" in self._in[-1]):
            self.clicks += lead

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if tag in {"article", "nav"} and self._in:
            self._in.pop()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build all pages, without a warning."""
    needs("mkdocs", "docs")
    needs("mkdocstrings_handlers", "docs")
    folder = tmp_path_factory.mktemp("site")
    run_python("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder))
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Read]:
    return {
        page: Read(page.read_text(encoding="utf-8"))
        for page in site.rglob("*.html")
        if page.name != "404.html"  # its links start at the root of a server
    }


def target(page: Path, link: str) -> tuple[Path, str]:
    """Return the file that a link of a page leads to, and the place there."""
    path, anchor = urldefrag(unquote(link))
    file = (page.parent / path).resolve() if path else page
    return (file / "index.html" if file.is_dir() else file), anchor


def test_no_link_is_dead(pages: dict[Path, Read]) -> None:
    """Files and places are there, of menus, pictures and the links that docstrings became."""
    dead = []
    for page, read in pages.items():
        for link in read.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            file, anchor = target(page, link)
            known = pages[file].ids if file in pages else []
            if not file.exists() or (anchor and anchor not in known):
                dead.append((page.parent.name, link))
    assert dead == []


def test_the_log_of_experiments_is_not_on_the_site(pages: dict[Path, Read]) -> None:
    """Its links became words, because this build knows no repository to which they could lead."""
    links = [link for read in pages.values() for link in read.links]
    assert not [link for link in links if "log.md" in link or link.startswith("../log/")]


def test_links_to_the_log_lead_to_the_repository() -> None:
    """With ``[project.urls]`` a reader gets from a page to the rows that it names."""
    pytest.importorskip("mkdocstrings_handlers")
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File, Files
    from mkdocs.structure.pages import Page

    from benchmarks import site

    config = MkDocsConfig()
    page = Page("", File("papers/pma.md", "docs", "site", use_directory_urls=True), config)
    text = "See [the log](../../benchmarks/log.md#pma)."
    assert site.on_page_markdown(text, page, config, Files([])) == "See the log."
    config.repo_url = "https://example/us/clmst"
    shown = site.on_page_markdown(text, page, config, Files([]))
    assert shown == "See [the log](https://example/us/clmst/blob/main/benchmarks/log.md#pma)."


def test_no_mark_of_docstrings_is_left(pages: dict[Path, Read]) -> None:
    """A role of a docstring is a link, or code; a citation is a number in brackets."""
    left = {page.parent.name: MARKS.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: roles for name, roles in left.items() if roles} == {}


def public_names() -> set[str]:
    """Return each name that may be imported, by its shortest path."""
    ours = {name for name in clmst.__all__ if name not in {*MODULES, "__version__"}}
    names = {f"clmst.{name}" for name in ours}
    for module in MODULES:
        home = import_module(f"clmst.{module}")
        for name in home.__all__:
            if name not in ours or getattr(home, name) is not getattr(clmst, name):
                names.add(f"clmst.{module}.{name}")
    return names


def test_every_public_name_is_in_the_reference_once(pages: dict[Path, Read]) -> None:
    ids = Counter(one for read in pages.values() for one in read.ids if one.startswith("clmst."))
    assert {name: count for name, count in ids.items() if count > 1} == {}
    assert public_names() <= ids.keys()
    owners = {name.rpartition(".")[0] for name in ids if name not in public_names()}
    assert owners <= public_names()  # all others are members of these
    assert [name for name in ids if "._" in name] == []


@pytest.mark.parametrize("owner", [clmst.Graph, clmst.Forest, clmst.RepeatedSolver])
def test_the_reference_has_methods_of_other_files(pages: dict[Path, Read], owner: type) -> None:
    """Some methods of a class are functions elsewhere: ``Graph.from_image``, ``Forest.rows``."""
    ids = {one for read in pages.values() for one in read.ids}
    methods = {
        name
        for name, value in inspect.getmembers_static(owner)
        if name[0] != "_" and (inspect.isfunction(value) or isinstance(value, classmethod))
    }
    hidden = {"unchecked", "replace_unchecked", "checked_edges", "check_contents"}
    assert {f"clmst.{owner.__name__}.{name}" for name in methods - hidden} <= ids


def test_signatures_and_defaults_are_what_callers_see(site: Path) -> None:
    """Parameters that share a description have their own defaults, constants their values."""
    reference = {
        page.parent.name: page.read_text() for page in (site / "reference").rglob("*.html")
    }
    for name, default in (("leaf_size", "40"), ("n_jobs", "None"), ("copy", "True")):
        [row] = re.findall(rf"<code>{name}</code>.*?</tr>", reference["clusters"], re.DOTALL)
        assert re.findall(r"<code>([^<]*)</code>", row)[-1] == default
    for text in reference.values():
        code = [
            unescape(re.sub("<[^>]*>", "", one))
            for one in re.findall("<pre>.*?</pre>", text, re.DOTALL)
        ]
        signatures = [one for one in code if re.match(r"\s*[\w.]+\(", one)]
        assert not [one for one in signatures if re.search(r"LazyField|\b_[a-z]|= WEIGHT", one)]
        assert max((len(line) for one in signatures for line in one.splitlines()), default=0) <= 88


@pytest.mark.parametrize("word", ["embedding", "conda", "graphml", "parquet", "maximum"])
def test_the_search_knows(site: Path, word: str) -> None:
    found = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    assert any(word in f"{entry['title']} {entry['text']}".lower() for entry in found)


def test_a_notebook_is_a_page_with_its_pictures(site: Path, pages: dict[Path, Read]) -> None:
    """A reader sees what it makes, and can take it along."""
    for notebook in (ROOT / "examples/notebooks").glob("*.ipynb"):
        page = site / "notebooks" / notebook.stem / "index.html"
        pictures = [link for link in pages[page].links if link.endswith(".png")]
        assert pictures
        assert f"../{notebook.name}" in pages[page].links
        assert (site / "notebooks" / notebook.name).read_bytes() == notebook.read_bytes()


# What somebody comes for, and where it is.
TASKS = {
    "install without a GPU": "install/#drivers",
    "a tree of a NetworkX graph": "networkx/",
    "a faster scipy minimum_spanning_tree": "scipy/",
    "HDBSCAN of points": "clustering/#hdbscan",
    "a data frame of edges": "data_frames/",
    "a Parquet file that is larger than memory": "scaling/#files",
    "new weights, again and again": "repeated/",
    "segments of an image": "segmentation/",
    "the parameters of draw_dendrogram": "reference/drawing/#clmst.drawing.draw_dendrogram",
    "how fast it is on a GPU": "performance/#on-a-gpu",
}


def test_ten_tasks_are_three_clicks_from_home(site: Path, pages: dict[Path, Read]) -> None:
    """By the tabs and by links of the text alone: the menu at the side adds to these."""
    home = site / "index.html"
    clicks, queue = {home: 0}, deque([home])
    while queue:
        page = queue.popleft()
        for link in pages[page].clicks:
            file = target(page, link)[0] if "://" not in link else page
            if file in pages and file not in clicks:
                clicks[file] = clicks[page] + 1
                queue.append(file)
    for task, place in TASKS.items():
        file, anchor = target(home, place)
        assert not anchor or anchor in pages[file].ids, task
        assert clicks[file] + bool(anchor) <= 3, task


def test_addresses_come_from_one_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[project.urls] gives site, repository, edit links and versions; without it there are none."""
    pytest.importorskip("mkdocstrings_handlers")
    from mkdocs.config.defaults import MkDocsConfig

    from benchmarks import site

    monkeypatch.setattr(site, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    without = site.on_config(MkDocsConfig())
    assert (without.site_url, without.repo_url, without.edit_uri) == (None, None, None)
    lines = (
        'Documentation = "https://pages.example/clmst"',
        'Repository = "https://example/us/clmst/"',
    )
    (tmp_path / "pyproject.toml").write_text("[project.urls]\n" + "\n".join(lines))
    with_them = site.on_config(MkDocsConfig())
    assert with_them.site_url == "https://pages.example/clmst/"
    assert (with_them.repo_url, with_them.repo_name) == ("https://example/us/clmst", "us/clmst")
    assert with_them.edit_uri == "edit/main/docs/"
    assert with_them.extra["version"] == {"provider": "mike"}
