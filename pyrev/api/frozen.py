"""A call whose shapes, dtypes and integers are fixed: what is checked before others is
compiled into it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from pyrev.api.call import Call
from pyrev.driver.results import in_words, restored
from pyrev.driver.targets import NUMBA
from pyrev.driver.unit import Unit
from pyrev.ir.diagnostics import ArgumentError
from pyrev.runtime.code_cache import LAUNCH, is_alone, launches_are_safe
from pyrev.runtime.device import is_array
from pyrev.runtime.error_boundary import guarded
from pyrev.runtime.pace import Pace

#: What the plain function would have returned, from what compiled code returned for
#: these arguments.
Restore = Callable[[Any, Sequence[Any]], Any]
#: Numbers of Python's, which the dtypes of results mean.
_PYTHON: dict[str, type] = {"weak float": float, "weak int": int, "bool": bool}


class Frozen:
    """A compiled function for arguments of such shapes, dtypes and integers.

    It is called by position. A call with other ones is an `ArgumentError`; the rest of
    a call's checks, whether arrays overlap that are written, is part of the compiled
    code. What the function uses, its helpers and constants, is as it was when this was
    made. `njit` is the same for code that Numba compiles.
    """

    def __init__(
        self,
        unit: Unit,
        values: Mapping[str, Any],
        written: Sequence[str],
        restore: Restore | None,
        usual: Callable[..., Any],
    ) -> None:
        self._unit, self._usual, self._restore = unit, usual, restore
        self._values = {p: values[p] for p in unit.params}
        self._name = unit.program.name
        #: On how many threads it runs, if it starts any.
        self._pace = (
            unit.pace([*self._values.values()]) if unit.starts_threads else None
        )
        self._apart = [
            (w, p)
            for w in written
            for p, v in self._values.items()
            if p != w and is_array(v)
        ]
        self.njit = self._compiled()

    def __call__(self, *args: Any) -> Any:
        try:
            if self._pace is None:
                raw = self.njit(*args)
            else:
                raw = self._on_threads(self._pace, args)
        except TypeError as error:
            self._refuse(args, error)
        return raw if self._restore is None else self._restore(raw, args)

    def _on_threads(self, pace: Pace, args: tuple[Any, ...]) -> Any:
        if is_alone():
            return self._usual(*args)
        if launches_are_safe():
            return pace.run(self.njit, args, lambda: self.njit)
        with LAUNCH:
            return pace.run(self.njit, args, lambda: self.njit)

    def __reduce__(self) -> tuple[Any, ...]:
        """By the function, which is frozen again on arrival, for arguments like these:
        of arrays shape and dtype travel, not what they hold.
        """
        likes = [
            (v.shape, v.dtype) if is_array(v) else v for v in self._values.values()
        ]
        return _thawed, (self._usual, likes)

    def __copy__(self) -> Frozen:
        return self

    def __deepcopy__(self, memo: object) -> Frozen:
        return self

    def __repr__(self) -> str:
        return f"<frozen {self._name}({self._described()})>"

    def _described(self) -> str:
        return ", ".join(f"{n} {_kind(v)}" for n, v in self._values.items())

    @guarded
    def _refuse(self, args: tuple[Any, ...], error: TypeError) -> NoReturn:
        """Say what does not fit of arguments that Numba has no code for."""
        names = [*self._values]
        if len(args) != len(names):
            raise ArgumentError(
                f"{self._name}() is frozen for {len(names)} arguments by position,"
                f" {', '.join(names)}; {len(args)} were given"
            ) from None
        for (name, like), value in zip(self._values.items(), args, strict=True):
            if _form(value) != _form(like):
                raise ArgumentError(
                    f"{self._name}() is frozen for `{name}` {_form(like)}, not"
                    f" {_form(value)}; freeze it for such, or call the function itself"
                ) from None
        raise error

    # ---------------------------------------------------------------- compiling

    def _compiled(self) -> Any:
        """The function with its checks, compiled for these arguments alone."""
        numba = sys.modules["numba"]  # with which the unit is compiled
        plain = inspect.unwrap(self._unit.function)
        assert isinstance(plain, FunctionType)
        # Compiled code makes its arrays by itself.
        own = {n: getattr(np, n) for n in ("zeros", "empty", "copy")}
        made = FunctionType(
            plain.__code__, {**plain.__globals__, **own}, plain.__name__
        )
        options = {"error_model": "numpy", "nogil": True}
        entry: dict[str, Any] = plain.__globals__.get("ENTRY", {})
        options |= {n: v for n, v in entry.items() if n == "fastmath"}
        names: dict[str, Any] = {"run": numba.njit(**options)(made)}
        names["ArgumentError"] = ArgumentError
        text = "\n".join(self._lines())
        exec(compile(text, f"<frozen {self._name}>", "exec"), names)
        types = [numba.typeof(v) for v in self._values.values()]
        compiled = numba.njit(**options)(names["frozen"])
        compiled.compile(tuple(types))
        compiled.disable_compile()
        return compiled

    def _lines(self) -> list[str]:
        params = [f"p{k}" for k in range(len(self._values))]
        of = dict(zip(self._values, params, strict=True))
        lines = [f"def frozen({', '.join(params)}):"]
        for name, value in self._values.items():
            tests = _tests(of[name], value)
            if not tests:
                continue
            what = f"{self._name}() is frozen for `{name}` {_kind(value)}"
            more = "; freeze it for others, or call the function itself"
            lines += [
                f"    if {' or '.join(tests)}:",
                f"        raise ArgumentError({what + more!r})",
            ]
        for one, other in self._apart:
            what = (
                f"{self._name}() writes `{one}`, which overlaps `{other}` in memory;"
                f" pass {other}.copy()"
            )
            a, b = of[one], of[other]
            lines += [
                f"    if {a}.size and {b}.size:",
                f"        first, last = {a}.ctypes.data, {b}.ctypes.data",
                f"        if first < last + {b}.size * {b}.itemsize"
                f" and last < first + {a}.size * {a}.itemsize:",
                f"            raise ArgumentError({what!r})",
            ]
        return [*lines, f"    return run({', '.join(params)})"]


def _thawed(usual: Any, likes: Sequence[Any]) -> Any:
    """A frozen function that was pickled."""
    return usual.frozen(*(np.zeros(*v) if type(v) is tuple else v for v in likes))


def _tests(param: str, value: Any) -> list[str]:
    """What is not so for other arguments of the same type."""
    if is_array(value):
        return [f"{param}.shape[{k}] != {n}" for k, n in enumerate(value.shape)]
    if isinstance(value, (bool, int, np.integer)):
        return [f"{param} != {value!s}"]
    return []


def _form(value: Any) -> str:
    """A value's type, as Numba tells types apart."""
    if type(value) is np.ndarray:
        order = "" if value.flags.c_contiguous else ", not in C order"
        closed = "" if value.flags.writeable else ", read-only"
        return f"{value.dtype} with {value.ndim} axes{order}{closed}"
    return type(value).__name__


