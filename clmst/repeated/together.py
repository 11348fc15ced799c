"""Several devices at one solve: each its parts, one of them the union of their forests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from clmst import algorithms
from clmst.algorithms.reweighting.repeated import Given
from clmst.algorithms.reweighting.union import Union
from clmst.algorithms.shared.solution import DeviceForest, gather
from clmst.core.weight_keys import Array, Encoding
from clmst.repeated import earned
from clmst.repeated.failure import DeviceLostError, failures_of
from clmst.repeated.intake import HostChange, nan_error
from clmst.repeated.member import Member, Work
from clmst.repeated.plan import Plan
from clmst.repeated.timeline import LastPass, round_stats
from clmst.repeated.whole import Brought, Needs, Whole, whole_of
from clmst.runtime.device import Device
from clmst.runtime.failures import has_finished
from clmst.runtime.launcher import Launcher


class Together:
    """Devices, their parts, and the threads in which they work; for one round at a time.

    Parameters
    ----------
    plan : Plan
        Of two or more devices.
    maximum : bool
    """

    def __init__(self, plan: Plan, *, maximum: bool) -> None:
        self.plan, self.maximum = plan, maximum
        self.encoding: Encoding | None = None  # of the present weights
        rooms = [task.part.room for one in plan.assignments for task in one.tasks]
        with failures_of(plan.device), plan.device.lock:
            self._union = Union(plan.edges, rooms, plan.device)
        self.members: list[Member] = []
        for assignment in plan.assignments:
            begin = sum(len(member.pieces) for member in self.members)
            numbers = range(begin, begin + len(assignment.tasks))
            with failures_of(assignment.device):
                self.members.append(Member(assignment, numbers, self._union, maximum=maximum))
        n = len(self.members) - 1
        self._workers = ThreadPoolExecutor(n, thread_name_prefix="clmst-device")
        self._carriers = ThreadPoolExecutor(n, thread_name_prefix="clmst-upload")

    @property
    def device(self) -> Device:
        """The device of the last pass, where forests are kept."""
        return self.plan.device

    def close(self) -> None:
        """Let the threads go."""
        self._workers.shutdown(wait=False)
        self._carriers.shutdown(wait=False)

    # ------------------------------------------------------------------- weights

    @property
    def needs(self) -> Needs:
        """Which weights each device takes."""
        return [(member.device, member.spans) for member in self.members]

    def bring(self, weights: Any, queues: Sequence[Any]) -> Brought:
        """Check weights by edge, and bring them to all devices at once; waits.

        Parameters
        ----------
        weights : array, DeviceArray or pyopencl.array.Array
            The caller's again when it returns; what was brought stays until :meth:`let_go`.
        queues : sequence of pyopencl.CommandQueue
            Of :meth:`new_queues`.
        """
        whole = whole_of(weights, self.plan.edges.n_input, self.needs, keeps=True)

        def carry(place: int) -> list[Given]:
            givens = self.members[place].give(whole, queues[place])
            self.members[place].hold(givens)
            queues[place].finish()
            return givens

        return Brought(whole=whole, givens=self._each(self._carriers, carry))

    def new_queues(self) -> list[Any]:
        """Return a queue of every device, to bring weights by."""
        return [member.device.new_queue() for member in self.members]

    def let_go(self, brought: Brought) -> None:
        """Let go of weights that were brought: nobody will solve or read them any more."""
        for member, givens in zip(self.members, brought.givens, strict=True):
            member.let_go(givens)

    def forget(self) -> None:
        """Have no weights."""
        self.encoding = None
        for member in self.members:
            member.forget()

    def present_weights(self) -> Array:
        """Read the weights of the last round from all devices; 0 where none has any."""
        assert self.encoding is not None
        weights = np.zeros(self.plan.edges.n_input, self.encoding.dtype)
        for member in self.members:
            with failures_of(member.device), member.device.lock:
                for piece in member.pieces:
                    present, part = piece.rounds.present, piece.part
                    assert present is not None
                    launch = Launcher(member.device, member.device.queue)
                    words = piece.rounds.graph(launch).encoded.words()
                    ids = part.graph.edge_ids
                    places = slice(part.first, part.last) if ids is None else ids + part.first
                    weights[places] = present.encoding.decode(words)
        return weights

    # --------------------------------------------------------------------- rounds

    def solve(self, weights: Any, *, profile: bool) -> DeviceForest:
        """Solve under weights by edge."""
        self.forget()
        whole = whole_of(weights, self.plan.edges.n_input, self.needs)
        return self._solve(whole, None, profile=profile)

    def solve_brought(self, brought: Brought) -> DeviceForest:
        """Solve under weights that have been brought."""
        self.forget()
        return self._solve(brought.whole, brought.givens, profile=False)

    def _solve(
        self, whole: Whole, givens: list[list[Given]] | None, *, profile: bool
    ) -> DeviceForest:
        def work(place: int) -> Work:
            mine = None if givens is None else givens[place]
            return self.members[place].solve(whole, mine, profile=profile)

        forest = self._round(work, whole.encoding)
        self.encoding = whole.encoding
        return forest

    def update(self, change: HostChange, *, profile: bool) -> DeviceForest:
        """Solve with some of the present weights changed."""
        assert self.encoding is not None
        converted = change.converted(self.encoding.dtype)
        words, encoding = self.encoding.encode(converted), self.encoding
        if words is None:
            encoding = self._widen()
            words = encoding.encode(converted)
        assert words is not None, "wide words hold all weights"
        last = _last_places(change.ids)
        ids, words = change.ids[last], words[last]

        def work(place: int) -> Work:
            return self.members[place].change(ids, words, encoding, profile=profile)

        return self._round(work, encoding)

    def _widen(self) -> Encoding:
        """Let the present words be the weights themselves, everywhere."""
        for member in self.members:
            with failures_of(member.device), member.device.lock:
                for piece in member.pieces:
                    launch = Launcher(member.device, member.device.queue)
                    self.encoding = piece.rounds.widen(launch)
        assert self.encoding is not None
        return self.encoding

    def _round(self, work: Callable[[int], Work], encoding: Encoding) -> DeviceForest:
        """Let all devices work at once, then one at the union of what they find."""
        began = time.perf_counter()
        with failures_of(self.plan.device), self.plan.device.lock:
            self._union.lists.make_room(encoding.word)
        try:
            works = self._each(self._workers, work)
            _check_found(works)
            return self._last_pass(works, encoding, began)
        except DeviceLostError:
            raise  # somebody may want what the others have
        except BaseException:
            self.forget()
            raise

    def _last_pass(self, works: list[Work], encoding: Encoding, began: float) -> DeviceForest:
        """Solve the union of the forests; waits for it."""
        task, device = self.plan.last, self.plan.device
        launch = self.members[0].launcher(profile=works[0].launch.profile is not None)
        lengths = [found.n_edges for one in works for found in one.found]
        entered = time.perf_counter()
        with failures_of(device), device.lock:
            try:
                earned.require_union(device, 8 * encoding.word.itemsize)
                graph = self._union.merge(lengths, encoding, launch)
                name, solve = algorithms.choose(
                    task.algorithm, device, graph, options=task.options, maximum=self.maximum
                )
                solution = solve(graph, launch, maximum=self.maximum, options=task.options)
                found = gather(solution, launch, maximum=self.maximum)
                forest = self._union.forest(found, launch)
            except BaseException:
                has_finished(launch.queue)  # before memory that it works on is anybody else's
                raise
        last = LastPass(launch=launch, algorithm=name, began=entered, ended=time.perf_counter())
        stats = round_stats(self.plan, works, last, began)
        return forest.with_stats({**forest.stats, **stats})

    def _each(self, pool: ThreadPoolExecutor, work: Callable[[int], Any]) -> list[Any]:
        """Let each device work, the first one in this thread; wait for all of them.

        A failure of a device is raised rather than what is wrong with the weights: whoever solves
        again without it will come across that.
        """

        def guarded(place: int) -> Any:
            with failures_of(self.members[place].device):
                return work(place)

        futures = [pool.submit(guarded, place) for place in range(1, len(self.members))]
        first, errors = None, list[BaseException]()
        try:
            first = guarded(0)
        except BaseException as wrong:
            errors.append(wrong)
        while any(not future.done() for future in futures):
            try:
                wait(futures)
            except BaseException as wrong:  # Ctrl-C; nobody may be at work when this returns
                errors.append(wrong)
        errors += [error for future in futures if (error := future.exception()) is not None]
        if errors:
            raise min(errors, key=_rank)
        return [first, *(future.result() for future in futures)]


def _rank(error: BaseException) -> int:
    """Return which error comes first: what breaks a round off, then failures of devices."""
    if not isinstance(error, Exception):
        return 0
    return 1 if isinstance(error, DeviceLostError) else 2


def _check_found(works: Sequence[Work]) -> None:
    """Raise if a weight was found to be NaN; names the first."""
    nans = [found.nan for work in works for found in work.found if found.nan is not None]
    if nans:
        raise nan_error(min(nans))


def _last_places(ids: Array) -> Array:
    """Return the last place of every edge that is named, so that none is named twice."""
    _, from_the_end = np.unique(ids[::-1], return_index=True)
    places: Array = ids.size - 1 - from_the_end
    return places
