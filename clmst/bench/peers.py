"""Peers: outside programs that solve the same graphs as clmst and time themselves.

The protocol is as follows. clmst runs COMMAND, in which the words ``{file}`` and ``{repetitions}``
are replaced by the path of an ECL graph (``.egr``) and a number. If the command has neither word,
both are appended. The peer reads the file, warms up, solves the given number of times, and prints
lines of these forms, in any order:

    solve_ms X       milliseconds of a repetition, without transfers
    transfer_ms X    milliseconds of a repetition with both transfers
    weight W         the total weight of its forest
    # ...            a remark

There is a ``solve_ms`` for each repetition, and a ``transfer_ms`` for each repetition or for none.
A time without transfers begins with the graph and ends with the result in the memory in which the
peer works, for example the memory of a GPU. The peer must end with exit status 0. The weight is
compared with the weight of the right forest: exactly if weights are integers, else to nine digits.
A peer that is wrong, takes too long, or breaks the protocol is reported and gets no times.

This module is also a peer: it runs SciPy's and NetworkX's functions on one core of the host, for
example by ``python -m clmst.bench.peers scipy GRAPH.egr REPETITIONS``.
"""

from __future__ import annotations

import math
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmst.bench.harness import Contestant, Harness, Status
from clmst.core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_RELATIVE = 1e-9
OWN_PEERS = ("scipy", "networkx")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerOutcome:
    """The result of an outside program (a peer) on a graph: times, or the reason for none."""

    status: Status
    remark: str = ""  # the reason if the status is not "ok"
    # The seconds of every repetition: in `solve` without transfers, in `transfers` with them.
    solve: tuple[float, ...] = ()
    transfers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """An outside program that follows the protocol of this module."""

    name: str
    command: tuple[str, ...]  # the words of the command line; see the module

    @classmethod
    def parse(cls, text: str) -> Peer:
        """Read ``NAME=COMMAND``, or the name of a peer that clmst includes.

        Raises :class:`InvalidArgumentError`, which is a ValueError, if the text is neither.
        """
        if text in OWN_PEERS:
            return cls(name=text, command=(sys.executable, "-m", "clmst.bench.peers", text))
        if "=" not in text:
            raise InvalidArgumentError(
                f"{text!r} is neither NAME=COMMAND nor one of {', '.join(OWN_PEERS)}"
            )
        name, command = named_command(text)
        return cls(name=name, command=command)

    def words(self, file: Path, repetitions: int) -> list[str]:
        """Return the words of the command line that runs the peer.

        `file` is a graph in ECL format. The peer solves it `repetitions` times.
        """
        given = str(file), str(repetitions)
        words = [
            word.replace("{file}", given[0]).replace("{repetitions}", given[1])
            for word in self.command
        ]
        return [*words, *given] if words == [*self.command] else words

    def compete(
        self, file: Path, repetitions: int, total_weight: int | float, *, time_limit: float
    ) -> PeerOutcome:
        """Run the peer on the graph in the ECL file `file`, and judge the peer's output.

        The peer makes `repetitions` timed solves. `total_weight` is the weight of the right forest.
        Blocks until the peer ends, at most `time_limit` seconds.
        """
        answer = ask(self.words(file, repetitions), time_limit=time_limit)
        if answer.trouble != "ok":
            return PeerOutcome(status=answer.trouble, remark=answer.remark)
        return judge(answer.output, repetitions, total_weight)


def judge(output: str, repetitions: int, total_weight: int | float) -> PeerOutcome:
    """Parse the output of a peer, and return its times, or an outcome that says what is wrong.

    The output must follow the protocol at the top of this module, have a time for each of the
    `repetitions`, and state the weight `total_weight`.
    """
    found: dict[str, list[str]] = {"solve_ms": [], "transfer_ms": [], "weight": []}
    for line in output.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split()
        if len(words) != 2 or words[0] not in found:
            return _broken(f"{line.strip()[:60]!r} is no line of it")
        found[words[0]].append(words[1])
    times = {name: [*map(seconds_in, found[name])] for name in ("solve_ms", "transfer_ms")}
    for name, seconds in times.items():
        if len(seconds) != repetitions and (seconds or name == "solve_ms"):
            return _broken(f"{len(seconds)} lines of {name} for {repetitions} repetitions")
        if not all(each > 0 for each in seconds):
            return _broken(f"a {name} is not a positive number")
    if not found["weight"]:
        return _broken("it tells no weight")
    for weight in found["weight"]:
        if not _same_weight(weight, total_weight):
            return PeerOutcome(
                status="wrong", remark=f"its forest weighs {weight}, not {total_weight}"
            )
    return PeerOutcome(status="ok", solve=(*times["solve_ms"],), transfers=(*times["transfer_ms"],))


def _broken(what: str) -> PeerOutcome:
    return PeerOutcome(status="failed", remark=f"does not keep to the protocol: {what}")


