"""4. conv2d 16x16x256x256 (NCHW), 16 outputs, 3x3, valid (Sec 4.2.1)."""

import numpy as np

NAME = "conv2d"
OUT = ["out", "d_input", "d_w"]
TOL = 1e-4


def inputs(small=False):
    r = np.random.default_rng(4)
    N, C, H, W, K = (2, 8, 14, 21, 8) if small else (16, 16, 256, 256, 16)
    return dict(
        x=r.random((N, C, H, W), dtype=np.float32) - np.float32(0.5),
        w=r.random((K, C, 3, 3), dtype=np.float32) - np.float32(0.5),
        go=r.random((N, K, H - 2, W - 2), dtype=np.float32) - np.float32(0.5),
    )


def reference(i):
    import torch
    import torch.nn.functional as F

    x = torch.tensor(i["x"], dtype=torch.float64, requires_grad=True)
    w = torch.tensor(i["w"], dtype=torch.float64, requires_grad=True)
    o = F.conv2d(x, w)
    o.backward(torch.tensor(i["go"], dtype=torch.float64))
    return dict(out=o.detach().numpy(), d_input=x.grad.numpy(), d_w=w.grad.numpy())


def cost(i):
    return 4 * (2 * i["x"].size + i["go"].size * 2 + i["x"].size), 3 * 2 * i[
        "go"
    ].size * i["x"].shape[1] * 9
