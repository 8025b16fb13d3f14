"""Halide 21, propagate_adjoints + hand-written schedules (what a Halide expert would write by hand; only some workloads)."""

from . import _halide as _h

_h.AUTO = None
from ._halide import *

hand = _h.hand


def rv(f, k=0):
    return [hl.RVar(r.name()) if not isinstance(r, hl.RVar) else r for r in f.rvars(k)]


def simple(f, par=None):
    """root; parallel over outermost pure var, vectorise innermost, same for pure vars of updates"""
    a = f.args()
    f.compute_root().vectorize(a[0], 8).parallel(a[-1])


@hand("ckpt")
def _ck(L):
    conv, dx, r = L["conv"], L["dx"], L["r"]
    a = dx.args()
    X, Y = a[0], a[1]
    yo, yi, xo = hl.Var("yo"), hl.Var("yi"), hl.Var("xo")
    ra = rv(dx, 0)
    CK = _h.CK
    dx.compute_root().vectorize(X, 8, hl.TailStrategy.ShiftInwards).parallel(Y, 32)
    u = dx.update(0)
    u.split(Y, yo, yi, 32, hl.TailStrategy.GuardWithIf).reorder(
        *(ra + [X, yi, yo])
    ).vectorize(X, 8, hl.TailStrategy.GuardWithIf).parallel(yo)
    for q in ra:
        u.unroll(q)
    if CK == "root":
        conv.compute_root().vectorize(x, 8).parallel(y, 32)
        conv.update(0).reorder(r.x, r.y, x, y).vectorize(x, 8).parallel(y, 32).unroll(
            r.x
        ).unroll(r.y)
    else:
        conv.compute_at(dx, yo).vectorize(x, 8)
        conv.update(0).reorder(r.x, r.y, x, y).vectorize(x, 8).unroll(r.x).unroll(r.y)


_h.CK = "at"
