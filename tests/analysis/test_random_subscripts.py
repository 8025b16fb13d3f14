"""Random subscripts, negative, outside and from data: the call does what CPython does.

Where the plain function raises `IndexError`, so does the call, and nothing is written.
Where it runs, the call gives its values and the gradient of what it did, and the text
for Numba never leaves an array and never races.
"""

from __future__ import annotations

import copy
import linecache
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis.bounds import Variant
from pyrev.api.differentiable import Call
from pyrev.driver.request import Request
from pyrev.driver.targets import NUMBA, PYTHON
from pyrev.ir.ranges import Interval
from pyrev.testing import Outcome, draw_cotangents, run
from tests.tools import oracle
from tests.tools.interpreted import Recorder, Recording, RecordingNumpy, interpreted
from tests.tools.oracle import same_bits


class Writer:
    """One random function of arrays `a`, `m`, `u`, `out`, integers `p` and a number
    `k`.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.integers = ["k"]
        self.fresh = 0

    def pick(self, *options: Any) -> Any:
        return options[self.rng.integers(len(options))]

    def subscript(self, depth: int = 2) -> str:
        """An integer expression of what is known, of either sign."""
        if depth == 0 or self.rng.random() < 0.25:
            return str(self.pick(*self.integers, *self.integers, -2, -1, 0, 1, 2))
        e = self.subscript(depth - 1)
        f = self.subscript(depth - 1)
        return str(
            self.pick(
                *(f"{e} + {f}", f"{e} - {self.atom(f)}", f"-{self.atom(e)}"),
                *(f"{e} - 1", f"{e} + 1", f"2 * {self.atom(e)}"),
                *(f"{self.atom(e)} // 2", f"{self.atom(e)} % 3"),
                f"{self.atom(e)} % a.shape[0]",
                f"min({e}, a.shape[0] - 1)",
                f"max({e}, {f})",
                f"({e} if {f} > 0 else {f})",
                *(f"a.shape[0] - {self.atom(e)}", f"abs({e})"),
                f"p[{self.pick(*self.integers)}]",
            )
        )

    def atom(self, e: str) -> str:
        return e if e.isidentifier() or e.isdigit() else f"({e})"

    def element(self) -> str:
        array = self.pick("a", "a", "u", "out", "m")
        if array == "m":
            return f"m[{self.subscript(1)}, {self.subscript(1)}]"
        return f"{array}[{self.subscript()}]"

    def value(self) -> str:
        return f"{self.element()} * {self.element()} + 0.5 * {self.element()}"

    def emit(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def statement(self, indent: int) -> None:
        target = f"{self.pick('u', 'out', 'out')}[{self.subscript()}]"
        match self.pick("write", "write", "add", "scalar", "test", "where", "carry"):
            case "write":
                self.emit(indent, f"{target} = {self.value()}")
            case "add":
                self.emit(indent, f"{target} += {self.value()}")
            case "where":
                test = f"{self.element()} > 0.9"
                value = f"{self.element()} if {test} else {self.element()}"
                self.emit(indent, f"{target} += {value}")
            case "test":
                test = self.pick(
                    f"{self.element()} > 0.9",
                    f"{self.subscript(1)} < {self.subscript(1)}",
                    f"0 <= {self.subscript(1)} < a.shape[0]",
                )
                self.emit(indent, f"if {test}:")
                self.emit(indent + 1, f"{target} += {self.value()}")
            case "scalar":
                self.fresh += 1
                self.emit(indent, f"j{self.fresh} = {self.subscript()}")
                self.integers.append(f"j{self.fresh}")
                self.emit(indent, f"{target} = {self.value()}")
            case "carry":
                self.emit(indent, f"c = c {self.pick('+', '-')} {self.pick(1, 2, 'k')}")
                self.emit(indent, f"{target} += {self.value()}")

    def loop(self, indent: int, depth: int) -> None:
        index = "ijh"[depth]
        known = list(self.integers)
        match self.pick("range", "range", "range", "data", "while", "break"):
            case "range":
                lo, hi = (
                    self.pick(0, 0, 1, "-1", "k"),
                    self.pick("a.shape[0]", "out.shape[0]", "out.shape[0] - 1", "k", 3),
                )
                bounds = self.pick(f"{lo}, {hi}", f"{hi}", f"{hi}, {lo}, -1")
                self.emit(indent, f"for {index} in range({bounds}):")
            case "data":
                self.emit(indent, f"for {index} in range(p[0], p[-1]):")
            case "while":
                self.emit(indent, f"{index} = {self.pick(0, -1, 'k')}")
                self.emit(indent, f"while {index} < {self.pick('k', 3, 'a.shape[0]')}:")
                self.emit(indent + 1, f"{index} = {index} + 1")
            case "break":
                self.emit(indent, f"for {index} in range({self.pick('k', 3, 5)}):")
                self.integers.append(index)
                self.emit(indent + 1, f"if {self.element()} > 1.2:")
                self.emit(indent + 2, "break")
        self.integers.append(index)
        for _ in range(self.rng.integers(1, 3)):
            self.statement(indent + 1)
        if depth < 1 and self.rng.random() < 0.4:
            self.loop(indent + 1, depth + 1)
        self.integers = known

    def write(self) -> str:
        self.emit(0, "def f(a, m, u, out, p, k):")
        self.emit(1, f"c = {self.pick(-1, 0, 'k')}")
        self.integers.append("c")
        for _ in range(self.rng.integers(1, 3)):
            self.loop(1, 0)
        return "\n".join(self.lines) + "\n"


def function_of(source: str) -> Callable[..., Any]:
    """The function, its source found as a notebook's is."""
    name = f"<subscripts {zlib.crc32(source.encode()):08x}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    space: dict[str, Any] = {"__name__": "subscripts"}
    exec(compile(source, name, "exec"), space)
    function: Callable[..., Any] = space["f"]
    return function


