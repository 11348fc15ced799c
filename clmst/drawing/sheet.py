"""Where a picture goes: to a file, to the caller's axes, or to a new figure.

A picture for a file is drawn without pyplot, because pyplot would choose a backend for the whole
program. Without a file and without axes, a picture is a new figure of pyplot, so that notebooks and
``plt.show()`` show it.
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

WIDTH = 10.0  # width of a new figure in inches
EDGE = 0.35  # margin on all sides in inches
_HEAD = 0.95  # height for title, captions and key in inches


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The destination of a picture: a file, axes, or both.

    If both are None, the picture is a new figure of pyplot.
    """

    path: Path | None
    axes: Any

    @classmethod
    def checked(cls, path: Any, ax: Any) -> Target:
        """Check the path and the axes that a caller passes, and return a target with both.

        Both may be None. Raises :class:`InvalidArgumentError` if the suffix is unknown, or if `ax`
        is not a Matplotlib Axes or is polar or three-dimensional.
        """
        if path is not None:
            path = checked_path(path)
        if ax is not None:
            kind = optional_import("matplotlib.axes", extra="plot").Axes
            if not isinstance(ax, kind) or ax.name != "rectilinear":
                raise InvalidArgumentError(
                    f"ax is {shown(ax)}; it must be two-dimensional Axes of Matplotlib"
                )
        return cls(path=path, axes=ax)

    def sheet(self, tall: float, left: float) -> Any:
        """Return the caller's axes, or axes with the height `tall` on a new figure.

        `left` is the margin at the left of the new axes. `tall` and `left` are in inches.
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
    """Check the path of a picture that a caller passes, and return it as a Path.

    Raises InvalidArgumentError unless the suffix of the path is one of `suffixes` and its folder
    exists.
    """
    file = checked_suffix(path, suffixes)
    replaceable(file)
    return file


def checked_suffix(path: Any, suffixes: Sequence[str] = SUFFIXES) -> Path:
    """Check the suffix of a path that a caller gives, and return the path as a Path.

    Raises :class:`InvalidArgumentError` unless the suffix is one of `suffixes`.
    """
    file = check_path("path", path)
    if file.suffix.lower() not in suffixes:
        raise InvalidArgumentError(
            f"{file.name} has the suffix {file.suffix!r}; it must be one of {', '.join(suffixes)}"
        )
    return file


def checked_title(title: str | None) -> str | None:
    """Check the title that a caller gives, and return it.

    Raises :class:`InvalidArgumentError` unless it is text or None.
    """
    return None if title is None else check_text("title", title)
