"""The workloads of `further.py` as whole-array operations in PyTorch, eager.

Soft-DTW is not here: each of its cells needs the one before it, and as whole-array
operations it would be a million of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.nn.functional import conv3d as torch_conv3d

Tensors = dict[str, Any]
#: From the arguments to the outputs, by name.
Forward = Callable[[Tensors], Tensors]


def conv3d(t: Tensors) -> Tensors:
    return {"out": torch_conv3d(t["x"][None, None], t["w"][None, None])[0, 0]}


def fdtd2d(t: Tensors) -> Tensors:
    ez, hx, hy = t["ez"].clone(), t["hx"].clone(), t["hy"].clone()
    inside = t["eps"][1:-1, 1:-1]
    for _ in range(t["steps"]):
        hx[:-1, :-1] -= 0.5 * (ez[:-1, 1:] - ez[:-1, :-1])
        hy[:-1, :-1] += 0.5 * (ez[1:, :-1] - ez[:-1, :-1])
        curl = hy[1:-1, 1:-1] - hy[:-2, 1:-1] - hx[1:-1, 1:-1] + hx[1:-1, :-2]
        ez[1:-1, 1:-1] += inside * curl
    return {"ez": ez, "hx": hx, "hy": hy}


def lattice_boltzmann(t: Tensors) -> Tensors:
    f, omega = t["f"], t["omega"]
    rho = f.sum(0)
    ux = (f[6:].sum(0) - f[:3].sum(0)) / rho
    uy = (f[2::3].sum(0) - f[::3].sum(0)) / rho
    square = 1.5 * (ux * ux + uy * uy)
    planes = []
    for a in range(3):
        for b in range(3):
            weight = (2.0 / 3.0 if a == 1 else 1.0 / 6.0) * (
                2.0 / 3.0 if b == 1 else 1.0 / 6.0
            )
            cu = 3.0 * ((a - 1) * ux + (b - 1) * uy)
            feq = weight * rho * (1.0 + cu + 0.5 * cu * cu - square)
            plane = f[3 * a + b] * (1.0 - omega) + omega * feq
            planes.append(torch.roll(plane, (a - 1, b - 1), (0, 1)))
    return {"g": torch.stack(planes)}


def deposit(t: Tensors) -> Tensors:
    grid, charge = t["grid"], t["charge"]
    x = t["position"] * (grid.shape[0] - 1)
    k = x.detach().long().clamp(0, grid.shape[0] - 2)
    w = x - k
    grid = grid.index_add(0, k, charge * (1.0 - w))
    return {"grid": grid.index_add(0, k + 1, charge * w)}


def csr_product(t: Tensors) -> Tensors:
    counts = t["start"].diff()
    rows = torch.repeat_interleave(torch.arange(len(counts)), counts)
    terms = t["data"] * t["x"][t["column"]]
    return {"y": torch.zeros_like(t["y"]).index_add(0, rows, terms)}


def triangular_solve(t: Tensors) -> Tensors:
    found = torch.linalg.solve_triangular(t["lower"], t["b"][:, None], upper=False)
    return {"x": found[:, 0]}


def prefix_sums(t: Tensors) -> Tensors:
    s = torch.cumsum(t["x"] * t["w"], 1)
    return {"out": s * s}


def matrix_product(t: Tensors) -> Tensors:
    return {"c": t["c"] + t["a"] @ t["b"]}


def n_body(t: Tensors) -> Tensors:
    position = t["position"]
    apart = position[None] - position[:, None]
    squared = (apart * apart).sum(2) + 0.01
    pull = t["mass"] / (squared * torch.sqrt(squared))
    return {"acceleration": t["acceleration"] + (pull[..., None] * apart).sum(1)}


FORWARD: dict[str, Forward] = {
    f.__name__: f
    for f in (
        conv3d,
        fdtd2d,
        lattice_boltzmann,
        deposit,
        csr_product,
        triangular_solve,
        prefix_sums,
        matrix_product,
        n_body,
    )
}


def gradient(name: str, arguments: Mapping[str, Any]) -> Callable[[], dict[str, Any]]:
    """A step that runs a workload and gives its gradients, ones for cotangents."""
    forward = FORWARD[name]
    leaves = {
        k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v
        for k, v in arguments.items()
    }
    floats = [
        k for k, v in leaves.items() if torch.is_tensor(v) and v.is_floating_point()
    ]

    def step() -> dict[str, Any]:
        own = {k: leaves[k].detach().requires_grad_() for k in floats}
        outputs = forward({**leaves, **own})
        torch.autograd.backward(
            list(outputs.values()), [torch.ones_like(v) for v in outputs.values()]
        )
        return {
            k: np.zeros(v.shape) if v.grad is None else v.grad.numpy()
            for k, v in own.items()
        }

    return step
