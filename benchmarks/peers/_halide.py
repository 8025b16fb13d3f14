"""Halide 21 (Python bindings), shared by halide_li2018 / _adams2019 / _mullapudi2016 / _hand.
Algorithms are the natural ones; gradients come from propagate_adjoints; schedule from the autoscheduler AUTO
(or, for AUTO=None, a hand schedule given per workload).  fwd and bwd are two pipelines (as with torch), except ckpt."""

import os
import time

import numpy as np

os.environ.setdefault("HL_NUM_THREADS", "2")
import halide as hl

LIB = os.path.join(os.path.dirname(hl.__file__), "lib64")
AUTO = None
x, y, c, n, z = (hl.Var(v) for v in "xycnz")
TGT = hl.get_host_target()


_kept = []  # Halide's buffers do not keep the arrays that they look at


def B(a, name=""):
    _kept.append(np.ascontiguousarray(a))
    return hl.Buffer(_kept[-1])


_loaded = set()


def load(name):
    if name not in _loaded:
        hl.load_plugin(os.path.join(LIB, f"libautoschedule_{name.lower()}.so"))
        _loaded.add(name)


class Pipe:
    """outs: list of (Func, numpy-shape)"""

    def __init__(s, outs, hand=None):
        s.funcs = [f for f, _ in outs]
        for f, sh in outs:
            f.set_estimates([(0, int(e)) for e in reversed(sh)])
        s.p = hl.Pipeline(s.funcs)
        s.sched = ""
        t = time.time()
        if AUTO:
            load(AUTO)
            extra = (
                {
                    "parallelism": 2,
                    **(
                        {"beam_size": int(os.environ.get("ADAMS_BEAM", "1"))}
                        if AUTO == "Adams2019"
                        else {}
                    ),
                }
                if AUTO != "Mullapudi2016"
                else {
                    "parallelism": "2",
                    "last_level_cache_size": str(32 << 20),
                    "balance": "40",
                }
            )
            r = s.p.apply_autoscheduler(
                TGT, hl.AutoschedulerParams(AUTO, {k: str(v) for k, v in extra.items()})
            )
            s.sched = r.schedule_source
        elif hand:
            hand()
        if os.environ.get("HL_DUMP"):
            print(s.sched)
        s.p.compile_jit(TGT)
        s.compile_s = time.time() - t
        s.np = [np.zeros(sh, np.float32) for _, sh in outs]
        s.b = [hl.Buffer(a) for a in s.np]

    def __call__(s):
        s.p.realize(s.b)
        return s.np


def steps(fwd, bwd, names_f, names_b):
    def step():
        r = {}
        if fwd is not None:
            r.update(zip(names_f, fwd()))
        r.update(zip(names_b, bwd()))
        return r

    step.note = (
        f"halide sched+compile {(fwd.compile_s if fwd else 0) + bwd.compile_s:.1f}s"
    )
    return step


def F_in(buf, nd, name):
    f = hl.Func(name)
    v = [x, y, c, n][:nd]
    f[tuple(v)] = buf[tuple(v)]
    return f


def outside(d, buf, nd, fn=None):
    """gradient Func w.r.t. an input func, renamed so it can be an output"""
    return d[buf]


def adj(o, a):
    """propagate_adjoints(Func, Buffer) is bound only for Buffer<float,-1>, which Python never produces -> wrap in a Func.
    NB Range here is (min, MAX), not (min, extent): passing the extent reads one past the end."""
    b = B(a)
    g = hl.BoundaryConditions.constant_exterior(
        b, hl.f32(0), [hl.Range(0, e) for e in reversed(a.shape)]
    )
    return hl.propagate_adjoints(o, g, [hl.Range(0, e - 1) for e in reversed(a.shape)])


HAND = {}


def hand(w):
    def deco(f):
        HAND[w] = f
        return f

    return deco


def H(w, *a):
    f = HAND.get(w)
    if AUTO is None and f is None:
        raise NotImplementedError("no hand schedule")
    return None if f is None else (lambda: f(*a))


