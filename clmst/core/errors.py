"""What clmst raises. Every message states the fact, then the rule."""

from __future__ import annotations


class ClmstError(Exception):
    """Root of every error that clmst raises on purpose."""


class InvalidArgumentError(ClmstError, ValueError):
    """An argument names something that does not exist or contradicts another."""


class MissingFileError(InvalidArgumentError, FileNotFoundError):
    """There is no such file; Python's own :class:`FileNotFoundError` too."""


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
        The compiler's own words.
    """

    def __init__(self, label: str, device: str, log: str) -> None:
        super().__init__(f"{label} does not build for {device}; the compiler said:\n{log.strip()}")
        self.label = label
        self.device = device
        self.log = log


class DeviceError(ClmstError, RuntimeError):
    """A device, or its driver, failed in the middle of its work.

    The device object can be used again: what it cached of the failed work is dropped. The driver's
    own error is the cause (``__cause__``).
    """


class DeviceLostError(DeviceError):
    """A device stopped answering in the middle of its work; what was in its memory is lost."""


class OutOfDeviceMemoryError(ClmstError, MemoryError):
    """The device cannot hold what the solve needs."""


class FileWriteError(ClmstError, OSError):
    """A file could not be written to its end; what was there before is unchanged."""


class GraphWarning(UserWarning):
    """A graph may not be the one that its caller means."""


class DeviceWarning(RuntimeWarning):
    """A device failed; others do its work."""


class CacheWarning(RuntimeWarning):
    """Nothing can be kept for the next process; results are the same, after longer preparation."""


class FormerNameWarning(DeprecationWarning):
    """A name that something had; it goes on working for one version."""


class MissingDependencyError(ClmstError, ImportError):
    """An optional package is needed for what was asked; the message says how to install it."""
