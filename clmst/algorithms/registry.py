"""The algorithms there are: the record of each folder that has one.

An algorithm is added by its folder, with nothing else to change: see docs/add_an_algorithm.md.
"""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules

import clmst.algorithms
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord


def _records() -> dict[str, AlgorithmRecord]:
    """Return the records of all folders, by the names of their algorithms."""
    names = (folder.name for folder in iter_modules(clmst.algorithms.__path__) if folder.ispkg)
    packages = (import_module(f"clmst.algorithms.{name}") for name in names)
    records = (package.RECORD for package in packages if hasattr(package, "RECORD"))
    return {record.name: record for record in sorted(records, key=attrgetter("name"))}


ALGORITHMS: dict[str, AlgorithmRecord] = _records()


def takes_complete_graphs(name: str) -> bool:
    """Return whether an algorithm takes graphs that list no edges; "auto" does."""
    return name == "auto" or ALGORITHMS[name].takes_complete_graphs


def one_of() -> str:
    """Return the names of all algorithms for a sentence; "auto" is one."""
    return ", ".join(["auto", *ALGORITHMS])