def bil(xf, W, Hh, ix, iy, mode):
    x0, y0 = hl.floor(ix), hl.floor(iy)
    wx, wy = ix - x0, iy - y0
    xi, yi = hl.cast(hl.Int(32), x0), hl.cast(hl.Int(32), y0)

    def tap(dx, dy, w):
        xx, yy = xi + dx, yi + dy
        v = xf[hl.clamp(xx, 0, W - 1), hl.clamp(yy, 0, Hh - 1), c, n]
        if mode == "zeros":
            v = hl.select((xx >= 0) & (xx < W) & (yy >= 0) & (yy < Hh), v, hl.f32(0))
        return v * w

    return (
        tap(0, 0, (1 - wx) * (1 - wy))
        + tap(1, 0, wx * (1 - wy))
        + tap(0, 1, (1 - wx) * wy)
        + tap(1, 1, wx * wy)
    )


def stn(i):
    N, C, Hh, W = i["x"].shape
    bx, bt = B(i["x"]), B(i["theta"])

    def mk():
        xf, tf = F_in(bx, 4, "xf"), F_in(bt, 3, "tf")
        X = (2 * hl.cast(hl.Float(32), x) + 1) / hl.f32(W) - 1
        Y = (2 * hl.cast(hl.Float(32), y) + 1) / hl.f32(Hh) - 1
        gx = tf[0, 0, n] * X + tf[1, 0, n] * Y + tf[2, 0, n]
        gy = tf[0, 1, n] * X + tf[1, 1, n] * Y + tf[2, 1, n]
        ix = ((gx + 1) * W - 1) / 2
        iy = ((gy + 1) * Hh - 1) / 2
        o = hl.Func("out")
        o[x, y, c, n] = bil(xf, W, Hh, ix, iy, "zeros")
        return o, xf, tf

    o, xf, tf = mk()
    fwd = Pipe([(o, i["x"].shape)], H("stn_f", locals()))
    o, xf, tf = mk()
    d = adj(o, i["go"])
    bwd = Pipe([(d[xf], i["x"].shape), (d[tf], i["theta"].shape)], H("stn_b", locals()))
    return steps(fwd, bwd, ["out"], ["d_input", "d_theta"])


def flownet(i):
    N, C, Hh, W = i["x"].shape
    bx, bf = B(i["x"]), B(i["flow"])

    def mk():
        xf, ff = F_in(bx, 4, "xf"), F_in(bf, 4, "ff")
        ix = hl.clamp(hl.cast(hl.Float(32), x) + ff[x, y, 0, n], 0.0, float(W - 1))
        iy = hl.clamp(hl.cast(hl.Float(32), y) + ff[x, y, 1, n], 0.0, float(Hh - 1))
        o = hl.Func("out")
        o[x, y, c, n] = bil(xf, W, Hh, ix, iy, "border")
        return o, xf, ff

    o, xf, ff = mk()
    fwd = Pipe([(o, i["x"].shape)], H("flownet_f", locals()))
    o, xf, ff = mk()
    d = adj(o, i["go"])
    bwd = Pipe(
        [(d[xf], i["x"].shape), (d[ff], i["flow"].shape)], H("flownet_b", locals())
    )
    return steps(fwd, bwd, ["out"], ["d_input", "d_flow"])


