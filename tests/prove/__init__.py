"""Proof by volume: seeded cases through all that computes on a device, compared with an oracle.

==============  ===================================================================
`draws`         numbers that follow from a seed, everywhere the same
`weights`       weights of every dtype: ties, extremes, neighbours, orders
`shapes`        graphs as arrays of edges: random and structured ones
`sample`        a graph with its weights, drawn
`settings`      algorithms with their options; what is lowered so that few edges do
`oracle`        the right forest, checked itself in part; how an answer differs
`input_forms`          how a sample comes to the library, and what its edge ids mean then
`repeated`      sequences of solves and updates of one graph
`subjects`      streams, proofs, core numbers, dendrograms, points
`all_pairs`     trees, core distances and clusters of points beside all pairs
`equal_heights` HDBSCAN with simultaneous ties, beside its definition
`plain`         what these are compared with, in plain Python
`primitives`    calls of primitives, compared with NumPy
`cases`         the case of a number: a pure function of (seed, number)
`state`         what has been run so far, counted, as a file
`run`           processes that run cases, watched: faults and hangs recorded
`failures`      a failure as a file that reproduces it, and with fewer edges
`hashes`        one table of forests' hashes
==============  ===================================================================

Command: ``python -m tests.prove --help``.
"""
