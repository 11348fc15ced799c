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
    """What is measured, and how often."""

    # Algorithms and their options as :mod:`clmst.algorithms.option_texts` reads them, as
    # "pma gamma=64"; ratios refer to the first.
    algorithms: tuple[str, ...] = ALGORITHMS
    repetitions: int = LEAST_REPETITIONS  # timed calls of each contestant, after warm-up
    experiments: tuple[str, ...] = ("times",)  # of EXPERIMENTS
    peers: tuple[Peer, ...] = ()
    peer_seconds: float = PEER_SECONDS  # after which a peer is ended
    transfers: bool = True  # time solves from the host to the host as well
    cache: Path  # where generated graphs are kept
    seeds: int = SEEDS  # how many the experiment "seeds" tries: 0, 1, ...
    # Sizes of the random graphs of "scaling"; chosen by the kind of device if empty.
    vertices: tuple[int, ...] = ()
    degrees: tuple[int, ...] = DEGREES  # average degrees of the random graphs of "degree"
    degree_vertices: int = 0  # their number of vertices; chosen by the kind of device if 0


def default_cache() -> Path:
    """Return the folder for generated graphs when none is named."""
    return cache_folder() / "graphs"