def bslice(i):
    N, _, Hh, W = i["x"].shape
    gd, gh, gw = i["grid"].shape[2:]
    bx, bu, bg = B(i["x"]), B(i["guide"]), B(i["grid"])

    def mk():
        xf = F_in(bx, 4, "xf")
        uf = hl.Func("uf")
        uf[x, y, n] = bu[x, y, n]
        gf = hl.Func("gf")
        gf[x, y, z, c, n] = bg[x, y, z, c, n]
        fx = (hl.cast(hl.Float(32), x) + 0.5) * (gw / W) - 0.5
        fy = (hl.cast(hl.Float(32), y) + 0.5) * (gh / Hh) - 0.5
        fz = uf[x, y, n] * float(gd) - 0.5
        x0, y0, z0 = hl.floor(fx), hl.floor(fy), hl.floor(fz)
        wx, wy, wz = fx - x0, fy - y0, fz - z0
        xi, yi, zi = (hl.cast(hl.Int(32), e) for e in (x0, y0, z0))
        rt = hl.RDom([(0, 2), (0, 2), (0, 2)])
        cl = lambda e, m: hl.clamp(e, 0, m - 1)
        tent = (
            hl.select(rt.x == 0, 1 - wx, wx)
            * hl.select(rt.y == 0, 1 - wy, wy)
            * hl.select(rt.z == 0, 1 - wz, wz)
        )
        aff = hl.Func("aff")
        aff[x, y, c, n] = hl.f32(0)
        aff[x, y, c, n] += (
            gf[cl(xi + rt.x, gw), cl(yi + rt.y, gh), cl(zi + rt.z, gd), c, n] * tent
        )
        r = hl.RDom([(0, 3)])
        o = hl.Func("out")
        o[x, y, c, n] = aff[x, y, c * 4 + 3, n]
        o[x, y, c, n] += aff[x, y, c * 4 + r.x, n] * xf[x, y, r.x, n]
        return o, aff, xf, uf, gf

    o, aff, xf, uf, gf = mk()
    fwd = Pipe([(o, i["x"].shape)], H("bslice_f", locals()))
    o, aff, xf, uf, gf = mk()
    d = adj(o, i["go"])
    bwd = Pipe(
        [(d[gf], i["grid"].shape), (d[uf], i["guide"].shape), (d[xf], i["x"].shape)],
        H("bslice_b", locals()),
    )
    return steps(fwd, bwd, ["out"], ["d_grid", "d_guide", "d_input"])


def conv2d(i):
    bx, bw = B(i["x"]), B(i["w"])
    C = i["x"].shape[1]

    def mk():
        xf, wf = F_in(bx, 4, "xf"), F_in(bw, 4, "wf")
        r = hl.RDom([(0, 3), (0, 3), (0, C)])
        o = hl.Func("out")
        o[x, y, c, n] = hl.f32(0)
        o[x, y, c, n] += xf[x + r.x, y + r.y, r.z, n] * wf[r.x, r.y, r.z, c]
        return o, r, xf, wf

    o, r, xf, wf = mk()
    fwd = Pipe([(o, i["go"].shape)], H("conv2d_f", locals()))
    o, r, xf, wf = mk()
    d = adj(o, i["go"])
    dx, dw = d[xf], d[wf]
    bwd = Pipe([(dx, i["x"].shape), (dw, i["w"].shape)], H("conv2d_b", locals()))
    return steps(fwd, bwd, ["out"], ["d_input", "d_w"])


CK = "root"


def _ckpt(i):
    bx, bk, bt = B(i["x"]), B(i["k"]), B(i["target"])
    KH, KW = i["k"].shape
    Hh, W = i["target"].shape
    xf = hl.Func("xf")
    xf[x, y] = bx[x, y]
    kf = hl.Func("kf")
    kf[x, y] = bk[x, y]
    r = hl.RDom([(0, KW), (0, KH)])
    rt = hl.RDom([(0, W), (0, Hh)])
    conv = hl.Func("conv")
    conv[x, y] = hl.f32(0)
    conv[x, y] += xf[x + r.x, y + r.y] * kf[r.x, r.y]
    loss = hl.Func("loss")
    loss[()] = hl.f32(0)
    loss[()] += (conv[rt.x, rt.y] - bt[rt.x, rt.y]) ** 2
    d = hl.propagate_adjoints(loss)
    dx = d[xf]
    bwd = Pipe([(dx, i["x"].shape)], H("ckpt", locals()))
    return steps(None, bwd, [], ["d_input"])


ckpt1x5 = ckpt3x5 = _ckpt


