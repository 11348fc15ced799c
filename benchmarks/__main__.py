"""``python -m benchmarks CASE``: run one of the benchmarks, which are called cases.

Each case times some work of clmst beside other programs or settings that do the same work.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

# The modules of all cases, each of which has a command `main`, and what each case measures.
CASES: Mapping[str, str] = {
    "beside_commit": "thirty calls as users make them, beside another commit",
    "beside_native": "SciPy matrices beside native programs and other libraries",
    "beside_scipy": "SciPy matrices beside SciPy's function",
    "beside_sklearn": "labels of HDBSCAN beside scikit-learn's",
    "blocks": "points by blocks, beside solves at once and by several devices",
    "boruvka_steps": "recursive Borůvka: finding minima beside the rest",
    "clustering": "HDBSCAN and linkage beside scikit-learn's and SciPy's",
    "cores": "core numbers",
    "data_frames": "graphs of data frames",
    "dense": "complete and dense graphs",
    "devices": "repeated solves by several devices",
    "dynamic": "changes of a dynamic forest beside solves of the graph",
    "ecl": "ECL-MST: its inputs, and stated times",
    "few_changes": "rounds of random graphs beside one-shot solves",
    "gallery": "the pictures of the gallery",
    "generated": "edges that a device generates",
    "landscape": "families of graphs by degree and size, beside a model",
    "largest": "the largest graph that a device takes",
    "memory": "resident memory of points, and of rounds",
    "moves": "ways from one device's memory to another's",
    "networkx_trees": "a backend of NetworkX",
    "notebooks": "the outputs and pictures of the notebooks",
    "pma": "Partial Prim: the paper's experiments",
    "order_of_rows": "labels of HDBSCAN for the same rows in other orders",
    "points": "trees and dendrograms of points",
    "primitives": "primitives beside PyOpenCL's, NumPy's and outside peers",
    "proof": "what a proof costs beside the solve",
    "repeated": "new weights for the same graph",
    "rounds": "accumulated time of many rounds",
    "rush_hour": "a picture of a road network at rush hour",
    "several_gpus": "one solve by several GPUs",
    "strategies": "the strategies of Ma and Wan",
    "stream_rates": "how fast a stream takes edges",
    "streaming": "streams beside solves of the whole graph",
    "studies": "algorithms over sizes, degrees and road maps, and on small graphs",
    "text_files": "readers of text files",
    "worst_cases": "structured graphs beside random ones",
}


class Runner(click.Group):
    """The command group of all benchmark cases. The module of a case is imported when it is run."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all benchmark cases."""
        del context
        return [*CASES]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import a benchmark case and return its command, or None if the name is unknown."""
        del context
        known = name.replace("-", "_")
        if known not in CASES:
            return None
        command: click.Command = import_module(f"benchmarks.{known}").main
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each benchmark case measures, without importing any case."""
        del context
        with formatter.section("Cases"):
            formatter.write_dl([*CASES.items()])


main = Runner(name="benchmarks", help=__doc__)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
