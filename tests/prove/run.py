"""Workers that are watched: blocks handed out, faults and hangs recorded."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tests.prove.failures import environment
from tests.prove.state import ROOT, State, sources
from tests.prove.tally import Tally

_SAVE_EVERY = 10.0  # seconds
_START_LIMIT = 300.0  # seconds that a worker may take to be ready
_MOST_FAULTS = 50  # processes lost in one run, after which no other is started
# Blocks that a worker runs before another takes its place: programs stay in memory until then.
_BLOCKS_A_WORKER = 10


class Worker:
    """One child process, and a thread that reads what it reports.

    Parameters
    ----------
    state : State
        Says which plan and device.
    folder : Path
        For its log, and for the file in which it keeps the number of its case.
    number : int
    reports : queue.Queue
        Where (worker, report) goes; (worker, None) at its end.
    plant : str or None
        A module that the process imports first: tests plant faults so.
    """

    def __init__(
        self, state: State, folder: Path, number: int, reports: Any, plant: str | None
    ) -> None:
        self.task: tuple[int, int, int] | None = None  # block, next case, end
        self.is_ready = False
        self.n_blocks = 0
        shared, self._log = folder / f"progress-{number}", folder / f"log-{number}"
        shared.write_bytes(np.array([-1], np.int64).tobytes())
        self._progress = np.memmap(shared, np.int64, "r", shape=(1,))
        self._seen, self._since = -2, time.monotonic()
        command = [sys.executable, "-m", "tests.prove.worker", "--progress", str(shared)]
        command += ["--seed", str(state.plan.seed), "--block", str(state.plan.block)]
        command += ["--subject", state.plan.subject]
        command += ["--device", state.device] if state.device else []
        command += ["--plant", plant] if plant else []
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(state.device),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        threading.Thread(target=self._listen, args=(reports,), daemon=True).start()

    def _listen(self, reports: Any) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                reports.put((self, json.loads(line)))
        reports.put((self, None))

    def give(self, task: tuple[int, int, int], *, skip: list[int], until: float) -> None:
        """Let it run the cases of a block."""
        self.task = task
        self.n_blocks += 1
        line = json.dumps({"first": task[1], "end": task[2], "skip": skip, "until": until})
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # its end will be seen
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()

    @property
    def case(self) -> int:
        """The case that it is at, -1 for none."""
        return int(self._progress[0])

    def stuck_for(self) -> float:
        """Return the seconds for which it has been at the same case."""
        if self.case != self._seen:
            self._seen, self._since = self.case, time.monotonic()
        return time.monotonic() - self._since

    def last_words(self) -> str:
        """Return the last line that it wrote to standard error."""
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def stop(self) -> int:
        """End the process, if it has not ended by itself; return its status."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.kill()
        return self.process.wait()


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
    plant : str or None
        As of :class:`Worker`.
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
        plant: str | None = None,
        on_progress: Callable[[str], object] = print,
    ) -> None:
        self.state, self._path, self._on_progress = state, path, on_progress
        self._n_workers, self._time_limit, self._plant = workers, time_limit, plant
        self._until_cases = until_cases
        self._until = time.time() + 60 * minutes if minutes is not None else 1e300
        self._blocks = state.blocks()
        self._again: list[tuple[int, int, int]] = []  # what lost workers have left undone
        self._handed = 0  # cases that workers have been given and not reported
        self._lost: dict[int, list[int]] = {}  # by block, the cases that ended a worker
        self._reports: queue.Queue[tuple[Worker, dict[str, Any] | None]] = queue.Queue()
        self._workers: list[Worker] = []
        self._n_started = 0
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
        worker = Worker(self.state, folder, self._n_started, self._reports, self._plant)
        self._n_started += 1
        self._workers.append(worker)

    def _step(self, folder: Path) -> None:
        """Take one report, or none for half a second; then look for workers that hang."""
        with suppress(queue.Empty):
            worker, report = self._reports.get(timeout=0.5)
            if worker in self._workers:
                if report is None:
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
            self.state.tally.add(Tally(report["tally"]))
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
        skip = self._lost.get(block, [])
        worker.give((block, first, end), skip=skip, until=self._until)
        return True

    def _fail(self, failure: dict[str, Any]) -> None:
        if self.state.fail(failure):
            self._on_progress(
                f"case {failure['number']}: {failure['verdict']}: {failure['detail'][:400]}"
            )

    def _lose(self, worker: Worker, verdict: str, folder: Path) -> None:
        """Record the case at which a worker ended or hung; another one goes on without it."""
        case, task = worker.case, worker.task
        self._workers.remove(worker)
        status = worker.stop()
        words = f"{worker.last_words()} (status {status})"
        if task is None or case < 0:
            raise RuntimeError(f"a worker ended before its first case: {words}")
        counts = self.state.tally.counts
        counts[f"verdict/{verdict}"] += 1
        counts["total/cases"] += 1
        detail = words if verdict == "crash" else f"no answer within {self._time_limit:g} s"
        self._fail({"number": case, "verdict": verdict, "detail": detail})
        self._lost.setdefault(task[0], []).append(case)
        self._handed -= task[2] - task[1]
        self._again.append(task)
        if sum(map(len, self._lost.values())) < _MOST_FAULTS:
            self._start(folder)
        else:
            self._on_progress(f"{_MOST_FAULTS} cases ended their process; no other is started")