def arguments(seed: int) -> dict[str, Any]:
    """Small arrays, some of them empty, integers of both signs."""
    rng = np.random.default_rng(seed)
    n, w, h = (int(x) for x in rng.choice([0, 1, 2, 3, 4, 5, 9, 9, 9, 9, 9], 3))

    def values(*shape: int) -> Any:
        return rng.uniform(0.5, 1.5, shape)

    return {
        "a": values(n),
        "m": values(w, h),
        "u": values(int(rng.choice([n, w]))),
        "out": values(int(rng.choice([n, n, h]))),
        "p": rng.integers(-2, 3, 5),
        "k": int(rng.integers(-3, 4)),
    }


def judge(seed: int) -> str:
    """What happens to one function, in a word, or an assertion."""
    function = function_of(Writer(seed).write())
    given = arguments(seed)
    f = pyrev.differentiable(function, target="python")
    writes = f._units.function.written
    plain: Any
    try:
        with np.errstate(all="ignore"):
            plain = run(function, given, writes)
    except (IndexError, ZeroDivisionError) as error:
        plain = error
    own = copy.deepcopy(given)
    try:
        call = Call(f, (), own)
        whole_tables_settle(call)
        call.check()
    except (IndexError, ZeroDivisionError) as error:
        assert not isinstance(plain, Outcome), f"{error!r} where the function runs"
        for name, value in given.items():
            assert same_bits(own[name], value), f"`{name}` was written before {error!r}"
        return "raised"
    assert not isinstance(plain, IndexError), f"{plain!r} was not raised"
    if not isinstance(plain, Outcome):
        return "raised"  # a division by zero is found where it happens
    if not all(np.isfinite(v).all() for v in plain.written.values()):
        return "overflowed"
    oracle.check(f, function, given, writes, np.random.default_rng(seed), entries=6)
    weights = draw_cotangents(plain, np.random.default_rng(seed))
    units, wrt = f._units, call.wrt(None)
    request = Request(NUMBA, call.kinds, wrt, call.values, call.variant)
    primal, adjoint = units.primal(request), units.adjoint(request)
    for unit in (primal, adjoint):
        recorder = Recorder()
        values = copy.deepcopy(given)
        for param, of in unit.cotangents:
            assert isinstance(of, str)
            values[param] = weights.written[of].copy()
        wrapped = [
            Recording(recorder, v) if isinstance(v, np.ndarray) else v
            for v in (values[p] for p in unit.params)
        ]
        made = interpreted(
            unit.text.text, unit.program.name, recorder.turns, RecordingNumpy(recorder)
        )
        with np.errstate(all="ignore"):
            made(*wrapped)
        assert recorder.races() == []
        if unit is primal:
            for key, value in plain.written.items():
                np.testing.assert_allclose(values[key], value, rtol=1e-9, atol=1e-9)
    return "ran"


def whole_tables_settle(call: Call) -> bool | None:
    """Does the range of all their elements settle the subscripts? Then following the
    loops finds nothing either. None if sizes leave no doubt.
    """
    inspection = call.units.inspection
    bounds = inspection.bounds(call.kinds)
    sized, doubts = inspection.sized(call.kinds, call.values)
    if not doubts:
        return None
    tables = {n: call.values[n] for n in bounds.tables if call.values[n].size}
    elements = {n: Interval(int(t.min()), int(t.max())) for n, t in tables.items()}
    if not bounds.settled(call.values, doubts, elements):
        return False
    request = Request(PYTHON, call.kinds, (), call.values, sized)
    found = inspection.inspected(request, doubts)
    assert found == Variant(sized.negative)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_a_random_subscript_does_what_it_does_in_python(seed: int) -> None:
    try:
        judge(seed)
    except Exception as failure:
        failure.add_note(Writer(seed).write())
        raise


@pytest.mark.slow
def test_random_functions_both_run_and_raise() -> None:
    words = [judge(seed) for seed in range(100, 120)]
    assert words.count("ran") >= 4
    assert words.count("raised") >= 4
