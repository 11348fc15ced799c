"""Processes: forked while other threads solve, forked before, spawned."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.processes import run_python

PREPARED = """
import multiprocessing, os, sys, threading, time
import numpy as np, clmst
graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])

def solve(queue):
    queue.put(clmst.minimum_spanning_forest(graph).total_weight)
"""

# Every way to a device, in a child of a process whose other threads are in the middle of solves.
WHILE_THREADS_SOLVE = """
stored = clmst.to_device(graph)
device = stored.device
forest = clmst.minimum_spanning_forest(stored, keep_on_device=True)
array = clmst.DeviceArray.from_host(np.arange(4, dtype=np.uint32), device)
solver = clmst.RepeatedSolver(graph, devices=device)
large = clmst.generate("random", n=20_000, seed=1)
is_over = False

def work():
    while not is_over:
        clmst.minimum_spanning_forest(large, device=device)
        solver.solve([1, 2, 3])

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
calls = [
    lambda: clmst.minimum_spanning_forest(graph),
    lambda: clmst.minimum_spanning_forest(graph, device=device),
    lambda: clmst.minimum_spanning_forest(stored),
    lambda: clmst.core_numbers(stored),
    lambda: clmst.to_device(graph, device),
    lambda: clmst.devices(),
    lambda: clmst.get_device("cpu"),
    lambda: clmst.get_device(device),
    lambda: clmst.RepeatedSolver(graph, devices=device),
    lambda: solver.solve([1, 2, 3]),
    lambda: next(solver.solve_many([[1, 2, 3]])),
    lambda: solver.close(),
    lambda: forest.to_host(),
    lambda: array.to_host(),
    lambda: clmst.DeviceArray.empty(3, "u4", device),
    lambda: clmst.primitives.reduce(array),
    lambda: device.release_memory(),
    lambda: device.forcing_off("lanes"),
]
for turn in range(12):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        told = 0
        for number, call in enumerate(calls):
            try:
                call()
            except clmst.DeviceError as error:
                told += '"spawn"' in str(error)
            except BaseException as error:
                print(number, repr(error), flush=True)
            else:
                print(number, "gave a result", flush=True)
        os._exit(0 if told == len(calls) else 1)
    deadline = time.monotonic() + 30
    while (found := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            sys.exit("the child hangs")
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(found[1]) == 0, found
is_over = True
for thread in threads:
    thread.join()
assert clmst.minimum_spanning_forest(graph, device=device).total_weight == 5
"""

# A child that ends as Python does frees what it has inherited.
ENDS_BY_ITSELF = """
context = multiprocessing.get_context("fork")
clmst.minimum_spanning_forest(graph)
child = context.Process(target=solve, args=(context.Queue(),))
child.start()
child.join(30)
assert child.exitcode == 1, child.exitcode
"""

BEFORE_ANY_USE = """
context = multiprocessing.get_context("fork")
for turn in range(2):
    results = context.Queue()
    child = context.Process(target=solve, args=(results,))
    child.start()
    assert results.get(timeout=60) == 5
    child.join()
"""


def run(text: str) -> str:
    """Run a program of its own; return what it said."""
    done = run_python("-W", "ignore:This process", "-c", PREPARED + text, timeout=150)
    return done.stdout + done.stderr


def test_while_threads_solve() -> None:
    """The child says so at once, whatever it calls, and the parent goes on."""
    assert run(WHILE_THREADS_SOLVE) == ""


def test_a_child_that_ends_by_itself() -> None:
    assert "DeviceError: this process was forked from one that had opened OpenCL" in run(
        ENDS_BY_ITSELF
    )


def test_before_any_use() -> None:
    """A process that has not asked for devices leaves its children free to."""
    run(BEFORE_ANY_USE)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_the_ways_that_the_error_names(method: str, tmp_path: object) -> None:
    text = f"""
if __name__ == "__main__":
    import tests.faults.test_forks as me
    clmst.minimum_spanning_forest(graph)
    context = multiprocessing.get_context({method!r})
    results = context.Queue()
    child = context.Process(target=me.solve_here, args=(results,))
    child.start()
    assert results.get(timeout=60) == 5
    child.join()
"""
    run(text)


def solve_here(results: Any) -> None:
    """Solve in a new process."""
    import clmst

    graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
    results.put(clmst.minimum_spanning_forest(graph).total_weight)
