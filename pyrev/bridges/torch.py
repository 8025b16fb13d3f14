"""Loop functions as PyTorch operations: `pyrev.torch.function(f)`.

Tensors of the CPU are taken and given without a copy, those of a GPU through
`__cuda_array_interface__` and DLPack. Derivatives of derivatives run the generated
adjoint as a loop function of its own.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from pyrev.api.travel import Transformed
from pyrev.bridges.pure import Done, Level, Outputs, Pure, pull
from pyrev.ir.diagnostics import ArgumentError
from pyrev.runtime import device

_CPU = torch.device("cpu")
_DTYPES = {
    torch.bool,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.float32,
    torch.float64,
}


def function(
    f: Callable[..., Any],
    *,
    wrt: object = None,
    outputs: str | Sequence[str] | None = None,
) -> Callable[..., Any]:
    """`f`, plain or differentiable, as a function of tensors that autograd knows.

    It changes none of its arguments: of an array that `f` writes it takes a copy. It
    returns what `f` returns; if that is nothing, the final values of the arrays that
    `f` writes, in the order of the parameters (one tensor if there is one). `outputs`
    asks for others: the name of a written array gives a tensor, several names a tuple,
    in which "return" stands for what `f` returns.

    Arguments are numbers, and tensors of one device. A tensor without axes is a number,
    wherever it is; numbers come back as tensors without axes. A call differentiates
    with respect to the tensors that require it, of the parameters in `wrt`.

    Raises `ArgumentError` where arguments or options do not fit, and what `f` raises.
    """
    pure = Pure(f, wrt, outputs)

    def on_tensors(*args: Any, **kw: Any) -> Any:
        given = pure.bind(args, kw)
        if torch.compiler.is_compiling():  # it can't look into the loops
            return torch.compiler.disable(_call)(pure, given)
        return _call(pure, given)

    options = {"wrt": wrt, "outputs": outputs}
    return Transformed(function, pure.given, options, on_tensors)


def _call(pure: Pure, given: Mapping[str, Any]) -> Any:
    tensors = {n: v for n, v in given.items() if isinstance(v, torch.Tensor)}
    numbers = {n: v for n, v in given.items() if n not in tensors}
    for name, value in numbers.items():
        if isinstance(value, np.ndarray):
            raise ArgumentError(
                f"{pure.name}(): `{name}` is a NumPy array; pass"
                f" torch.from_numpy({name})"
            )
    call = _Call(pure, numbers, tuple(tensors), _device(pure.name, tensors))
    job = _Job(call, (), tuple(map(_like, tensors.values())))
    row = _apply(job, tuple(tensors.values()))
    return job.outputs.shaped(row)


class _Like(NamedTuple):
    """What a tensor is like."""

    shape: torch.Size
    dtype: torch.dtype
    device: torch.device


def _like(tensor: torch.Tensor) -> _Like:
    return _Like(tensor.shape, tensor.dtype, tensor.device)


class _Call(NamedTuple):
    """A function and what it is called with, beside the tensors of `names`."""

    pure: Pure
    numbers: Mapping[str, Any]
    names: tuple[str, ...]
    device: torch.device


class _Kept(np.ndarray[Any, Any]):
    """An array that keeps alive a pullback, and what is known of its inputs."""

    done: Any


class _Job:
    """A call, or a derivative of it, without its tensors, which autograd holds.

    The tensors are those of the call, then the cotangents of each level.
    """

    wrt: tuple[int, ...] = ()  # the tensors that a gradient is asked for
    outputs: Outputs
    read: frozenset[str]  # the parameters whose values some derivative needs

    def __init__(
        self, call: _Call, levels: tuple[Level, ...], likes: tuple[_Like, ...]
    ) -> None:
        self.call, self.levels, self.likes = call, levels, likes
        self._done: Callable[[], Done | None] = lambda: None

    def ask(self, tensors: Sequence[torch.Tensor | None]) -> None:
        """Find out which gradients these tensors ask for."""
        names = self.call.names
        self.wrt = tuple(
            k
            for k, t in enumerate(tensors)
            if torch.is_grad_enabled() and t is not None and t.requires_grad
            if k >= len(names) or self.call.pure.varies(names[k])
        )

    def run(self, tensors: Sequence[torch.Tensor | None]) -> tuple[torch.Tensor, ...]:
        """The results in a row, and a tensor that keeps the pullback alive.

        Autograd lets go of saved tensors when `backward` has used them, but of
        attributes only with the graph.
        """
        pure, names = self.call.pure, self.call.names
        kept = np.zeros(1, np.int8).view(_Kept)
        with _stream(self.call.device):
            arrays = [_array(t, k) for t, k in zip(tensors, self.likes, strict=True)]
            given = {**self.call.numbers, **dict(zip(names, arrays, strict=False))}
            cotangents = arrays[len(names) :]
            before = self._done()
            watched = None if before is None else before.watched
            if watched is not None:
                watched.check(done=False)
            if not self.levels:
                wrt = tuple(names[k] for k in self.wrt)
                done = pure.run(given, wrt, watch=True)
                self.outputs, self.read = done.outputs, done.read
                row = done.row
                if done.pullback is not None:
                    kept.done = done = dataclasses.replace(done, row=())
                    self._done = weakref.ref(done)
            elif len(self.levels) == 1 and before is not None:
                assert before.pullback is not None
                (level,) = self.levels
                seeds = dict(zip(level.slots, cotangents, strict=True))
                found = pull(before.pullback, self.outputs, seeds)
                row = tuple(found[names[k]] for k in level.wrt)
            else:
                row = pure.gradients(given, names, self.levels, cotangents)
            if watched is not None:
                watched.check(done=True)
            row = tuple(_tensor(item, self.call.device) for item in row)
        return *row, torch.from_numpy(kept)

    def saved(
        self, tensors: Sequence[torch.Tensor | None]
    ) -> Iterator[torch.Tensor | None]:
        """The tensors, without those that no derivative reads."""
        for k, tensor in enumerate(tensors):
            names = self.call.names[k : k + 1]
            yield tensor if not names or names[0] in self.read else None

    def backward(
        self,
        tensors: Sequence[torch.Tensor | None],
        cotangents: Sequence[torch.Tensor | None],
    ) -> dict[int, torch.Tensor]:
        """The gradients of the tensors that asked for one."""
        slots = tuple(range(len(cotangents))) if self.levels else self.outputs.slots
        seeds = {s: c for s, c in zip(slots, cotangents, strict=True) if c is not None}
        if not seeds:
            return {}
        likes = (*self.likes, *map(_like, seeds.values()))
        job = _Job(self.call, (*self.levels, Level(self.wrt, tuple(seeds))), likes)
        job.outputs, job.read, job._done = self.outputs, self.read, self._done
        row = _apply(job, (*tensors, *seeds.values()))
        found = zip(self.wrt, row, strict=True)
        return {k: g.to(self.likes[k].device, self.likes[k].dtype) for k, g in found}


class _Operation(torch.autograd.Function):
    """A job and its tensors as a node of autograd's graph."""

    @staticmethod
    def forward(job: _Job, *tensors: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        return job.run(tensors)

    @staticmethod
    def setup_context(
        ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]
    ) -> None:
        job, *tensors = inputs
        ctx.job = job
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(t for t in output if not t.is_floating_point()))
        ctx.save_for_backward(*job.saved(tensors), output[-1])

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        tensors = ctx.saved_tensors[:-1]
        gradients = ctx.job.backward(tensors, cotangents[:-1])
        return None, *(gradients.get(k) for k in range(len(tensors)))

    @staticmethod
    def vmap(
        info: Any, axes: tuple[int | None, ...], job: _Job, *tensors: torch.Tensor
    ) -> tuple[tuple[torch.Tensor, ...], tuple[int | None, ...]]:
        """One call after another."""
        if not info.batch_size:
            raise ArgumentError(f"{job.call.pure.name}(): vmap over no element")
        rows = []
        for k in range(info.batch_size):
            one = copy.copy(job)
            parts = [
                t if axis is None else t.select(axis, k)
                for t, axis in zip(tensors, axes[1:], strict=True)
            ]
            rows.append(_apply(one, parts))
        job.outputs, job.read = one.outputs, one.read
        stacked = [torch.stack(parts) for parts in zip(*rows, strict=True)]
        none = torch.zeros(1, dtype=torch.int8)
        return (*stacked, none), (*(0 for _ in stacked), None)


