"""A loop function as a pure one: what the bridges to other libraries have in common.

Those libraries differentiate functions that change none of their arguments. Here the
arrays that a function writes are copied first, and their final values are results.
Derivatives of derivatives run the generated adjoint as a loop function of its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrev.adjoint.activity import returned
from pyrev.analysis.steering import steering
from pyrev.api.call import Call, Options
from pyrev.api.differentiable import (
    Differentiable,
    as_differentiable,
    differentiable_with,
    pulled,
)
from pyrev.api.kept import kept_with
from pyrev.driver.arguments import bind, spread
from pyrev.driver.held_inputs import Hold, Watched
from pyrev.driver.targets.target import Arithmetic
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Load,
    Program,
    Var,
    exprs,
    walk,
    walk_expr,
)
from pyrev.runtime import device
from pyrev.runtime.elsewhere import all_on_host
from pyrev.runtime.options import references

#: In `outputs`, what the function returns; no parameter can have this name.
RETURN = "return"

#: A result: the name of a written array, or the number of a returned value.
Slot = str | int


@dataclass(frozen=True, slots=True)
class Outputs:
    """Which results a call hands over, in a row, and in what form."""

    names: tuple[str, ...]
    bare: bool
    returned: int  # how many values
    single: bool  # one value, and no tuple of one

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The results in a row."""
        found: list[Slot] = []
        for name in self.names:
            found += range(self.returned) if name == RETURN else [name]
        return tuple(found)

    def shaped(self, row: Sequence[Any]) -> Any:
        """The results as the caller gets them."""
        rest = iter(row)
        parts = [
            tuple(next(rest) for _ in range(self.returned))
            if name == RETURN and not self.single
            else next(rest)
            for name in self.names
        ]
        return parts[0] if self.bare else tuple(parts)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Done:
    """What a call gave: the results in a row, and a pullback if one was asked for."""

    outputs: Outputs
    row: tuple[Any, ...]
    pullback: Callable[..., Mapping[str, Any]] | None
    read: frozenset[str]  # the parameters whose values some derivative needs
    #: These, and what is captured, if asked for: they may not change before.
    watched: Watched | None = None


def pull(
    pullback: Callable[..., Mapping[str, Any]],
    outputs: Outputs,
    seeds: Mapping[Slot, Any],
) -> Mapping[str, Any]:
    """The gradients for cotangents by slot; those that are not there are zero."""
    named = {s: c for s, c in seeds.items() if isinstance(s, str)}
    cotangent: Any = tuple(seeds.get(k) for k in range(outputs.returned))
    if all(c is None for c in cotangent):
        cotangent = None
    elif outputs.single:
        (cotangent,) = cotangent
    return pullback(cotangent, cotangents=named)


@dataclass(frozen=True, slots=True)
class Level:
    """One differentiation: with respect to which inputs, from which results.

    Inputs are numbered: those of the function, then the cotangents of each level. The
    results of the function are slots, those of the level before this are numbered as in
    its `wrt`.
    """

    wrt: tuple[int, ...]
    slots: tuple[Slot, ...]