def _same_weight(text: str, right: int | float) -> bool:
    """Return whether a text is the number `right`.

    An integer may be followed by ``.0``. Floats are compared to nine digits.
    """
    try:
        return (
            Decimal(text) == right
            if isinstance(right, int)
            else math.isclose(float(text), right, rel_tol=_RELATIVE)
        )
    except (ValueError, ArithmeticError):
        return False


def duplicates(peers: Sequence[Peer]) -> list[str]:
    """Return the names that more than one peer has."""
    names = [peer.name for peer in peers]
    return sorted({name for name in names if names.count(name) > 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The output of a program, or the reason why it did not end normally."""

    output: str = ""  # the text on the program's standard output
    status: int | None = None  # exit status; None if the program did not start or was killed
    trouble: Status = "ok"  # "ok" if the program ended normally
    remark: str = ""  # the reason in one line, if `trouble` is not "ok"


def ask(command: Sequence[str], *, time_limit: float) -> Answer:
    """Run a program, without a shell, until the program ends or the time limit has passed.

    `command` has the program and its arguments. Failures are returned, not raised. If the program
    takes more than `time_limit` seconds, or if the user interrupts, the program is killed together
    with all processes of its process group.
    """
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True,
            errors="replace", start_new_session=True,
        ) as process:  # fmt: skip
            try:
                output, complaint = process.communicate(timeout=time_limit)
            except BaseException:
                if sys.platform == "win32":  # Windows does not have process groups
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
                raise
    except subprocess.TimeoutExpired:
        return Answer(trouble="timeout", remark=f"ended after {time_limit:g} s without an answer")
    except (OSError, ValueError) as error:  # a NUL in an argument is a ValueError
        return Answer(trouble="failed", remark=f"cannot be run: {error}")
    if process.returncode == 0:
        return Answer(output=output, status=0)
    return Answer(
        output=output,
        status=process.returncode,
        trouble="failed",
        remark=_end_of(process.returncode, complaint),
    )


def named_command(text: str) -> tuple[str, tuple[str, ...]]:
    """Parse a text of the form ``NAME=COMMAND``.

    Returns the name, and the command as a tuple of words, which are split as by a shell. Raises
    :class:`InvalidArgumentError` if a part is missing.
    """
    name, separator, command = text.partition("=")
    words = tuple(shlex.split(command))
    if not (separator and name.strip() and words):
        raise InvalidArgumentError(f"{text!r} is not of the form NAME=COMMAND")
    return name.strip(), words


def seconds_in(milliseconds: str) -> float:
    """Convert milliseconds, given as text, to seconds.

    Returns NaN unless the text is a finite number.
    """
    try:
        value = float(milliseconds) * 1e-3
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _end_of(status: int, complaint: str) -> str:
    last = (complaint.strip() or "no message").splitlines()[-1]
    if status < 0:
        return f"ended by signal {-status}: {last}"
    return f"exit status {status}: {last}"


# ------------------------------------------------------------------------- own peers


def _solver(name: str, graph: Graph) -> tuple[Callable[[], Any], Callable[[Any], float]]:
    """Return a function that solves a graph with a library, and one that weighs the result.

    `name` is "scipy" or "networkx". The second function takes the result of the first and returns
    its total weight. The library gets each edge once.
    """
    import numpy as np
    from scipy import sparse

    from clmst.io.file_edges import FileEdges

    edges = FileEdges.of_graph(graph)
    n = edges.n_vertices
    ends = (edges.u.astype(np.int32), edges.v.astype(np.int32))  # SciPy 1.13 needs int32
    matrix = sparse.csr_array((edges.weights, ends), shape=(n, n))
    if name == "scipy":
        from scipy.sparse.csgraph import minimum_spanning_tree

        return lambda: minimum_spanning_tree(matrix), lambda tree: math.fsum(tree.data)
    import networkx as nx

    G = nx.from_scipy_sparse_array(matrix)
    return (
        lambda: list(nx.minimum_spanning_edges(G, data=True)),  # by Kruskal's algorithm
        lambda edges: math.fsum(data["weight"] for _, _, data in edges),
    )


def main(words: list[str]) -> None:
    """Time one function of a Python library as a peer: ``main([name, ecl_file, repetitions])``.

    A peer is a program that the benchmark runs beside clmst. For some libraries this module is
    itself that program. The arguments are the `words` of its command line. The function reads the
    graph from the file, warms up once, and prints a line with the time of each repetition, then the
    weight of the forest.
    """
    from clmst.io import read_graph

    name, path, repetitions = words
    solve, weight_of = _solver(name, read_graph(Path(path), format="ecl"))
    contestant = Contestant(name=name, call=solve)
    (times,) = Harness(repetitions=int(repetitions), warm_ups=1).run([contestant])
    for seconds in times.seconds:
        print("solve_ms", 1e3 * seconds)
    print("weight", weight_of(solve()))


if __name__ == "__main__":
    main(sys.argv[1:])
