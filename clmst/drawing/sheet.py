"""Destinations of pictures: a file, axes of the caller, or a new figure.

What is written to a file is drawn without pyplot, which would choose a backend for the whole
program. Without a file and axes it is pyplot's figure: so notebooks and ``plt.show()`` show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clmst.core.arguments import check_path, check_text, shown
from clmst.core.atomic_file import replaceable
from clmst.core.errors import InvalidArgumentError, optional_import
from clmst.drawing.palette import PAPER

SUFFIXES = (".png", ".svg", ".pdf")

WIDTH = 10.0  # of a sheet, inches
EDGE = 0.35  # left free all round, inches
_HEAD = 0.95  # space for title, captions and key, inches


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Destination of a picture: a file, axes, both, or a new figure of pyplot."""

    path: Path | None
    axes: Any

    @classmethod
    def checked(cls, path: Any, ax: Any) -> Target:
        """Return it, or raise if the suffix is unknown or these are no axes of a plane."""
        if path is not None:
            path = checked_path(path)
        if ax is not None:
            kind = optional_import("matplotlib.axes", extra="plot").Axes
            if not isinstance(ax, kind) or ax.name != "rectilinear":
                raise InvalidArgumentError(
                    f"ax is {shown(ax)}; it must be Axes of Matplotlib, of a plane"
                )
        return cls(path=path, axes=ax)

    def sheet(self, tall: float, left: float) -> Any:
        """Return the axes: the given ones, or some of this height on a new sheet.

        `left` are the inches between them and the edge.
        """
        if self.axes is not None:
            return self.axes
        height = EDGE + tall + _HEAD
        size = {"figsize": (WIDTH, height), "facecolor": PAPER}
        if self.path is None:
            figure = optional_import("matplotlib.pyplot", extra="plot").figure(**size)
        else:
            figure = optional_import("matplotlib.figure", extra="plot").Figure(**size)
        box = left / WIDTH, EDGE / height, 1 - (left + EDGE) / WIDTH, tall / height
        return figure.add_axes(box, facecolor=PAPER)


def checked_path(path: Any, suffixes: Sequence[str] = SUFFIXES) -> Path:
    """Return where to write a picture, if its suffix is known and its folder is there."""
    file = checked_suffix(path, suffixes)
    replaceable(file)
    return file


def checked_suffix(path: Any, suffixes: Sequence[str] = SUFFIXES) -> Path:
    """Return a path, or raise unless its suffix is one of pictures."""
    file = check_path("path", path)
    if file.suffix.lower() not in suffixes:
        raise InvalidArgumentError(
            f"{file.name} has the suffix {file.suffix!r}; it must be one of {', '.join(suffixes)}"
        )
    return file


def checked_title(title: str | None) -> str | None:
    """Return a title, or raise unless it is text or None."""
    return None if title is None else check_text("title", title)
