"""pyrev on the CPU: the plain loops of `loops.py`, differentiated and run by Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import loops
import numpy as np

import pyrev

Inputs = dict[str, Any]
Step = Callable[[], Inputs]


def filled(
    loop: Callable[..., Any], like: np.ndarray, given: Inputs, outs: dict[str, str]
) -> Step:
    """A workload that fills `out` from `given`, pulled back from the cotangent `go`.

    The caller keeps `out`, as those of the other compiled peers do.
    """
    function = pyrev.differentiable(loop)
    wrt = tuple(outs)
    go = given.pop("go")
    out = np.empty_like(like)

    def step() -> Inputs:
        out.fill(0.0)
        _, pullback = pyrev.vjp(function, **given, out=out, wrt=wrt)
        gradients = pullback(out=go)
        return {"out": out} | {outs[name]: gradients[name] for name in wrt}

    return step


def conv2d(i: Inputs) -> Step:
    return filled(loops.conv2d, i["go"], i, {"x": "d_input", "w": "d_w"})


def dilconv(i: Inputs) -> Step:
    return filled(loops.dilconv, i["go"], i, {"x": "d_input", "w": "d_w"})


def heat3d(i: Inputs) -> Step:
    return filled(loops.heat3d, i["go"], i, {"u": "d_u", "a": "d_a"})


def rd2d(i: Inputs) -> Step:
    given = {"u0": i["u0"], "a": i["a"], "steps": int(i["T"]), "go": i["go"]}
    return filled(loops.rd2d, i["go"], given, {"u0": "d_u0", "a": "d_a"})


def hmlstm(i: Inputs) -> Step:
    return filled(loops.hmlstm, i["go"], i, {name: f"d_{name}" for name in "cfig"})


def flownet(i: Inputs) -> Step:
    return filled(loops.flownet, i["go"], i, {"x": "d_input", "flow": "d_flow"})


def stn(i: Inputs) -> Step:
    return filled(loops.stn, i["go"], i, {"x": "d_input", "theta": "d_theta"})


def bslice(i: Inputs) -> Step:
    outs = {"x": "d_input", "guide": "d_guide", "grid": "d_grid"}
    return filled(loops.bslice, i["go"], i, outs)


def splat(i: Inputs) -> Step:
    function = pyrev.differentiable(loops.splat)

    def step() -> Inputs:
        grid, count = np.zeros_like(i["d_grid"]), np.zeros_like(i["d_cnt"])
        _, pullback = pyrev.vjp(function, i["v"], i["g"], grid, count, wrt=("v", "g"))
        gradients = pullback(grid=i["d_grid"], cnt=i["d_cnt"])
        return {
            "grid": grid,
            "cnt": count,
            "d_v": gradients["v"],
            "d_g": gradients["g"],
        }

    return step


def ckpt1x5(i: Inputs) -> Step:
    gradient = pyrev.grad(loops.ckpt, wrt="x")
    return lambda: {"d_input": gradient(i["x"], i["k"], i["target"])}


ckpt3x5 = ckpt1x5


def gmm(i: Inputs) -> Step:
    names = ("alpha", "mean", "icf")
    gradient = pyrev.value_and_grad(loops.gmm, wrt=names)

    def step() -> Inputs:
        loss, gradients = gradient(**i)
        return {"loss": np.asarray(loss)} | {f"d_{n}": gradients[n] for n in names}

    return step
