"""The errors and warnings of clmst, and functions that raise them.

A message says first what is wrong, and then what is required. The logger "clmst" reports the chosen
devices and algorithms at the level DEBUG, and compilations, self-tests and fallbacks at the level
INFO.
"""

from __future__ import annotations

import logging
import sys
import warnings
from importlib import import_module
from typing import Any

logger = logging.getLogger("clmst")


class ClmstError(Exception):
    """Base class of every error that clmst raises deliberately.

    Examples
    --------
    An end of the second edge is not a vertex. The error is also a ValueError of Python:

    >>> import clmst
    >>> try:
    ...     graph = clmst.Graph.from_edges([0, 1], [1, 5], [3.0, 1.0], n_vertices=3)
    ... except clmst.ClmstError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError))
    ...     print(error)
    InvalidGraphError True
    v[1] is 5 in a graph of 3 vertices; it must be below 3
    """

    def __reduce__(self) -> Any:
        """Pickle the class, the arguments and the attributes.

        Exceptions do this by default. The method is spelled out for classes that also derive from
        an exception of Python with another memory layout, such as :class:`MissingFileError`. tblib
        3.2, with which Dask sends errors between processes, would create errors of these classes
        with the ``__new__`` of one base class, and Python refuses that.
        """
        return type(self), self.args, vars(self)


class InvalidArgumentError(ClmstError, ValueError):
    """An argument has a wrong type or value, or contradicts another argument."""


class MissingFileError(InvalidArgumentError, FileNotFoundError):
    """A file does not exist. The class is also a :class:`FileNotFoundError`."""


class NotFittedError(InvalidArgumentError, AttributeError):
    """An estimator has not been fitted, or was fitted with input that the method cannot use.

    The class is also an :class:`AttributeError`.
    """


class InvalidGraphError(ClmstError, ValueError):
    """The input does not describe an undirected weighted graph."""


class FileFormatError(InvalidGraphError):
    """A file is truncated, has another format than its name says, or breaks its format's rules."""


class InvalidForestError(ClmstError, ValueError):
    """A forest is not the minimum (or maximum) spanning forest of the graph given with it."""


class UnsupportedDeviceError(ClmstError, RuntimeError):
    """No usable OpenCL device was found, or the device asked for cannot do the work."""


class KernelBuildError(ClmstError, RuntimeError):
    """An OpenCL program could not be compiled for a device.

    Attributes
    ----------
    label : str
        The program and its compile-time choices, such as ``ecl[weight=u32,wg=256]``.
    device : str
        The name of the device.
    log : str
        The output of the compiler.
    """

    def __init__(self, label: str, device: str, log: str) -> None:
        super().__init__(f"{label} does not build for {device}; the compiler said:\n{log.strip()}")
        self.label = label
        self.device = device
        self.log = log

    def __reduce__(self) -> Any:
        """Pickle the three arguments of the constructor.

        The message is made again from the arguments.
        """
        return type(self), (self.label, self.device, self.log), vars(self)


class DeviceError(ClmstError, RuntimeError):
    """A device or its driver failed while it was working.

    The device object can be used again: cached data of the failed work are dropped. The driver's
    own error is the cause (``__cause__``).
    """


class DeviceLostError(DeviceError):
    """A device stopped answering while it was working.

    The contents of the device's memory are lost.
    """


class OutOfDeviceMemoryError(ClmstError, MemoryError):
    """The device does not have enough memory for the solve."""


class FileWriteError(ClmstError, OSError):
    """A file could not be written completely. The message says what state the file is in."""


class GraphWarning(UserWarning):
    """A graph may differ from what the caller expects."""


class DeviceWarning(RuntimeWarning):
    """A device failed or is missing, and another device or the host does its work."""


class StreamedWarning(RuntimeWarning):
    """A graph that is too large for the device was solved in parts.

    The parts do not change the result, but the solve takes longer.
    """


class CacheWarning(RuntimeWarning):
    """The cache cannot be written, or contains a file of an older version, which is ignored.

    Results do not change. If the cache cannot be written, the next process starts slowly.
    """


class MissingDependencyError(ClmstError, ImportError):
    """The call needs a package that is not installed. The message says how to install it."""


def callers_level() -> int:
    """Return the `stacklevel` with which a warning points at the user's code that called clmst.

    The level is valid for a warning that the caller of this function itself issues.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        # A frame of the user may have globals without __name__, if its code is run by exec.
        if not frame.f_globals.get("__name__", "").startswith("clmst."):
            break
        level, frame = level + 1, frame.f_back
    return level


def warn_of_fallback(message: str, category: type[Warning]) -> None:
    """Warn that work is done in another way than usual, and log the message of the warning.

    An example is work on the host because a device has failed. The warning points at the user's
    code. `category` is the class of the warning.
    """
    logger.info("%s", message)
    warnings.warn(message, category, stacklevel=callers_level())


def optional_import(name: str, *, extra: str) -> Any:
    """Import and return the module `name`. If it is missing, say how to install it.

    `extra` is the optional dependency group of clmst that installs the package. Raise
    MissingDependencyError, with the command to install the group, if the module is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"this needs the package {name.partition('.')[0]}, which is not installed; "
            f"install it with: {pip_install(extra)}"
        ) from error


def pip_install(extra: str) -> str:
    """Return the pip command that installs the packages of one of clmst's extras.

    `extra` is the name of the extra. The packages are read from clmst's metadata. The command lists
    them one by one, because the user's package index may not have clmst.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("clmst") or []
    except PackageNotFoundError:  # clmst is not installed: its sources are on Python's path
        lines = []
    listed = [line.partition(";")[0].strip() for line in lines if f"extra == '{extra}'" in line]
    return " ".join(["pip install", *(f"'{one}'" for one in listed or [f".[{extra}]"])])
