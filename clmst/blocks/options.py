"""Options of a solve of points block by block, and the progress of the solve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clmst.core.arguments import check_integer, check_path, shown
from clmst.core.errors import InvalidArgumentError

FEWEST = 2  # points in a block


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockProgress:
    """The progress of a solve of points block by block.

    The `on_progress` of :class:`BlockOptions` gets this object. As text it is a short line.

    Attributes
    ----------
    step : str
        What is being computed: "core distances", "trees of blocks", "edges between blocks", and
        then "clusters" in :class:`clmst.cluster.HDBSCAN` or "dendrogram" in
        :func:`clmst.cluster.single_linkage`.
    done : int
        The number of tasks of this step that are done, tasks of a checkpoint included. It is 0 when
        the step begins.
    n_tasks : int
        The number of tasks of this step.
    n_dropped : int
        For "edges between blocks", the number of pairs that need no task, because all edges between
        them are too heavy for the tree. Otherwise 0.
    seconds : float
        Seconds since the step began.
    seconds_expected : float, optional
        For "edges between blocks", the seconds that this step would take if nearly all points of
        both blocks of each pair had to be compared, as in many dimensions. It is computed from the
        seconds for the trees of blocks, on the assumption that time grows with the square of the
        number of points. None for other steps, and if a checkpoint has all trees.
    n_bytes, n_device_bytes : int
        For "clusters" and "dendrogram", upper bounds of the bytes that the step takes besides the
        tree: of the host's memory, its result included, and of the device's memory. 0 for other
        steps, whose memory docs/scaling.md states.

    Examples
    --------
    >>> import clmst
    >>> print(clmst.BlockProgress(step="trees of blocks", done=3, n_tasks=12, seconds=1.5))
    trees of blocks: 3 of 12, 4.5 s left
    """

    step: str
    done: int
    n_tasks: int
    n_dropped: int = 0
    seconds: float = 0.0
    seconds_expected: float | None = None
    n_bytes: int = 0
    n_device_bytes: int = 0

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the end of the step, or None before the first task is done."""
        return self.seconds / self.done * (self.n_tasks - self.done) if self.done else None

    def __str__(self) -> str:
        """Return a line such as ``edges between blocks: 3 of 12, 54 dropped, 4.5 s left``."""
        parts = [f"{self.step}: {self.done} of {self.n_tasks}"]
        if self.n_dropped:
            parts.append(f"{self.n_dropped} dropped")
        if self.seconds_left is not None:
            parts.append(f"{self.seconds_left:,.1f} s left")
        elif self.seconds_expected is not None:
            parts.append(f"at most about {self.seconds_expected:,.1f} s")
        if self.n_bytes and not self.done:
            host, device = self.n_bytes / 1e6, self.n_device_bytes / 1e6
            parts.append(f"up to {host:,.1f} MB of memory and {device:,.1f} MB of the device's")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockOptions:
    """Options of a solve of points block by block, for the argument `block_points`.

    A block is a set of near points. The tree of each block is computed, and then the edges between
    blocks that may be lighter than a path between their ends. All of them together contain the tree
    of all points, which equals, to the last bit, the tree of a solve of all points at once. A
    device holds at most two blocks at any time.

    Parameters
    ----------
    n_points : int
        The maximum number of points in a block, at least 2. Smaller blocks need less memory on the
        device and have more pairs.
    checkpoint : path, optional
        A folder in which the result of each task is stored, so that a process that was killed can
        be started again and continues. It is created if it does not exist. Its files take up to 24
        bytes for each point, and 8 more with core distances. They stay when the solve is complete.
    on_progress : callable, optional
        A function that is called with a :class:`BlockProgress` when a step begins and after each
        task, for example ``print``.

    Raises
    ------
    InvalidArgumentError
        An argument has a wrong type or is out of its range.

    Examples
    --------
    >>> import clmst, numpy as np
    >>> points = clmst.Points(np.random.default_rng(0).random((10_000, 2)))
    >>> blocks = clmst.BlockOptions(n_points=2_000)
    >>> forest = clmst.minimum_spanning_forest(points, block_points=blocks)
    >>> forest == clmst.minimum_spanning_forest(points)
    True
    """

    n_points: int
    checkpoint: Any = None
    on_progress: Callable[[BlockProgress], object] | None = None

    def __post_init__(self) -> None:
        n_points = check_integer("n_points", self.n_points, low=FEWEST)
        object.__setattr__(self, "n_points", n_points)
        if self.on_progress is not None and not callable(self.on_progress):
            raise InvalidArgumentError(
                f"on_progress is {shown(self.on_progress)}; it must be callable"
            )
        if self.checkpoint is not None:
            object.__setattr__(self, "checkpoint", check_path("checkpoint", self.checkpoint))

    @property
    def folder(self) -> Path | None:
        """The folder of the checkpoint, or None."""
        found: Path | None = self.checkpoint
        return found

    @classmethod
    def of(cls, given: Any) -> BlockOptions:
        """Convert `given`, the argument `block_points`, to options.

        It is a number of points or options, which are returned unchanged.
        """
        if isinstance(given, BlockOptions):
            return given
        return cls(n_points=check_integer("block_points", given, low=FEWEST))
