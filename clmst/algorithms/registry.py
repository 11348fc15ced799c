"""The registry of algorithms.

Each folder whose package defines RECORD is an algorithm. RECORD describes the algorithm: its name,
its options and more. Adding a folder adds an algorithm; nothing else has to change. See
docs/add_an_algorithm.md.
"""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules

import clmst.algorithms
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord


def _records() -> dict[str, AlgorithmRecord]:
    """Import all algorithms, and return the descriptions of them by the name of the algorithm."""
    names = (folder.name for folder in iter_modules(clmst.algorithms.__path__) if folder.ispkg)
    packages = (import_module(f"clmst.algorithms.{name}") for name in names)
    records = (package.RECORD for package in packages if hasattr(package, "RECORD"))
    return {record.name: record for record in sorted(records, key=attrgetter("name"))}


ALGORITHMS: dict[str, AlgorithmRecord] = _records()


def takes_complete_graphs(name: str) -> bool:
    """Return whether the algorithm `name`, or "auto", can solve matrices and points.

    Matrices and points are complete graphs that do not list their edges.
    """
    return name == "auto" or ALGORITHMS[name].takes_complete_graphs


def one_of() -> str:
    """Return the names of all algorithms, including "auto", separated by commas for a sentence."""
    return ", ".join(["auto", *ALGORITHMS])
