"""Which modules of this environment are missing where clmst is installed with only some extras."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]

# The text of a file sitecustomize.py, which Python imports when it starts, if its folder is in
# PYTHONPATH. Modules that are missing then raise the error that they would raise if they were not
# installed.
_SITE = """
import sys

class Missing:
    names = {names!r}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, Missing())
"""


def missing_modules(extras: str) -> set[str]:
    """Return the modules of this environment that clmst with some extras would not install.

    `extras` has the names of extras in pyproject.toml, separated by commas. Packages that these
    packages need are installed, too.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = {name.strip() for name in extras.split(",")}
    own = [*project["dependencies"], *(line for name in sorted(wanted) for line in optional[name])]
    installed, to_do = {"clmst"}, [*map(Requirement, own)]
    done = set[tuple[str, frozenset[str]]]()
    while to_do:
        one = to_do.pop()
        name = canonicalize_name(one.name)
        if (name, key := frozenset(one.extras)) in done:
            continue
        done.add((name, key))
        installed.add(name)
        to_do += _needed(optional if name == "clmst" else None, one)
    known = packages_distributions().items()
    return {
        module
        for module, packages in known
        if not installed & {canonicalize_name(package) for package in packages}
    }


def _needed(optional: dict[str, list[str]] | None, one: Requirement) -> Iterable[Requirement]:
    """Return the requirements of a package, for the extras with which it is required.

    `optional` has the extras of clmst if the package is clmst itself. Otherwise it is None, and the
    requirements are those that the installed package names. None are returned if the package is not
    installed here, as the package of another system.
    """
    if optional is not None:
        return [Requirement(line) for extra in sorted(one.extras) for line in optional[extra]]
    try:
        lines = [*map(Requirement, requires(one.name) or ())]
    except PackageNotFoundError:
        return []
    extras = ("", *one.extras)
    return [
        line
        for line in lines
        if line.marker is None or any(line.marker.evaluate({"extra": extra}) for extra in extras)
    ]


def hide(modules: set[str], folder: Path) -> None:
    """Write a file to `folder` by which Python does not find `modules`.

    Python reads the file when it starts, if `folder` is in the environment variable PYTHONPATH.
    """
    (folder / "sitecustomize.py").write_text(_SITE.format(names=modules), encoding="utf-8")
