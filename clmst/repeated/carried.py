"""Weights on their way to a solve in which there may be a device less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from clmst.core.weight_keys import Array
from clmst.repeated.alone import Alone
from clmst.repeated.failure import DeviceLostError
from clmst.repeated.together import Together
from clmst.repeated.whole import Brought

Formation: TypeAlias = Alone | Together


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Weights that were brought to devices, or failed to be.

    Attributes
    ----------
    formation : Alone or Together
        Whose they are.
    brought : Brought or None
        None if a device failed on the way.
    weights : ndarray, optional
        The weights on the host, in that case.
    lost : DeviceLostError, optional
        Which device that was.
    """

    formation: Formation
    brought: Brought | None
    weights: Array | None = None
    lost: DeviceLostError | None = None

    @property
    def is_on_device(self) -> bool:
        """Whether they are in a buffer of the caller's."""
        return self.brought is not None and self.brought.is_on_device
