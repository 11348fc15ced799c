"""What a stream tells while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from clmst.core.arguments import check_integer, check_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """How far a stream has come.

    Attributes
    ----------
    edges : int
        Edges read, those before a checkpoint included; of the present pass.
    n_edges : int or None
        Edges of the whole stream, if known.
    edges_now : int
        Edges read by this call.
    seconds : float
        Since this call began.
    forest_edges : int
        Edges of the forest of what has been reduced.
    reductions : int
        Solves so far.
    passes : int
        Which reading of the stream this is: 1, unless memory is so short that several are needed.
    """

    edges: int
    n_edges: int | None
    edges_now: int
    seconds: float
    forest_edges: int
    reductions: int
    passes: int = 1

    def __post_init__(self) -> None:
        """Check the kinds of the attributes."""
        for name in ("edges", "edges_now", "forest_edges", "reductions", "passes"):
            check_integer(name, getattr(self, name), low=0)
        if self.n_edges is not None:
            check_integer("n_edges", self.n_edges, low=0)
        check_kind("seconds", self.seconds, float, rule="it must be a float")

    @property
    def edges_per_second(self) -> float:
        """Of this call; 0 before the clock has moved."""
        return self.edges_now / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Of this pass, at the present rate; None if the number of edges or the rate is unknown."""
        if self.n_edges is None or not self.edges_per_second:
            return None
        return max(0, self.n_edges - self.edges) / self.edges_per_second
