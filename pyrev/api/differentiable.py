"""`@differentiable` and the calls around it; nothing here decides how code is
derived.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from types import FunctionType, MappingProxyType, MethodType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    overload,
)

from pyrev.api.call import Call, Callee, Options
from pyrev.api.derivative import Derivative, Primal, Pushforward
from pyrev.api.frozen import Frozen, of_primal
from pyrev.api.gradients import Gradients
from pyrev.api.kept import kept_with
from pyrev.api.measured import measured
from pyrev.api.pullback import Pullback
from pyrev.api.recurring import UNUSUAL, recurring
from pyrev.api.travel import Transformed, by_name, packed
from pyrev.driver.forms import in_order
from pyrev.driver.held_inputs import Held, Hold
from pyrev.driver.results import in_words
from pyrev.driver.storage_options import Keeping, names_of
from pyrev.driver.targets import AUTO, TARGETS
from pyrev.driver.targets.target import Arithmetic
from pyrev.driver.tune import Tuning, tune
from pyrev.driver.unit import Unit
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.directives import memory_bytes
from pyrev.parse.rewriting.complex_numbers.arguments import COMPLEX
from pyrev.parse.rewriting.structures.shapes import MAYBE
from pyrev.parse.source import plain, read
from pyrev.report.costs import Costs
from pyrev.report.draw.dot import Graph
from pyrev.report.shown.passages import Passage
from pyrev.report.shown.styled import block, hypertext
from pyrev.report.shown.told import Told
from pyrev.runtime.device import (
    copied,
)
from pyrev.runtime.error_boundary import guarded
from pyrev.runtime.options import choice, flag, references

P = ParamSpec("P")
R = TypeVar("R")
#: The targets by name; who registers one of their own knows it.
TargetName = Literal["auto", "python", "numpy", "numba", "cuda"]

GRAPHS = ("primal", "adjoint", "tangent")
#: The names of a differentiable function that its users know.
PUBLIC = {
    *("adjoint", "bind", "explain", "frozen", "graph", "primal", "python", "report"),
    *("tangent", "target", "tune"),
}


class Tuned(Told, Tuning):
    """What `tune` tried, as it is shown."""

    _label = "what was tried"


class Differentiable(Callee):
    """A function of NumPy arrays that runs compiled and knows its derivative.

    Calling it gives the same values and the same mutation as the plain function, which
    stays available as `python`. `adjoint`, `primal` and `tangent` are its derivatives
    and itself as source.
    """

    def __init__(
        self, function: Callable[..., Any], options: Options, quiet: bool = False
    ) -> None:
        super().__init__(function, options, quiet)
        #: The same without what its probes call, where it has any.
        self._silent: Differentiable | None = self if quiet else None

    @property
    @guarded
    def adjoint(self) -> Derivative:
        """The adjoint: its source before any call, for a target, to save, to call."""
        return Derivative(self)

    @property
    @guarded
    def primal(self) -> Primal:
        """The function itself, as pyrev schedules and prints it."""
        return Primal(self)

    @property
    @guarded
    def tangent(self) -> Pushforward:
        """The tangent: its source before any call, for a target, to save, to call."""
        return Pushforward(self)

    def explain(self, target: str | None = None, /, *args: Any, **kw: Any) -> str:
        """For every adjoint loop and every value kept: what was decided, and why.

        For a target ("python" or "numba") and, if given, for arguments: much of what is
        decided for "numba" depends on their sizes.
        """
        return self.adjoint.explain(target, *args, **kw)

    @guarded
    def graph(self, of: str = "primal", *, simplified: bool = False) -> Graph:
        """The data flow as a picture, of the function ("primal"), its "adjoint" or its
        "tangent": the user's names and lines, loops and branches as boxes.

        Edges inside straight-line code are partial derivatives, operation by operation.
        `simplified` draws them after elimination: one for each element or scalar that
        is read and each that is left behind. The title counts the edges of both.

        `str` of the result is DOT text; notebooks show a picture and `save` writes one,
        for which Graphviz is needed.
        """
        kind = choice("of", of, GRAPHS)
        drawn: Primal | Derivative | Pushforward = getattr(self, kind)
        return drawn.graph(flag("simplified", simplified))

    @guarded
    def tune(
        self, /, *args: Any, wrt: object = None, progress: bool = True, **kw: Any
    ) -> Tuned:
        """Time other schedules than the one that was chosen, on these arguments.

        Of the function and of its adjoint with respect to `wrt` at most eight each are
        compiled and run on copies; what is at least 5 % faster is used from then on
        for arguments of such sizes, also by later processes (it is kept beside the
        compiled code). Returns what was tried, with times in seconds; `print` it. A bar
        shows the progress where tqdm is installed and unless `progress=False`.

        Raises what the call would raise, and `ArgumentError` for `target="python"`.
        """
        target = self._target
        if not target.tunes:
            raise ArgumentError(
                f"tune: the target {target.name!r} has one schedule; use 'numba'"
            )
        call = Call(self, args, kw)
        call.check()
        try:
            names = call.wrt(wrt, local=True)
            return Tuned(tune(call, target, names, progress).trials)
        finally:
            call.rewind()
            call.reading.forget(target)
            call.units.forget()

    @guarded
    def frozen(self, /, *args: Any, **kw: Any) -> Frozen:
        """The compiled function for arguments of such shapes, dtypes and integers, for
        inner loops: a call costs a microsecond more than the compiled code.

        It is called by position, and refuses others than these with `ArgumentError`;
        its attribute `njit` is for code that Numba compiles. `f.adjoint.frozen` is the
        same for the adjoint. The arguments are not changed.

        Raises what the call would raise, and `ArgumentError` for what needs a look at
        each call: data in subscripts, captured values, arrays that are not in C order.
        """
        call = Call(self, args, kw)
        call.check()
        return of_primal(call, call.made(Units.primal, alone=True))

    @guarded
    def bind(self, /, *args: Any, **kw: Any) -> Bound:
        """This function with some arguments fixed, or all of them.

        Calls of it, and `vjp`, `grad`, `jvp`, `check_grad` and their like, take the
        rest, by position in the function's order or by name, and a name in place of
        what is fixed. Arrays are not copied: what they hold when it is called counts.
        With `wrt=None` gradients are with respect to the parameters that are not fixed,
        if any are left.

        Raises `ArgumentError` for arguments that the function does not have.
        """
        args_, given = self.completed(args, kw)
        try:
            bound = self._signature.bind_partial(*args_, **given)
        except TypeError as error:
            raise ArgumentError(f"{self.python.__name__}.bind(): {error}") from None
        return Bound(self.whole, bound.arguments)

    @guarded
    def report(self, /, *args: Any, wrt: object = None, **kw: Any) -> Costs:
        """What the call and its gradient cost, and what they cost before they could
        run: `print` it.

        Both are run up to six times, on copies of the arguments. What was compiled is
        that for all calls so far, each with the reason why it was needed and with what
        would have avoided it. The same steps go to ``logging.getLogger("pyrev")`` as
        they happen.

        Raises what the call would raise.
        """

        def pull(call: Call) -> Pullback:
            return pulled(call, wrt, Hold.SEEN)[1]

        return measured(self.whole, *self.completed(args, kw), pull)

    @property
    def target(self) -> str:
        """The target that was asked for."""
        return self._options.target

    @property
    def whole(self) -> Differentiable:
        """The function without arguments that are fixed."""
        return self

    @property
    def quiet(self) -> Differentiable:
        """This function with probes that call nothing: for derivatives that are more
        than one pullback, or none.
        """
        waits = self._readings.waits  # and nothing is known of callbacks
        if not waits and not self._units.function.callbacks:
            return self
        if self._silent is None:
            self._silent = Differentiable(self.python, self._options, quiet=True)
        return self._silent

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By reference, as functions are pickled, where the module has it under its
        name; else by text, with what it uses.
        """
        function = self._readings.function
        module, name = function.__module__, function.__qualname__
        if by_name(self, module, name):
            return str(name)
        return packed(self, _known)

    def __get__(self, of: object, cls: type | None = None) -> Differentiable:
        """As a method of a class: the function with its object."""
        return self if of is None else self.bind(of)

    def __dir__(self) -> list[str]:
        """What users call; the rest is pyrev's own."""
        return [n for n in super().__dir__() if n.startswith("__") or n in PUBLIC]

    def __copy__(self) -> Differentiable:
        return self

    def __deepcopy__(self, memo: object) -> Differentiable:
        return self

    def _repr_html_(self) -> str:
        """The function as a notebook shows it: how it was asked for, and its text."""
        function = self._readings.function
        passage = Passage.of(function.__name__, read(function, self._readings.texts))
        asked = [f"{n}={v!r}" for n, v in self._options.asked()]
        title = ", ".join([passage.title, *asked])
        head = ("label", title), ("", "")
        return block(title, map(hypertext, [head, *passage.lines]))

    def __repr__(self) -> str:
        signature = inspect.signature(self.python, follow_wrapped=False)
        return f"<differentiable {self.python.__qualname__}{signature}>"


