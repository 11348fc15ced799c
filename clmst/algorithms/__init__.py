"""The algorithms: host side of ``cl/algorithms``, one folder each.

Names are imported when they are first used: options need no OpenCL.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clmst.algorithms.choosing import check_name as check_name
    from clmst.algorithms.choosing import choose as choose
    from clmst.algorithms.choosing import most_vertices as most_vertices
    from clmst.algorithms.choosing import named as named
    from clmst.algorithms.registry import ALGORITHMS as ALGORITHMS
    from clmst.algorithms.shared.algorithm_record import AlgorithmRecord as AlgorithmRecord
    from clmst.algorithms.shared.algorithm_record import Solve as Solve

_HOME_OF = {
    "ALGORITHMS": "registry",
    "AlgorithmRecord": "shared.algorithm_record",
    "Solve": "shared.algorithm_record",
    "check_name": "choosing",
    "choose": "choosing",
    "most_vertices": "choosing",
    "named": "choosing",
}


if not TYPE_CHECKING:  # a type checker knows the names above, and no others

    def __getattr__(name: str) -> Any:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        globals()[name] = value  # found without this function from now on
        return value
