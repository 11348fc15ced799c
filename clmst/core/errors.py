"""The errors and warnings of clmst, and what raises them. A message states fact, then rule.

The logger "clmst" has the chosen devices and algorithms at DEBUG; compilations, self-tests and
fall-backs at INFO.
"""

from __future__ import annotations

import logging
import sys
import warnings
from importlib import import_module
from typing import Any

logger = logging.getLogger("clmst")


class ClmstError(Exception):
    """Root of every error that clmst raises on purpose."""

    def __reduce__(self) -> Any:
        """Pickle the class and its arguments.

        This is what exceptions do by themselves. It is written out for those which are also one of
        Python's own of another layout, as :class:`MissingFileError` is: tblib 3.2, by which Dask
        sends errors home, makes those by the ``__new__`` of one base, which Python refuses.
        """
        return type(self), self.args, vars(self)


class InvalidArgumentError(ClmstError, ValueError):
    """An argument names something that does not exist or contradicts another."""


class MissingFileError(InvalidArgumentError, FileNotFoundError):
    """There is no such file; also a :class:`FileNotFoundError`."""


class NotFittedError(InvalidArgumentError, AttributeError):
    """An estimator has not been fitted, or by other input; also an :class:`AttributeError`."""


class InvalidGraphError(ClmstError, ValueError):
    """The input does not describe an undirected weighted graph."""


class FileFormatError(InvalidGraphError):
    """A file is truncated, mislabelled or breaks the rules of its format."""


class InvalidForestError(ClmstError, ValueError):
    """A forest is not the minimum spanning forest of the graph it was checked against."""


class UnsupportedDeviceError(ClmstError, RuntimeError):
    """No usable OpenCL device was found, or the one asked for cannot do the work."""


class KernelBuildError(ClmstError, RuntimeError):
    """An OpenCL program did not build.

    Parameters
    ----------
    label : str
        The specialisation, e.g. ``ecl[weight=u32,wg=256]``.
    device : str
        Name of the device it was built for.
    log : str
        The compiler's output.
    """

    def __init__(self, label: str, device: str, log: str) -> None:
        super().__init__(f"{label} does not build for {device}; the compiler said:\n{log.strip()}")
        self.label = label
        self.device = device
        self.log = log

    def __reduce__(self) -> Any:
        """Pickle what it is made of, rather than the message alone."""
        return type(self), (self.label, self.device, self.log), vars(self)


class DeviceError(ClmstError, RuntimeError):
    """A device, or its driver, failed in the middle of its work.

    The device object can be used again: its caches of the failed work are dropped. The driver's own
    error is the cause (``__cause__``).
    """


class DeviceLostError(DeviceError):
    """A device stopped answering in the middle of its work; the contents of its memory are lost."""


class OutOfDeviceMemoryError(ClmstError, MemoryError):
    """The device has not enough memory for the solve."""


class FileWriteError(ClmstError, OSError):
    """A file could not be written completely; its old content is unchanged."""


class GraphWarning(UserWarning):
    """A graph may differ from what its caller expects."""


class DeviceWarning(RuntimeWarning):
    """A device failed; others do its work."""


class StreamedWarning(RuntimeWarning):
    """A graph too large for the device was solved in parts or passes: the same forest, later."""


class CacheWarning(RuntimeWarning):
    """The cache cannot be written, or has a file of an older version, which is ignored.

    Results are the same. Where the cache cannot be written, the next process starts slowly.
    """


class MissingDependencyError(ClmstError, ImportError):
    """The call needs an optional package; the message says how to install it."""


def callers_level() -> int:
    """Return how far up the first caller from outside the package is, as warnings count.

    The level is that of the function which calls this one.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        if not frame.f_globals.get("__name__", "").startswith("clmst."):  # exec may give no name
            break
        level, frame = level + 1, frame.f_back
    return level


def warn_of_fallback(message: str, category: type[Warning]) -> None:
    """Warn the caller from outside the package that work is done in another way than was meant."""
    logger.info("%s", message)
    warnings.warn(message, category, stacklevel=callers_level())


def optional_import(name: str, *, extra: str) -> Any:
    """Import `name`, or raise an error that names the extra which installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"this needs the package {name.partition('.')[0]}, which is not installed; "
            f"install it with: {pip_install(extra)}"
        ) from error


def pip_install(extra: str) -> str:
    """Return the command that installs what an extra lists, as the metadata of clmst has it.

    It names the packages: the index that a user's pip asks may not have clmst itself.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("clmst") or []
    except PackageNotFoundError:  # a source tree on Python's path
        lines = []
    listed = [line.partition(";")[0].strip() for line in lines if f"extra == '{extra}'" in line]
    return " ".join(["pip install", *(f"'{one}'" for one in listed or [f".[{extra}]"])])
