"""Jacobians and Hessians: dense by the cheaper mode, sparse by coloured directions.

The gradient of a gradient is the tangent of the adjoint (forward over reverse: Griewank
and Walther 2008, section 5.3). Where the adjoint records what grows while it runs, and
has no tangent for that, it is the adjoint of the tangent: the same numbers.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyrev.adjoint.opaque_calls import without_tangent
from pyrev.api.call import Call
from pyrev.api.differentiable import (
    Differentiable,
    as_differentiable,
    pulled,
    returns_a_number,
)
from pyrev.api.forward import directions, jvp, pushed
from pyrev.api.gradients import Gradients
from pyrev.api.sparsity import Pattern, coloured, pattern
from pyrev.api.travel import Transformed
from pyrev.driver.held_inputs import Hold
from pyrev.driver.unit import Unit
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError, UnsupportedError
from pyrev.ir.nodes import Alloc, Grow, walk
from pyrev.runtime import pool
from pyrev.runtime.device import copied, is_array
from pyrev.runtime.error_boundary import guarded
from pyrev.runtime.options import flag, mapping

#: Directions of a dense Jacobian that are in memory at a time.
AT_ONCE = 64

#: Bytes of seeds of a sparse Jacobian that are kept for the next call.
KEPT = 1 << 26


@guarded
def hvp(
    f: Callable[..., Any],
    /,
    *args: Any,
    tangents: Mapping[str, Any],
    cotangent: Any = None,
    cotangents: Mapping[str, Any] | None = None,
    wrt: object = None,
    **kw: Any,
) -> Gradients:
    """The Hessian of a function that returns one number, times a vector.

    Of a function with other outputs: the Hessian of their sum, weighted by `cotangent`
    and `cotangents`, which are those of a pullback.

    `tangents` is the vector, by parameter, as for `jvp`; with one axis more in front it
    is several. Returns the tangents of the gradients with respect to `wrt` (names or
    indices; default: the parameters in `tangents`), each of the parameter's shape and
    dtype, behind the axis of the vectors if there is one. Nothing is written.

    Raises `ArgumentError` if the call does not fit, or if `f` does not return one
    number and no cotangent is given, `UnsupportedError` where a derivative is there but
    not its derivative.
    """
    function = as_differentiable(f).quiet
    cotangents = mapping("cotangents", cotangents)
    call = Call(function, args, kw).only_numbers("hvp")
    moves, count = directions(call, tangents)
    names = call.wrt(tuple(tangents) if wrt is None else wrt)
    plain = cotangent is None and not cotangents
    if plain:
        returns_a_number(call)
    call.check_derivative()
    weights: dict[str | int, Any] = {0: 1.0}
    if plain:
        _assert(call)
    else:
        # It asserts, too.
        _, pullback = pulled(Call(function, (), _again(call)), names, Hold.NOBODY)
        weights = pullback.seeds(cotangent, cotangents or {})
    several = 1 if count is None else count
    found = _curved(call, names, moves, several, weights)
    if count is None:
        found = {n: v[0] for n, v in found.items()}
    return Gradients(found)


def hessian(
    f: Callable[..., Any], wrt: object = None, sparse: bool = False
) -> Callable[..., Any]:
    """The function that returns the Hessian of a function with one scalar result.

    `wrt="x"` (or an index) gives an array of ``x.shape + x.shape``, a tuple of names or
    None `Gradients` of `Gradients`: the shape of ``h["x"]["y"]`` is ``x.shape +
    y.shape``.
    `sparse=True` gives SciPy CSR matrices of ``(x.size, y.size)`` instead, whose
    pattern comes from the subscripts of the adjoint and whose values from as many
    directions as it has colours.
    The arguments are not changed.

    Raises `ArgumentError` at a call that does not fit, or with `sparse=True` where
    floats decide what depends on what.
    """
    made = as_differentiable(f)
    sparse = flag("sparse", sparse)

    @guarded
    def run(*args: Any, **kw: Any) -> Any:
        function = made.quiet
        call = _on_host(Call(function, args, kw).only_numbers("hessian"))
        returns_a_number(call)
        names = call.wrt(wrt)
        call.check_derivative()
        _assert(call)
        if sparse:
            gradient, given = _gradient(call, names, {0: 1.0})
            inner = Call(gradient, given, {})
            inner.check()
            results = [f"return{k}" for k in range(len(names))]
            blocks = _sparse(inner, names, results)
            found = {
                a: {b: blocks[r, b] for b in names}
                for a, r in zip(names, results, strict=True)
            }
        else:
            found = _dense_hessian(call, names)
        if isinstance(wrt, (str, int)):
            return found[names[0]][names[0]]
        return Gradients({a: Gradients(row) for a, row in found.items()})

    return Transformed(hessian, made, {"wrt": wrt, "sparse": sparse}, run)


def jacobian(
    f: Callable[..., Any],
    wrt: object = None,
    of: str | None = None,
    sparse: bool = False,
) -> Callable[..., Any]:
    """The function that returns the Jacobian of one output of `f`.

    `of` names an array that `f` writes, or is "return"; it may be left out if there is
    one output. `wrt="x"` (or an index) gives an array of ``of.shape + x.shape``, a
    tuple of names or None `Gradients` of such, computed in forward mode if there are
    fewer inputs than outputs and in reverse mode else. `sparse=True` gives SciPy CSR
    matrices of ``(of.size, x.size)``: their pattern comes from the subscripts, exactly,
    and their values from as many directions, moved together, as it has colours. The
    pattern is found once for arguments of the same sizes (and the same integers in
    arrays that subscripts read). The arguments are not changed.

    Raises `ArgumentError` at a call that does not fit, or with `sparse=True` where
    floats decide what depends on what.
    """
    made = as_differentiable(f)
    sparse = flag("sparse", sparse)
    if of is not None and not isinstance(of, str):
        raise ArgumentError(f"of is a {type(of).__name__}; name an output")

    @guarded
    def run(*args: Any, **kw: Any) -> Any:
        call = _on_host(Call(made.quiet, args, kw).only_numbers("jacobian"))
        names = call.wrt(wrt)
        output = _output(call, of)
        call.check_derivative()
        if sparse:
            label = "return0" if output == "return" else output
            blocks = _sparse(call, names, [label])
            found = {n: blocks[label, n] for n in names}
        else:
            found = _dense(call, names, output)
        if isinstance(wrt, (str, int)):
            return found[names[0]]
        return Gradients(found)

    options = {"wrt": wrt, "of": of, "sparse": sparse}
    return Transformed(jacobian, made, options, run)


# -------------------------------------------------------------------- second order


Weights = Mapping[str | int, Any]


def _of_its_own(call: Call, kind: str, unit: Unit) -> Differentiable:
    """A derivative as a function of its own, with the options of the call's."""
    options = replace(call.f._options, wrt=None)
    return call.derived(
        (kind, unit.text.text), lambda: Differentiable(unit.function, options)
    )


