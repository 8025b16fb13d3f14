"""PyTorch 2.13 eager, native ops, autograd (2 threads)."""

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(2)
T = lambda a, g=False: torch.from_numpy(np.ascontiguousarray(a)).requires_grad_(bool(g))
W = lambda f: f  # torch_compile overrides this


def _clr(*ts):
    for t in ts:
        t.grad = None


def stn(i):
    x, th, go = T(i["x"], 1), T(i["theta"], 1), T(i["go"])
    f = W(
        lambda x, th: F.grid_sample(
            x, F.affine_grid(th, x.shape, align_corners=False), align_corners=False
        )
    )

    def step():
        _clr(x, th)
        o = f(x, th)
        o.backward(go)
        return dict(out=o, d_input=x.grad, d_theta=th.grad)

    return step


def flownet(i):
    from workloads.flownet import torch_step

    x, fl, go = T(i["x"], 1), T(i["flow"], 1), T(i["go"])
    H, Wd = x.shape[2:]
    b = torch.meshgrid(
        torch.arange(H, dtype=torch.float32),
        torch.arange(Wd, dtype=torch.float32),
        indexing="ij",
    )
    f = W(lambda x, fl: torch_step(F, torch, x, fl, (b[1], b[0])))

    def step():
        _clr(x, fl)
        o = f(x, fl)
        o.backward(go)
        return dict(out=o, d_input=x.grad, d_flow=fl.grad)

    return step


def bslice(i):
    from workloads.bslice import torch_base, torch_step

    x, gu, gr, go = T(i["x"], 1), T(i["guide"], 1), T(i["grid"], 1), T(i["go"])
    b = torch_base(torch, x.shape[2], x.shape[3], torch.float32)
    f = W(lambda x, gu, gr: torch_step(F, torch, x, gu, gr, b))

    def step():
        _clr(x, gu, gr)
        o = f(x, gu, gr)
        o.backward(go)
        return dict(out=o, d_grid=gr.grad, d_guide=gu.grad, d_input=x.grad)

    return step


def conv2d(i):
    x, w, go = T(i["x"], 1), T(i["w"], 1), T(i["go"])
    f = W(lambda x, w: F.conv2d(x, w))

    def step():
        _clr(x, w)
        o = f(x, w)
        o.backward(go)
        return dict(out=o, d_input=x.grad, d_w=w.grad)

    return step


def _ckpt(i):
    x, k, t = T(i["x"], 1), T(i["k"]), T(i["target"])
    f = W(lambda x: ((F.conv2d(x[None, None], k[None, None])[0, 0] - t) ** 2).sum())

    def step():
        _clr(x)
        f(x).backward()
        return dict(d_input=x.grad)

    return step


ckpt1x5 = ckpt3x5 = _ckpt


def dilconv(i):
    x, w, go = T(i["x"], 1), T(i["w"], 1), T(i["go"])
    f = W(
        lambda x, w: F.conv2d(
            x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), stride=3, dilation=2
        ).permute(0, 2, 3, 1)
    )

    def step():
        _clr(x, w)
        o = f(x, w)
        o.backward(go)
        return dict(out=o, d_input=x.grad, d_w=w.grad)

    return step


def hmlstm(i):
    from workloads.hmlstm import torch_step

    v = [T(i[k], 1) for k in "cfig"]
    z1, z2, go = T(i["z1"]), T(i["z2"]), T(i["go"])
    f = W(lambda c, ff, ii, g: torch_step(torch, c, ff, ii, g, z1, z2))

    def step():
        _clr(*v)
        o = f(*v)
        o.backward(go)
        return dict(out=o, **{"d_" + k: t.grad for k, t in zip("cfig", v)})

    return step


def heat3d(i):
    from workloads.heat3d import torch_step

    u, a, go = T(i["u"], 1), T(i["a"], 1), T(i["go"])
    f = W(torch_step)

    def step():
        _clr(u, a)
        o = f(u, a)
        o.backward(go)
        return dict(out=o, d_u=u.grad, d_a=a.grad)

    return step


def rd2d(i):
    from workloads.rd2d import torch_step

    u0, a, go = T(i["u0"], 1), T(i["a"], 1), T(i["go"])
    n = int(i["T"])
    f = W(lambda u, a: torch_step(torch, F, u, a))

    def step():
        _clr(u0, a)
        u = u0
        for _ in range(n):
            u = f(u, a)
        u.backward(go)
        return dict(out=u, d_u0=u0.grad, d_a=a.grad)

    return step


def gmm(i):
    from workloads.gmm import torch_step

    al, me, ic, x = T(i["alpha"], 1), T(i["mean"], 1), T(i["icf"], 1), T(i["x"])
    f = W(lambda al, me, ic: torch_step(torch, al, me, ic, x))

    def step():
        _clr(al, me, ic)
        l = f(al, me, ic)
        l.backward()
        return dict(loss=l, d_alpha=al.grad, d_mean=me.grad, d_icf=ic.grad)

    return step


def splat(i):
    from workloads.splat import torch_base, torch_step

    v, g, dg, dc = T(i["v"], 1), T(i["g"], 1), T(i["d_grid"]), T(i["d_cnt"])
    n = v.shape[0]
    m = n // 16
    b = torch_base(torch, n, m)
    f = W(lambda v, g: torch_step(torch, v, g, b, n, m))

    def step():
        _clr(v, g)
        a, c = f(v, g)
        torch.autograd.backward([a, c], [dg, dc])
        return dict(grid=a, cnt=c, d_v=v.grad, d_g=g.grad)

    return step


def to_numpy(d):
    return {k: v.detach().numpy() for k, v in d.items()}