class Pure:
    """A differentiable function, to be called with values by name."""

    def __init__(
        self, f: Callable[..., Any], wrt: object = None, outputs: object = None
    ) -> None:
        #: The function as it was given, with what is bound.
        self.given: Differentiable = as_differentiable(f)
        self.f: Differentiable = self.given.whole
        self.name = self.f.python.__name__
        self.wrt = self.f._options.wrt if wrt is None else wrt
        names = tuple(self.signature.parameters)
        self._asked = outputs
        if outputs is not None:
            references("outputs", outputs)
        for name in () if outputs is None else _each(outputs):
            if name not in (RETURN, *names):
                raise ArgumentError(
                    f"outputs={outputs!r}: {self.name}() has no parameter {name!r};"
                    f" name arrays that it writes, or 'return'"
                )

    def __reduce__(self) -> tuple[Any, ...]:
        return Pure, (self.given, self.wrt, self._asked)

    def varies(self, name: str) -> bool:
        """May a parameter get a gradient?"""
        names = tuple(self.signature.parameters)
        asked = {names[w] if isinstance(w, int) else w for w in _each(self.wrt)}
        return self.wrt is None or name in asked

    @property
    def signature(self) -> inspect.Signature:
        """The parameters as they are now, with their defaults."""
        return self.f._signature

    def bind(self, args: Sequence[Any], kw: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, defaults filled in, but for those that are None."""
        args, kw = self.given.completed(args, kw)
        bound = all_on_host(bind(self.name, self.signature, args, kw))
        return {n: v for n, v in bound.items() if v is not None}

    def call(self, values: Mapping[str, Any]) -> Call:
        """A call with these values, looked at and not run.

        Raises `ArgumentError` for complex ones, whose gradients the frameworks have by
        conventions of their own.
        """
        for name, value in values.items():
            dtype = getattr(value, "dtype", None)
            if isinstance(value, complex) or getattr(dtype, "kind", "") == "c":
                raise ArgumentError(
                    f"`{name}` is {dtype or 'complex'}; pass {name}.real and"
                    f" {name}.imag, to a function that joins them"
                )
        args, kw = self._spread(values)
        return Call(self.f, args, kw).only_numbers("bridges")

    def outputs(self, call: Call) -> Outputs:
        """The results that were asked for; else what the function returns; else the
        arrays that it writes.
        """
        result = returned(call.function.program)
        count = 0 if result is None else len(result.values)
        single = result is not None and result.single
        written = call.function.written
        if self._asked is None:
            names = (RETURN,) if count else written
            if not names:
                raise ArgumentError(
                    f"{self.name}() returns nothing and writes no array: it has no"
                    " result"
                )
            return Outputs(names, len(names) == 1, count, single)
        for name in _each(self._asked):
            if name == RETURN and not count:
                raise ArgumentError(
                    f"outputs={self._asked!r}: {self.name}() returns nothing"
                )
            if name != RETURN and name not in written:
                raise ArgumentError(
                    f"outputs={self._asked!r}: {self.name}() does not write `{name}`;"
                    f" it writes {', '.join(written) or 'no array'}"
                )
        return Outputs(_each(self._asked), isinstance(self._asked, str), count, single)

    def run(
        self,
        given: Mapping[str, Any],
        wrt: tuple[str, ...] = (),
        watch: bool = False,
    ) -> Done:
        """The results for these values, and the pullback if there is a `wrt`.

        The pullback holds no inputs: if others may change these before it runs, they
        are to be watched.
        """
        call = self.call(given)
        if self.wrt is not None:
            call.wrt(self.wrt)  # it may name integers
        outputs = self.outputs(call)
        own = {n: device.copied(given[n]) for n in call.function.written}
        args, kw = self._spread({**given, **own})
        pullback = watched = None
        program = call.function.program
        matter = call.plan.once("read", lambda: read(program))
        if wrt and watch:
            arrays = {n: given.get(n, call.values[n]) for n in sorted(matter)}
            arrays = {n: v for n, v in arrays.items() if device.is_array(v)}
            decide = call.plan.once("steering", lambda: steering(program))
            remedy = "its derivative needs it as it was: change a copy"
            watched = Watched(self.name, arrays, decide, remedy)
        if wrt:
            result, pullback = pulled(Call(self.f, args, kw), wrt, Hold.NOBODY)
        else:
            result = self.f(*args, **kw)
        results = (result,) if outputs.single else result or ()
        found: dict[Slot, Any] = dict(enumerate(results))
        found.update(own.items())
        row: list[Any] = []
        for slot in outputs.slots:
            item = found[slot]
            mine = any(item is array for array in own.values())
            others = row if mine else [*row, *args, *kw.values()]
            row.append(_copied_if_shared(item, others))
        return Done(outputs, tuple(row), pullback, matter, watched)

    def gradients(
        self,
        given: Mapping[str, Any],
        inputs: Sequence[str],
        levels: Sequence[Level],
        cotangents: Sequence[Any],
    ) -> tuple[Any, ...]:
        """The derivative after all levels, for the inputs of the last one.

        `given` are all arguments, of which `inputs` are numbered; `cotangents` are
        those of all levels in a row.
        """
        pure, values, names = self, dict(given), list(inputs)
        numbers: dict[Slot, Slot] = {}
        rest = iter(cotangents)
        for k, level in enumerate(levels):
            wrt = tuple(names[n] for n in level.wrt)
            seeds = {numbers.get(slot, slot): next(rest) for slot in level.slots}
            if k == len(levels) - 1:
                return pure.pulled_back(values, wrt, seeds)
            pure, values, order, added = pure._adjoint(values, wrt, seeds)
            names += [added[numbers.get(slot, slot)] for slot in level.slots]
            numbers = {n: order.index(name) for n, name in enumerate(wrt)}
        raise AssertionError("no level")

    def pulled_back(
        self, given: Mapping[str, Any], wrt: tuple[str, ...], seeds: Mapping[Slot, Any]
    ) -> tuple[Any, ...]:
        """The gradients with respect to `wrt`, in its order."""
        call = self.call(given)
        own = {n: device.copied(given[n]) for n in call.function.written}
        args, kw = self._spread({**given, **own})
        _, pullback = pulled(Call(self.f, args, kw), wrt, Hold.NOBODY)
        found = pull(pullback, self.outputs(call), seeds)
        return tuple(found[name] for name in wrt)

    def _adjoint(
        self, given: Mapping[str, Any], wrt: tuple[str, ...], seeds: Mapping[Slot, Any]
    ) -> tuple[Pure, dict[str, Any], tuple[str, ...], dict[Slot, str]]:
        """The adjoint of this call as a function: it, its values, what it returns the
        gradients of, and the parameter of each cotangent.

        It takes initial values, changes none, and returns the gradients in a tuple. It
        keeps to no `memory=`: what it raises for that is outside the language.
        """
        if self.f._options.keeping.memory is not None:
            return self._unbounded._adjoint(given, wrt, seeds)
        if self.f.quiet is not self.f:  # its text is to be read again
            return Pure(self.f.quiet)._adjoint(given, wrt, seeds)
        written = self.call(given).function.written
        call = self.call({**given, **{n: device.copied(given[n]) for n in written}})
        call.check()
        order = call.wrt(wrt)
        unit = call.readable(Units.adjoint, order, call.variant)
        values = {n: v for n, v in call.values.items() if n in unit.params}
        params = {of: param for param, of in unit.cotangents}
        absent = [of for of in params if of not in seeds]
        like: dict[Slot, Any] = {n: given[n] for n in written}
        if any(isinstance(of, int) for of in absent):
            result = call.run()
            like |= enumerate(result if isinstance(result, tuple) else (result,))
        values |= {params[of]: _zero_like(like[of]) for of in absent}
        values |= {params[of]: c for of, c in seeds.items()}
        options = Options(None, call.target.name, arithmetic=self._arithmetic)
        return _again(unit.function, options), values, order, params

    @functools.cached_property
    def _unbounded(self) -> Pure:
        options = Options(None, self.f.target, arithmetic=self._arithmetic)
        return Pure(differentiable_with(self.f.python, options))

    @property
    def _arithmetic(self) -> Arithmetic:
        return self.f._options.arithmetic

    def _spread(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values by name as a call takes them; what has none is None."""
        every = {n: values.get(n) for n in self.signature.parameters}
        return spread(self.signature, every)


def returned_arrays(call: Call) -> tuple[str | None, ...]:
    """The array that each returned value is, None for a number."""
    program = call.function.program
    arrays = {p.name for p in program.params if p.rank}
    arrays |= {s.array for s in walk(program.body) if isinstance(s, Alloc)}
    result = returned(program)
    return tuple(
        v.name if isinstance(v, Var) and v.name in arrays else None
        for v in (() if result is None else result.values)
    )


def read(program: Program) -> frozenset[str]:
    """The parameters whose values matter: of an array that is only overwritten or added
    to, no derivative of any order reads an element.
    """
    found = {p.name for p in program.params if not p.rank}
    for stmt in walk(program.body):
        tops = exprs(stmt)
        if isinstance(stmt, (Assign, Add)) and isinstance(stmt.target, Load):
            tops = (*stmt.target.index, stmt.value)
        if isinstance(stmt, Alloc):
            found.update(stmt.sources)
        for top in tops:
            found |= {e.array for e in walk_expr(top) if isinstance(e, Load)}
    return frozenset(found) & {p.name for p in program.params}


def _again(function: Any, options: Options) -> Pure:
    """A generated function, to be called and differentiated."""
    return kept_with(
        function, options, lambda: Pure(differentiable_with(function, options))
    )


def _each(names: object) -> tuple[Any, ...]:
    return tuple(names) if isinstance(names, (tuple, list)) else (names,)


def _copied_if_shared(item: Any, others: Sequence[Any]) -> Any:
    """`item`; an array that may share memory with another one is copied."""
    if not device.is_array(item) or not item.ndim:
        return item
    overlap = device.may_overlap if device.is_device(item) else np.may_share_memory
    if any(overlap(item, other) for other in others if device.is_array(other)):
        return device.copied(item)
    return item


def _zero_like(value: Any) -> Any:
    if not device.is_array(value) or not value.ndim:
        return np.float32(0) if isinstance(value, np.float32) else 0.0
    if device.is_device(value):
        return device.cupy().zeros(value.shape, value.dtype)
    return np.zeros(value.shape, value.dtype)