def _gradient(
    call: Call, names: Sequence[str], weights: Weights
) -> tuple[Differentiable, list[Any]]:
    """The adjoint as a function of its own, and its arguments for this call."""
    unit = call.readable(Units.adjoint, tuple(names), call.variant)
    made = _of_its_own(call, "gradient", unit)
    seeds = {
        param: weights[of] if of in weights else np.zeros_like(call.values[str(of)])
        for param, of in unit.cotangents
    }
    values = {**call.values, **seeds}
    return made, [values[p] for p in unit.params]


def _curved(
    call: Call,
    names: Sequence[str],
    moves: Mapping[str, Any],
    count: int,
    weights: Weights,
) -> dict[str, Any]:
    """The tangents of the gradients, with an axis of directions in front."""
    unit = call.readable(Units.adjoint, tuple(names), call.variant)
    if any(isinstance(s, Grow) for s in walk(unit.program.body)):
        return _curved_by_tangent(call, names, moves, count, weights)
    try:
        gradient, given = _gradient(call, names, weights)
        inner = Call(gradient, given, {})
        inner.check()
        _, moved = pushed(inner, tuple(moves), moves, count)
    except UnsupportedError:
        if any(isinstance(s, Alloc) and s.opaque for s in walk(unit.program.body)):
            return _curved_by_rules(call, names, moves, count, weights)
        return _curved_by_tangent(call, names, moves, count, weights)
    return dict(zip(names, moved["return"], strict=True))