class Bound(Differentiable):
    """A differentiable function with arguments that are fixed: see
    `Differentiable.bind`. Its code is that of the whole function.
    """

    fixed: Mapping[str, Any]

    def __init__(self, whole: Differentiable, fixed: Mapping[str, Any]) -> None:
        self.__dict__.update(vars(whole))
        self._whole, self.fixed = whole, MappingProxyType(dict(fixed))

    @property
    def whole(self) -> Differentiable:
        return self._whole

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args_, kw = self.completed(args, kwargs)
        return self.whole(*args_, **kw)

    def __get__(self, of: object, cls: type | None = None) -> Differentiable:
        """In a class it stays what it is, as a `functools.partial` does."""
        return self

    @property
    def adjoint(self) -> Derivative:
        return self.whole.adjoint

    @property
    def primal(self) -> Primal:
        return self.whole.primal

    @property
    def tangent(self) -> Pushforward:
        return self.whole.tangent

    @property
    def quiet(self) -> Differentiable:
        return Bound(self.whole.quiet, self.fixed)

    def explain(self, target: str | None = None, /, *args: Any, **kw: Any) -> str:
        args_, given = self.completed(args, kw)
        try:
            self.whole._signature.bind(*args_, **given)
        except TypeError:  # some are missing
            return self.whole.explain(target)
        return self.whole.explain(target, *args_, **given)

    def frozen(self, /, *args: Any, **kw: Any) -> Frozen:
        args_, given = self.completed(args, kw)
        return self.whole.frozen(*args_, **given)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bound, (self.whole, dict(self.fixed))

    def __copy__(self) -> Differentiable:
        return Bound(self.whole, self.fixed)

    def __deepcopy__(self, memo: object) -> Differentiable:
        return Bound(self.whole, deepcopy(dict(self.fixed), cast(Any, memo)))

    def __repr__(self) -> str:
        return f"<{repr(self.whole)[1:-1]}, bound: {', '.join(self.fixed)}>"


