"""Processes that run cases and are watched: a driver's fault ends one of them, not the run."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from clmst import UnsupportedDeviceError
from clmst.bench.results import machine_facts
from tests.prove.cases import DeviceVariants, Outcome, Plan
from tests.prove.cases import run as run_case
from tests.prove.plants import plant
from tests.prove.state import FAILURES, State, Tally, sources

_SPAWN = multiprocessing.get_context("spawn")  # no child shares a driver's threads
_SAVE_EVERY = 10.0  # seconds
_START_LIMIT = 300.0  # seconds that a worker may take to be ready
_MOST_FAULTS = 50  # processes lost in one run, after which no other is started
# Blocks that a worker runs before another takes its place: programs stay in memory until then.
_BLOCKS_A_WORKER = 10
UNIT, UNIT_SECONDS = 200, 5.0  # cases and seconds between two reports, at most


class Child:
    """One child process, with a connection to it.

    Parameters
    ----------
    work : callable
        What it does, called with the connection's other end and `arguments`.
    folder : Path
        For what it writes to standard output and error, as drivers do.
    fault : str or None
        A name in :data:`tests.prove.plants.FAULTS`, which tests plant in the process.
    """

    def __init__(
        self, work: Callable[..., None], folder: Path, fault: str | None, *arguments: Any
    ) -> None:
        descriptor, log = tempfile.mkstemp(dir=folder)
        os.close(descriptor)
        self._log = Path(log)
        self.connection, other = _SPAWN.Pipe()
        self.process = _SPAWN.Process(
            target=_begin, args=(work, log, fault, other, *arguments), daemon=True
        )
        self.process.start()
        other.close()  # so that the child's end is the end of the connection

    def stop(self) -> str:
        """End the process, if it has not ended by itself; return its last words and status."""
        self.connection.close()
        self.process.join(0.2)
        self.process.kill()
        self.process.join()
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return f"{lines[-1][:300] if lines else ''} (status {self.process.exitcode})"


def _begin(work: Callable[..., None], log: str, fault: str | None, *arguments: Any) -> None:
    with Path(log).open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    plant(fault)
    work(*arguments)


# -------------------------------------------------------------------------- one case


def in_child(case: Any, device: str | None, limit: float, fault: str | None) -> Outcome:
    """Run a case in a process of its own, which may end or hang."""
    with tempfile.TemporaryDirectory(prefix="clmst-prove-") as folder:
        child = Child(_one, Path(folder), fault, case, device)
        outcome = None
        if not child.connection.poll(limit):
            outcome = Outcome(verdict="hang", detail=f"no answer within {limit:g} s")
        else:
            with suppress(EOFError):
                outcome = child.connection.recv()
        words = child.stop()
    return outcome or Outcome(verdict="crash", detail=words)


def _one(connection: Connection, case: Any, device: str | None) -> None:
    connection.send(run_case(case, DeviceVariants(device)))


def wait_for(work: Callable[..., None], path: Path, limit: float, how: dict[str, Any]) -> bool:
    """Do work on a file in a process of its own; return whether that ended within some seconds."""
    process = _SPAWN.Process(target=work, args=(path,), kwargs=how)  # which has children itself
    process.start()
    process.join(limit)
    has_ended = process.exitcode is not None
    process.kill()
    process.join()
    return has_ended


# ---------------------------------------------------------------------------- workers


class Worker(Child):
    """A child that runs blocks of cases, and reports what came of them."""

    def __init__(self, state: State, folder: Path, fault: str | None) -> None:
        self.task: tuple[int, int, int] | None = None  # block, next case, end
        self.is_ready = False
        self.n_blocks = 0
        # Before each case its number goes there: so it is known which one ended the process.
        self._progress = _SPAWN.Value("q", -1, lock=False)
        self._seen, self._since = -2, time.monotonic()
        super().__init__(_work, folder, fault, self._progress, state.plan, state.device)

    def give(self, task: tuple[int, int, int], *, skip: list[int], until: float) -> None:
        """Let it run the cases of a block."""
        self.task = task
        self.n_blocks += 1
        with suppress(BrokenPipeError):  # its end will be seen
            self.connection.send((range(*task[1:]), skip, until))

    @property
    def case(self) -> int:
        """The case that it is at, -1 for none."""
        return int(self._progress.value)

    def stuck_for(self) -> float:
        """Return the seconds for which it has been at the same case."""
        if self.case != self._seen:
            self._seen, self._since = self.case, time.monotonic()
        return time.monotonic() - self._since


def _work(connection: Connection, progress: Any, plan: Plan, device: str | None) -> None:
    """Run what the parent sends, until it closes the connection."""
    try:
        variants = DeviceVariants(device)
    except UnsupportedDeviceError as error:
        connection.send({"refused": str(error)})
        return
    connection.send({"ready": machine_facts(variants.device)})
    with suppress(EOFError):
        while True:
            numbers, skip, until = connection.recv()
            while numbers and time.time() < until:
                last = min(time.time() + UNIT_SECONDS, until)
                done, tally, failures = run_unit(
                    plan, variants, progress, numbers, skip=skip, until=last
                )
                numbers = range(done, numbers.stop)
                connection.send({"done": done, "tally": tally, "failures": failures})
            connection.send({"finished": True})


def run_unit(
    plan: Plan,
    variants: DeviceVariants,
    progress: Any,
    numbers: range,
    *,
    skip: list[int],
    until: float,
) -> tuple[int, Tally, list[dict[str, Any]]]:
    """Run some cases, at least one; return the next, and what came of them.

    Parameters
    ----------
    plan : Plan
    variants : DeviceVariants
    progress : object
        Its value becomes the number of the present case, -1 at the end.
    numbers : range
    skip : list of int
        Cases that have ended a process before.
    until : float
        When to stop, as of :func:`time.time`.
    """
    tally, failures = Tally(), []
    done = numbers.start
    for number in numbers[:UNIT]:
        if number > numbers.start and time.time() >= until:
            break
        done = number + 1
        if number in skip:
            continue
        progress.value = number
        case = plan.case(number)
        doubt = plan.doubts(number, case)
        outcome = run_case(case, variants)
        tally.note(case, outcome, oracle_checked=plan.checks_oracle(number))
        known = {
            "number": number,
            "named": case.named,
            "variant": case.variant,
            "case": str(case),
        }
        if doubt is not None:
            failures.append({**known, "verdict": "wrong oracle", "detail": doubt})
        if outcome.verdict in FAILURES:
            failures.append({**known, "verdict": outcome.verdict, "detail": outcome.detail})
    progress.value = -1
    return done, tally, failures


class Run:
    """One run: some workers, until there are cases enough or the time is over.

    Parameters
    ----------
    state : State
        Goes on from there.
    path : Path
        Where it is kept.
    workers : int
        Processes.
    until_cases : int or None
        In all, those of earlier runs included.
    minutes : float or None
    time_limit : float
        Seconds of one case, the building of its programs included.
    fault : str or None
        As of :class:`Child`.
    """

    def __init__(
        self,
        state: State,
        *,
        path: Path,
        workers: int = 1,
        until_cases: int | None = None,
        minutes: float | None = None,
        time_limit: float = 300.0,
        fault: str | None = None,
    ) -> None:
        self.state, self._path = state, path
        self._n_workers, self._time_limit, self._fault = workers, time_limit, fault
        self._until_cases = until_cases
        self._until = time.time() + 60 * minutes if minutes is not None else 1e300
        self._blocks = state.blocks()
        self._again: list[tuple[int, int, int]] = []  # what lost workers have left undone
        self._handed = 0  # cases that workers have been given and not reported
        self._lost: dict[int, list[int]] = {}  # by block, the cases that ended a worker
        self._workers: list[Worker] = []
        self._record: dict[str, Any] = {}

    def __call__(self) -> str | None:
        """Run; the state is kept in its file all along. Return why the device is not usable."""
        began = saved = time.monotonic()
        before = self.state.cases
        self._record = {"began": time.strftime("%Y-%m-%d %H:%M"), "seconds": 0.0, "cases": 0}
        self._record |= {"workers": self._n_workers, **sources()}
        self.state.runs.append(self._record)
        with tempfile.TemporaryDirectory(prefix="clmst-prove-") as folder:
            try:
                for _ in range(self._n_workers):
                    self._start(Path(folder))
                while self._workers:
                    self._step(Path(folder))
                    self._record["seconds"] = round(time.monotonic() - began, 1)
                    self._record["cases"] = self.state.cases - before
                    if time.monotonic() - saved > _SAVE_EVERY:
                        self.state.save(self._path)
                        saved = time.monotonic()
            finally:
                for worker in self._workers:
                    worker.stop()
                self.state.save(self._path)
        return self._record.get("refused")

    def _start(self, folder: Path) -> None:
        self._workers.append(Worker(self.state, folder, self._fault))

    def _step(self, folder: Path) -> None:
        """Take reports, waiting for half a second; then look for workers that hang."""
        ready = wait([worker.connection for worker in self._workers], timeout=0.5)
        for worker in [one for one in self._workers if one.connection in ready]:
            try:
                report = worker.connection.recv()
            except (EOFError, ConnectionResetError):
                self._lose(worker, "crash", folder)
            else:
                self._take(worker, report, folder)
        for worker in tuple(self._workers):
            limit = self._time_limit if worker.is_ready else _START_LIMIT
            if worker.stuck_for() > limit:
                self._lose(worker, "hang", folder)

    def _take(self, worker: Worker, report: dict[str, Any], folder: Path) -> None:
        if "refused" in report:
            self._record["refused"] = report["refused"]
            self._workers.remove(worker)
            worker.stop()
            return
        if "done" in report:
            assert worker.task is not None
            block, first, end = worker.task
            worker.task = (block, report["done"], end)
            self._handed -= report["done"] - first
            self.state.done[block] = report["done"]
            self.state.tally.update(report["tally"])
            for failure in report["failures"]:
                self._fail(failure)
            return
        if "ready" in report:
            worker.is_ready = True
            self._record["machine"] = report["ready"] | {"command": sys.argv[1:]}
        if worker.task is not None:  # out of time before the end
            self._handed -= worker.task[2] - worker.task[1]
            worker.task = None
        is_used_up = worker.n_blocks >= _BLOCKS_A_WORKER
        if is_used_up or not self._give(worker):
            self._workers.remove(worker)
            worker.stop()
        if is_used_up:
            self._start(folder)

    def _give(self, worker: Worker) -> bool:
        """Give a worker more to do, if there is more."""
        if time.time() >= self._until:
            return False
        block, first, end = self._again.pop() if self._again else next(self._blocks)
        if self._until_cases is not None:
            end = min(end, first + self._until_cases - self.state.cases - self._handed)
        if end <= first:
            return False
        self._handed += end - first
        worker.give((block, first, end), skip=self._lost.get(block, []), until=self._until)
        return True

    def _fail(self, failure: dict[str, Any]) -> None:
        if self.state.fail(failure):
            print(f"case {failure['number']}: {failure['verdict']}: {failure['detail'][:400]}")

    def _lose(self, worker: Worker, verdict: str, folder: Path) -> None:
        """Record the case at which a worker ended or hung; another one goes on without it."""
        case, task = worker.case, worker.task
        self._workers.remove(worker)
        words = worker.stop()
        if task is None or case < 0:
            raise RuntimeError(f"a worker ended before its first case: {words}")
        self.state.tally.update([f"verdict/{verdict}", "total/cases"])
        detail = words if verdict == "crash" else f"no answer within {self._time_limit:g} s"
        self._fail({"number": case, "verdict": verdict, "detail": detail})
        self._lost.setdefault(task[0], []).append(case)
        self._handed -= task[2] - task[1]
        self._again.append(task)
        if sum(map(len, self._lost.values())) < _MOST_FAULTS:
            self._start(folder)
        else:
            print(f"{_MOST_FAULTS} cases ended their process; no other is started")
