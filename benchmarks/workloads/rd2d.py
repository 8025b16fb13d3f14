"""8b. 2-D 5-point reaction-diffusion (Fisher-KPP), 100 steps, 1024^2, zero-flux edges by clamped index:
u' = u + a*(uN+uS+uE+uW-4u) + R*u*(1-u).  Adjoint of the final state given; grads wrt u0 and a."""

import numpy as np

NAME = "rd2d"
OUT = ["out", "d_u0", "d_a"]
TOL = 1e-3
R = 0.05


def inputs(small=False):
    r = np.random.default_rng(9)
    n, T = (33, 12) if small else (1024, 100)
    f = lambda: r.random((n, n), dtype=np.float32)
    return dict(
        u0=f(), a=f() * np.float32(0.2), go=f() - np.float32(0.4), T=np.int64(T)
    )


def torch_step(torch, F, u, a):
    p = F.pad(u[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    return (
        u
        + a * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u)
        + R * u * (1 - u)
    )


def reference(i):
    import torch
    import torch.nn.functional as F

    t = {
        k: torch.tensor(i[k], dtype=torch.float64, requires_grad=True)
        for k in ("u0", "a")
    }
    u = t["u0"]
    for _ in range(int(i["T"])):
        u = torch_step(torch, F, u, t["a"])
    u.backward(torch.tensor(i["go"], dtype=torch.float64))
    return dict(
        out=u.detach().numpy(), d_u0=t["u0"].grad.numpy(), d_a=t["a"].grad.numpy()
    )


def cost(i):
    n = i["u0"].size
    T = int(i["T"])
    return n * 4 * T * 2, n * T * (
        11 + 22
    )  # DRAM: write + read every state once (store-all); L3 holds the rest