if TYPE_CHECKING:

    class Decorator(Protocol):
        """What makes functions differentiable, with the options that it has."""

        def __call__(self, f: Callable[P, R], /) -> DifferentiableOf[P, R]: ...

    class DifferentiableOf(Differentiable, Generic[P, R]):
        """A `Differentiable` as editors know it: called as the plain function is."""

        python: Callable[P, R]

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


@overload
def differentiable(f: Callable[P, R], /) -> DifferentiableOf[P, R]: ...
@overload
def differentiable(
    f: None = None,
    /,
    *,
    wrt: object = None,
    target: TargetName = "auto",
    memory: str | float | None = None,
    store: str | Sequence[str] = (),
    recompute: str | Sequence[str] = (),
    deterministic: bool = False,
    fastmath: bool = False,
    preaccumulate: bool = True,
) -> Decorator: ...
@overload
def differentiable(
    f: Callable[P, R],
    /,
    *,
    wrt: object = None,
    target: TargetName = "auto",
    memory: str | float | None = None,
    store: str | Sequence[str] = (),
    recompute: str | Sequence[str] = (),
    deterministic: bool = False,
    fastmath: bool = False,
    preaccumulate: bool = True,
) -> DifferentiableOf[P, R]: ...


def differentiable(
    f: Callable[..., Any] | None = None,
    /,
    *,
    wrt: object = None,
    target: TargetName = "auto",
    memory: str | float | None = None,
    store: str | Sequence[str] = (),
    recompute: str | Sequence[str] = (),
    deterministic: bool = False,
    fastmath: bool = False,
    preaccumulate: bool = True,
) -> Any:
    """Make a plain loop function differentiable; a decorator, with or without
    arguments.

    `wrt` names the parameters that `adjoint.source` is about (default: all float ones),
    and local values, as for `vjp`.
    `target` is "python" (CPython), "numba" (all CPU cores), "cuda" (a GPU, on CuPy
    arrays), "numpy" (whole arrays, where no loop is more) or "auto" (CUDA where an
    argument is an array of a GPU, else Numba).
    `memory` bounds the bytes of what the derivative keeps beside its arguments, as a
    number or as text such as "500MB": loops are checkpointed to stay below it, and a
    call that can't raises `MemoryError`.
    `store` and `recompute` name local values of the function (a name or several) and
    overrule what is decided for them: `store` keeps a value from where it is made until
    the reverse sweep has used it; `recompute` makes it again where it is used, for an
    array each element on its own, in the function itself too. `explain()` prints what
    there was to choose from.
    `deterministic` forbids atomics, which the CPU never uses, and code that was made
    for other sizes: every result has then the same bits in every run, whatever came
    before.
    `fastmath` lets compilers add in any order, round a product and a sum once, and take
    one zero for the other; a sum may overflow that did not. In a function with jumps or
    kinks of floats (tests, `abs`, `max`, `floor`) it changes nothing, for a value and
    its gradient have to be on the same side: `explain("numba")` says which it is.
    `preaccumulate=False` leaves the partials of straight-line code as they come; else
    they are multiplied out where that takes fewer operations or records fewer values:
    `explain()` prints both counts.

    Raises `UnsupportedError`, with everything found, if the function is outside the
    language, and `ArgumentError` for options that do not fit it.
    """
    if wrt is not None:
        references("wrt", wrt)
    chosen = choice("target", target, (AUTO, *TARGETS))
    keeping = Keeping(
        memory_bytes(memory),
        names_of("store", store),
        names_of("recompute", recompute),
        flag("preaccumulate", preaccumulate),
    )
    arithmetic = Arithmetic(
        flag("deterministic", deterministic), flag("fastmath", fastmath)
    )
    options = Options(wrt, chosen, keeping, arithmetic)
    if f is None:
        return lambda function: differentiable_with(function, options)
    return differentiable_with(f, options)


