"""Taichi 1.7.4, arch=cpu (LLVM, 2 threads), ndarray kernels with kernel.grad (tape-free)."""

import numpy as np
import taichi as ti

ti.init(
    arch=ti.cpu,
    cpu_max_num_threads=2,
    fast_math=True,
    offline_cache=False,
    log_level=ti.ERROR,
)
F = ti.f32


def fld(sh, a=None):
    f = ti.field(F, shape=sh, needs_grad=True)
    if a is not None:
        f.from_numpy(np.ascontiguousarray(a))
    return f


def drive(kern, outs, gos, ins, names):
    gs = [ti.field(F, shape=o.shape) for o in outs]
    for g, a in zip(gs, gos):
        g.from_numpy(np.ascontiguousarray(a))

    def step():
        for t in ins:
            t.grad.fill(0)
        for o in outs:
            o.fill(0)
        kern()
        for o, g in zip(outs, gs):
            o.grad.copy_from(g)
        kern.grad()
        ti.sync()
        return dict(zip(names, list(outs) + [t.grad for t in ins]))

    return step


def to_numpy(d):
    return {k: v.to_numpy() for k, v in d.items()}


def stn(i):
    N, C, H, W = i["x"].shape
    x, th, o = (
        fld(i["x"].shape, i["x"]),
        fld(i["theta"].shape, i["theta"]),
        fld(i["x"].shape),
    )

    @ti.func
    def tap(n, c, yy, xx, w):
        r = 0.0
        if xx >= 0 and yy >= 0 and xx < W and yy < H:
            r = w * x[n, c, yy, xx]
        return r

    @ti.kernel
    def k():
        for n, c, y, q in ti.ndrange(N, C, H, W):
            X = (2.0 * q + 1.0) / W - 1.0
            Y = (2.0 * y + 1.0) / H - 1.0
            ix = (
                (th[n, 0, 0] * X + th[n, 0, 1] * Y + th[n, 0, 2] + 1.0) * W - 1.0
            ) * 0.5
            iy = (
                (th[n, 1, 0] * X + th[n, 1, 1] * Y + th[n, 1, 2] + 1.0) * H - 1.0
            ) * 0.5
            x0 = ti.floor(ix)
            y0 = ti.floor(iy)
            wx = ix - x0
            wy = iy - y0
            a = ti.cast(x0, ti.i32)
            b = ti.cast(y0, ti.i32)
            o[n, c, y, q] = (
                tap(n, c, b, a, (1 - wx) * (1 - wy))
                + tap(n, c, b, a + 1, wx * (1 - wy))
                + tap(n, c, b + 1, a, (1 - wx) * wy)
                + tap(n, c, b + 1, a + 1, wx * wy)
            )

    return drive(k, [o], [i["go"]], [x, th], ["out", "d_input", "d_theta"])


def flownet(i):
    N, C, H, W = i["x"].shape
    x, f, o = (
        fld(i["x"].shape, i["x"]),
        fld(i["flow"].shape, i["flow"]),
        fld(i["x"].shape),
    )

    @ti.kernel
    def k():
        for n, c, y, q in ti.ndrange(N, C, H, W):
            ix = ti.min(ti.max(q + f[n, 0, y, q], 0.0), W - 1.0)
            iy = ti.min(ti.max(y + f[n, 1, y, q], 0.0), H - 1.0)
            a = ti.min(ti.cast(ix, ti.i32), W - 2)
            b = ti.min(ti.cast(iy, ti.i32), H - 2)
            wx = ix - a
            wy = iy - b
            o[n, c, y, q] = (1 - wy) * (
                (1 - wx) * x[n, c, b, a] + wx * x[n, c, b, a + 1]
            ) + wy * ((1 - wx) * x[n, c, b + 1, a] + wx * x[n, c, b + 1, a + 1])

    return drive(k, [o], [i["go"]], [x, f], ["out", "d_input", "d_flow"])


