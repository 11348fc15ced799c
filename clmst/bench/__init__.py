"""The benchmark suite of ``clmst bench``: results are verified before they are timed, and kept.

================  =================================================================
`settings`        what a run is asked to do
`inputs`          graphs by name or file, generated on demand and cached
`harness`         verification, warm-up, turns and times: what all timing stands on
`agreement`       the right forest of a graph, and whether a contestant's is it
`contestants`     ways of solving: an algorithm, its options and scope; their turns
`peers`           outside programs, by a protocol of lines and within a time limit
`suite`           the experiments over all graphs
`results`         measurements and machines, as JSON that is replaced whole; merging
`grid`            graphs by contestants as arrays: what all tables and figures show
`tables`          views as tables: times, throughput, memory and scaling
`report`          all tables, and those of `ecl`: ablation and seeds
`figures`         views as pictures, on a `canvas`
================  =================================================================
"""

from __future__ import annotations
