"""5. Sec 4.3 checkpointing example, kernel 3x5: conv = valid conv (true convolution is a relabelling) of a
padded (1600+KH-1)x(2560+KW-1) image; loss = sum (conv-target)^2; only d_in is computed/timed."""

import numpy as np

NAME = "ckpt3x5"
OUT = ["d_input"]
TOL = 1e-4
KH, KW = 3, 5


def inputs(small=False):
    r = np.random.default_rng(5)
    H, W = (40, 67) if small else (1600, 2560)
    return dict(
        x=r.random((H + KH - 1, W + KW - 1), dtype=np.float32),
        k=r.random((KH, KW), dtype=np.float32),
        target=r.random((H, W), dtype=np.float32),
    )


def reference(i):
    import torch
    import torch.nn.functional as F

    x = torch.tensor(i["x"], dtype=torch.float64, requires_grad=True)
    k = torch.tensor(i["k"], dtype=torch.float64)
    o = F.conv2d(x[None, None], k[None, None])[0, 0]
    ((o - torch.tensor(i["target"], dtype=torch.float64)) ** 2).sum().backward()
    return dict(d_input=x.grad.numpy())


def cost(i):
    n = i["target"].size
    return n * 4 * 3, n * (4 * KH * KW + 2)