def conv2d(i):
    x, w, o = fld(i["x"].shape, i["x"]), fld(i["w"].shape, i["w"]), fld(i["go"].shape)
    C = i["x"].shape[1]
    N, K, OH, OW = i["go"].shape

    @ti.kernel
    def k():
        for n, q, y, xx in ti.ndrange(N, K, OH, OW):
            s = 0.0
            for c in range(C):
                for j, p in ti.static(ti.ndrange(3, 3)):
                    s += x[n, c, y + j, xx + p] * w[q, c, j, p]
            o[n, q, y, xx] = s

    return drive(k, [o], [i["go"]], [x, w], ["out", "d_input", "d_w"])


def _ckpt(i):
    x, o = fld(i["x"].shape, i["x"]), fld(())
    kk, t = fld(i["k"].shape, i["k"]), fld(i["target"].shape, i["target"])
    KH = i["k"].shape[0]
    H, W = i["target"].shape

    @ti.kernel
    def k():
        for y, xx in ti.ndrange(H, W):
            s = 0.0
            for j, p in ti.static(ti.ndrange(KH, 5)):
                s += x[y + j, xx + p] * kk[j, p]
            o[None] += (s - t[y, xx]) ** 2

    def step():
        x.grad.fill(0)
        o.grad[None] = 1.0
        k.grad()
        ti.sync()
        return dict(d_input=x.grad)

    return step


ckpt1x5 = ckpt3x5 = _ckpt


def hmlstm(i):
    c, f, ii, g = (fld(i[k].shape, i[k]) for k in "cfig")
    z1, z2, o = (
        fld(i["z1"].shape, i["z1"]),
        fld(i["z2"].shape, i["z2"]),
        fld(i["c"].shape),
    )
    n = i["c"].shape[0]

    @ti.kernel
    def k():
        for y, x in ti.ndrange(n, n):
            m = ti.tanh(g[y, x]) / (1.0 + ti.exp(-ii[y, x]))
            r = m
            if z1[x] == 0.0:
                if z2[x] == 1.0:
                    r = c[y, x] / (1.0 + ti.exp(-f[y, x])) + m
                else:
                    r = c[y, x]
            o[y, x] = r

    return drive(k, [o], [i["go"]], [c, f, ii, g], ["out", "d_c", "d_f", "d_i", "d_g"])


def heat3d(i):
    u, a, o = fld(i["u"].shape, i["u"]), fld(i["a"].shape, i["a"]), fld(i["u"].shape)
    m = i["u"].shape[0]

    @ti.kernel
    def k():
        for z, y, x in ti.ndrange(m, m, m):
            r = u[z, y, x]
            if z > 0 and y > 0 and x > 0 and z < m - 1 and y < m - 1 and x < m - 1:
                r += a[z, y, x] * (
                    u[z - 1, y, x]
                    + u[z + 1, y, x]
                    + u[z, y - 1, x]
                    + u[z, y + 1, x]
                    + u[z, y, x - 1]
                    + u[z, y, x + 1]
                    - 6.0 * u[z, y, x]
                )
            o[z, y, x] = r

    return drive(k, [o], [i["go"]], [u, a], ["out", "d_u", "d_a"])


def rd2d(i):
    T = int(i["T"])
    m = i["u0"].shape[0]
    u = fld((T + 1, m, m))
    a = fld((m, m), i["a"])
    u0 = fld((m, m), i["u0"])
    go = ti.field(F, shape=(m, m))
    go.from_numpy(i["go"])
    res = {}

    @ti.kernel
    def ini():
        for y, x in ti.ndrange(m, m):
            u[0, y, x] = u0[y, x]

    @ti.kernel
    def st(t: ti.i32):
        for y, x in ti.ndrange(m, m):
            c = u[t, y, x]
            u[t + 1, y, x] = (
                c
                + a[y, x]
                * (
                    u[t, ti.max(y - 1, 0), x]
                    + u[t, ti.min(y + 1, m - 1), x]
                    + u[t, y, ti.max(x - 1, 0)]
                    + u[t, y, ti.min(x + 1, m - 1)]
                    - 4.0 * c
                )
                + 0.05 * c * (1.0 - c)
            )

    @ti.kernel
    def seed():
        for y, x in ti.ndrange(m, m):
            u.grad[T, y, x] = go[y, x]

    out = ti.field(F, shape=(m, m))

    @ti.kernel
    def cp():
        for y, x in ti.ndrange(m, m):
            out[y, x] = u[T, y, x]

    def step():
        u0.grad.fill(0)
        a.grad.fill(0)
        u.grad.fill(0)
        ini()
        for t in range(T):
            st(t)
        seed()
        for t in range(T - 1, -1, -1):
            st.grad(t)
        ini.grad()
        cp()
        ti.sync()
        return dict(out=out, d_u0=u0.grad, d_a=a.grad)

    return step


