"""What the site has beside its pages: where the project lives, and the links of docstrings.

MkDocs runs ``on_config`` as a hook, and mkdocstrings takes ``Roles`` (``mkdocs.yml`` names both).
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig

ROOT = Path(__file__).parents[1]
ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`(~?)([\w.]+)`")
PAGE = re.compile(r"``docs/(\w+)\.md``")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Take the project's addresses from ``[project.urls]``; without one, leave out what needs it.

    ``Documentation`` is the site, which has one folder a version then; ``Repository`` is what the
    links to a page's source lead to.
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


class Roles(griffe.Extension):
    """Make links of a docstring's roles, as :func:`clmst.verify`, and of pages that it names.

    A name that the reference lacks stays code: the link is optional.
    """

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object, before it is parsed."""
        if obj.docstring is None:
            return

        def linked(found: re.Match[str]) -> str:
            short, name = found.groups()
            shown = name.rpartition(".")[2] if short else name
            return (
                f'<autoref optional identifier="{_full_name(obj, name)}">'
                f"<code>{shown}</code></autoref>"
            )

        text = ROLE.sub(linked, obj.docstring.value)
        obj.docstring.value = PAGE.sub(r'<a href="../../\1/">docs/\1.md</a>', text)


def _full_name(obj: griffe.Object, name: str) -> str:
    """Return the whole path of a name that a docstring of an object says."""
    if name.startswith("clmst"):
        return name
    if obj.is_class and name.partition(".")[0] in obj.all_members:
        return f"{obj.path}.{name}"
    try:
        return obj.resolve(name)
    except griffe.NameResolutionError:
        return name
