"""The settings of a run of the benchmark.

This module imports nothing that is slow to import, because the help of the command reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clmst.core.machine import cache_folder

if TYPE_CHECKING:
    from clmst.bench.peers import Peer

EXPERIMENTS = ("times", "ablation", "seeds", "scaling", "degree")
# The default number of timed calls, which is that of the ECL-MST paper (SC '23, section 4). Fewer
# repetitions are only accepted with the option --quick.
LEAST_REPETITIONS = 9
ALGORITHMS = ("auto", "ecl")
SEEDS = 99  # SC '23, section 5.4
PEER_SECONDS = 600.0
DEGREES = (2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The choices of a run of ``clmst bench``: what to measure, and how often."""

    # Algorithms with options, such as "pma gamma=64", which :mod:`clmst.algorithms.option_texts`
    # reads. Ratios of times refer to the first algorithm.
    algorithms: tuple[str, ...] = ALGORITHMS
    repetitions: int = LEAST_REPETITIONS  # timed calls of each contestant, after warm-up
    experiments: tuple[str, ...] = ("times",)  # names from EXPERIMENTS
    peers: tuple[Peer, ...] = ()
    peer_seconds: float = PEER_SECONDS  # time limit of a peer
    transfers: bool = True  # whether solves from host to host are timed, too
    cache: Path  # folder of generated graphs
    seeds: int = SEEDS  # number of seeds in the experiment "seeds": 0, 1, ...
    # Sizes of the random graphs of "scaling". If empty, the kind of device decides.
    vertices: tuple[int, ...] = ()
    degrees: tuple[int, ...] = DEGREES  # average degrees of the random graphs of "degree"
    degree_vertices: int = 0  # vertices of these graphs; 0: the kind of device decides


def default_cache() -> Path:
    """Return the default folder for generated graphs."""
    return cache_folder() / "graphs"
