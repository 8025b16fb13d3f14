"""3. BilateralSlice (HDRNet): batch 4, 3x1024x1024 image, guide, grid 12x8x32x32 (c,z,y,x).
coef = trilinear(grid) at ((x+.5)*gw/W-.5, (y+.5)*gh/H-.5, guide*gd-.5), border clamp;
out[co] = sum_ci coef[4*co+ci]*in[ci] + coef[4*co+3]."""

import numpy as np

NAME = "bslice"
OUT = ["out", "d_grid", "d_guide", "d_input"]
TOL = 2e-3


def inputs(small=False):
    r = np.random.default_rng(3)
    N, H, W, gd, gh, gw = (2, 48, 64, 4, 6, 8) if small else (4, 1024, 1024, 8, 32, 32)
    yy, xx = np.meshgrid(np.arange(H), np.arange(W), indexing="ij")
    base = (0.5 + 0.45 * np.sin(xx / 97.0) * np.cos(yy / 71.0)).astype(np.float32)
    guide = np.clip(
        base[None] + 0.06 * (r.random((N, H, W), dtype=np.float32) - np.float32(0.5)),
        0.001,
        0.999,
    ).astype(np.float32)
    return dict(
        x=r.random((N, 3, H, W), dtype=np.float32),
        guide=guide,
        grid=r.random((N, 12, gd, gh, gw), dtype=np.float32),
        go=r.random((N, 3, H, W), dtype=np.float32) - np.float32(0.4),
    )


def torch_step(F, torch, x, guide, grid, base):
    N, _, H, W = x.shape
    g = torch.stack(
        [base[0].expand(N, H, W), base[1].expand(N, H, W), guide * 2 - 1], -1
    )[:, None]
    co = F.grid_sample(grid, g, padding_mode="border", align_corners=False)[
        :, :, 0
    ]  # N,12,H,W
    co = co.view(N, 3, 4, H, W)
    return (co[:, :, :3] * x[:, None]).sum(2) + co[:, :, 3]


def torch_base(torch, H, W, dt):
    gx = (torch.arange(W, dtype=dt) + 0.5) * (2.0 / W) - 1
    gy = (torch.arange(H, dtype=dt) + 0.5) * (2.0 / H) - 1
    return gx[None, None, :], gy[None, :, None]


def reference(i):
    import torch
    import torch.nn.functional as F

    t = {
        k: torch.tensor(i[k], dtype=torch.float64, requires_grad=True)
        for k in ("x", "guide", "grid")
    }
    H, W = i["x"].shape[2:]
    o = torch_step(
        F, torch, t["x"], t["guide"], t["grid"], torch_base(torch, H, W, torch.float64)
    )
    o.backward(torch.tensor(i["go"], dtype=torch.float64))
    return dict(
        out=o.detach().numpy(),
        d_grid=t["grid"].grad.numpy(),
        d_guide=t["guide"].grad.numpy(),
        d_input=t["x"].grad.numpy(),
    )


def cost(i):
    n = i["guide"].size
    return n * 4 * (3 + 1 + 3 + 3 + 1 + 3 + 3 + 1), n * (
        2 * (4 * 12 + 12) + 2 * (9 * 2 + 12 + 12 + 4 * 12 + 12) + 40
    )
