"""9. ADBench GMM log-likelihood (no Wishart), d=20, K=25, n=10000; grads wrt alphas, means, icf."""

import numpy as np

NAME = "gmm"
OUT = ["loss", "d_alpha", "d_mean", "d_icf"]
TOL = 1e-3


def inputs(small=False):
    r = np.random.default_rng(10)
    d, K, n = (4, 3, 50) if small else (20, 25, 10000)
    f = lambda *s: r.standard_normal(s, dtype=np.float32)
    return dict(
        alpha=f(K),
        mean=f(K, d),
        icf=(f(K, d * (d + 1) // 2) * np.float32(0.3)),
        x=f(n, d),
    )


def torch_step(torch, alpha, mean, icf, x):
    K, d = mean.shape
    q = icf[:, :d]
    Q = torch.diag_embed(torch.exp(q))
    rows, cols = np.tril_indices(d, -1)
    o = np.lexsort((rows, cols))
    rows, cols = rows[o], cols[o]  # column-major strict lower part
    L = torch.zeros(K, d, d, dtype=x.dtype)
    L[:, rows, cols] = icf[:, d:]
    A = Q + L
    y = torch.einsum("kij,nkj->nki", A, x[:, None] - mean[None])
    t = alpha + q.sum(1) - 0.5 * (y * y).sum(-1)
    return torch.logsumexp(t, 1).sum() - x.shape[0] * torch.logsumexp(alpha, 0)


def reference(i):
    import torch

    t = {
        k: torch.tensor(i[k], dtype=torch.float64, requires_grad=True)
        for k in ("alpha", "mean", "icf")
    }
    l = torch_step(
        torch,
        t["alpha"],
        t["mean"],
        t["icf"],
        torch.tensor(i["x"], dtype=torch.float64),
    )
    l.backward()
    return dict(loss=l.detach().numpy(), **{"d_" + k: t[k].grad.numpy() for k in t})


def cost(i):
    n, d = i["x"].shape
    K = i["alpha"].size
    return i["x"].size * 8, n * K * (3 * d * d + 30)
