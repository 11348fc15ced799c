"""The user's own table: what `clmst tune` measured on devices of this machine.

A JSON object: ``"format"`` is ``"clmst tuning 1"``, ``"entries"`` a list with one object a device,
of the members `MEMBERS` of :class:`~clmst.runtime.tuning_table.Entry`. Fields with wrong values are
left out, and listed in a warning.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from clmst.core import atomic_file
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.core.machine import cache_folder
from clmst.runtime.policy import PARAMETERS, Number
from clmst.runtime.tuning_table import Entry

FORMAT = "clmst tuning 1"
MEMBERS = ("device", "platform", "driver", "clmst", "measured", "values", "figures")


def user_path() -> Path:
    """Return where the user's own table is, or would be."""
    return cache_folder() / "tuning.json"


# --------------------------------------------------------------------------- reading


def read(path: Path) -> tuple[list[Entry], list[str]]:
    """Return the entries of a table, with legal values only, and what was left out, and why.

    A missing file is an empty table, and one that is no table raises.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return [], []
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path} cannot be read: {error}") from error
    try:
        content = json.loads(text)
    except ValueError as error:
        raise FileFormatError(f"{path} is no JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else None
        raise FileFormatError(f"{path} has the format {found!r}; it must be {FORMAT!r}")
    listed = content.get("entries")
    if not isinstance(listed, list):
        raise FileFormatError(f"{path} has no list of entries; a tuning table has one")
    entries: list[Entry] = []
    problems: list[str] = []
    for number, raw in enumerate(listed, 1):
        entry = _entry(raw, f"entry {number}", problems)
        if entry is not None:
            entries.append(entry)
    return entries, problems


def _entry(raw: Any, title: str, problems: list[str]) -> Entry | None:
    """Return the legal part of an entry, and add the rest to `problems`."""
    if not isinstance(raw, dict):
        problems.append(f"{title} is no object")
        return None
    texts: dict[str, Any] = {name: raw.get(name) for name in ("device", "platform", "driver")}
    missing = [name for name, text in texts.items() if not isinstance(text, str)]
    if missing:
        problems.append(f"{title} does not say its {missing[0]}")
        return None
    texts |= {n: raw[n] for n in ("clmst", "measured") if isinstance(raw.get(n), str)}
    title = f"{title} ({texts['device']}, clmst {texts.get('clmst', 'of an unknown version')})"
    values = raw.get("values")
    if not isinstance(values, dict):
        problems.append(f"{title} has no values")
        return None
    return Entry(
        **texts, values=_legal(values, title, problems), figures=_figures(raw.get("figures"))
    )


def _legal(values: Mapping[str, Any], title: str, problems: list[str]) -> dict[str, Number]:
    legal: dict[str, Number] = {}
    for name, value in values.items():
        parameter = PARAMETERS.get(name)
        if parameter is None:
            problems.append(f"{title} sets {name}, which this version does not know")
        elif not parameter.allows(value):
            problems.append(f"{title} sets {name} to {value!r}; it must be {parameter.rule}")
        else:
            legal[name] = value
    return legal


def _figures(raw: Any) -> dict[str, dict[str, float]]:
    """Return the figures that can be read; no result depends on them."""
    if not isinstance(raw, dict):
        return {}
    return {
        name: {k: float(v) for k, v in figures.items() if isinstance(v, int | float)}
        for name, figures in raw.items()
        if isinstance(figures, dict)
    }


# --------------------------------------------------------------------------- writing


def check_writable(path: Path) -> None:
    """Raise if :func:`write` would fail, or would overwrite a file that is no table."""
    if path.is_dir():
        raise InvalidArgumentError(f"{path} is a directory; a tuning table is a file")
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InvalidArgumentError(f"{path} cannot be written: {above} takes no files")
    try:
        read(path)
    except FileFormatError as error:
        raise FileFormatError(f"{error}; move it away, or write to another file") from error


def write(entry: Entry, path: Path) -> None:
    """Put an entry into a table, for the one of the same device and driver if there is one.

    Other fields of an old entry of the same version of clmst stay, with what they were measured on.
    The file is replaced atomically, so no reader sees half of one.
    """
    entries, _ = read(path)
    place = entry.device, entry.platform, entry.driver
    for old in [one for one in entries if (one.device, one.platform, one.driver) == place]:
        entries.remove(old)
        if old.clmst != entry.clmst:  # its kernels were others
            continue
        stays = old.measured if old.values.keys() - entry.values.keys() else ""
        entry = replace(
            entry,
            measured=f"{entry.measured}; before that, {stays}" if stays else entry.measured,
            values={**old.values, **entry.values},
            figures={**old.figures, **entry.figures},
        )
    listed = [{name: getattr(one, name) for name in MEMBERS} for one in (*entries, entry)]
    content = {"format": FORMAT, "entries": listed}
    atomic_file.make_folder(path.parent)
    atomic_file.write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
