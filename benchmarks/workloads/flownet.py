"""2. FlowNet warp: 4x64x512x512, per-pixel displacement (pixels), bilinear, border clamp."""

import numpy as np

NAME = "flownet"
OUT = ["out", "d_input", "d_flow"]
TOL = 2e-2


def inputs(small=False):
    r = np.random.default_rng(2)
    N, C, H, W = (2, 5, 37, 45) if small else (4, 64, 512, 512)
    x = r.random((N, C, H, W), dtype=np.float32)
    yy, xx = np.meshgrid(np.arange(H), np.arange(W), indexing="ij")
    fl = np.empty((N, 2, H, W), np.float32)
    for n in range(N):
        fl[n, 0] = 6 * np.sin(yy / 23.0 + n) + 4 * np.cos(xx / 17.0)
        fl[n, 1] = 5 * np.cos(xx / 29.0 + n) + 3 * np.sin(yy / 13.0)
    fl += r.random(fl.shape, dtype=np.float32)
    return dict(
        x=x, flow=fl, go=r.random((N, C, H, W), dtype=np.float32) - np.float32(0.4)
    )


def torch_step(F, torch, x, fl, base):
    N, C, H, W = x.shape
    gx = (base[0] + fl[:, 0] + 0.5) * (2.0 / W) - 1
    gy = (base[1] + fl[:, 1] + 0.5) * (2.0 / H) - 1
    return F.grid_sample(
        x, torch.stack([gx, gy], -1), padding_mode="border", align_corners=False
    )


def reference(i):
    import torch
    import torch.nn.functional as F

    x = torch.tensor(i["x"], dtype=torch.float64, requires_grad=True)
    fl = torch.tensor(i["flow"], dtype=torch.float64, requires_grad=True)
    N, C, H, W = x.shape
    base = torch.meshgrid(
        torch.arange(H, dtype=torch.float64),
        torch.arange(W, dtype=torch.float64),
        indexing="ij",
    )
    o = torch_step(F, torch, x, fl, (base[1], base[0]))
    o.backward(torch.tensor(i["go"], dtype=torch.float64))
    return dict(out=o.detach().numpy(), d_input=x.grad.numpy(), d_flow=fl.grad.numpy())


def cost(i):
    n = i["x"].size * 4
    f = i["flow"].size * 4
    return 6 * n + 3 * f, i["x"].size * (7 + 20)
