"""6. PlaidML strided dilated convolution, NHWC, stride 3, dilation 2, valid. I[8,224,224,32] K[3,3,32,32]."""

import numpy as np

NAME = "dilconv"
OUT = ["out", "d_input", "d_w"]
TOL = 1e-4


def inputs(small=False):
    r = np.random.default_rng(6)
    N, H, W, CI, CO = (2, 26, 31, 8, 8) if small else (8, 224, 224, 32, 32)
    OH, OW = (H - 5) // 3 + 1, (W - 5) // 3 + 1
    return dict(
        x=r.random((N, H, W, CI), dtype=np.float32) - np.float32(0.5),
        w=r.random((3, 3, CI, CO), dtype=np.float32) - np.float32(0.5),
        go=r.random((N, OH, OW, CO), dtype=np.float32) - np.float32(0.5),
    )


def reference(i):
    import torch
    import torch.nn.functional as F

    x = torch.tensor(i["x"], dtype=torch.float64, requires_grad=True)
    w = torch.tensor(i["w"], dtype=torch.float64, requires_grad=True)
    o = F.conv2d(
        x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), stride=3, dilation=2
    ).permute(0, 2, 3, 1)
    o.backward(torch.tensor(i["go"], dtype=torch.float64))
    return dict(out=o.detach().numpy(), d_input=x.grad.numpy(), d_w=w.grad.numpy())


def cost(i):
    return 4 * (3 * i["x"].size + 2 * i["go"].size), 3 * 2 * i["go"].size * 9 * i[
        "x"
    ].shape[3]
