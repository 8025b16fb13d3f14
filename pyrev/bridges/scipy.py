"""Loop functions for `scipy.optimize`: `pyrev.scipy.objective` and `residuals`.

SciPy's optimisers change one vector of float64. Here the parameters to be found are
packed into it, one after another, each in C order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyrev.api.matrices import hessian, hvp, jacobian
from pyrev.bridges.pure import Done, Pure, Slot, pull
from pyrev.driver.results import in_words
from pyrev.ir.diagnostics import ArgumentError
from pyrev.runtime.options import flag

Vector = NDArray[np.float64]


class _Packed:
    """A function of one vector: a call in which some parameters vary."""

    def __init__(
        self,
        pure: Pure,
        args: Sequence[Any],
        kw: Mapping[str, Any],
        wrt: str | int | Sequence[str | int],
    ) -> None:
        self._pure = pure
        self._given = pure.bind(args, kw)
        self._call = pure.call(self._given)
        #: The parameters in the vector, in their order.
        self.names: tuple[str, ...] = self._call.wrt(wrt)
        self._bare = isinstance(wrt, (str, int))
        self._shapes = {n: np.shape(self._given[n]) for n in self.names}
        start = {n: self._given[n] for n in self.names}
        #: The values that were given, packed.
        self.x0: Vector = self.pack(start[self.names[0]] if self._bare else start)

    def __reduce__(self) -> tuple[Any, ...]:
        wrt = self.names[0] if self._bare else self.names
        own = {n: v for n, v in vars(self).items() if n == "sparse"}
        return type(self), (self._pure, (), self._given, wrt), own or None

    def pack(self, values: Any) -> Vector:
        """The vector for these values: one if `wrt` is one name, else a mapping.

        A number stands for all elements of an array, which serves for bounds. Raises
        `ArgumentError` if a name is missing or a shape does not fit.
        """
        named = {self.names[0]: values} if self._bare else values
        if not isinstance(named, Mapping) or set(named) != set(self.names):
            found = ", ".join(named) if isinstance(named, Mapping) else repr(named)
            raise ArgumentError(
                f"pack: there must be a value for each of {', '.join(self.names)}; got"
                f" {found}"
            )
        parts = []
        for name, shape in self._shapes.items():
            try:
                value = np.broadcast_to(np.asarray(named[name], np.float64), shape)
            except ValueError:
                raise ArgumentError(
                    f"pack: `{name}` has shape {np.shape(named[name])}, not {shape}"
                ) from None
            parts.append(value.reshape(-1))
        return np.concatenate(parts)

    def unpack(self, x: ArrayLike) -> Any:
        """The values in a vector, as new arrays of the dtypes that were given: one if
        `wrt` is one name, else a dictionary.
        """
        named = self._unpacked(x)
        return named[self.names[0]] if self._bare else named

    def _unpacked(self, x: ArrayLike) -> dict[str, Any]:
        try:
            vector = np.asarray(x, np.float64)
        except (TypeError, ValueError) as error:
            name = self._pure.name
            raise ArgumentError(f"{name}(): this is no vector: {error}") from None
        if vector.shape != self.x0.shape:
            raise ArgumentError(
                f"{self._pure.name}(): the vector has shape {vector.shape}, the"
                f" parameters in it fill {self.x0.shape}"
            )
        found = {}
        start = 0
        for name, shape in self._shapes.items():
            end = start + int(np.prod(shape))
            like = self._given[name]
            if shape:
                found[name] = np.array(vector[start:end].reshape(shape), like.dtype)
            else:
                found[name] = type(like)(vector[start])
            start = end
        return found

    def _run(self, x: ArrayLike, wrt: tuple[str, ...]) -> Done:
        return self._pure.run({**self._given, **self._unpacked(x)}, wrt)

    def _pulled(self, done: Done, seeds: Mapping[Slot, Any]) -> Vector:
        assert done.pullback is not None
        found = pull(done.pullback, done.outputs, seeds)
        parts = [np.asarray(found[n], np.float64).reshape(-1) for n in self.names]
        return np.concatenate(parts)


class Objective(_Packed):
    """`fun(x)` gives the value and the gradient: `minimize(fun, fun.x0, jac=True)`."""

    def __call__(self, x: ArrayLike) -> tuple[float, Vector]:
        """The value at `x` and the gradient there."""
        done = self._run(x, self.names)
        (value,) = done.row
        return float(value), self._pulled(done, {0: 1.0})

    def hessp(self, x: ArrayLike, p: ArrayLike) -> Vector:
        """The Hessian at `x` times a vector: ``minimize(..., hessp=fun.hessp)``."""
        values = {**self._given, **self._unpacked(x)}
        moves = self._unpacked(p)
        found = hvp(self._pure.f, tangents=moves, wrt=self.names, **values)
        return _flat([found[n] for n in self.names])

    def hess(self, x: ArrayLike) -> Any:
        """The Hessian at `x` as a SciPy CSR matrix: ``minimize(..., hess=fun.hess)``.

        Raises `ArgumentError` where floats decide what depends on what.
        """
        values = {**self._given, **self._unpacked(x)}
        blocks = hessian(self._pure.f, wrt=self.names, sparse=True)(**values)
        rows = [[blocks[a][b] for b in self.names] for a in self.names]
        return _matrix(rows)


class Residuals(_Packed):
    """`fun(x)` gives a vector: `least_squares(fun, fun.x0, jac=fun.jac)`."""

    #: Is the Jacobian a sparse matrix?
    sparse = False

    def __call__(self, x: ArrayLike) -> Vector:
        """The residuals at `x`."""
        return _flat(self._run(x, ()).row)

    def jac(self, x: ArrayLike) -> Any:
        """The Jacobian at `x`: a CSR matrix if `sparse=True` was asked for.

        A dense one has a row for each residual, each by one pullback.
        """
        if self.sparse:
            return self._sparse_jac(x)
        done = self._run(x, self.names)
        rows = []
        for slot, item in zip(done.outputs.slots, done.row, strict=True):
            for k in range(np.size(item)):
                seed = np.zeros(np.shape(item))
                seed.reshape(-1)[k] = 1.0
                rows.append(self._pulled(done, {slot: seed}))
        return np.array(rows).reshape(-1, self.x0.size)

    def _sparse_jac(self, x: ArrayLike) -> Any:
        values = {**self._given, **self._unpacked(x)}
        rows = []
        for slot in self._pure.outputs(self._call).slots:
            of = slot if isinstance(slot, str) else "return"
            jacobian_of = jacobian(self._pure.f, wrt=self.names, of=of, sparse=True)
            blocks = jacobian_of(**values)
            rows.append([blocks[n] for n in self.names])
        return _matrix(rows)


def objective(
    f: Callable[..., Any],
    /,
    *args: Any,
    wrt: str | int | Sequence[str | int],
    **kw: Any,
) -> Objective:
    """`f`, which returns one number, as a function of one vector.

    The arguments are those of a call of `f`. The parameters in `wrt` are what the
    vector holds, and start from the values given here; the others stay as they are.
    Nothing is written to the arguments: of an array that `f` writes, every evaluation
    takes a copy.

    Raises `ArgumentError` if the arguments do not fit or `f` does not return one
    number.
    """
    made = Objective(Pure(f, outputs="return"), args, kw, wrt)
    found = in_words(made._call.function.program)
    if found != "a number":
        raise ArgumentError(
            f"{made._pure.name}() returns {found}; an objective returns one number (use"
            " residuals for others)"
        )
    return made


def residuals(
    f: Callable[..., Any],
    /,
    *args: Any,
    wrt: str | int | Sequence[str | int],
    of: str | Sequence[str] | None = None,
    sparse: bool = False,
    **kw: Any,
) -> Residuals:
    """What `f` computes as a vector, as a function of one vector, with its Jacobian.

    The residuals are what `f` returns; if that is nothing, the arrays that it writes,
    one after another. `of` names others: written arrays, and "return" for what is
    returned. With `sparse=True` the Jacobian is a SciPy CSR matrix, as `pyrev.jacobian`
    makes it. The rest is as for `objective`.
    """
    made = Residuals(Pure(f, outputs=of), args, kw, wrt)
    made.sparse = flag("sparse", sparse)
    outputs, dtypes = made._pure.outputs(made._call), made._call.result_dtypes()
    for slot in outputs.slots:
        if isinstance(slot, str):
            what, dtype = f"`{slot}`", made._call.kinds[slot].dtype
        else:
            what, dtype = "a returned value", dtypes[slot]
        if "float" not in dtype:
            raise ArgumentError(
                f"{made._pure.name}(): {what} has dtype {dtype}; residuals are floats"
            )
    return made


def _matrix(blocks: list[list[Any]]) -> Any:
    from scipy.sparse import block_array, csr_matrix

    return csr_matrix(block_array(blocks))


def _flat(row: Sequence[Any]) -> Vector:
    return np.concatenate([np.asarray(r, np.float64).reshape(-1) for r in row])
