"""Extensions for building the site of the documentation with MkDocs.

MkDocs calls the functions ``on_...`` for the whole site and for each page. The plugin mkdocstrings
uses ``Names`` to change what the reference shows. ``mkdocs.yml`` names both.
"""

from __future__ import annotations

import base64
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from pydoc import locate
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
ENTRY = re.compile(r"^::: clmst\.(\S+)$", re.MULTILINE)
# Regular expressions for texts in docstrings that are replaced. ROLE matches a reference such as
# :func:`clmst.verify`. PAGE matches the name of a page of the documentation. GROUP, below, matches
# a list of parameters that share one description.
ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`(~?)([\w.]+)`")
PAGE = re.compile(r"(?:``)?\bdocs/(\w+)\.md(?:``)?")
# Patterns in docstrings: a citation, such as [1]_, and the entry that it cites.
CITATION = re.compile(r"\[(\d+)\]_")
ENTRY_OF_REFERENCES = re.compile(r"^( *)\.\. \[(\d+)\] ", re.MULTILINE)
# Pattern in pages: a link to a file of the repository that is not a page.
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(benchmarks/[^)\s]+)\)")
# Pattern in pages: a link to a notebook of the repository.
NOTEBOOK = re.compile(r"\((?:\.\./)+examples/notebooks/(\w+)\.ipynb\)")
STYLE = re.compile(r"<style.*?</style>\s*", re.DOTALL)
GROUP = re.compile(
    r"^( *)(\w+(?:, \w+)+)((?: : .*)?\n(?:\1 {4}.*\n?)(?:(?:\1 {4}.*)?\n(?=\1 {4}))*)", re.MULTILINE
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the addresses of the site and of the repository from ``[project.urls]``.

    That is a table in ``pyproject.toml``. Its entry ``Documentation`` is the address of the site.
    If it is given, the site has a folder for each version. The entry ``Repository`` is the address
    of the repository. If it is given, each page has a link to its source there.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    urls = project.get("urls", {})
    if site := urls.get("Documentation"):
        config.site_url = site.rstrip("/") + "/"
        config.extra["version"] = {"provider": "mike"}
    if repository := urls.get("Repository"):
        config.repo_url = repository.rstrip("/")
        config.repo_name = "/".join(config.repo_url.split("/")[-2:])
        config.edit_uri = "edit/main/docs/"
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook of ``examples/notebooks``, with its code, outputs and pictures.

    The file of the notebook is added beside its page, so that readers can download it.
    """
    for path in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        page, pictures = notebook_page(path.stem, json.loads(text)["cells"])
        at = f"notebooks/{path.stem}"
        files.append(File.generated(config, f"{at}.md", content=page))
        files.append(File.generated(config, f"notebooks/{path.name}", content=text))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    return files


def notebook_page(name: str, cells: Sequence[dict[str, Any]]) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as a page in Markdown, and its pictures by the names of their files.

    `name` is the name of the notebook's file without its suffix, and `cells` are its cells.
    """
    parts, pictures = list[str](), dict[str, bytes]()
    heading = "picture"
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            parts.append(source)
            heading = (re.findall("^#+ (.*)$", source, re.MULTILINE) or [heading])[-1]
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                file = f"{name}_{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![{heading}]({file})")
            elif "text/html" in data:
                parts.append(STYLE.sub("", "".join(data["text/html"])))
            else:
                shown = "".join(output.get("text", data.get("text/plain", ())))
                parts.append(f"```text\n{shown.rstrip()}\n```")
    parts.insert(1, f"[Download this notebook]({name}.ipynb){{ download }}")
    return "\n\n".join(parts) + "\n", pictures


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the Markdown of a page with changes for the site.

    On the first page of the reference, a table of all names is inserted. On other pages, a link to
    a notebook's file is changed to the page of the notebook. A link to the log of experiments
    (benchmarks/log.md) is changed to the file in the repository, because the log is not on the
    site. If the repository does not have an address, only the text of that link is kept.
    """
    up = "../" * page.file.src_uri.count("/")
    markdown = NOTEBOOK.sub(rf"({up}notebooks/\1.md)", markdown)
    if page.file.src_uri != "reference/index.md":
        at = f"{config.repo_url}/blob/main/" if config.repo_url else None
        return OUTSIDE.sub(
            lambda found: f"[{found[1]}]({at}{found[2]})" if at else found[1], markdown
        )
    rows = ["| group | names |", "|---|---|"]
    group = page.parent.children if page.parent else []
    for one in (child for child in group if isinstance(child, Page) and child is not page):
        names = ENTRY.findall(one.file.content_string)
        title = str(one.title).partition(":")[0]
        links = ", ".join(f"[`{name}`][clmst.{name}]" for name in names)
        rows.append(f"| [{title}]({Path(one.file.src_uri).name}) | {links} |")
    return markdown.replace("<!-- names -->", "\n".join(rows))


class Names(griffe.Extension):
    """An extension that shows names, links and defaults in the reference as callers see them.

    Roles in docstrings, such as :func:`clmst.verify`, and names of pages become links. A name that
    is not in the reference stays code. Parameters that share a description are listed one by one,
    each with its own default.
    """

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Change the objects of a package in place, before they are written to pages."""
        for obj in list(_objects(pkg)):
            _mend_docstring(obj)
            if isinstance(obj, griffe.Function):
                _show_defaults(obj)
            elif isinstance(obj, griffe.Class):
                _take_borrowed_methods(obj)
            elif isinstance(obj, griffe.Attribute):
                _hide_laziness(obj)
        for package in pkg.modules.values():
            _uncover_functions(package)


