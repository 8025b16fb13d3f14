"""The costs of one call, measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pyrev.api.call import Call, Callee
from pyrev.report.costs import Costs
from pyrev.runtime.code_cache import layer, threads
from pyrev.runtime.device import copied, is_array

ROUNDS = 5
#: Seconds of measuring after which two rounds are enough.
LONGEST = 2.0


class Pulls(Protocol):
    """A pullback."""

    @property
    def nbytes(self) -> int:
        """What it holds beside the arguments."""

    def of_ones(self) -> Mapping[str, Any]:
        """The gradients for cotangents of ones."""


#: From a call to a pullback.
Pull = Callable[[Call], Pulls]


def measured(
    f: Callee, args: Sequence[Any], kw: Mapping[str, Any], pull: Pull
) -> Costs:
    """Run the call and its gradient some times, on copies of the arguments."""

    def fresh() -> Call:
        return Call(f, [_own(a) for a in args], {n: _own(v) for n, v in kw.items()})

    call = fresh()
    call.check()
    primal = _median(lambda: _timed(fresh(), Call.run))
    forward, reverse, pullback, gradients = _gradient(fresh, pull)
    # It runs on the cores, if on the CPU.
    count, started = (threads(), layer()) if call.target.seals else (1, "")
    return Costs(
        f.python.__name__,
        ", ".join(map(_described, call.visible, map(call.values.get, call.visible))),
        call.target.name,
        count,
        started,
        tuple(f.journal.entries),
        primal,
        forward,
        reverse,
        pullback.nbytes,
        sum(getattr(g, "nbytes", 0) for g in gradients.values()),
    )


def _own(value: Any) -> Any:
    return copied(value) if is_array(value) and value.ndim else value


def _described(name: str, value: Any) -> str:
    shape = list(getattr(value, "shape", ()))
    kind = getattr(value, "dtype", type(value).__name__)
    return f"{name} {kind}{shape or ''}"


def _timed(call: Call, run: Callable[[Call], Any]) -> float:
    call.check()
    begin = time.perf_counter()
    run(call)
    took = time.perf_counter() - begin
    call.rewind()
    return took


def _median(run: Callable[[], float]) -> float:
    run()  # what it needs first is told of elsewhere
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < ROUNDS:
        times.append(run())
        if len(times) > 1 and time.perf_counter() - begin > LONGEST:
            break
    return statistics.median(times)


def _gradient(
    fresh: Callable[[], Call], pull: Pull
) -> tuple[float, float, Pulls, Mapping[str, Any]]:
    """The times of the two parts, the last pullback and what it gave."""
    last: list[Any] = []
    reverses: list[float] = []

    def both() -> float:
        call = fresh()
        begin = time.perf_counter()
        pullback = pull(call)
        middle = time.perf_counter()
        gradients = pullback.of_ones()
        reverses.append(time.perf_counter() - middle)
        call.rewind()
        last[:] = pullback, gradients
        return middle - begin

    forward = _median(both)
    pullback, gradients = last
    return forward, statistics.median(reverses[1:]), pullback, gradients
