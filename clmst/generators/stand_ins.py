"""The old name of :mod:`clmst.generators.surrogates`; goes with the next version."""

from __future__ import annotations

import warnings

from clmst.generators.surrogates import (
    DEGREE_STUDY,
    SIZE_STUDY,
    find,
    random,
    rmat,
)
from clmst.generators.surrogates import SURROGATES as STAND_INS
from clmst.generators.surrogates import SurrogateGraph as StandIn

__all__ = ["DEGREE_STUDY", "SIZE_STUDY", "STAND_INS", "StandIn", "find", "random", "rmat"]

warnings.warn(
    "clmst.generators.stand_ins is clmst.generators.surrogates now, with SURROGATES and "
    "SurrogateGraph; the old names go with the next version",
    DeprecationWarning,
    stacklevel=2,
)
