"""The README as package indexes show it: its links lead somewhere from there, too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")


class Readme(MetadataHookInterface):
    """Gives the metadata the README, with absolute links to the tag of the version."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add `readme` to the metadata, which have urls and version already."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        shown = with_absolute_links(text, repository, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}


def with_absolute_links(text: str, repository: str | None, tag: str) -> str:
    """Return a text whose links into the tree lead to a tag of the repository.

    Without a repository there is nothing for them to lead to: words stay, pictures go.
    """

    def absolute(found: re.Match[str]) -> str:
        picture, words, path = found.groups()
        if repository is None:
            return "" if picture else words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({repository.rstrip('/')}/{kind}/{tag}/{path})"

    return LINK.sub(absolute, text)
