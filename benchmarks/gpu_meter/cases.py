"""What is measured by name: loops at the sizes of the benchmarks, and their limits.

A limit is the time that a good kernel needs on this GPU, by its bytes or by its
multiply-adds.
"""

from __future__ import annotations

import importlib
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pyrev
from benchmarks.gpu_meter.device import standing_in, to_device
from benchmarks.gpu_meter.machine import H200, Gpu
from benchmarks.gpu_meter.predict import Prediction, metered

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import gpu as gpu_benchmark
import loops

Inputs = dict[str, Any]
PRIMAL, ADJOINT = "primal", "adjoint"
BOTH = (PRIMAL, ADJOINT)


# Loops that `benchmarks/gpu.py` has not.


def matrix_product(a, b, c):
    for n in range(c.shape[0]):
        for i in range(c.shape[1]):
            for j in range(c.shape[2]):
                for k in range(a.shape[2]):
                    c[n, i, j] += a[n, i, k] * b[n, k, j]


def softmax(x, y):
    for i in range(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        s = 0.0
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - top)
            s += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] /= s


def sum_of_squares(x):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[i, j] * x[i, j]
    return s


@dataclass(frozen=True)
class Case:
    """A function, what makes its arguments, what is derived, and what is measured."""

    name: str
    function: Callable[..., Any]
    #: The arguments at full size, or small ones.
    inputs: Callable[[bool], Inputs]
    wrt: tuple[str, ...]
    parts: tuple[str, ...] = BOTH
    #: Milliseconds for these parts; none is claimed where it is 0.
    limit: float = 0.0


def _of_benchmark(name: str, parts: tuple[str, ...] = BOTH, limit: float = 0.0) -> Case:
    w = next(w for w in gpu_benchmark.WORKLOADS if w.name == name)
    return Case(name, w.loop, w.inputs, w.wrt, parts, limit)


def _workload(name: str, function: Any, wrt: str, parts: Any, limit: float) -> Case:
    def inputs(small: bool) -> Inputs:
        given = dict(importlib.import_module(f"workloads.{name}").inputs(small))
        if "T" in given:
            given["steps"] = int(given.pop("T"))
        return given

    return Case(name, function, inputs, tuple(wrt.split()), parts, limit)


def _random(full: Mapping[str, tuple[int, ...]], small: Mapping[str, tuple[int, ...]]):
    def inputs(is_small: bool) -> Inputs:
        rng = np.random.default_rng(5)
        return gpu_benchmark.arrays(rng, **(small if is_small else full))

    return inputs


CASES: dict[str, Case] = {
    c.name: c
    for c in (
        _of_benchmark("conv2d", (ADJOINT,), 0.14),
        _of_benchmark("stn", limit=0.08),
        _of_benchmark("flownet", limit=0.31),
        _of_benchmark("bslice", limit=0.07),
        _of_benchmark("heat3d", limit=0.125),
        _of_benchmark("hmlstm", limit=0.04),
        _of_benchmark("upsample", limit=0.13),
        _workload("rd2d", loops.rd2d, "u0 a", BOTH, 0.6),
        _workload("dilconv", loops.dilconv, "x w", (ADJOINT,), 0.04),
        _workload("gmm", loops.gmm, "alpha mean icf", (ADJOINT,), 0.05),
        Case(
            "matmul",
            matrix_product,
            _random(
                dict(a=(64, 512, 512), b=(64, 512, 512), go=(64, 512, 512)),
                dict(a=(2, 20, 24), b=(2, 24, 36), go=(2, 20, 36)),
            ),
            ("a", "b"),
            (ADJOINT,),
            0.51,
        ),
        Case(
            "softmax",
            softmax,
            _random(
                dict(x=(8192, 1024), go=(8192, 1024)), dict(x=(20, 70), go=(20, 70))
            ),
            ("x",),
            BOTH,
            0.04,
        ),
        Case(
            "sumsq",
            sum_of_squares,
            _random(dict(x=(8192, 8192)), dict(x=(100, 120))),
            ("x",),
            (PRIMAL,),
            0.06,
        ),
        _of_benchmark("bslice2048"),
        _of_benchmark("scaled"),
        _of_benchmark("cell4"),
        _of_benchmark("cell16_uniform"),
        _workload("splat", loops.splat, "v g", BOTH, 0.0),
    )
}


def arguments(case: Case, part: str, *, small: bool = False) -> Inputs:
    """The arguments of a part by name, on the device; cotangents are `d_` of a name."""
    given = case.inputs(small)
    names = inspect.signature(case.function).parameters
    cotangent = given.pop("go", None)
    made = {n: given[n] for n in names if n in given}
    missing = [n for n in names if n not in made]
    for n in missing:
        shape = given[f"d_{n}"].shape if f"d_{n}" in given else cotangent.shape
        made[n] = np.zeros(shape, np.float32)
        if part == ADJOINT:
            made[f"d_{n}"] = given.get(f"d_{n}", cotangent)
    if part == ADJOINT and not missing:
        made["d_result"] = np.float32(1)
    return {
        n: to_device(v) if isinstance(v, np.ndarray) and v.ndim else v
        for n, v in made.items()
    }


def text(case: Case, part: str, given: Inputs) -> tuple[str, str]:
    """The generated text of a part, and the name of its function."""
    function = pyrev.differentiable(case.function, wrt=case.wrt)
    names = inspect.signature(case.function).parameters
    with standing_in(lambda _: None):
        derived = function.adjoint if part == ADJOINT else function.primal
        made = derived.source_for("cuda", **{n: given[n] for n in names})
    called = case.function.__name__
    return made, f"{called}_adjoint" if part == ADJOINT else called


def predicted(
    case: Case, part: str, *, small: bool = False, whole: bool = False, gpu: Gpu = H200
) -> tuple[Prediction, Any, Inputs]:
    """A part of a case: the prediction, what it returned, and its arguments."""
    given = arguments(case, part, small=small)
    made, name = text(case, part, given)
    wanted = _parameters(made, name)
    given = {n: given[n] for n in wanted if n in given}
    found, result = metered(made, name, given, gpu, whole=whole)
    return found, result, given


def _parameters(made: str, name: str) -> list[str]:
    head = made.rsplit(f"def {name}(", 1)[1].split(")")[0]
    return [p.strip() for p in head.replace("\n", " ").split(",") if p.strip()]


def users(where: str, maker: str, wrt: str) -> Case:
    """A user's function `module:function`, with a maker of arguments of its module.

    The maker returns arguments by name, with the cotangent of the last array under
    "go" if the function returns nothing.
    """
    module, _, name = where.partition(":")
    found = importlib.import_module(module)
    make = getattr(found, maker)
    function = getattr(found, name)
    given = [n for n in wrt.split(",") if n]
    if not given:
        signature = inspect.signature(function)
        made = make()
        given = [n for n in signature.parameters if _is_float(made.get(n))]
    return Case(name, function, lambda small: dict(make()), tuple(given))


def _is_float(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") == "f"
