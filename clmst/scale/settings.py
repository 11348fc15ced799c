"""How one stream is to be solved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from clmst.runtime.device import Device
from clmst.scale.progress import StreamProgress

OnProgress: TypeAlias = Callable[[StreamProgress], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """What a call of :func:`clmst.stream_minimum_spanning_forest` asks for, checked.

    Attributes
    ----------
    device : Device
    limit : int
        Bytes of the device.
    checkpoint : Path or None
    on_progress : callable or None
    maximum : bool
    """

    device: Device
    limit: int
    checkpoint: Path | None
    on_progress: OnProgress | None
    maximum: bool