def bslice(i):
    N, _, H, W = i["x"].shape
    gd, gh, gw = i["grid"].shape[2:]
    x, gu, gr, o = (
        fld(i["x"].shape, i["x"]),
        fld(i["guide"].shape, i["guide"]),
        fld(i["grid"].shape, i["grid"]),
        fld(i["x"].shape),
    )

    @ti.kernel
    def k():
        for n, y, q in ti.ndrange(N, H, W):
            fx = ti.min(ti.max((q + 0.5) * gw / W - 0.5, 0.0), gw - 1.0)
            fy = ti.min(ti.max((y + 0.5) * gh / H - 0.5, 0.0), gh - 1.0)
            fz = ti.min(ti.max(gu[n, y, q] * gd - 0.5, 0.0), gd - 1.0)
            a = ti.min(ti.cast(fx, ti.i32), gw - 2)
            b = ti.min(ti.cast(fy, ti.i32), gh - 2)
            c = ti.min(ti.cast(fz, ti.i32), gd - 2)
            wx = fx - a
            wy = fy - b
            wz = fz - c
            for co in ti.static(range(3)):
                s = 0.0
                for ci in ti.static(range(4)):
                    v = 0.0
                    for dz, dy, dx in ti.static(ti.ndrange(2, 2, 2)):
                        v += (
                            gr[n, co * 4 + ci, c + dz, b + dy, a + dx]
                            * (wx if ti.static(dx == 1) else 1.0 - wx)
                            * (wy if ti.static(dy == 1) else 1.0 - wy)
                            * (wz if ti.static(dz == 1) else 1.0 - wz)
                        )
                    if ti.static(ci < 3):
                        s += v * x[n, ti.static(min(ci, 2)), y, q]
                    else:
                        s += v
                o[n, co, y, q] = s

    return drive(
        k, [o], [i["go"]], [x, gu, gr], ["out", "d_input", "d_guide", "d_grid"]
    )


def dilconv(i):
    x, w, o = fld(i["x"].shape, i["x"]), fld(i["w"].shape, i["w"]), fld(i["go"].shape)
    C = i["x"].shape[3]
    N, OH, OW, CO = i["go"].shape

    @ti.kernel
    def k():
        for n, y, xx, co in ti.ndrange(N, OH, OW, CO):
            s = 0.0
            for c in range(C):
                for j, p in ti.static(ti.ndrange(3, 3)):
                    s += x[n, 3 * y + 2 * j, 3 * xx + 2 * p, c] * w[j, p, c, co]
            o[n, y, xx, co] = s

    return drive(k, [o], [i["go"]], [x, w], ["out", "d_input", "d_w"])


def splat(i):
    v, g, G, C = (
        fld(i["v"].shape, i["v"]),
        fld(i["g"].shape, i["g"]),
        fld(i["d_grid"].shape),
        fld(i["d_cnt"].shape),
    )
    n = i["v"].shape[0]

    @ti.kernel
    def k():
        for y, x in ti.ndrange(n, n):
            z = g[y, x] * 31.0
            c = ti.min(ti.cast(z, ti.i32), 30)
            w = z - c
            G[c, y // 16, x // 16] += v[y, x] * (1.0 - w)
            G[c + 1, y // 16, x // 16] += v[y, x] * w
            C[c, y // 16, x // 16] += 1.0 - w
            C[c + 1, y // 16, x // 16] += w

    return drive(
        k, [G, C], [i["d_grid"], i["d_cnt"]], [v, g], ["grid", "cnt", "d_v", "d_g"]
    )
