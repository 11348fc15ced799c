"""Host arrays in the form that a device takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.arguments import check_kind
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array


def check_uploaded(array: Any) -> None:
    """Raise unless a device can take the array."""
    if type(array) is not np.ndarray:
        check_kind("array", array, np.ndarray, rule="it must be a NumPy array")
    if array.dtype.hasobject or not array.flags.c_contiguous:
        raise InvalidArgumentError(
            f"the array has shape {array.shape}, strides {array.strides} and dtype {array.dtype}; "
            "it must be contiguous, and of no Python objects"
        )


class ReadAlone:
    """The memory of a read-only array, for PyOpenCL, whose SVM must be writable.

    Kernels take what is uploaded as ``const``.
    """

    def __init__(self, array: Array) -> None:
        self._array = array  # whatever holds the memory
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}
