"""8a. 3-D 7-point variable-coefficient heat step, 256^3: interior v = u + a*(sum6 - 6u); boundary v = u. Grads wrt u and a."""

import numpy as np

NAME = "heat3d"
OUT = ["out", "d_u", "d_a"]
TOL = 1e-4


def inputs(small=False):
    r = np.random.default_rng(8)
    n = 19 if small else 256
    f = lambda: r.random((n, n, n), dtype=np.float32)
    return dict(u=f(), a=f() * np.float32(0.15), go=f() - np.float32(0.4))


def torch_step(u, a):
    s = slice(1, -1)
    lap = (
        u[:-2, s, s]
        + u[2:, s, s]
        + u[s, :-2, s]
        + u[s, 2:, s]
        + u[s, s, :-2]
        + u[s, s, 2:]
        - 6 * u[s, s, s]
    )
    v = u.clone()
    v[s, s, s] = u[s, s, s] + a[s, s, s] * lap
    return v


def reference(i):
    import torch

    t = {k: torch.tensor(i[k], dtype=torch.float64, requires_grad=True) for k in "ua"}
    o = torch_step(t["u"], t["a"])
    o.backward(torch.tensor(i["go"], dtype=torch.float64))
    return dict(
        out=o.detach().numpy(), d_u=t["u"].grad.numpy(), d_a=t["a"].grad.numpy()
    )


def cost(i):
    n = i["u"].size
    return n * 4 * (2 + 1 + 3 + 2), n * (9 + 20)
