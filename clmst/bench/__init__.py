"""The benchmark of ``clmst bench``: results are verified before they are timed, and kept in a file.

================  ================================================================= `settings`
the choices of a run `inputs`          graphs by name or file, generated on demand and cached
`harness`         verification, warm-up, turns and clocks, used by all timing `agreement`       the
right forest of a graph, and comparison of other forests with it `contestants`     ways of solving:
an algorithm, its options and scope; their turns `peers`           outside programs, run by a line
protocol and within a time limit `suite`           the experiments over all graphs `results`
measurements and machines, in a JSON file; merging of files `grid`            graphs by contestants
as arrays, which tables and figures show `tables`          tables of times, throughput, memory and
scaling `report`          all tables, also of the `ecl` experiments ablation and seeds `figures`
figures, drawn on a `canvas` ================
=================================================================
"""

from __future__ import annotations
