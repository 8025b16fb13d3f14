"""7. HM-LSTM cell update (Revels et al. 2018, eq. 11-12), n x n float32, z1,z2 n-vectors (broadcast over rows)."""

import numpy as np

NAME = "hmlstm"
OUT = ["out", "d_c", "d_f", "d_i", "d_g"]
TOL = 1e-4


def inputs(small=False):
    r = np.random.default_rng(7)
    n = 67 if small else 2048
    f = lambda: r.standard_normal((n, n), dtype=np.float32)
    return dict(
        c=f(),
        f=f(),
        i=f(),
        g=f(),
        z1=(r.random(n) < 0.5).astype(np.float32),
        z2=(r.random(n) < 0.5).astype(np.float32),
        go=f(),
    )


def torch_step(torch, c, f, i, g, z1, z2):
    m = torch.sigmoid(i) * torch.tanh(g)
    # z1==0: (z2==1 UPDATE, z2==0 COPY); z1!=0: FLUSH
    return torch.where(
        z1[None] == 0, torch.where(z2[None] == 1, torch.sigmoid(f) * c + m, c), m
    )


def reference(i):
    import torch

    t = {k: torch.tensor(i[k], dtype=torch.float64, requires_grad=True) for k in "cfig"}
    o = torch_step(
        torch,
        t["c"],
        t["f"],
        t["i"],
        t["g"],
        torch.tensor(i["z1"]),
        torch.tensor(i["z2"]),
    )
    o.backward(torch.tensor(i["go"], dtype=torch.float64))
    return dict(out=o.detach().numpy(), **{"d_" + k: t[k].grad.numpy() for k in "cfig"})


def cost(i):
    n = i["c"].size
    return n * 4 * (4 + 1 + 4 + 1 + 4), n * 60