def _kind(value: Any) -> str:
    if is_array(value):
        return f"{value.dtype}{list(value.shape)}"
    integer = isinstance(value, (bool, int, np.integer))
    return f"{type(value).__name__} {value}" if integer else type(value).__name__


def of_primal(call: Call, unit: Unit) -> Frozen:
    """The function itself for arguments like those of a call."""
    check(call, call.values)
    program, dtypes = call.function.program, call.result_dtypes()
    params = unit.params
    restore: Restore | None = None
    if in_words(program) == "a number":
        to = _PYTHON.get(dtypes[0]) or np.dtype(dtypes[0]).type

        def number(raw: Any, args: Sequence[Any]) -> Any:
            return to(raw)

        restore = None if to is float else number
    elif dtypes:

        def restore(raw: Any, args: Sequence[Any]) -> Any:
            return restored(program, raw, dtypes, dict(zip(params, args, strict=True)))

    written = [n for n in call.function.written if n in params]
    return Frozen(unit, call.values, written, restore, call.f)


def of_adjoint(
    call: Call, unit: Unit, values: Mapping[str, Any], usual: Callable[..., Any]
) -> Frozen:
    """The adjoint for arguments, and cotangents, like these."""
    check(call, values)
    if call.function.checks(call.kinds):
        raise ArgumentError(
            f"frozen: {call.f.python.__name__}() asserts, or raises, which its adjoint"
            " leaves to the function; call the adjoint itself"
        )
    changed = [p for p, own in zip(unit.params, unit.changed, strict=True) if own]
    return Frozen(unit, values, changed, _as_tuple, usual)


def _as_tuple(raw: Any, args: Sequence[Any]) -> Any:
    return tuple(raw)


def check(call: Call, values: Mapping[str, Any]) -> None:
    """`ArgumentError` for what needs a look at each call."""
    name, parsed = call.f.python.__name__, call.function.parsed
    if call.target is not NUMBA:
        why, helps = f"its target is {call.target.name}", "use target='numba'"
    elif parsed.forms.shapes or parsed.result is not None:
        why = "it takes or returns structures or complex numbers"
        helps = "freeze a function of real numbers and arrays"
    elif parsed.drawing is not None:
        why, helps = "it draws random numbers", "pass them as an array"
    elif call.function.program.captured or call.function.callbacks:
        found = [*call.function.program.captured, *call.function.callbacks]
        why = f"it uses `{found[0]}`, which is not its own"
        helps = "pass it as an argument"
    elif call.plan.look is not None and call.plan.settled is None:
        why = "data decide if its subscripts are inside of their arrays"
        helps = "call the function itself, which looks at them"
    elif parsed.objects is not None:
        why, helps = "it returns one of several arguments", "return a copy"
    else:
        for param, value in values.items():
            if is_array(value) and not value.flags.c_contiguous:
                raise ArgumentError(
                    f"frozen: `{param}` is not in C order; pass"
                    f" np.ascontiguousarray({param})"
                )
        return
    raise ArgumentError(f"frozen: {name}() can't be: {why}; {helps}")