def _objects(owner: griffe.Object) -> Iterator[griffe.Object]:
    """Yield an object, and all objects that are defined in it, at any depth."""
    yield owner
    for member in owner.members.values():
        if not isinstance(member, griffe.Alias):
            yield from _objects(member)


def _mend_docstring(obj: griffe.Object) -> None:
    """Turn roles and pages of a docstring into links, and list grouped parameters one by one.

    Citations and references become text and a list, because Markdown does not know their marks.
    """
    if obj.docstring is not None:
        text = ROLE.sub(lambda found: _link(obj, *found.groups()), obj.docstring.value)
        text = PAGE.sub(r'<a href="../../\1/">docs/\1.md</a>', text)
        text = ENTRY_OF_REFERENCES.sub(r"\1* [\2] ", CITATION.sub(r"[\1]", text))
        obj.docstring.value = GROUP.sub(_apart, text)


def _hide_laziness(field: griffe.Attribute) -> None:
    """Let the reference show a field that is computed on first use as an ordinary field.

    A field that is computed on first use has the annotation LazyField, which is replaced by the
    type of the field's value.
    """
    lazy, value = field.annotation, field.value
    if isinstance(lazy, griffe.ExprSubscript) and str(lazy.left) == "LazyField" and value:
        field.annotation, field.value = lazy.slice, None


def _uncover_functions(package: griffe.Module) -> None:
    """Let a name such as ``primitives.compact`` mean the function, not the module.

    The function is defined in a module of the same name. Without this, the reference would show the
    module in place of the function.
    """
    functions = {
        name: module.functions[name]
        for name, module in package.modules.items()
        if name in (package.exports or ()) and name in module.functions
    }
    for member in package.members.values() if functions else ():
        if isinstance(member, griffe.Alias):
            with suppress(griffe.AliasResolutionError):  # of another package
                member.resolve_target()  # while its path still leads there
    for name, function in functions.items():
        package.set_member(name, griffe.Alias(name, function, parent=package))


def _take_borrowed_methods(owner: griffe.Class) -> None:
    """Let the reference show a function of another module as a method of the class that takes it.

    For example, a class may have the line ``f = classmethod(other.f)``.
    """
    for name, attribute in list(owner.attributes.items()):
        value, labels = attribute.value, set()
        if isinstance(value, griffe.ExprCall) and value.canonical_path == "classmethod":
            value, labels = value.arguments[0], {"classmethod"}
        if not isinstance(value, griffe.ExprName | griffe.ExprAttribute):
            continue
        path = value.canonical_path
        with suppress(griffe.AliasResolutionError, griffe.NameResolutionError, KeyError):
            if path == attribute.path and owner.parent:  # of the name that it has outside the class
                path = owner.parent.resolve(name)
            found: griffe.Object | griffe.Alias = owner.modules_collection[path]
            function = found.final_target if isinstance(found, griffe.Alias) else found
            if isinstance(function, griffe.Function):
                method = copy(function)
                method.name, method.lineno, method.labels = name, attribute.lineno, labels
                owner.set_member(name, method)


def _link(obj: griffe.Object, short: str, name: str) -> str:
    """Return a Markdown link to the object `name`, which the docstring of `obj` mentions.

    If `short` is not empty, the text of the link is the last part of the name.
    """
    path = name
    if not name.startswith("clmst"):
        owner = obj if obj.is_class else obj.parent
        if owner and owner.is_class and name.partition(".")[0] in owner.all_members:
            path = f"{owner.path}.{name}"
        else:
            with suppress(griffe.NameResolutionError):
                path = obj.resolve(name)
    shown = name.rpartition(".")[2] if short else name
    return f'<autoref optional identifier="{path}"><code>{shown}</code></autoref>'


def _apart(found: re.Match[str]) -> str:
    """Divide the description that several parameters share into an entry for each parameter.

    `found` is a match of GROUP, in a docstring. Returns the text of the new entries, each of which
    has the whole description.
    """
    indent, names, rest = found.groups()
    return "".join(f"{indent}{name}{rest}" for name in names.split(", "))


def _show_defaults(function: griffe.Function) -> None:
    """Let the reference show the signature of a function as callers use it.

    If a default is a named constant, its value is shown instead of its name. Private parameters,
    whose names begin with an underscore, are removed.
    """
    for parameter in list(function.parameters):
        if parameter.name.startswith("_"):
            del function.parameters[parameter.name]
        elif isinstance(parameter.default, griffe.ExprName) and parameter.default.name.isupper():
            value = locate(parameter.default.canonical_path)
            if isinstance(value, (str, int, float)):
                parameter.default = repr(value)
