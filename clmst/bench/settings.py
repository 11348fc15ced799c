"""The settings of a run of the suite. Imports no heavy module: the command's help reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clmst.core.machine import cache_folder

if TYPE_CHECKING:
    from clmst.bench.peers import Peer

EXPERIMENTS = ("times", "ablation", "seeds", "scaling", "degree")
# The papers repeat nine times (SC '23, section 4); fewer must be asked for twice.
LEAST_REPETITIONS = 9
ALGORITHMS = ("auto", "ecl")
SEEDS = 99  # SC '23, section 5.4
PEER_SECONDS = 600.0
DEGREES = (2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is measured, and how often.

    Attributes
    ----------
    algorithms : tuple of str
        Names as of :func:`clmst.algorithms.choose`; ratios refer to the first.
    repetitions : int
        Timed calls of each contestant, after warm-up.
    experiments : tuple of str
        Of :data:`EXPERIMENTS`.
    peers : tuple of Peer
    peer_seconds : float
        After which a peer is ended.
    transfers : bool
        Time solves from the host to the host as well.
    cache : Path
        Where generated graphs are kept.
    seeds : int
        How many seeds the experiment "seeds" tries: 0, 1, ...
    vertices : tuple of int
        Sizes of the random graphs of "scaling"; chosen by the kind of device if empty.
    degrees : tuple of int
        Average degrees of the random graphs of "degree".
    degree_vertices : int
        Their number of vertices; chosen by the kind of device if 0.
    """

    algorithms: tuple[str, ...] = ALGORITHMS
    repetitions: int = LEAST_REPETITIONS
    experiments: tuple[str, ...] = ("times",)
    peers: tuple[Peer, ...] = ()
    peer_seconds: float = PEER_SECONDS
    transfers: bool = True
    cache: Path
    seeds: int = SEEDS
    vertices: tuple[int, ...] = ()
    degrees: tuple[int, ...] = DEGREES
    degree_vertices: int = 0


def default_cache() -> Path:
    """Return the folder for generated graphs when none is named."""
    return cache_folder() / "graphs"