def _apply(
    job: _Job, tensors: Sequence[torch.Tensor | None]
) -> tuple[torch.Tensor, ...]:
    job.ask(tensors)
    *row, _ = _Operation.apply(job, *tensors)
    return tuple(row)


def _device(name: str, tensors: Mapping[str, torch.Tensor]) -> torch.device:
    """The device of a call; `ArgumentError` for tensors that do not fit it."""
    found, first = _CPU, ""
    for n, t in tensors.items():
        if t.layout is not torch.strided:
            raise ArgumentError(f"`{n}` is a sparse tensor; pass {n}.to_dense()")
        if t.dtype not in _DTYPES:
            known = "bool, integers of at most 64 bits with a sign, float32 and float64"
            raise ArgumentError(
                f"`{n}` has dtype {t.dtype}; supported are {known}: pass"
                f" {n}.to(torch.float32)"
            )
        if not t.ndim:
            continue
        if first and t.device != found:
            raise ArgumentError(
                f"{name}(): `{first}` is on {found} and `{n}` on {t.device}; pass"
                f" {n}.to({str(found)!r})"
            )
        found, first = t.device, n
    if found.type not in ("cpu", "cuda"):
        raise ArgumentError(
            f"`{first}` is on {found}; {name}() runs on cpu and cuda: pass"
            f" {first}.cpu()"
        )
    return found


def _array(tensor: torch.Tensor | None, like: _Like) -> Any:
    """A tensor as pyrev takes it, in the memory that it has; a number without axes.

    Zeros stand for one that was not saved.
    """
    if tensor is None:
        tensor = torch.zeros(like.shape, dtype=like.dtype, device=like.device)
    tensor = tensor.detach().resolve_neg()
    if not tensor.ndim:
        return tensor.cpu().numpy()[()]
    if tensor.device.type == "cpu":
        return tensor.numpy()
    return device.resident("a tensor", tensor)


def _tensor(value: Any, where: torch.device = _CPU) -> torch.Tensor:
    """A result of pyrev as a tensor, in the memory that it has."""
    if device.is_device(value):
        return torch.from_dlpack(value)
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        negative = any(s < 0 for s in value.strides)
        return torch.from_numpy(value.copy() if negative else value).to(where)
    return torch.tensor(value, device=where)


@contextlib.contextmanager
def _stream(where: torch.device) -> Iterator[None]:
    """CuPy works on PyTorch's device and stream."""
    if where.type == "cpu":
        yield
        return
    handle = torch.cuda.current_stream(where).cuda_stream
    cupy = device.cupy()
    with cupy.cuda.Device(where.index), cupy.cuda.ExternalStream(handle):
        yield
