"""The benchmark of ``clmst bench``: results are verified before they are timed, and kept in a file.

* `settings`: the choices of a run.
* `inputs`: graphs by name or file, generated on demand and cached.
* `harness`: verification, warm-up, turns and clocks. All timing uses it.
* `agreement`: the right forest of a graph, and the comparison of other forests with it.
* `contestants`: ways of solving (an algorithm, its options, and what its time covers), in turns.
* `peers`: outside programs, which follow a protocol and have a time limit.
* `suite`: the experiments over all graphs.
* `results`: measurements and machines, in a JSON file, and the merging of these files.
* `grid`: arrays of measurements with a row per graph and a column per contestant.
* `tables`: tables of times, throughput, memory and scaling.
* `report`: all tables, also the tables of the experiments "ablation" and "seeds" of `ecl`.
* `figures`: figures, drawn on a `canvas`.
"""

from __future__ import annotations
