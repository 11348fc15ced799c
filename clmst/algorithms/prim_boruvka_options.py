"""Where Borůvka's algorithm hands over to Prim's."""

from __future__ import annotations

from dataclasses import dataclass, field

from clmst.algorithms.prim_options import PrimOptions
from clmst.core.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimBoruvkaOptions:
    """What changes how long a solve takes, never its result.

    Attributes
    ----------
    rounds : int, optional
        Borůvka's rounds before Prim's algorithm: 0 and more. When left out, log2(log2 n) rounded
        up, with which the whole takes O(m log log n) work.
    prim : PrimOptions
        How the rest is done.
    """

    rounds: int | None = None
    prim: PrimOptions = field(default_factory=PrimOptions)

    def __post_init__(self) -> None:
        """Refuse what is no number of rounds."""
        if self.rounds is None:
            return
        if isinstance(self.rounds, bool) or not isinstance(self.rounds, int):
            raise InvalidArgumentError(
                f"rounds is {self.rounds!r}; it must be an integer, or None for log2(log2 n)"
            )
        if self.rounds < 0:
            raise InvalidArgumentError(f"rounds is {self.rounds}; it must not be negative")