def dilconv(i):
    bx, bw = B(i["x"]), B(i["w"])
    CI = i["x"].shape[3]

    # dims (fastest first): x = co/ci, y = col, c = row, n
    def mk():
        xf, wf = F_in(bx, 4, "xf"), F_in(bw, 4, "wf")
        r = hl.RDom([(0, CI), (0, 3), (0, 3)])
        o = hl.Func("out")
        o[x, y, c, n] = hl.f32(0)
        o[x, y, c, n] += (
            xf[r.x, 3 * y + 2 * r.y, 3 * c + 2 * r.z, n] * wf[x, r.x, r.y, r.z]
        )
        return o, r, xf, wf

    o, r, xf, wf = mk()
    fwd = Pipe([(o, i["go"].shape)], H("dilconv_f", locals()))
    o, r, xf, wf = mk()
    d = adj(o, i["go"])
    bwd = Pipe([(d[xf], i["x"].shape), (d[wf], i["w"].shape)], H("dilconv_b", locals()))
    return steps(fwd, bwd, ["out"], ["d_input", "d_w"])


def hmlstm(i):
    sh = i["c"].shape
    bs = {k: B(i[k]) for k in "cfig"}
    b1, b2 = B(i["z1"]), B(i["z2"])
    sg = lambda e: 1 / (1 + hl.exp(-e))

    def mk():
        fs = {}
        for k in "cfig":
            f = hl.Func(k + "f")
            f[x, y] = bs[k][x, y]
            fs[k] = f
        m = sg(fs["i"][x, y]) * hl.tanh(fs["g"][x, y])
        o = hl.Func("out")
        o[x, y] = hl.select(
            b1[x] == 0.0,
            hl.select(
                b2[x] == 1.0, sg(fs["f"][x, y]) * fs["c"][x, y] + m, fs["c"][x, y]
            ),
            m,
        )
        return o, fs

    o, fs = mk()
    fwd = Pipe([(o, sh)], H("hmlstm_f", locals()))
    o, fs = mk()
    d = adj(o, i["go"])
    bwd = Pipe([(d[fs[k]], sh) for k in "cfig"], H("hmlstm_b", locals()))
    return steps(fwd, bwd, ["out"], ["d_c", "d_f", "d_i", "d_g"])


def heat3d(i):
    sh = i["u"].shape
    m = sh[0]
    bu, ba = B(i["u"]), B(i["a"])
    cl = lambda e: hl.clamp(e, 0, m - 1)

    def mk():
        uf = hl.Func("uf")
        uf[x, y, c] = bu[x, y, c]
        af = hl.Func("af")
        af[x, y, c] = ba[x, y, c]
        uc = hl.Func("uc")
        uc[x, y, c] = uf[cl(x), cl(y), cl(c)]
        lap = (
            uc[x - 1, y, c]
            + uc[x + 1, y, c]
            + uc[x, y - 1, c]
            + uc[x, y + 1, c]
            + uc[x, y, c - 1]
            + uc[x, y, c + 1]
            - 6 * uc[x, y, c]
        )
        ins = (x > 0) & (x < m - 1) & (y > 0) & (y < m - 1) & (c > 0) & (c < m - 1)
        o = hl.Func("out")
        o[x, y, c] = uf[x, y, c] + hl.select(ins, af[x, y, c] * lap, hl.f32(0))
        return o, uf, af

    o, uf, af = mk()
    fwd = Pipe([(o, sh)], H("heat3d_f", locals()))
    o, uf, af = mk()
    d = adj(o, i["go"])
    bwd = Pipe([(d[uf], sh), (d[af], sh)], H("heat3d_b", locals()))
    return steps(fwd, bwd, ["out"], ["d_u", "d_a"])


