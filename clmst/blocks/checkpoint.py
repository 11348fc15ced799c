"""The results of tasks in a folder, so that a solve by blocks can continue after a kill."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import numpy as np

from clmst.core.atomic_file import make_folder, write_bytes, write_text
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.core.mapped_rows import passes
from clmst.core.points import Points
from clmst.core.weight_keys import Array

VERSION = 1
_HEADER = "points.json"
_CHECK = 4  # bytes of the CRC-32 at the end of each file


@dataclass(frozen=True, slots=True)
class TaskStore:
    """Results of tasks, each in a separate file. Without a folder nothing is stored.

    `prefix` is the beginning of the names of the files. It tells apart the tasks of different steps
    and of different core distances.
    """

    folder: Path | None
    prefix: str = ""

    @classmethod
    def opened(cls, folder: Path | None, points: Points, n_points: int) -> Self:
        """Open the folder of a checkpoint, which is created if it does not exist.

        None as `folder` gives a store that keeps nothing. `n_points` is the number of points in a
        block. Raises InvalidArgumentError if the folder belongs to other points or to blocks of
        another size, or cannot be created; FileFormatError if its header is damaged.
        """
        if folder is None:
            return cls(None)
        wanted = {
            "version": VERSION,
            "shape": list(points.coordinates.shape),
            "metric": points.metric if points.p is None else [points.metric, points.p],
            "checksum": checksum(points.coordinates),
            "block_points": n_points,
        }
        header = folder / _HEADER
        if not header.exists():
            make_folder(folder)
            write_text(header, json.dumps(wanted))
        try:
            found = json.loads(header.read_text())
            found = dict(found)
        except (OSError, TypeError, ValueError) as error:
            raise FileFormatError(f"{header} is not the header of a checkpoint") from error
        if found != wanted:
            differs = [key for key in wanted if found.get(key) != wanted[key]]
            raise InvalidArgumentError(
                f"the checkpoint {folder} is of another solve ({', '.join(differs)} differ); "
                "give an empty folder, or the same points and the same block_points"
            )
        return cls(folder)

    def of_step(self, prefix: str) -> TaskStore:
        """Return the store of the tasks of a step, whose files begin with `prefix`."""
        return TaskStore(self.folder, prefix)

    def read(self, task: str) -> dict[str, Array] | None:
        """Return the arrays that a task has stored, or None if nothing has been stored.

        Raises FileFormatError if the file is damaged.
        """
        if self.folder is None:
            return None
        path = self._path(task)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        arrays, check = content[:-_CHECK], content[-_CHECK:]
        if zlib.crc32(arrays).to_bytes(_CHECK, "little") != check:
            raise FileFormatError(f"{path} is damaged; remove it, and its task is done again")
        with np.load(BytesIO(arrays), allow_pickle=False) as found:
            return dict(found)

    def write(self, task: str, **arrays: Any) -> None:
        """Store the arrays of a task. Either the whole file is written, or none."""
        if self.folder is not None:
            content = BytesIO()
            np.savez(content, **arrays)
            check = zlib.crc32(content.getbuffer()).to_bytes(_CHECK, "little")
            write_bytes(self._path(task), content.getvalue() + check)

    def _path(self, task: str) -> Path:
        assert self.folder is not None, "there is a folder"
        return self.folder / f"{self.prefix}-{task}.npz"


def checksum(rows: Array) -> int:
    """Return the CRC-32 of the bytes of an array as float64. It is read in passes."""
    found = 0
    for some in passes(len(rows), rows[:1].size):
        found = zlib.crc32(np.ascontiguousarray(rows[some], np.float64).data, found)
    return found
