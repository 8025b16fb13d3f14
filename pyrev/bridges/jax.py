"""Loop functions as JAX functions: `pyrev.jax.function(f)`.

The loops run on the host, by `jax.pure_callback`; nothing traces them, so any function
of the language may be used under `jit`, `grad`, `vmap` and `scan`. Derivatives of
derivatives, in reverse mode, run the generated adjoint as a loop function of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from pyrev.api.travel import Transformed
from pyrev.bridges.pure import Level, Outputs, Pure, Slot, returned_arrays
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.dtypes import concrete


def function(
    f: Callable[..., Any],
    *,
    wrt: object = None,
    outputs: str | Sequence[str] | None = None,
    result_shape: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """`f`, plain or differentiable, as a function of JAX arrays.

    It changes none of its arguments: of an array that `f` writes it takes a copy. It
    returns what `f` returns; if that is nothing, the final values of the arrays that
    `f` writes, in the order of the parameters (one array if there is one). `outputs`
    asks for others: the name of a written array gives an array, several names a tuple,
    in which "return" stands for what `f` returns.

    Arguments are numbers, which stay as they are, and arrays of JAX or NumPy; an array
    without axes is a number. `wrt` limits the parameters that get a gradient.

    JAX must know shapes before `f` runs. Those of written arrays and of numbers are
    known. If `f` returns an array, `result_shape` gives its shape: a function of the
    arguments (only their shapes and the numbers among them can be used), which gives a
    tuple of extents, or one such tuple for each value if `f` returns several.

    Raises `ArgumentError` where arguments or options do not fit. What `f` raises, JAX
    raises as an error of its own.
    """
    pure = Pure(f, wrt, outputs)

    def on_arrays(*args: Any, **kw: Any) -> Any:
        given = pure.bind(args, kw)
        arrays = {
            n: jnp.asarray(v)
            for n, v in given.items()
            if isinstance(v, (jax.Array, np.ndarray))
        }
        numbers = {n: v for n, v in given.items() if n not in arrays}
        expected, likes = _expected(pure, given, arrays, result_shape)
        call = _Call(pure, numbers, tuple(arrays), expected)
        row = _node(call, (), likes)(*arrays.values())
        return expected.shaped(row)

    options = {"wrt": wrt, "outputs": outputs, "result_shape": result_shape}
    return Transformed(function, pure.given, options, on_arrays)


class _Call(NamedTuple):
    """A function and what it is called with, beside the arrays of `names`."""

    pure: Pure
    numbers: Mapping[str, Any]
    names: tuple[str, ...]
    outputs: Outputs


def _node(
    call: _Call, levels: tuple[Level, ...], likes: Sequence[jax.ShapeDtypeStruct]
) -> Callable[..., tuple[jax.Array, ...]]:
    """A call, or a derivative of it, as a function of its arrays.

    They are followed by the cotangents of each level.
    """
    pure, names = call.pure, call.names

    def host(*arrays: Any) -> tuple[Any, ...]:
        values = [np.asarray(a)[()] for a in arrays]
        given = {**call.numbers, **dict(zip(names, values, strict=False))}
        if levels:
            row = pure.gradients(given, names, levels, values[len(names) :])
        else:
            row = pure.run(given).row
        for item, like in zip(row, likes, strict=True):
            if np.shape(item) != like.shape:
                raise ArgumentError(
                    f"{pure.name}() returned an array of shape {np.shape(item)};"
                    f" `result_shape` says {like.shape}"
                )
        return tuple(np.asarray(i, k.dtype) for i, k in zip(row, likes, strict=True))

    @jax.custom_vjp
    def node(*arrays: Any) -> Any:
        return jax.pure_callback(host, tuple(likes), *arrays, vmap_method="sequential")

    def forward(*primals: Any) -> Any:
        arrays = tuple(p.value for p in primals)
        wrt = (
            k
            for k, p in enumerate(primals)
            if p.perturbed and jnp.issubdtype(p.value.dtype, jnp.floating)
            if k >= len(names) or pure.varies(names[k])
        )
        # The keys of a dictionary are known when `backward` is traced.
        return node(*arrays), (arrays, dict.fromkeys(wrt))

    def backward(residuals: Any, cotangents: Sequence[Any]) -> tuple[Any, ...]:
        arrays, asked = residuals
        slots = tuple(range(len(likes))) if levels else call.outputs.slots
        seeds: dict[Slot, Any] = {
            s: c
            for s, c in zip(slots, cotangents, strict=True)
            if not isinstance(c, SymbolicZero) and c.dtype != jax.dtypes.float0
        }
        found: dict[int, Any] = {}
        if seeds and asked:
            level = Level(tuple(asked), tuple(seeds))
            parts = [
                jax.ShapeDtypeStruct(arrays[k].shape, arrays[k].dtype) for k in asked
            ]
            derivative = _node(call, (*levels, level), parts)
            row = derivative(*arrays, *seeds.values())
            found = dict(zip(asked, row, strict=True))
        return tuple(found.get(k) for k in range(len(arrays)))

    node.defvjp(forward, backward, symbolic_zeros=True)
    made: Callable[..., tuple[jax.Array, ...]] = node
    return made


def _expected(
    pure: Pure,
    given: Mapping[str, Any],
    arrays: Mapping[str, jax.Array],
    result_shape: Callable[..., Any] | None,
) -> tuple[Outputs, tuple[jax.ShapeDtypeStruct, ...]]:
    """What a call gives, without running it."""
    stand_ins = {
        n: np.broadcast_to(np.zeros((), a.dtype), a.shape)[()]
        for n, a in arrays.items()
    }
    call = pure.call({**given, **stand_ins})
    if pure.wrt is not None:
        call.wrt(pure.wrt)  # it may name integers
    outputs = pure.outputs(call)
    sources, dtypes = returned_arrays(call), call.result_dtypes()
    shapes: Any = [None] * len(sources)
    if result_shape is not None:
        shapes = result_shape(*given.values())
        shapes = [shapes] if outputs.single else shapes
    likes = []
    for slot in outputs.slots:
        source = sources[slot] if isinstance(slot, int) else slot
        dtype = concrete(dtypes[slot]) if isinstance(slot, int) else arrays[slot].dtype
        if source is None:
            shape: tuple[int, ...] = ()
        elif source in arrays:
            shape = arrays[source].shape
        elif isinstance(slot, int) and shapes[slot] is not None:
            shape = tuple(map(int, shapes[slot]))
        else:
            named = ", ".join(given)
            raise ArgumentError(
                f"{pure.name}() returns an array that it makes, whose shape JAX must"
                f" know before it runs: pass result_shape=lambda {named}: (...), or"
                " write to a parameter"
            )
        dtype = jax.dtypes.canonicalize_dtype(dtype)
        likes.append(jax.ShapeDtypeStruct(shape, dtype))
    return outputs, tuple(likes)
