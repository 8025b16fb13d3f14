"""On how many threads a call runs, by how long calls like it took.

Whether all cores are faster than one is not known beforehand: that depends on the
machine, on the threading layer, and on what else runs there, since each parallel loop
waits for the last of its threads, and for one that is not scheduled for milliseconds.
Results are the same bits for any number of threads. So calls of the same sizes are
timed, on one thread and on all, and go where they take less; the other way is tried
again now and then, at a small share of the time.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyrev.runtime.code_cache import layer
from pyrev.runtime.error_boundary import runs_users

#: A way that loses is tried again when calls have taken so many times what it loses.
_RARELY = 20
#: The operations of a call that is run on all threads before anything is known: where
#: cores are free, and where others keep them.
_MUCH_WORK = 20_000_000
_MUCH_WORK_BESIDE_OTHERS = 1_000_000_000
#: Seconds that an operation takes on one thread, or less.
_SECONDS = 2e-9
#: What the first tries may lose.
_AFFORDABLE = 0.05
#: Seconds of calls from one look at the other cores to the next, at least, and how many
#: times what the look took: where the system's files are slow, it takes 0.2 ms.
_LOOK = 1e-3
_SELDOM = 50
#: A function that Numba has compiled.
Compiled = Callable[..., Any]


class Pace:
    """How long calls of the same sizes take on one thread, and on all of them.

    Of each the last two times are kept, and the shorter one counts: one call may be
    slow for a reason that has gone; the first one, in which code is compiled or loaded,
    never does. `work` are the operations of a call, None if they are not known.

    Whether others keep the cores is asked when a call on one thread ends: where it
    begins, the threads of a library that ran before it may still wait for more.
    """

    __slots__ = (
        "_alone",
        "_beside",
        "_unseen",
        "_first",
        "_look",
        "_serial",
        "_since",
        "_spent",
        "_took",
        "_work",
    )

    def __init__(self, work: float | None) -> None:
        much = _MUCH_WORK_BESIDE_OTHERS if _are_busy() else _MUCH_WORK
        self._alone = work is not None and work < much
        #: Did others keep the cores, and how long ago was that, in seconds of calls?
        self._beside, self._unseen = False, _LOOK
        self._look = _LOOK
        self._work = work
        self._since = self._spent = 0.0
        self._first: float | None = None
        self._serial: Compiled | None = None
        self._took: dict[bool, list[float]] = {True: [], False: []}

    def alone(self, threads: int) -> bool:
        """Is the next call to run on one thread, and not on `threads`?"""
        if not self._took[self._alone] or not self._due(threads):
            return self._alone
        if self._alone and self._beside:
            return True
        return not self._alone

    def _due(self, threads: int) -> bool:
        """Is it time to try the other way again, by what that may lose?"""
        mine, other = self._took[self._alone], self._took[not self._alone]
        usual = min(mine)
        if len(other) > 1 or (other and other[0] > 3 * usual):
            loses = max(min(other) - usual, usual)
        elif self._alone:
            loses = 0.0
        else:
            longest = threads * usual
            if self._work is not None:
                longest = min(longest, _SECONDS * self._work)
            loses = max(longest - usual - _AFFORDABLE, 0.0)
        return self._since >= _RARELY * loses

    def note(self, alone: bool, took: float, threads: int) -> None:
        """A call on one thread, or on all `threads`, has taken so many seconds."""
        times = self._took[alone]
        times.append(took)
        del times[:-2]
        self._spent += took
        self._since = self._since + took if alone == self._alone else 0.0
        if all(self._took.values()):
            self._alone = min(self._took[True]) <= min(self._took[False])
        self._unseen += took
        if self._alone and alone and self._unseen >= self._look and self._due(threads):
            begin = time.perf_counter()
            self._beside, self._unseen = _are_busy(), 0.0
            self._look = max(_LOOK, _SELDOM * (time.perf_counter() - begin))

    @runs_users
    def run(
        self, function: Compiled, values: Sequence[Any], serial: Callable[[], Compiled]
    ) -> Any:
        """What a function of Numba's returns, on as many threads as are best.

        `serial` gives the same function without threads, or the function itself.
        """
        numba = sys.modules["numba"]
        threads = numba.get_num_threads()
        if threads == 1:
            return function(*values)
        alone = self.alone(threads)
        counts = self._first is not None
        if alone:
            if self._serial is None and self._would_wait():
                self._serial, counts = serial(), False
                self._took[True] = []
            function = self._serial or function
            numba.set_num_threads(1)
        begin = time.perf_counter()
        try:
            result = function(*values)
        finally:
            if alone:
                numba.set_num_threads(threads)
        took = time.perf_counter() - begin
        if counts:
            self.note(alone, took, threads)
        elif self._first is None:
            self._first = took
        return result

    def _would_wait(self) -> bool:
        """Is code without threads worth its compilation?

        Numba's own layer hands work to a thread of its own, and waits for it, even
        where there is only one.
        """
        return (
            self._first is not None
            and self._spent > self._first
            and layer() == "workqueue"
        )


def amounts(values: Sequence[Any]) -> Hashable:
    """What of the arguments of a call says how much it does."""
    return tuple([_size(v) for v in values])


def _size(value: Any) -> tuple[int, ...] | int | None:
    if isinstance(value, np.ndarray):
        shape: tuple[int, ...] = value.shape
        return shape
    return int(value) if isinstance(value, (int, np.integer)) else None


def _are_busy() -> bool:
    """Do others keep half of the cores, as far as the system says so?

    Threads of this process that wait for their next loop run, too, for a while.
    """
    cores = os.cpu_count() or 1
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            running = int(file.read().split()[3].split("/")[0])
        return 2 * (running - 1) >= cores and 2 * (running - _own()) >= cores
    except (OSError, IndexError, ValueError):
        return False


def _own() -> int:
    """How many threads of this process run."""
    found = 0
    for task in os.scandir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it has ended
            text = Path(task.path, "stat").read_text(encoding="utf-8", errors="replace")
            found += text.rpartition(")")[2].split()[0] == "R"
    return found