@guarded
def differentiable_with(f: Callable[..., Any], options: Options) -> Differentiable:
    """`f` as it is if already differentiable with these options, else wrapped."""
    if isinstance(f, Differentiable) and options in (f._options, Options()):
        return f
    whole = _behind(f)
    if whole is not None:
        function, args, kw = whole
        return differentiable_with(function, options).bind(*args, **kw)
    return Differentiable(_function(f), options)


def _behind(
    f: Callable[..., Any],
) -> tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]] | None:
    """The function that is called where `f` is, and the arguments that it has already:
    of a method the object, and those of a `functools.partial`; None for others.
    """
    if isinstance(f, functools.partial):
        return f.func, f.args, f.keywords
    if isinstance(f, MethodType) and not isinstance(f.__self__, type):
        return f.__func__, (f.__self__,), {}
    return None


@guarded
def _known(function: FunctionType, options: Options) -> Differentiable:
    """A function that was pickled, made differentiable once."""
    own = repr(options)
    return kept_with(function, own, lambda: Differentiable(function, options))


def _function(f: Callable[..., Any]) -> Callable[..., Any]:
    """What is to be differentiated where `f` is given, be it one of ours."""
    if isinstance(f, Bound):
        raise ArgumentError(
            f"{f.python.__name__}() is bound; decorate the function itself, and bind"
            " what comes of it"
        )
    if isinstance(f, Derivative):
        return f.again()
    if isinstance(f, (Differentiable, Primal, Pushforward)):
        return f.python
    return f