def _curved_by_rules(
    call: Call,
    names: Sequence[str],
    moves: Mapping[str, Any],
    count: int,
    weights: Weights,
) -> dict[str, Any]:
    """The same by the adjoint of the adjoint, for a Hessian is symmetric: what runs as
    it is has a rule for reverse mode, and need not have one for forward mode.
    """
    gradient, given = _gradient(call, tuple(moves), weights)
    rows: dict[str, list[Any]] = {n: [] for n in names}
    _, pullback = pulled(Call(gradient, given, {}), tuple(names), Hold.NOBODY)
    for k in range(count):
        found = pullback(tuple(moves[n][k] for n in moves))
        for n in names:
            rows[n].append(found[n])
    return {n: np.stack([np.asarray(r) for r in rows[n]]) for n in names}


def _curved_by_tangent(
    call: Call,
    names: Sequence[str],
    moves: Mapping[str, Any],
    count: int,
    weights: Weights,
) -> dict[str, Any]:
    """The same by the adjoint of the tangent, one direction after another."""
    along = call.wrt(tuple(moves))
    unit = call.readable(functools.partial(Units.tangent, asserts=False), along)
    made = _of_its_own(call, "tangent", unit)
    rows: dict[str, list[Any]] = {n: [] for n in names}
    for k in range(count):
        values = dict(call.values)
        for n in call.function.written:
            values[n] = copied(values[n])
        for dot, of in unit.cotangents:
            assert isinstance(of, str)
            like = values[of]
            move = moves[of][k] if of in moves else np.zeros(np.shape(like))
            rank = call.kinds[of].rank
            values[dot] = np.array(move, like.dtype) if rank else float(move)
        given = [values[p] for p in unit.params]
        _, pullback = pulled(Call(made, given, {}), tuple(names), Hold.NOBODY)
        results = [weights[k] for k in range(len(call.result_dtypes()))]
        arrays = {d: weights[n] for d, n in unit.cotangents if n in weights}
        returned = (*[None] * len(results), *results) if results else None
        gradients = pullback(returned, cotangents=arrays)
        for n in names:
            rows[n].append(gradients[n])
    return {n: np.stack([np.asarray(r) for r in rows[n]]) for n in names}