def rd2d(i):
    """one step is a Halide pipeline; the 100-step driver and store-all tape are Python (100 unrolled Funcs do not compile in reasonable time)"""
    sh = i["u0"].shape
    m = sh[0]
    T = int(i["T"])
    R = 0.05
    ub, ab, gb = (
        hl.ImageParam(hl.Float(32), 2),
        B(i["a"]),
        hl.ImageParam(hl.Float(32), 2),
    )
    for p in (ub, gb):
        p.dim(0).set_bounds(0, m)
        p.dim(1).set_bounds(0, m)
        p.dim(1).set_stride(m)
        p.set_estimates([(0, m), (0, m)])
    cl = lambda e: hl.clamp(e, 0, m - 1)
    gf = hl.BoundaryConditions.constant_exterior(gb, hl.f32(0), [hl.Range(0, m)] * 2)

    def mk():
        uf = hl.Func("uf")
        uf[x, y] = ub[x, y]
        af = hl.Func("af")
        af[x, y] = ab[x, y]
        u = lambda a, b: uf[cl(a), cl(b)]
        o = hl.Func("out")
        o[x, y] = (
            uf[x, y]
            + af[x, y]
            * (u(x - 1, y) + u(x + 1, y) + u(x, y - 1) + u(x, y + 1) - 4 * uf[x, y])
            + R * uf[x, y] * (1 - uf[x, y])
        )
        return o, uf, af

    o, uf, af = mk()
    fwd = Pipe([(o, sh)], H("rd2d_f", locals()))
    o, uf, af = mk()
    d = hl.propagate_adjoints(o, gf, [hl.Range(0, m - 1), hl.Range(0, m - 1)])
    bwd = Pipe([(d[uf], sh), (d[af], sh)], H("rd2d_b", locals()))
    us = [np.zeros(sh, np.float32) for _ in range(T + 1)]
    us[0][...] = i["u0"]
    hus = [hl.Buffer(a) for a in us]
    lam = [np.zeros(sh, np.float32) for _ in range(2)]
    hl_l = [hl.Buffer(a) for a in lam]
    da = np.zeros(sh, np.float32)
    dtmp = np.zeros(sh, np.float32)
    hdt = hl.Buffer(dtmp)

    def step():
        for t in range(T):
            ub.set(hus[t])
            fwd.p.realize([hus[t + 1]])
        lam[0][...] = i["go"]
        k = 0
        da[...] = 0
        for t in range(T - 1, -1, -1):
            ub.set(hus[t])
            gb.set(hl_l[k])
            bwd.p.realize([hl_l[1 - k], hdt])
            k = 1 - k
            np.add(da, dtmp, out=da)
        return dict(out=us[T], d_u0=lam[k], d_a=da)

    step.note = f"halide compile {fwd.compile_s + bwd.compile_s:.1f}s; python time loop"
    return step


def splat(i):
    m = i["v"].shape[0]
    S = 16
    D = 32
    g = m // S
    bv, bu, b1, b2 = B(i["v"]), B(i["g"]), B(i["d_grid"]), B(i["d_cnt"])

    def mk(r):
        vf = hl.Func("vf")
        vf[x, y] = bv[x, y]
        uf = hl.Func("uf")
        uf[x, y] = bu[x, y]
        X, Y = (x * S + r.x, y * S + r.y)
        gz = uf[X, Y] * float(D - 1)
        z0 = hl.clamp(hl.floor(gz), 0.0, float(D - 2))
        w = gz - z0
        zi = hl.clamp(hl.cast(hl.Int(32), z0), 0, D - 2)
        a = hl.Func("grid")
        a[x, y, z] = hl.f32(0)
        a[x, y, zi] += vf[X, Y] * (1 - w)
        a[x, y, zi + 1] += vf[X, Y] * w
        b = hl.Func("cnt")
        b[x, y, z] = hl.f32(0)
        b[x, y, zi] += 1 - w
        b[x, y, zi + 1] += w
        return a, b, vf, uf

    sh = i["d_grid"].shape
    r = hl.RDom([(0, S), (0, S)])
    a, b, vf, uf = mk(r)
    fwd = Pipe([(a, sh), (b, sh)], H("splat_f", locals()))
    r = hl.RDom([(0, S), (0, S)])
    a2, b2f, vf, uf = mk(r)
    L = hl.Func("L")
    rr = hl.RDom([(0, g), (0, g), (0, D)])
    L[()] = hl.f32(0)
    L[()] += (
        a2[rr.x, rr.y, rr.z] * b1[rr.x, rr.y, rr.z]
        + b2f[rr.x, rr.y, rr.z] * b2[rr.x, rr.y, rr.z]
    )
    d = hl.propagate_adjoints(L)
    bwd = Pipe([(d[vf], i["v"].shape), (d[uf], i["g"].shape)], H("splat_b", locals()))
    return steps(fwd, bwd, ["grid", "cnt"], ["d_v", "d_g"])