def as_differentiable(f: Callable[..., Any]) -> Differentiable:
    """Plain functions are decorated on the fly, once."""
    if isinstance(f, Differentiable):
        return f
    whole = _behind(f)
    if whole is not None:
        called, args, kw = whole
        return as_differentiable(called).bind(*args, **kw)
    given = _function(f)
    function = plain(given)
    if function is None:
        return Differentiable(given, Options())  # which says why not
    return kept_with(function, "", lambda: Differentiable(function, Options()))


@guarded
def vjp(
    f: Callable[..., Any],
    /,
    *args: Any,
    wrt: object = None,
    copy: bool = False,
    **kw: Any,
) -> tuple[Any, Pullback]:
    """Run `f` (mutating its out-arrays) and return `(result, pullback)`.

    `result` is what the call returned; `pullback` maps cotangents of the outputs to
    gradients with respect to `wrt` (names or indices; default: every float parameter).
    Names of local values are taken, too: the gradient is the derivative with respect to
    a number added where the value, or each element of it, is written the last time.
    With `copy=True` the inputs may be changed before the last pullback. Without, a
    change does nothing or is an `ArgumentError` of the pullback.

    Raises `ArgumentError` if the call does not fit, `IndexError` if an index leaves its
    array.
    """
    hold = Hold.ANYBODY if flag("copy", copy) else Hold.SEEN
    call = Call(as_differentiable(f), args, kw)
    result, pullback = pulled(call, wrt, hold)
    return call.foreign.results(result), pullback


def pulled(call: Call, wrt: object, hold: Hold) -> tuple[Any, Pullback]:
    """`vjp` of a call, for a pullback that holds the inputs as `hold` says."""
    names = call.wrt(wrt, local=True)
    call.check_derivative()
    apart = call.made(Units.sweeps, names).apart
    if apart is not None:
        held = _held(call, apart.reverse, hold)
        raw, kept = call.ran(lambda: apart.run(call.values, held.forward))
        result = call.restore(raw)
        pullback = Pullback(call, names, apart.reverse, held, result, kept, wrt)
        return call.built(result), pullback
    unit = call.made(Units.adjoint, names)
    held = _held(call, unit, hold)
    changed = unit.reads & set(call.function.written)
    before = {n: copied(call.values[n]) for n in changed}
    result = call.run(held.forward)
    own = in_order(call.function.parsed.result, result)
    return result, Pullback(call, names, unit, held, own, before, wrt)


def _held(call: Call, unit: Unit, hold: Hold) -> Held:
    """What a pullback that runs `unit` has of the arguments.

    What a probe calls may change them while it runs.
    """
    if call.function.callbacks:
        hold = Hold.ANYBODY
    read = unit.reads.difference(call.function.written)
    lean = call.f.keeping.memory is not None
    return Held(call.f.python.__name__, call.values, read, hold, unit, lean)


