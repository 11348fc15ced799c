"""The ways of solving from which the router chooses: the name and a description of each."""

from __future__ import annotations

HOST, EQUAL, SMALL, STEPS = "host", "equal-weights", "small-matrix", "steps"
PRIM_POINTS, BOXES, TILES, ROWS = "points-by-prim", "points-by-boxes", "tiles", "rows"
TURNS = "turns"
DEVICES = "devices"
ROUND = "round"
KEPT = "kept-forest"
REDUCED_ON_HOST, REDUCED, PASSES = "stream-on-host", "stream", "stream-by-passes"
PARTITIONS = "partitions"
BLOCKS = "points-by-blocks"

RECORDS = {
    HOST: "on the host: Kruskal's algorithm (core/kruskal.py); of points and complete matrices "
    "Borůvka's by lists of near points, or Prim's by rows (core/complete_trees.py)",
    EQUAL: "equal weights on a CPU: disjoint sets without a sort, one launch "
    "(algorithms/equal_weights)",
    SMALL: "a small graph on a CPU: check, solve and list of edges in one launch "
    "(algorithms/small_matrix)",
    STEPS: "put on the device, then the first algorithm by rank that the device is trusted with "
    "(algorithms/solving.py)",
    ROUND: "a round of a graph under new weights on a CPU: weights, solve and list of edges in one "
    "launch, from the forest of the round before if few weights have changed "
    "(algorithms/reweighting/serial.py)",
    KEPT: "a change of a dynamic forest whose edges stay on a GPU: the edges that the change "
    "leaves open are contracted (algorithms/changes)",
    PRIM_POINTS: "few points on a CPU: Prim's algorithm by one work-item "
    "(algorithms/bvh_boruvka/prim.py)",
    BOXES: "points: Borůvka's algorithm by a hierarchy of boxes (algorithms/bvh_boruvka)",
    TILES: "points of many dimensions: Borůvka's algorithm by tiles of pairs in float32, the "
    "nearest ones again in float64 (algorithms/dense/tiles.py)",
    ROWS: "complete graphs: Borůvka's algorithm by rows of cells (algorithms/dense)",
    DEVICES: "parts of a graph on the devices that the call names, and the union of their forests "
    "(scale/several.py)",
    TURNS: "core distances of few points on a GPU: one launch finds the nearest points in turn "
    "(algorithms/dense/one_group.py)",
    REDUCED_ON_HOST: "a stream whose edges wait on the host, and are put on the device for each "
    "reduction (scale/host_reducer.py)",
    REDUCED: "a stream whose edges the device checks, filters and reduces "
    "(algorithms/edge_stream/reducer.py)",
    PASSES: "a stream that is read once for each round of Borůvka's algorithm, where memory is "
    "short (algorithms/edge_stream/passes.py)",
    PARTITIONS: "partitions of a table: a stream on each worker of Dask or Ray, and the union of "
    "their forests (scale/partitions.py)",
    BLOCKS: "points that are solved block by block: trees of blocks, edges between blocks, and the "
    "tree of both as a stream (blocks)",
}


def records_table() -> str:
    """Return all ways of computing a forest as a Markdown table for docs/algorithms.md."""
    rows = [f"| `{name}` | {what} |" for name, what in RECORDS.items()]
    return "\n".join(["| way | what it is |", "|---|---|", *rows])
