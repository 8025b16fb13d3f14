"""What `vjp` returns beside the result: gradients for cotangents of the outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pyrev.api.call import Call
from pyrev.api.gradients import Gradients
from pyrev.api.recurring import Run, forward, slope
from pyrev.driver.forms import in_order
from pyrev.driver.held_inputs import Held
from pyrev.driver.unit import Unit
from pyrev.ir.diagnostics import ArgumentError
from pyrev.runtime.device import cupy, is_array, is_device, resident, share_memory
from pyrev.runtime.elsewhere import on_host
from pyrev.runtime.error_boundary import guarded
from pyrev.runtime.options import mapping


class Pullback:
    """What `vjp` returns beside the result: cotangents of the outputs in, gradients
    out.

    `held` has the arguments, and `kept` what the adjoint needs of arrays that the
    function writes and what the forward sweep recorded. It may be called any number of
    times.
    """

    def __init__(
        self,
        call: Call,
        wrt: tuple[str, ...],
        unit: Unit,
        held: Held,
        result: Any,
        kept: Mapping[str, Any],
        asked: object = None,
    ) -> None:
        self._unit, self._wrt, self._name = unit, wrt, call.f.python.__name__
        self._kinds, self._held, self._kept = call.kinds, held, kept
        self._callables = call.function.callables()
        written = call.function.written
        # Of an array that is written the caller's own is none of ours any more.
        self._inputs = held.arrays | {n: kept[n] for n in written if n in kept}
        self._outputs = unit.cotangents
        self._device = call.target.on_device
        self._structures, self._foreign = call.structures(asked), call.foreign
        self._shape = call.function.parsed.result
        self._tuple = isinstance(result, tuple)
        arrays, self._scalars = call.plan.once("outputs", lambda: _outputs(call))
        returned = enumerate(result if self._tuple else (result,))
        self._arrays: dict[str | int, tuple[tuple[int, ...], Any]] = {
            **arrays,
            **{k: (v.shape, v.dtype) for k, v in returned if is_array(v) and v.ndim},
        }

    @guarded
    def __call__(
        self,
        cotangent: Any = None,
        /,
        *,
        into: Mapping[str, Any] | None = None,
        cotangents: Mapping[str, Any] | None = None,
        **by_name: Any,
    ) -> Gradients:
        """Gradients for these cotangents.

        `cotangent` belongs to the return value (a tuple of the same length for a tuple
        return, with None for zero), `by_name` or the mapping `cotangents` to the final
        values of written arrays: equal shape, or a Python scalar. `into` maps parameter
        names to buffers that the gradients are added to and that are then returned.

        Raises `ArgumentError` for unknown names, wrong shapes, integer outputs, no
        cotangent at all, overlapping buffers, or inputs changed since the primal ran.
        """
        named = {**mapping("cotangents", cotangents), **by_name}
        into = whole = mapping("into", into)
        structures = self._structures
        if structures is not None:
            named = structures.by_program_names(named)
            into = structures.by_program_names(into)
        given = self._given(cotangent, named)
        buffers = self._buffers(into, given)
        seeds = self._seeds(given)
        values = {**self._inputs, **self._kept, **seeds, **self._callables}
        unit = self._unit
        found = self._held.reverse(unit, [values[p] for p in unit.params])
        entries: dict[str, Any] = {}
        for name, gradient in zip(self._wrt, found, strict=True):
            if not self._device:  # there numbers, too, stay where they are
                gradient = _like(gradient, self._inputs.get(name))
            if name in buffers:
                buffers[name] += gradient
                gradient = buffers[name]
            entries[name] = gradient
        if structures is not None:
            entries = structures.grouped(entries)
            entries |= {n: own for n, own in whole.items() if is_array(own)}
        if self._foreign:
            entries = {n: self._foreign.like(n, g) for n, g in entries.items()}
        return Gradients(entries)

    @property
    def nbytes(self) -> int:
        """The bytes that it holds beside the caller's arrays."""
        kept = [v.nbytes for v in self._kept.values() if is_array(v)]
        return self._held.copied + int(sum(kept))

    def again(
        self,
        call: Call,
        sweeps: bool,
        give: Callable[[Any, dict[str, Any]], Any],
    ) -> Run | None:
        """The rest of calls like this one, whose result is a number; see `slope`.

        With `sweeps` the function runs, too.
        """
        if call.function.written:
            return None
        seeds = self._seeds(self._given(1.0, {}))
        before = forward(call, self._wrt) if sweeps else None
        return slope(call, self._wrt, self._unit, seeds, before, _like, give)

    def of_ones(self) -> Gradients:
        """The gradients for cotangents of ones."""
        outputs = [of for _, of in self._outputs]
        results = [1.0 for of in outputs if isinstance(of, int)]
        back: Any = tuple(results) if self._tuple else results[0] if results else None
        return self(back, cotangents={o: 1.0 for o in outputs if isinstance(o, str)})

    def seeds(
        self, cotangent: Any, cotangents: Mapping[str, Any]
    ) -> dict[str | int, Any]:
        """The cotangents by output, as the adjoint takes them."""
        named = mapping("cotangents", cotangents)
        seeds = self._seeds(self._given(cotangent, named))
        return {of: seeds[param] for param, of in self._unit.cotangents}

    def _seeds(self, given: Mapping[str | int, Any]) -> dict[str, Any]:
        return {
            param: self._seed(of, given.get(of)) for param, of in self._unit.cotangents
        }

    def _given(self, cotangent: Any, named: dict[str, Any]) -> dict[str | int, Any]:
        arrays = [of for _, of in self._outputs if isinstance(of, str)]
        results = [of for _, of in self._outputs if isinstance(of, int)]
        for name in named:
            if name not in arrays:
                known = ", ".join(arrays) or "none"
                raise ArgumentError(
                    f"`{name}` is not an array that {self._name}() writes; there are:"
                    f" {known}"
                )
        given: dict[str | int, Any] = {k: v for k, v in named.items() if v is not None}
        if cotangent is not None:
            cotangent = in_order(self._shape, cotangent)
        if cotangent is not None:
            if not results:
                raise ArgumentError(
                    f"{self._name}() returns nothing; name the array that the cotangent"
                    f" belongs to: pullback({arrays[0] if arrays else 'out'}=...)"
                )
            if self._tuple:
                if not isinstance(cotangent, tuple) or len(cotangent) != len(results):
                    raise ArgumentError(
                        f"{self._name}() returns {len(results)} values; pass a tuple of"
                        " as many cotangents, with None for zero"
                    )
                given |= {k: c for k, c in enumerate(cotangent) if c is not None}
            else:
                given[0] = cotangent
        if not given:
            raise ArgumentError(
                "no cotangent was given: pass one for the return value, or by name for"
                f" written arrays ({', '.join(arrays) or 'none here'})"
            )
        return given

    def _seed(self, of: str | int, value: Any) -> Any:
        """One cotangent, as the adjoint takes it: the output's shape and dtype.

        What a probe calls may change the caller's.
        """
        shape, dtype = self._arrays.get(of, ((), None))
        label = f"`{of}`" if isinstance(of, str) else "the return value"
        if value is None:
            if dtype is None:
                return self._scalars[of](0.0)
            return (cupy() if self._device else np).zeros(shape, dtype)
        if dtype is not None and dtype.kind != "f":
            raise ArgumentError(f"{label} is not a float array; it has no cotangent")
        if self._device and dtype is not None:
            array = resident(str(of), value)
            array = array if is_device(array) else np.asarray(array)
        else:
            array = np.asarray(float(value) if is_device(value) else on_host(value))
        if array.dtype.kind not in "fiub":
            raise ArgumentError(
                f"the cotangent of {label} has dtype {array.dtype}, not float"
            )
        if dtype is None:
            if array.ndim:
                raise ArgumentError(
                    f"the cotangent of {label} has shape {array.shape}; it is a number"
                )
            return self._scalars[of](array)
        if array.ndim == 0:
            if self._device:
                return cupy().full(shape, float(array), dtype)
            return np.full(shape, array, dtype)
        if array.shape != shape:
            raise ArgumentError(
                f"the cotangent of {label} has shape {array.shape}, the output {shape}"
            )
        if self._device:
            return cupy().ascontiguousarray(array, dtype)
        if self._callables:
            return np.array(array, dtype, order="C")
        return np.ascontiguousarray(array, dtype)

    def _buffers(
        self, into: Mapping[str, Any], given: Mapping[str | int, Any]
    ) -> dict[str, Any]:
        for name, buffer in into.items():
            if name not in self._wrt or name not in self._inputs:
                raise ArgumentError(
                    f"into: there is no gradient for `{name}`; there are"
                    f" {', '.join(n for n in self._wrt if n in self._inputs)}"
                )
            like = self._inputs[name]
            if (
                not is_array(buffer)
                or is_device(buffer) != is_device(like)
                or buffer.shape != np.shape(like)
                or buffer.dtype != getattr(like, "dtype", None)
                or not getattr(buffer.flags, "writeable", True)
            ):
                raise ArgumentError(
                    f"into[{name!r}] must be a writable array of the shape and dtype of"
                    f" `{name}`"
                )
            others = [*self._held.own, *self._inputs.values(), *given.values()]
            others += [b for n, b in into.items() if n != name]
            for other in others:
                if is_array(other) and share_memory(buffer, other):
                    raise ArgumentError(
                        f"into[{name!r}] overlaps an argument, a cotangent or another"
                        " buffer; pass a buffer of its own"
                    )
        return dict(into)


def _outputs(call: Call) -> tuple[dict[str | int, Any], dict[str | int, type]]:
    """Shape and dtype of the arrays that a call writes, and for each returned value the
    type of a cotangent that is a number, as the adjoint was compiled for it.

    NumPy's numbers divide by zero without raising.
    """
    written = {n: call.values[n] for n in call.function.written}
    dtypes = enumerate(call.result_dtypes())
    return (
        {n: (v.shape, v.dtype) for n, v in written.items()},
        {k: np.float32 if d == "float32" else np.float64 for k, d in dtypes},
    )


def _like(gradient: Any, argument: Any) -> Any:
    """The gradient of an argument: a scalar of its type, or an array row by row."""
    if type(gradient) is np.ndarray and gradient.ndim:
        # NumPy's zeros_like keeps the order of what it is like.
        return np.ascontiguousarray(gradient)
    if isinstance(argument, np.generic):
        return type(argument)(gradient)
    return float(gradient)