def value_and_grad(f: Callable[P, R], wrt: object = None) -> Callable[P, tuple[R, Any]]:
    """The function that returns `(value, gradient)` of a function with one scalar
    result.

    `wrt="x"` (or an index) gives the bare array, a tuple of names or None `Gradients`.
    Raises `ArgumentError` at a call whose result is not one number.
    """
    function = as_differentiable(f)
    short = None
    if function.fixed is None:
        short = recurring(function._readings, "value_and_grad", wrt)

    @guarded
    def run(*args: Any, **kw: Any) -> tuple[Any, Any]:
        known = None if kw else short
        if known is not None:
            again = known.result(args)
            if again is not UNUSUAL:
                pair: tuple[Any, Any] = again
                return pair
        call = Call(function, args, kw)
        returns_a_number(call)
        result, pullback = pulled(call, wrt, Hold.NOBODY)
        found = result, _bare(pullback(1.0), wrt)
        if known is not None:
            known.keep(
                args,
                call,
                lambda: pullback.again(
                    call, True, lambda value, made: (value, _bare(Gradients(made), wrt))
                ),
            )
        return found

    return Transformed(value_and_grad, function, {"wrt": wrt}, run)


def grad(f: Callable[P, Any], wrt: object = None) -> Callable[P, Any]:
    """The gradient of a function that returns one scalar; arrays it writes are written.

    `wrt="x"` (or an index) gives the bare array, a tuple of names or None `Gradients`.
    Raises `ArgumentError` at a call whose result is not one number.
    """
    function = as_differentiable(f)
    short = None
    if function.fixed is None:
        short = recurring(function._readings, "grad", wrt)

    @guarded
    def run(*args: Any, **kw: Any) -> Any:
        known = None if kw else short
        if known is not None:
            again = known.result(args)
            if again is not UNUSUAL:
                return again
        call = Call(function, args, kw)
        returns_a_number(call)
        sweeps = bool(call.function.written or call.function.checks(call.kinds))
        if sweeps:
            _, pullback = pulled(call, wrt, Hold.NOBODY)
        else:  # the value alone would be thrown away: only the adjoint runs
            names = call.wrt(wrt, local=True)
            call.check_derivative()
            unit = call.made(Units.adjoint, names)
            held = _held(call, unit, Hold.NOBODY)
            pullback = Pullback(call, names, unit, held, 0.0, {}, wrt)
        found = _bare(pullback(1.0), wrt)
        if known is not None:
            known.keep(
                args,
                call,
                lambda: pullback.again(
                    call, sweeps, lambda _, made: _bare(Gradients(made), wrt)
                ),
            )
        return found

    return Transformed(grad, function, {"wrt": wrt}, run)


def returns_a_number(call: Call) -> None:
    """`ArgumentError` if the function returns something else for these arguments."""
    found = call.plan.once("returns", lambda: in_words(call.function.program))
    result = call.function.parsed.result
    if result is not None and result.kind == COMPLEX.kind:
        found = "complex numbers"
    if result is not None and result.kind == MAYBE:
        found = "None on some paths"
    if found != "a number":
        remedy = {
            "complex numbers": "return a real one, `.real` or `abs(z) ** 2`, or use"
            " pyrev.vjp, whose pullback takes a complex cotangent",
            "an array": "return np.sum(...) of it, or use pyrev.vjp, whose pullback"
            " takes a cotangent of its shape",
            "nothing": "use pyrev.vjp, whose pullback takes cotangents of the arrays"
            " that are written",
        }.get(found, "use pyrev.vjp, whose pullback takes a cotangent of each")
        raise ArgumentError(
            f"{call.f.python.__name__}() returns {found} for these arguments; a"
            f" gradient needs a function that returns one number: {remedy}"
        )


def _bare(gradients: Gradients, wrt: object) -> Any:
    """The array itself where one parameter was asked for by name or index."""
    return next(iter(gradients.values())) if isinstance(wrt, (str, int)) else gradients
