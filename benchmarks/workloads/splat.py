"""10. bilateral-grid splat: 2048x2048 image v, guide g; cell (y//16, x//16), linear in z (32 bins):
grid[z,Y,X] += w*v ; cnt[z,Y,X] += w.  z=clip(g*31,0,31). Grads wrt v and g given d_grid, d_cnt."""

import numpy as np

NAME = "splat"
OUT = ["grid", "cnt", "d_v", "d_g"]
TOL = 1e-2
S = 16
D = 32


def inputs(small=False):
    r = np.random.default_rng(11)
    n = 64 if small else 2048
    m = n // S
    f = lambda *s: r.random(s, dtype=np.float32)
    return dict(
        v=f(n, n),
        g=f(n, n) * np.float32(0.98) + np.float32(0.01),
        d_grid=f(D, m, m),
        d_cnt=f(D, m, m),
    )


def torch_step(torch, v, g, base, n, m):
    gz = g * (D - 1)
    z0 = torch.floor(gz).clamp(0, D - 2)
    w = gz - z0
    i0 = (z0.long() * (m * m) + base).reshape(-1)
    z = lambda a, b: (
        torch.zeros(D * m * m, dtype=v.dtype)
        .index_add(0, i0, a.reshape(-1))
        .index_add(0, i0 + m * m, b.reshape(-1))
    )
    return z(v * (1 - w), v * w).view(D, m, m), z(1 - w, w).view(D, m, m)


def torch_base(torch, n, m):
    c = torch.arange(n) // S
    return c[:, None] * m + c[None, :]


def reference(i):
    import torch

    t = {k: torch.tensor(i[k], dtype=torch.float64, requires_grad=True) for k in "vg"}
    n = t["v"].shape[0]
    m = n // S
    a, b = torch_step(torch, t["v"], t["g"], torch_base(torch, n, m), n, m)
    torch.autograd.backward(
        [a, b],
        [
            torch.tensor(i["d_grid"], dtype=torch.float64),
            torch.tensor(i["d_cnt"], dtype=torch.float64),
        ],
    )
    return dict(
        grid=a.detach().numpy(),
        cnt=b.detach().numpy(),
        d_v=t["v"].grad.numpy(),
        d_g=t["g"].grad.numpy(),
    )


def cost(i):
    n = i["v"].size
    return n * 4 * (2 + 2 + 2), n * 40
