"""Time a first use of clmst: from an empty folder to clusters of the user's own file.

    python3 tests/helpers/first_time.py [INDEX]

This runs the commands that docs/install.md gives to newcomers, as if somebody typed them, for a
user with empty caches who has a file and a clone. If the address of a package index is given, clmst
is installed from there. Only Python and a shell are needed.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "install.md"
TITLE = "## From an empty folder to clusters"
MOST_COMMANDS, MOST_SECONDS = 8, 120
FROM_CLONE, FROM_INDEX = "pip install ~/clmst'[", "pip install 'clmst["


def commands() -> list[str]:
    """Return the commands of the page without their comments."""
    section = PAGE.read_text(encoding="utf-8").partition(TITLE)[2]
    found = re.search(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE} has no commands behind {TITLE!r}"
    lines = (re.sub(r"\s+# .*", "", line) for line in found[1].splitlines())
    return [line for line in lines if line.strip()]


def write_points(path: Path) -> None:
    """Write the user's file: 1,200 points around three centres, with names of columns."""
    random.seed(1)
    centres = ((0, 0), (6, 1), (2, 7))
    rows = (f"{random.gauss(x, 0.6):.3f},{random.gauss(y, 0.6):.3f}\n" for x, y in centres * 400)
    path.write_text("x,y\n" + "".join(rows), encoding="utf-8")


def run(lines: list[str], home: Path, folder: Path, index: str | None) -> float:
    """Run commands in one shell of the user, and show their output and times.

    Returns the total seconds. Exits if a command fails.
    """
    mark = "-- done --"
    script = "".join(f"{line} || exit 1\necho '{mark}'\n" for line in lines)
    kept = ("PATH", "LANG", "PIP_CERT", "SSL_CERT_FILE", "PIP_FIND_LINKS", "PIP_DEFAULT_TIMEOUT")
    user = {name: os.environ[name] for name in kept if name in os.environ}
    user |= {"HOME": str(home), "TMPDIR": str(home), "PIP_NO_CACHE_DIR": "1", "PIP_QUIET": "1"}
    if index is not None:
        user["PIP_EXTRA_INDEX_URL"] = index
    shell = subprocess.Popen(
        ["bash", "-c", script], cwd=folder, env=user, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    began = last = time.perf_counter()
    waiting = iter(lines)
    print(f"$ {next(waiting)}", flush=True)
    assert shell.stdout is not None
    for said in shell.stdout:
        if said.strip() != mark:
            print(said, end="", flush=True)
            continue
        now = time.perf_counter()
        print(f"    [{now - last:.1f} s]", flush=True)
        last = now
        if (line := next(waiting, None)) is not None:
            print(f"$ {line}", flush=True)
    if shell.wait():
        sys.exit("the last command failed")
    return last - began


def check(folder: Path) -> None:
    """Exit unless there is a table with a column of clusters, and a picture."""
    (table,) = folder.rglob("clustered.csv")
    (picture,) = folder.rglob("clusters.png")
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    clusters = {row.rpartition(",")[2] for row in rows} - {"-1"}
    if head != "x,y,cluster" or len(rows) != 1200 or clusters != {"0", "1", "2"}:
        sys.exit(f"clustered.csv has {len(rows)} rows of {head}, in the clusters {clusters}")
    if picture.read_bytes()[:4] != b"\x89PNG":
        sys.exit("clusters.png is no picture")


def main(
    arguments: list[str],
    by: Callable[[list[str], Path, Path, str | None], float] = run,
    checked: Callable[[Path], object] = check,
) -> None:
    """Run the commands in an empty folder. Exits with status 1 if they fail or take too long."""
    index = arguments[0] if arguments else None
    lines = commands()
    if index is not None:
        lines = [line.replace(FROM_CLONE, FROM_INDEX) for line in lines]
    with tempfile.TemporaryDirectory() as place:
        home, folder = Path(place, "home"), Path(place, "empty")
        home.mkdir()
        folder.mkdir()
        write_points(home / "points.csv")
        (home / "clmst").symlink_to(ROOT)
        seconds = by(lines, home, folder, index)
        checked(folder)
    print(f"{len(lines)} commands, {seconds:.0f} s")
    if len(lines) > MOST_COMMANDS or seconds > MOST_SECONDS:
        sys.exit(f"more than {MOST_COMMANDS} commands or {MOST_SECONDS} s")


if __name__ == "__main__":
    main(sys.argv[1:])
