"""The peers of `gpu.py`: what else a user of a GPU would write, on the same arrays.

Each maker takes the inputs (NumPy, float32) and gives a step that runs forward and
backward and returns the gradients by name, or None where its library is not there or
sees no GPU. With `device="cpu"` the same code runs there, which is how it is checked.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Inputs = dict[str, Any]
Step = Callable[[], Any]


def _torch(device: str) -> Any:
    try:
        import torch
    except ImportError:
        return None
    return torch if device == "cpu" or torch.cuda.is_available() else None


def torch_native(name: str, given: Inputs, compiled: bool, device: str) -> Step | None:
    """PyTorch's own operators, as in `torch_eager.py`."""
    torch = _torch(device)
    if torch is None:
        return None
    torch.set_default_device(device)
    peer = importlib.import_module("peers.torch_eager")
    peer.T = lambda a, g=False: torch.tensor(a, device=device).requires_grad_(bool(g))
    peer.W = torch.compile if compiled else (lambda f: f)
    return getattr(peer, name)(given)


def torch_composed(
    name: str, given: Inputs, compiled: bool, device: str
) -> Step | None:
    """The layer from PyTorch's elementary operators: gathers, products, sums."""
    torch = _torch(device)
    if torch is None:
        return None
    forward, wrt = {
        "flownet": (_composed_flownet, ("x", "flow")),
        "bslice": (_composed_bslice, ("x", "guide", "grid")),
    }[name]
    held = {k: torch.tensor(v, device=device) for k, v in given.items()}
    for n in wrt:
        held[n].requires_grad_()
    f = torch.compile(forward) if compiled else forward
    go = held.pop("go")

    def step() -> Inputs:
        for n in wrt:
            held[n].grad = None
        f(**held).backward(go)
        return {n: held[n].grad for n in wrt}

    return step


def _composed_flownet(x: Any, flow: Any) -> Any:
    import torch

    n, c, h, w = x.shape
    ys = torch.arange(h, device=x.device, dtype=x.dtype)[:, None]
    xs = torch.arange(w, device=x.device, dtype=x.dtype)
    px = (xs + flow[:, 0]).clamp(0, w - 1)
    py = (ys + flow[:, 1]).clamp(0, h - 1)
    x0, y0 = px.floor().clamp(max=w - 2), py.floor().clamp(max=h - 2)
    wx, wy = (px - x0)[:, None], (py - y0)[:, None]
    corner = (y0 * w + x0).long().view(n, 1, h * w).expand(n, c, h * w)
    flat = x.view(n, c, h * w)

    def at(dy: int, dx: int) -> Any:
        return flat.gather(2, corner + (dy * w + dx)).view(n, c, h, w)

    top = (1 - wx) * at(0, 0) + wx * at(0, 1)
    low = (1 - wx) * at(1, 0) + wx * at(1, 1)
    return (1 - wy) * top + wy * low


def _composed_bslice(x: Any, guide: Any, grid: Any) -> Any:
    import torch

    n, _, h, w = x.shape
    _, channels, depth, rows, columns = grid.shape

    def axis(count: int, cells: int) -> Any:
        at = torch.arange(count, device=x.device, dtype=x.dtype) + 0.5
        return (at * (cells / count) - 0.5).clamp(0, cells - 1)

    gz = (guide * depth - 0.5).clamp(0, depth - 1)
    gy = axis(h, rows)[None, :, None].expand(n, h, w)
    gx = axis(w, columns)[None, None, :].expand(n, h, w)
    z0, y0, x0 = (
        g.floor().clamp(max=cells - 2)
        for g, cells in ((gz, depth), (gy, rows), (gx, columns))
    )
    wz, wy, wx = gz - z0, gy - y0, gx - x0
    corner = ((z0 * rows + y0) * columns + x0).long().view(n, 1, h * w)
    flat = grid.view(n, channels, -1)
    total = 0
    for dz in range(2):
        for dy in range(2):
            for dx in range(2):
                step = (dz * rows + dy) * columns + dx
                weight = (wz if dz else 1 - wz) * (wy if dy else 1 - wy)
                weight = weight * (wx if dx else 1 - wx)
                cell = flat.gather(2, (corner + step).expand(n, channels, h * w))
                total = total + weight[:, None] * cell.view(n, channels, h, w)
    coefficients = total.view(n, 3, 4, h, w)
    return (coefficients[:, :, :3] * x[:, None]).sum(2) + coefficients[:, :, 3]


