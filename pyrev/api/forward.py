"""Forward mode: `jvp`, in one direction or several, and elementwise `partials`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from pyrev.api.call import Call
from pyrev.api.differentiable import as_differentiable
from pyrev.api.gradients import Tangents
from pyrev.driver.forms import built, where_found
from pyrev.driver.results import returns_one
from pyrev.driver.unit import Unit
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError
from pyrev.runtime import pool
from pyrev.runtime.device import copied, cupy, is_array, is_device
from pyrev.runtime.elsewhere import on_host
from pyrev.runtime.error_boundary import guarded
from pyrev.runtime.options import mapping

#: So many directions share one run of the primal: with more, registers run out.
TOGETHER = 8


@guarded
def jvp(
    f: Callable[..., Any], /, *args: Any, tangents: Mapping[str, Any], **kw: Any
) -> tuple[Any, Tangents]:
    """Run `f` (mutating its out-arrays) and move tangents through it.

    `tangents` maps names of float parameters to what they move along: arrays of the
    parameter's shape, or numbers; what is not named does not move. With one axis more
    in front, of the same length for all of them, they are that many directions.
    Returns ``(result, tangents_out)``: `result` is what the call returned,
    ``tangents_out["return"]`` its tangent (a tuple for a tuple), ``tangents_out[name]``
    that of a written array, each of the output's dtype and shape, behind the axis of
    the directions if there is one. An array that is written starts with the tangent
    that it is given.

    The tangent program moves each value beside the primal's (Griewank and Walther 2008,
    chapter 3); several directions share the primal.

    Raises `ArgumentError` for names, shapes and dtypes that do not fit, and whatever a
    call of `f` raises.
    """
    call = Call(as_differentiable(f), args, kw)
    structures = call.structures()
    if structures is not None:
        tangents = structures.by_program_names(mapping("tangents", tangents))
    moves, count = directions(call, tangents)
    call.check_derivative()
    several = 1 if count is None else count
    result, outputs = call.ran(lambda: pushed(call, tuple(tangents), moves, several))
    if count is None:
        outputs = {n: _first(v) for n, v in outputs.items()}
    shape = call.function.parsed.result
    if shape is not None:
        outputs["return"] = built(shape, where_found(shape, outputs["return"], result))
    if structures is not None:
        names = {own: name for name, own in structures.dotted().items()}
        own = structures.as_number
        outputs = {names.get(n, n): own(n, v) for n, v in outputs.items()}
        outputs = structures.whole(outputs, tangents)
    if call.foreign:
        outputs = {n: call.foreign.like(n, v) for n, v in outputs.items()}
        if "return" in outputs:
            outputs["return"] = call.foreign.results(outputs["return"])
    return call.foreign.results(call.built(result)), Tangents(outputs)


@guarded
def partials(
    f: Callable[..., Any], /, *args: Any, wrt: object = None, **kw: Any
) -> tuple[Any, Tangents]:
    """Run an elementwise `f` (mutating its out-arrays) with its partial derivatives.

    Elementwise: each element of an array that it writes depends on one element of each
    parameter in `wrt` (names or indices; default: the float parameters that it does not
    write), by whatever arithmetic and branches. One loop makes values and partials
    (mixed mode: Revels, Besard, Churavy, De Sutter and Vielma 2018). Returns
    ``(result, partials)``: ``partials["out"]["x"]`` is that of `out` by `x`, of the
    shape and dtype of `out`.

    Raises `ArgumentError` where it is not elementwise, with the line, and whatever a
    call of `f` raises.
    """
    call = Call(as_differentiable(f), args, kw).only_numbers("partials")
    written = call.function.written
    if wrt is None:
        floats = call.wrt(None)
        wrt = tuple(n for n in floats if n not in written)
    names = call.wrt(wrt)
    if not written and not call.result_dtypes():
        raise ArgumentError(f"partials: {call.f.python.__name__}() has no output")
    call.check_derivative()
    unit = call.made(Units.partials, names)
    raw = unit.call([call.values[p] for p in unit.params])
    count = len(call.result_dtypes())
    result = None
    if count:
        result = call.restore(
            raw[0] if returns_one(call.function.program) else raw[:count]
        )
    found: dict[str, dict[str, Any]] = {}
    for (_, name), made in zip(unit.cotangents, raw[count:], strict=True):
        own = found.setdefault(str(name), {})
        own[names[len(own)]] = made
    return result, Tangents({n: Tangents(own) for n, own in found.items()})


def _first(value: Any) -> Any:
    return tuple(v[0] for v in value) if isinstance(value, tuple) else value[0]


def directions(
    call: Call, tangents: Mapping[str, Any]
) -> tuple[dict[str, Any], int | None]:
    """The tangents with an axis of directions in front, and its length if it was given.

    Raises `ArgumentError` for what does not fit.
    """
    tangents = mapping("tangents", tangents)
    if not tangents:
        raise ArgumentError("no tangent was given: pass tangents={'x': ...}")
    for name, value in tangents.items():
        if isinstance(value, (list, tuple)):
            raise ArgumentError(f"the tangent of `{name}` is a list; pass an array")
    call.wrt(tuple(tangents))  # refuses what has no tangent
    found: dict[str, Any] = {}
    counts: dict[str, int | None] = {}
    for name, value in tangents.items():
        shape = np.shape(call.values[name]) if call.kinds[name].rank else ()
        own = value if is_array(value) else np.asarray(on_host(value))
        if own.dtype.kind not in "fiub":
            raise ArgumentError(f"the tangent of `{name}` has dtype {own.dtype}")
        if own.shape == shape:
            counts[name] = None
            found[name] = own[None]
        elif own.shape[1:] == shape and own.ndim:
            counts[name] = own.shape[0]
            found[name] = own
        elif not own.ndim:  # a number stands for an array of it, as for a cotangent
            counts[name] = None
            found[name] = np.broadcast_to(np.asarray(own), (1, *shape))
        else:
            raise ArgumentError(
                f"the tangent of `{name}` has shape {own.shape}, not {shape} (or that"
                " behind one axis of directions)"
            )
    if len(set(counts.values())) > 1:
        said = ", ".join(f"`{n}` {c or 'one'}" for n, c in counts.items())
        raise ArgumentError(f"tangents of several numbers of directions: {said}")
    return found, next(iter(counts.values()))


def pushed(
    call: Call,
    names: Sequence[str],
    moves: Mapping[str, Any],
    count: int,
    blank: Collection[str] = (),
) -> tuple[Any, dict[str, Any]]:
    """The result of a checked call, and the tangents of its outputs by name.

    `moves` have `count` directions along their first axis, and so have the tangents.
    Those of the arrays in `blank` may hold anything where the call assigns nothing.
    """
    wrt = call.wrt(tuple(names))
    written = call.function.written
    chunks = [range(k, min(k + TOGETHER, count)) for k in range(0, count, TOGETHER)]
    before = {n: copied(call.values[n]) for n in written} if len(chunks) > 1 else {}
    module = cupy() if call.target.on_device else pool
    outputs: dict[str, Any] = {
        n: module.empty((count, *call.values[n].shape), call.values[n].dtype)
        for n in written
        if call.kinds[n].is_float
    }
    returned: list[list[Any]] = []
    result: Any = None
    for chunk in chunks or [range(0)]:
        values = dict(call.values)
        if chunk and chunk.stop < count:  # the last run is the one that counts
            values |= {n: copied(v) for n, v in before.items()}
        unit = call.made(Units.tangent, wrt, max(1, len(chunk)))
        _give(call, unit, values, moves, outputs, chunk, blank)
        raw = unit.call([values[p] for p in unit.params])
        dtypes = call.result_dtypes()
        if dtypes:
            own, single = len(dtypes), returns_one(call.function.program)
            result = call.restore(raw[0] if single else raw[:own])
            for k in range(len(chunk)):
                returned.append(list(raw[own * (k + 1) : own * (k + 2)]))
    if call.result_dtypes():
        outputs["return"] = _returned(call, result, returned, module)
    return result, outputs


def _give(
    call: Call,
    unit: Unit,
    values: dict[str, Any],
    moves: Mapping[str, Any],
    outputs: Mapping[str, Any],
    chunk: range,
    blank: Collection[str],
) -> None:
    """Put the tangents of these directions among the arguments of the tangent."""
    seen: dict[str, int] = {}
    for dot, name in unit.cotangents:
        assert isinstance(name, str)
        k = seen[name] = seen.get(name, chunk.start - 1) + 1
        value = call.values[name]
        if not call.kinds[name].rank:
            move = float(moves[name][k]) if name in moves and k in chunk else 0.0
            values[dot] = type(value)(move) if isinstance(value, np.generic) else move
        elif name in outputs:
            # The tangent is moved in place: where it is returned.
            values[dot] = outputs[name][k] if k in chunk else copied(value)
            if name in moves and k in chunk:
                values[dot][...] = _there(moves[name][k], value)
            elif name not in blank:
                values[dot][...] = 0.0
        else:
            module = cupy() if is_device(value) else np
            move = moves[name][k] if k in chunk else module.zeros_like(value)
            values[dot] = module.ascontiguousarray(_there(move, value), value.dtype)


def _there(move: Any, value: Any) -> Any:
    """A tangent where the array is whose tangent it is."""
    if is_device(value) and not is_device(move):
        return cupy().asarray(move)
    return move


def _returned(call: Call, result: Any, raw: list[list[Any]], module: Any) -> Any:
    """The tangents of what is returned, directions in front."""
    single = not isinstance(result, tuple)
    results = (result,) if single else result
    found: list[Any] = []
    for i, (one, dtype) in enumerate(zip(results, call.result_dtypes(), strict=True)):
        moved = [r[i] for r in raw]
        if is_array(one) and one.ndim:
            stacked = module.empty((len(moved), *one.shape), one.dtype)
            for k, m in enumerate(moved):
                stacked[k] = m
        elif call.target.on_device:
            stacked = module.zeros(len(moved), _float(dtype))
            for k, m in enumerate(moved):
                stacked[k] = m
        else:
            stacked = np.array(moved, _float(dtype))
        found.append(stacked)
    return found[0] if single else tuple(found)


def _float(dtype: str) -> str:
    return "float32" if dtype == "float32" else "float64"
