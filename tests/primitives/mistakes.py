"""Calls with one mistake each: the error names it, and nothing has been written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from clmst import InvalidArgumentError
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

NO_ARRAY = (
    "primitives work on device arrays: make one with clmst.DeviceArray.from_host or from_pyopencl"
)
APART = "overlap; what is written must lie apart from what is read"
IN_PLACE = "overlap without being equal; work in place or apart"


def assert_refused(
    call: Callable[..., object],
    right: Mapping[str, Any],
    mistakes: Sequence[tuple[str, dict[str, Any]]],
    *arrays: DeviceArray,
) -> None:
    """Make a call that is right but for the arguments of each mistake.

    `mistakes` are parts of messages, and the arguments; `arrays` must stay as they are.
    """
    launch = Launcher(arrays[0].device, arrays[0].device.queue)
    before = [one.to_host().tobytes() for one in arrays]
    for message, wrong in mistakes:
        with pytest.raises(InvalidArgumentError) as caught:
            call(**{**right, "launch": launch, **wrong})
        assert message in str(caught.value)
        assert launch.launches == 0, message
        assert [one.to_host().tobytes() for one in arrays] == before, message