def jax_jitted(name: str, given: Inputs, device: str) -> Step | None:
    """JAX, forward and backward in one `jit`, as in `jax_cpu.py`."""
    try:
        import jax
    except ImportError:
        return None
    if jax.default_backend() != device.replace("cuda", "gpu"):
        return None
    return getattr(importlib.import_module("peers.jax_cpu"), name)(given)


# ------------------------------------------------------------------ whole arrays


def whole_arrays(name: str, given: Inputs, xp: Any) -> Step | None:
    """Forward and hand-written backward in whole-array expressions of CuPy."""
    forward = _WHOLE.get(name)
    if forward is None:
        return None
    held = {k: xp.asarray(v) for k, v in given.items()}
    return lambda: forward(xp, **held)


def _whole_hmlstm(
    xp: Any, c: Any, f: Any, i: Any, g: Any, z1: Any, z2: Any, go: Any
) -> Inputs:
    def sigmoid(x: Any) -> Any:
        return 1 / (1 + xp.exp(-x))

    flush, update = z1 != 0, (z1 == 0) & (z2 == 1)
    si, tg, sf = sigmoid(i), xp.tanh(g), sigmoid(f)
    new = si * tg
    out = xp.where(flush, new, xp.where(update, sf * c + new, c))
    made = xp.where(flush | update, go, 0)
    kept = xp.where(update, go, 0)
    return {
        "out": out,
        "c": xp.where(flush, 0, xp.where(update, go * sf, go)),
        "f": kept * c * sf * (1 - sf),
        "i": made * tg * si * (1 - si),
        "g": made * si * (1 - tg * tg),
    }


def _whole_heat3d(xp: Any, u: Any, a: Any, go: Any) -> Inputs:
    s = slice(1, -1)
    around = u[:-2, s, s] + u[2:, s, s] + u[s, :-2, s] + u[s, 2:, s]
    around = around + u[s, s, :-2] + u[s, s, 2:] - 6 * u[s, s, s]
    out = u.copy()
    out[s, s, s] += a[s, s, s] * around
    d_a = xp.zeros_like(a)
    d_a[s, s, s] = go[s, s, s] * around
    flow = go[s, s, s] * a[s, s, s]
    d_u = go.copy()
    d_u[s, s, s] -= 6 * flow
    for at in (
        (slice(0, -2), s, s),
        (slice(2, None), s, s),
        (s, slice(0, -2), s),
        (s, slice(2, None), s),
        (s, s, slice(0, -2)),
        (s, s, slice(2, None)),
    ):
        d_u[at] += flow
    return {"out": out, "u": d_u, "a": d_a}


def _whole_scaled(xp: Any, x: Any, k: Any, go: Any) -> Inputs:
    return {"out": k * x * x + x, "x": go * (2 * k * x + 1)}


def _whole_upsample(xp: Any, coarse: Any, go: Any) -> Inputs:
    h, w = coarse.shape
    return {
        "out": coarse.repeat(4, 0).repeat(4, 1),
        "coarse": go.reshape(h, 4, w, 4).sum((1, 3)),
    }


_WHOLE: dict[str, Callable[..., Inputs]] = {
    "hmlstm": _whole_hmlstm,
    "heat3d": _whole_heat3d,
    "scaled": _whole_scaled,
    "upsample": _whole_upsample,
}
