"""The family of kernels of edge streams, and its self-test's cases (``runtime/trust.py``)."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.families import USUAL, Case
from clmst.core.errors import UnsupportedDeviceError
from clmst.core.weight_keys import weight_kind_or_none
from clmst.runtime.device import Device
from clmst.runtime.trust import KernelFamily


def _failure(device: Device, case: Case) -> str | None:
    from clmst.algorithms.edge_stream import self_test

    return self_test.edge_stream_failure(device, case)


EDGE_STREAM = KernelFamily(
    name="edge-stream",
    what="streams of edges that the device generates or filters",
    test=_failure,
    cases=(USUAL[0], USUAL[2]),
)


def _passes_failure(device: Device, case: Case) -> str | None:
    from clmst.algorithms.edge_stream import self_test

    return self_test.edge_passes_failure(device, case)


EDGE_PASSES = KernelFamily(
    name="edge-passes",
    what="forests by passes over a stream of edges",
    test=_passes_failure,
    cases=(USUAL[0], USUAL[2]),
)


def require(
    device: Device,
    dtype: np.dtype[np.generic],
    *,
    maximum: bool,
    family: KernelFamily = EDGE_STREAM,
) -> None:
    """Raise :class:`UnsupportedDeviceError` unless a device passes the self-test of a family."""
    kind = weight_kind_or_none(dtype)
    if kind is None:
        raise UnsupportedDeviceError(
            f"no device has keys of weights of {dtype}; they have no order"
        )
    device.trust.require(family, Case(8 * dtype.itemsize, kind, maximum))