def _dense_hessian(call: Call, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {a: {} for a in names}
    for b in names:
        shape = np.shape(call.values[b])
        columns: dict[str, list[Any]] = {a: [] for a in names}
        for seeds in _units(call, b):
            moved = _curved(call, names, {b: seeds}, len(seeds), {0: 1.0})
            for a in names:
                columns[a].append(moved[a])
        for a in names:
            whole = np.concatenate(columns[a]) if columns[a] else np.empty((0,))
            own = np.shape(call.values[a])
            found[a][b] = _turned(whole, own, shape)
    return found


# -------------------------------------------------------------------- dense


def _output(call: Call, of: str | None) -> str:
    """The output that is meant."""
    arrays = [n for n in call.function.written if call.kinds[n].is_float]
    known = [*arrays, *(["return"] if call.result_dtypes() else [])]
    if of is None and len(known) == 1:
        return known[0]
    if of in known and (of != "return" or len(call.result_dtypes()) == 1):
        return str(of)
    name = call.f.python.__name__
    if of == "return" and len(call.result_dtypes()) > 1:
        raise ArgumentError(f"{name}() returns several values; return one of them")
    raise ArgumentError(
        f"of={of!r}: {name}() has {', '.join(known) or 'no output'}; name one of them"
    )


def _units(call: Call, name: str) -> Iterator[Any]:
    """The unit vectors of a parameter, some at a time."""
    value = call.values[name]
    size, shape = int(np.size(value)), np.shape(value)
    dtype = getattr(value, "dtype", np.float64)
    for start in range(0, size, AT_ONCE):
        some = min(AT_ONCE, size - start)
        seeds = np.zeros((some, size), dtype)
        seeds[np.arange(some), start + np.arange(some)] = 1.0
        yield seeds.reshape(some, *shape)


def _on_host(call: Call) -> Call:
    """The call, if its matrix can be one of NumPy or SciPy."""
    if call.target.on_device:
        name = call.f.python.__name__
        raise ArgumentError(
            f"{name}(): Jacobians and Hessians are made from arrays of NumPy; on a GPU"
            " use jvp, hvp or vjp"
        )
    return call


def _assert(call: Call) -> None:
    """Raise what the function asserts, which its derivatives do not."""
    if call.function.checks(call.kinds):
        call.f(**_again(call))


def _again(call: Call) -> dict[str, Any]:
    """The arguments, those that are written as copies."""
    values = {n: call.values[n] for n in call.visible}
    return values | {n: copied(values[n]) for n in call.function.written}


def _dense(call: Call, names: Sequence[str], output: str) -> dict[str, Any]:
    function = call.f
    values = _again(call)
    result, pullback = pulled(Call(function, (), values), tuple(names), Hold.NOBODY)
    made = result if output == "return" else values[output]
    shape, size = np.shape(made), int(np.size(made))
    inputs = sum(int(np.size(call.values[n])) for n in names)
    found: dict[str, Any] = {}
    if inputs <= size and not without_tangent(call.function.program):
        for n in names:
            columns: list[Any] = []
            for seeds in _units(call, n):
                _, moved = jvp(function, tangents={n: seeds}, **_again(call))
                columns.append(moved[output])
            own = np.shape(call.values[n])
            whole = np.concatenate(columns) if columns else np.empty((0, *shape))
            found[n] = _turned(whole, shape, own)
        return found
    rows: dict[str, list[Any]] = {n: [] for n in names}
    for k in range(size):
        seed = np.zeros(size)
        seed[k] = 1.0
        cotangent = seed.reshape(shape) if shape else 1.0
        if output == "return":
            gradients = pullback(cotangent)
        else:
            gradients = pullback(cotangents={output: cotangent})
        for n in names:
            rows[n].append(np.asarray(gradients[n]))
    for n in names:
        own = np.shape(call.values[n])
        whole = np.stack(rows[n]) if size else np.empty((0, *own))
        found[n] = whole.reshape((*shape, *own))
    return found


def _turned(columns: Any, rows: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """A matrix that was made column by column, with the shapes of both sides."""
    turned = np.moveaxis(columns.reshape((-1, *rows)), 0, -1)
    return turned.reshape((*rows, *shape)).copy(order="C")


# -------------------------------------------------------------------- sparse


def _sparse(
    call: Call, names: Sequence[str], outputs: Sequence[str]
) -> dict[tuple[str, str], Any]:
    """The blocks of a Jacobian as CSR matrices, by output and parameter."""
    key = _sizes(call, names)
    found = _pattern(call, names, key)
    blocks: dict[tuple[str, str], Any] = {}
    for name in names:
        sweep = call.derived(
            ("colours", name, tuple(outputs), key),
            functools.partial(_Sweep, found, name, tuple(outputs), call.values[name]),
        )
        before = call.values
        # Of these arrays the pattern has no element that the call does not assign.
        blank = call.function.only_set
        call.values = before | {
            n: (_blank if n in blank else copied)(before[n])
            for n in call.function.written
        }
        try:
            seeds = {name: sweep.seeds()}
            _, moved = pushed(call, (name,), seeds, sweep.count, blank)
        finally:
            call.values = before
        for o in outputs:
            blocks[o, name] = sweep.block(o, _moved(moved, o))
    return blocks


def _blank(array: Any) -> Any:
    """An array like this one, with nothing in particular in it."""
    return pool.empty(array.shape, array.dtype)


class _Sweep:
    """The directions for one parameter, and where each entry is among what they move.

    The seeds are kept for the next call where they are not large.
    """

    def __init__(
        self, found: Pattern, name: str, outputs: Sequence[str], value: Any
    ) -> None:
        self.shape = np.shape(value)
        self.dtype = getattr(value, "dtype", np.dtype(np.float64))
        size = int(np.size(value))
        self.rows = {o: _columns(found, o, name, size) for o in outputs}
        for own in self.rows.values():
            own.sort_indices()  # as `block` says of the matrices
        rows = tuple(self.rows.values())
        self.colours, self.count = _coloured(rows, self.shape)
        self.places = {o: self._places(own) for o, own in self.rows.items()}
        self._seeds: Any = None

    def _places(self, rows: Any) -> Any:
        """For each entry the place of its direction and row, in one axis."""
        which = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        return self.colours[rows.indices] * rows.shape[0] + which

    def seeds(self) -> Any:
        """The unit vectors of the columns of each colour, added up."""
        if self._seeds is not None:
            return self._seeds
        seeds = np.zeros((self.count, self.colours.size), self.dtype)
        seeds[self.colours, np.arange(self.colours.size)] = 1.0
        seeds = seeds.reshape(self.count, *self.shape)
        if seeds.nbytes <= KEPT:
            self._seeds = seeds
        return seeds

    def block(self, output: str, moved: Any) -> Any:
        """What was moved as a CSR matrix, whose arrays are its own."""
        from scipy.sparse import csr_matrix

        rows, places = self.rows[output], self.places[output]
        data = pool.empty(places.shape, moved.dtype)
        moved.reshape(-1).take(places, out=data, mode="clip")
        made = csr_matrix(rows.shape, dtype=data.dtype)
        made.data = data
        made.indices, made.indptr = pool.copy(rows.indices), pool.copy(rows.indptr)
        made.has_canonical_format = True
        return made


def _moved(moved: Mapping[str, Any], output: str) -> Any:
    if not output.startswith("return"):
        return np.asarray(moved[output])
    tangents = moved["return"]
    if isinstance(tangents, tuple):
        tangents = tangents[int(output.removeprefix("return"))]
    return np.asarray(tangents)


def _columns(found: Pattern, output: str, name: str, size: int) -> Any:
    first = found.columns[name]
    return found.rows[output][:, first : first + size].tocsr()


def _coloured(rows: Sequence[Any], shape: tuple[int, ...]) -> tuple[Any, int]:
    from scipy.sparse import vstack

    return coloured(rows[0] if len(rows) == 1 else vstack(rows), shape)


def _sizes(call: Call, names: Sequence[str]) -> Hashable:
    """What the pattern depends on: sizes and integers."""
    key: list[Any] = [tuple(names)]
    for n, value in call.values.items():
        if not is_array(value):
            integer = isinstance(value, (int, np.integer))
            key.append((n, int(value) if integer else type(value).__name__))
        elif value.dtype.kind in "iub":
            data = np.ascontiguousarray(value)
            key.append((n, value.shape, hashlib.sha256(data.tobytes()).hexdigest()))
        else:
            key.append((n, value.shape, value.dtype.name))
    return tuple(key)


def _pattern(call: Call, names: Sequence[str], key: Hashable) -> Pattern:
    """The pattern for arguments like these, found before or now."""
    dtypes = {n: k.dtype for n, k in call.kinds.items()}
    return call.derived(
        ("pattern", key),
        lambda: pattern(call.function.typed(call.kinds), dtypes, call.values, names),
    )
