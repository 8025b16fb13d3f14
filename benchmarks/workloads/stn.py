"""1. SpatialTransformer, paper Table 1: 4x16x512x512, affine warp, bilinear, zero outside.
ix = ((gx+1)*W-1)/2 with gx = th00*X+th01*Y+th02, X=(2x+1)/W-1 (torch align_corners=False)."""

import numpy as np

NAME = "stn"
OUT = ["out", "d_input", "d_theta"]
TOL = 2e-2


def inputs(small=False):
    r = np.random.default_rng(1)
    N, C, H, W = (2, 5, 37, 45) if small else (4, 16, 512, 512)
    x = r.random((N, C, H, W), dtype=np.float32)
    th = np.zeros((N, 2, 3), np.float32)
    for n in range(N):
        a = 0.15 + 0.1 * n
        s = 0.9 + 0.05 * n
        th[n] = [
            [s * np.cos(a), -s * np.sin(a), 0.05 * n],
            [s * np.sin(a), s * np.cos(a), -0.03 * n],
        ]
    return dict(
        x=x, theta=th, go=r.random((N, C, H, W), dtype=np.float32) - np.float32(0.4)
    )


def reference(i):
    import torch
    import torch.nn.functional as F

    x = torch.tensor(i["x"], dtype=torch.float64, requires_grad=True)
    th = torch.tensor(i["theta"], dtype=torch.float64, requires_grad=True)
    o = F.grid_sample(
        x, F.affine_grid(th, x.shape, align_corners=False), align_corners=False
    )
    o.backward(torch.tensor(i["go"], dtype=torch.float64))
    return dict(out=o.detach().numpy(), d_input=x.grad.numpy(), d_theta=th.grad.numpy())


def cost(i):
    n = i["x"].size * 4
    return 2 * n + 4 * n, i["x"].size * (
        7 + 20
    )  # fwd: r x, w out; bwd: r x, r go, w d_x(+clear)
