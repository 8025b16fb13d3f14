"""`f.adjoint`, `f.primal` and `f.tangent`: generated code as a thing to read and to
call.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pyrev.api.call import Call, Callee
from pyrev.api.frozen import Frozen, of_adjoint
from pyrev.driver.arguments import Kind, bind, check_writes, kind_of, positional
from pyrev.driver.forms import flattened, forms_of
from pyrev.driver.function import Function
from pyrev.driver.request import Request
from pyrev.driver.sizes import evaluate
from pyrev.driver.targets import PYTHON, TARGETS, named
from pyrev.driver.targets.target import Target
from pyrev.driver.unit import Unit, derivative_signature
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import Expr, For, Program, walk
from pyrev.ir.text import expr_text, proof_text
from pyrev.report.draw.dataflow import dataflow
from pyrev.report.draw.dot import Graph
from pyrev.report.draw.figure import figure
from pyrev.report.draw.shear import panels
from pyrev.report.explain import Report, report
from pyrev.report.shown.listing import Listing, Origin, Readable
from pyrev.report.shown.told import Explanation
from pyrev.runtime.device import copied, cupy, is_array, is_device
from pyrev.runtime.elsewhere import all_on_host
from pyrev.runtime.error_boundary import guarded
from pyrev.runtime.options import choice, file, mapping


@dataclass(frozen=True, slots=True)
class _Called:
    """How a derivative is called: captured values are filled in.

    `made_here`: does the function return an array, so that a cotangent has a shape of
    its own?
    """

    name: str
    signature: inspect.Signature
    positional: tuple[str, ...]
    made_here: bool

    @classmethod
    def of(cls, unit: Unit, function: Function) -> _Called:
        """How the derivative that a unit is gets called."""
        hidden = (*function.program.captured, *function.callables())
        signature = derivative_signature(unit, hidden)
        ranks = {p.name: p.rank for p in unit.program.params}
        made_here = any(ranks[p] for p, of in unit.cotangents if isinstance(of, int))
        return cls(unit.program.name, signature, positional(signature), made_here)

    def bind(self, args: Sequence[Any], kw: Mapping[str, Any]) -> dict[str, Any]:
        """What was given by name; `ArgumentError` if it does not fit."""
        if not kw and len(args) == len(self.positional):
            return dict(zip(self.positional, args, strict=True))
        return bind(self.name, self.signature, args, kw)


class _Source(Readable):
    """What the three have in common: a unit before any call, and one for a call."""

    #: Is it made of more than the user's statements, so that these help to read it?
    _derived = True

    def __init__(self, f: Callee) -> None:
        self._f = f
        self._target, self._wrt = f._target, f._options.wrt
        #: What the text is about where arguments have said more than the function.
        self._fitting: Units | None = None

    @property
    def _units(self) -> Units:
        """What is known of the function as it is now."""
        return self._fitting or self._f._units

    def _made(self, units: Units, request: Request) -> Unit:
        """The unit that this is about."""
        raise NotImplementedError

    def _names(self, units: Units, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
        """What it is a derivative along."""
        return ()

    def _before(self, target: Target, units: Units | None = None) -> Request:
        """What is asked for before any call, of a reading or of the present one."""
        units = units or self._units
        kinds = units.function.default_kinds()
        return Request(target, kinds, self._names(units, kinds))

    def _default(self, target: Target, units: Units | None = None) -> Unit:
        units = units or self._units
        return self._made(units, self._before(target, units))

    def _asked(
        self, target: Target, args: tuple[Any, ...], kw: dict[str, Any]
    ) -> tuple[Units, Request]:
        """What a text for these arguments asks for; they may be on another device."""
        units, values = self._given(args, kw)
        kinds = units.function.kinds(values)
        variant = units.inspection.check(target, kinds, values)
        return units, Request(target, kinds, self._names(units, kinds), values, variant)

    def _called(
        self, target: Target, args: tuple[Any, ...], kw: dict[str, Any]
    ) -> tuple[Call, _Called, dict[str, Any]]:
        """The function's call in a call of its derivative, how that is called, and all
        values by name.
        """
        readings = self._f._readings
        if readings.waits:
            return self._called_first(target, args, kw)
        self._refuse_drawing("a call of a derivative", self._units)
        before = readings.now()[0].forms
        nones = {str(p[0]) for p, v in before.values if v is None}
        given_too = {n for n in nones if kw.get(n) is not None}
        kept = [(p, v) for p, v in before.values if p[0] not in given_too]
        forms = replace(before, values=tuple(kept))
        units = readings.now(forms)[0].units
        kw = {n: v for n, v in kw.items() if n not in nones - given_too}
        visible = units.function.visible
        flat = bool(forms.shapes)
        if len(args) >= len(visible) and not kw and not flat:
            call = Call(self._f, args[: len(visible)], {}, target)
        else:
            given = dict(zip(visible, args, strict=False))
            given |= {n: kw[n] for n in visible if n in kw}
            if len(given) < len(visible):
                # Raises, and says what is missing.
                _Called.of(self._default(PYTHON, units), units.function).bind(args, kw)
            call = Call(self._f, (), given, target, flat)
        return self._bound(call, args, kw)

    def _called_first(
        self, target: Target, args: tuple[Any, ...], kw: dict[str, Any]
    ) -> tuple[Call, _Called, dict[str, Any]]:
        """The same of a function that waits for a call: what of the arguments are the
        function's own is said by its signature alone.
        """
        own = [*self._f._signature.parameters]
        given = dict(zip(own, args, strict=False))
        given |= {n: v for n, v in kw.items() if n in own}
        call = Call(self._f, (), given, target)
        self._refuse_drawing("a call of a derivative", call.units)
        if call.reading.forms.shapes or call.reading.forms.values:
            raise ArgumentError(
                f"{self._f.python.__name__}() takes structures, texts or None here, and"
                " its text means nothing without them: use pyrev.vjp or pyrev.jvp"
            )
        kept = [v for n, v in zip(own, args, strict=False) if n in call.visible]
        named = {n: v for n, v in kw.items() if n in call.visible or n not in own}
        return self._bound(call, (*kept, *args[len(own) :]), named)

    def _bound(
        self, call: Call, args: tuple[Any, ...], kw: dict[str, Any]
    ) -> tuple[Call, _Called, dict[str, Any]]:
        """What a call of the derivative is, by the call of the function in it."""
        called = call.plan.once(
            (type(self), str(self._wrt)),
            lambda: _Called.of(self._default(PYTHON, call.units), call.function),
        )
        values = called.bind(args, kw) | call.values | call.function.callables()
        return call, called, values

    def _given(
        self, args: tuple[Any, ...], kw: dict[str, Any]
    ) -> tuple[Units, dict[str, Any]]:
        """What fits the arguments of a call, and these by name, captured values too."""
        readings = self._f._readings
        name = self._f.python.__name__
        values = all_on_host(bind(name, self._f._signature, args, kw))
        if readings.waits:
            reading, forms, captured = readings.for_call(values)
        else:
            used = self._units.function.parsed.used
            forms = forms_of(values, used, readings.stored, readings.asked)
            reading, captured = readings.now(forms)
        self._refuse_drawing("a text for arguments", reading.units)
        values = flattened(values, reading.leaves, forms.shapes)[0] | captured
        return reading.units.fitting(values), values

    def _refuse_drawing(self, what: str, units: Units) -> None:
        """`ArgumentError` if the function draws random numbers, which `what` takes."""
        parsed = units.function.parsed
        if parsed.drawing is not None:
            raise ArgumentError(
                f"{what}: {parsed.function.__name__}() draws random numbers; use"
                " pyrev.vjp, pyrev.grad or pyrev.jvp, which draw, or give it a function"
                " of the numbers that are drawn"
            )

    @property
    @guarded
    def source(self) -> Listing:
        """The readable Python text; it never changes because of a call.

        It is a `str` that terminals and notebooks show in colour.
        """
        return self._listed(self._units, self._before(PYTHON))

    @guarded
    def source_for(self, *args: Any, **kw: Any) -> Listing:
        """The text for a target, which comes first, and, if given, for arguments.

        The target is "python", "numpy", which is statements about whole arrays, "numba"
        or "cuda", which is CUDA C and its launches. Raises `UnsupportedError` (P304)
        where the target has no form for the function.
        """
        target, given = (args[0], args[1:]) if args else (kw.pop("target", None), ())
        asked = _named(target)
        if given or kw:
            return self._listed(*self._asked(asked, given, kw))
        return self._listed(self._units, self._before(asked))

    def _listed(self, units: Units, request: Request) -> Listing:
        """The text of the unit that a request asks for, with the tests of sizes that
        belong to it.
        """
        unit, texts = self._made(units, request), units.function.parsed.texts
        text = unit.text.text
        if unit.target.tests_sizes:
            text += self._guard(unit, units, request.kinds)
        return Listing(text, Origin.of(unit, texts, self._derived))

    @property
    def _listing(self) -> Listing:
        return self.source

    @guarded
    def save(
        self,
        path: str | os.PathLike[str],
        target: str = "python",
        *args: Any,
        **kw: Any,
    ) -> Path:
        """Write a module that runs with pyrev uninstalled; returns its path.

        It is for arguments with as many axes as `source` shows, or as those that are
        given have. A module for Numba or CUDA carries the tests of sizes that pyrev
        makes before a call. Raises `ArgumentError` where subscripts are data: these
        tests need pyrev; where the text alone does not say what is an array, and no
        arguments are given; and where the file can't be written.
        """
        where = file("save", path)
        if args or kw:
            own = type(self)(self._f)
            own._fitting, values = self._given(args, kw)
            own._fitting.function.kinds(values)
            return own.save(where, target)
        parsed = self._units.function.parsed
        if parsed.lenient:
            raise ArgumentError(
                f"save: the text of {parsed.function.__name__}() does not say how many"
                " axes its arguments have; give some behind the target,"
                f" save({str(where)!r}, {target!r}, ...), or subscript them"
            )
        text = str(self.source_for(target))
        unit = self._default(_named(target))
        if not unit.target.tests_subscripts:
            text += self._guard(unit, self._units, self._before(unit.target).kinds)
        text += _only_for(unit, self._units.function)
        try:
            where.write_text(text, encoding="utf-8", newline="\n")
        except (OSError, ValueError) as error:
            raise ArgumentError(f"save: {where} can't be written ({error})") from error
        return where

    def __reduce__(self) -> tuple[Any, ...]:
        """As what it is of which function."""
        return type(self), (self._f,)

    def _guard(self, unit: Unit, units: Units, kinds: Mapping[str, Kind]) -> str:
        """The text that makes a module test the sizes of its arguments."""
        bounds = units.inspection.bounds(kinds)
        tested = unit.target.tests_subscripts
        if bounds.inspected and not tested:
            raise ArgumentError(
                f"{bounds.inspected[0].message()} only if data says so; such subscripts"
                " are tested by pyrev before a call: save the Python text instead"
            )
        ranks = {p.name: p.rank for p in unit.program.params}
        pairs = [(param, of) for param, of in unit.cotangents if ranks[param]]
        if not tested and any(isinstance(of, int) for _, of in pairs):
            raise ArgumentError(
                "the cotangent of a returned array is tested by pyrev before a call:"
                " save the Python text instead"
            )
        shapes = units.function.result_shapes(kinds)
        same = [(p, of if isinstance(of, str) else shapes[of]) for p, of in pairs]
        known = [(param, of) for param, of in same if of]
        return bounds.guard_text(unit.program.name, unit.params, known)

    @guarded
    def graph(self, simplified: bool = False) -> Graph:
        """The data flow of the readable code as a picture: names, scopes, partials.

        Straight-line code is drawn operation by operation, or `simplified`: with one
        edge for each partial derivative of what it leaves behind.
        """
        program = self._shown()
        function = self._units.function
        user = function.program
        of = "" if program.name == user.name else f" of {user.name}"
        what = f"{program.name}{of}, {user.loc.place}"
        return dataflow(
            program, what, simplified, function.parsed.texts.files(), function.helpers()
        )

    def _shown(self) -> Program:
        """The program that `graph` draws."""
        return self._default(PYTHON).program

    @property
    @guarded
    def python(self) -> Callable[..., Any]:
        """The readable text as a plain Python function, itself a legal pyrev input."""
        return self._loaded()

    def _loaded(self) -> Callable[..., Any]:
        return self._default(PYTHON).function

    def __str__(self) -> str:
        return str(self.source)


class Derivative(_Source):
    """The adjoint of a function: `f_adjoint(parameters, d_outputs...)`.

    Calling it takes initial values and cotangents, changes no argument, and returns the
    gradients as a tuple in parameter order.
    """

    def _made(self, units: Units, request: Request) -> Unit:
        return units.adjoint(request)

    def _names(self, units: Units, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
        return units.function.wrt(kinds, self._wrt, local=True)

    def again(self) -> Callable[..., Any]:
        """The adjoint as a function to differentiate: right for all data.

        The text that is shown takes it that data never makes a subscript negative; a
        call of the adjoint looks, but a function of its own can't. It calls nothing
        back.
        """
        units = self._units.hushed()
        request = self._before(PYTHON)
        whatever = units.inspection.bounds(request.kinds).variants.whatever
        return units.adjoint(request.running(whatever)).function

    @guarded
    def __call__(self, *args: Any, **kw: Any) -> tuple[Any, ...]:
        call, called, values = self._called(self._target, args, kw)
        call.check_derivative(writes=False)
        names = call.wrt(None, local=True)
        if call.function.checks(call.kinds):
            # The adjoint asserts nothing: the primal does, on copies.
            forward = call.made(Units.primal)
            own = [call.values[p] for p in forward.params]
            forward.call([copied(v) if is_array(v) else v for v in own])
        if called.made_here:
            # Only CPython tests the subscripts of a cotangent whose shape is not known
            # here.
            unit = call.units.adjoint(replace(call.request(names), target=PYTHON))
        else:
            unit = call.made(Units.adjoint, names)
        for param, of in unit.cotangents:
            kind = kind_of(param, values[param])
            if isinstance(of, str):
                values[param] = _like(param, values[param], of, values[of])
            elif kind.rank and not called.made_here:
                raise ArgumentError(f"`{param}` is the cotangent of a number")
            elif kind.rank:
                _check_shape(param, call.function.result_shapes(call.kinds)[of], values)
        result: tuple[Any, ...] = tuple(unit.call([values[p] for p in unit.params]))
        return result

    @guarded
    def frozen(self, *args: Any, **kw: Any) -> Frozen:
        """The compiled adjoint for arguments of such shapes, dtypes and integers, as
        `Differentiable.frozen`; `njit` of it may be called in compiled code.

        The arguments are those of a call of the adjoint; cotangents have the shapes and
        dtypes of what they belong to.
        """
        call, called, values = self._called(self._target, args, kw)
        call.check_derivative(writes=False)
        names = call.wrt(None, local=True)
        unit = call.made(Units.adjoint, names, alone=True)
        if called.made_here:
            raise ArgumentError(
                f"frozen: {called.name}() takes the cotangent of an array that the"
                " function makes, whose shape only a call says; write to an argument"
            )
        for param, of in unit.cotangents:
            if isinstance(of, str):
                values[param] = _like(param, values[param], of, values[of])
            elif kind_of(param, values[param]).rank:
                raise ArgumentError(f"`{param}` is the cotangent of a number")
            else:
                values[param] = float(values[param])
        return of_adjoint(call, unit, values, self)

    @property
    @guarded
    def python(self) -> Callable[..., Any]:
        """The readable text as a plain Python function, itself a legal pyrev input.

        It calls nothing back, since what it is made for is a derivative of its own.
        """
        return self._units.hushed().adjoint(self._before(PYTHON)).function

    def explain(
        self, target: str | None = None, /, *args: Any, **kw: Any
    ) -> Explanation:
        """The report as text: one line per adjoint loop and per value kept."""
        return Explanation(self.report(target, *args, **kw))

    @guarded
    def report(self, target: str | None = None, /, *args: Any, **kw: Any) -> Report:
        """The report as data, for a target (default: the function's own).

        With arguments it is about the code that runs for such: much of what is decided
        depends on sizes.
        """
        own = PYTHON if target is None else _named(target)
        if args or kw:
            units, request = self._asked(own, args, kw)
        else:
            units, request = self._units, self._before(own)
        unit = units.adjoint(request)
        inspected = units.inspection.bounds(request.kinds).variants.described()
        passed = units.passed(replace(request, variant=None))
        read = None if own is PYTHON else self._default(PYTHON, units)
        return report(units.function.program.name, unit, inspected, passed, read)

    @guarded
    def plot(
        self,
        array: str,
        *,
        ax: Any = None,
        sizes: Mapping[str, int | tuple[int, ...]] | None = None,
    ) -> Any:
        """Draw how the adjoint of `array` is summed up; returns the Matplotlib figure.

        On the left are the iterations of the function run backwards, each with an arrow
        to the element of the adjoint that it adds to: what it read of `array`. On the
        right are those of the readable adjoint, which gathers where that was proven.
        There are two panels for each axis, with the loops below.

        The loops run over the integers of the real program, at small sizes: those in
        `sizes`, which maps array parameters to shapes and integer parameters to values,
        and others that fit them. `ax` takes the axes to draw into, two for each axis of
        the array.

        Raises `ArgumentError` where loops or subscripts depend on data, for arrays of
        more than two axes, and for sizes that do not fit; `BackendError` without
        Matplotlib.
        """
        if not isinstance(array, str):
            raise ArgumentError(
                f"plot: a {type(array).__name__} is no name of an array"
            )
        sizes = mapping("sizes", sizes)
        before = self._units.unscheduled(self._before(PYTHON))
        after = self._default(PYTHON)
        found = panels(
            self._units.function.program, before, after.program, array, sizes
        )
        own = dict(before.adjoint.names)[array]
        about = [d for d in after.decisions if d.array == own]
        about.sort(key=lambda d: not d.proof)
        how = f"{about[0].kind}: {about[0].reason}" if about else "run as written"
        return figure(own, found, how, ax)

    @guarded
    def parallel_loops(self, target: str = "python") -> tuple[tuple[For, str], ...]:
        """The loops that run in parallel, each with the proof that it may."""
        program = self._default(_named(target)).program
        return tuple(
            (s, proof_text(s.parallel))
            for s in walk(program.body)
            if isinstance(s, For) and s.parallel
        )


class Primal(_Source):
    """A function as pyrev schedules and prints it."""

    _derived = False

    def _shown(self) -> Program:
        # The user's loops, before any schedule.
        function = self._units.function
        return function.typed(function.default_kinds())

    def _made(self, units: Units, request: Request) -> Unit:
        return units.primal(request)

    @guarded
    def __call__(self, *args: Any, **kw: Any) -> Any:
        call = Call(self._f, args, kw, self._target)
        call.check()
        unit = call.made(Units.primal)
        raw = unit.call([call.values[p] for p in unit.params])
        return call.built(call.restore(raw))


class Pushforward(_Source):
    """The tangent of a function: `f_tangent(parameters, dot_inputs...)`.

    Calling it mutates written arrays and their tangents like the primal, and returns
    the primal's values followed by their tangents.
    """

    def _made(self, units: Units, request: Request) -> Unit:
        return units.tangent(request)

    def _names(self, units: Units, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
        return units.function.wrt(kinds, self._wrt)

    @guarded
    def __call__(self, *args: Any, **kw: Any) -> Any:
        call, _, values = self._called(PYTHON, args, kw)
        call.check_derivative()
        unit = call.made(Units.tangent, call.wrt(None))
        moved = [p for p, w in zip(unit.params, unit.changed, strict=True) if w]
        for param, of in unit.cotangents:
            name = str(of)
            kind = kind_of(param, values[param])
            made = _like(param, values[param], name, values[name])
            if param not in moved:
                values[param] = made if kind.rank else values[param]
            elif kind != kind_of(name, values[name]):
                raise ArgumentError(
                    f"`{param}`, which is written, is not of the kind of `{name}`"
                )
        check_writes(unit.program, values, moved)
        return unit.call([values[p] for p in unit.params])


def _named(target: str) -> Target:
    """The target of a text that is asked for by name."""
    return named(choice("target", target, tuple(TARGETS)))


def _only_for(unit: Unit, function: Function) -> str:
    """The text that makes a saved function refuse what it was not saved for: arrays
    where it takes numbers, and dtypes and classes that tests in it have asked for.
    """
    tests: list[tuple[str, str]] = []
    for n in function.maybe_arrays():
        tests.append((f"getattr({n}, 'shape', ())", f"a number `{n}`"))
    for n, kind in function.parsed.forms.kinds:
        if n not in unit.params:
            continue
        if kind.dtype is not None:
            test = f"str(getattr({n}, 'dtype', '')) != '{kind.dtype}'"
            tests.append((test, f"`{n}` of {kind.dtype}"))
        if kind.cls is None:
            continue
        if issubclass(kind.cls, np.ndarray):
            tests.append((f"not getattr({n}, 'shape', ())", f"an array `{n}`"))
        else:
            name = kind.cls.__name__
            tests.append((f"type({n}).__name__ != '{name}'", f"`{n}` of {name}"))
    if not tests:
        return ""
    name, params = unit.program.name, ", ".join(unit.params)
    lines = ["", "", f"_{name}_of_these = {name}", "", ""]
    lines += [f"def {name}({params}):"]
    for test, what in dict.fromkeys(tests):
        lines.append(f"    if {test}:")
        lines.append(f"        raise TypeError('this module was saved for {what}')")
    lines += [f"    return _{name}_of_these({params})", ""]
    return "\n".join(lines)


def _check_shape(param: str, shape: Sequence[Expr], values: Mapping[str, Any]) -> None:
    """`ArgumentError` if a cotangent has not the `shape` of what is returned."""
    for axis, size in enumerate(map(expr_text, shape)):
        if evaluate(f"{param}.shape[{axis}] == {size}", values) is False:
            given = np.shape(values[param])
            raise ArgumentError(
                f"`{param}` has shape {given}, and the result has {size} elements along"
                f" axis {axis}"
            )


def _like(param: str, value: Any, of: str, output: Any) -> Any:
    """A cotangent or a tangent as generated code takes it: an array like the value."""
    shape = np.shape(output)
    if np.shape(value) != shape:
        raise ArgumentError(
            f"`{param}` has shape {np.shape(value)}, `{of}` has {shape}"
        )
    module = cupy() if is_device(output) else np
    return module.ascontiguousarray(value, getattr(output, "dtype", None))
