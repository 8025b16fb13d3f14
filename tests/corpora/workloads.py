"""The loops of the benchmarks as entries: small, with every form they are known for."""

from __future__ import annotations

import functools
import importlib.util
from types import ModuleType

import numpy as np

from tests import ROOT
from tests.corpora.entry import Arguments, Entry, Maker


@functools.cache
def loops() -> ModuleType:
    """The plain functions of `benchmarks/loops.py`."""
    spec = importlib.util.spec_from_file_location(
        "loops", ROOT / "benchmarks" / "loops.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _conv2d(n: int, m: Maker) -> Arguments:
    x, w = m(2, 3, n + 2, n + 2), m(4, 3, 3, 3)
    return {"x": x, "w": w, "out": np.zeros((2, 4, n, n), m.dtype)}


def _ckpt(n: int, m: Maker) -> Arguments:
    return {"x": m(n + 2, n + 3), "k": m(3, 4), "target": m(n, n)}


def _heat3d(n: int, m: Maker) -> Arguments:
    return {"u": m(n, 4, 5), "a": m(n, 4, 5), "out": m(n, 4, 5)}


def _dilconv(n: int, m: Maker) -> Arguments:
    x, w = m(2, 3 * n + 5, 11, 3), m(3, 3, 3, 4)
    return {"x": x, "w": w, "out": np.zeros((2, n, 2, 4), m.dtype)}


def _flownet(n: int, m: Maker) -> Arguments:
    out = np.zeros((2, 3, n, 5), m.dtype)
    return {"x": m(*out.shape), "flow": m(2, 2, n, 5), "out": out}


def _stn(n: int, m: Maker) -> Arguments:
    out = np.zeros((2, 3, n, 5), m.dtype)
    return {"x": m(*out.shape), "theta": m(2, 2, 3), "out": out}


def _bslice(n: int, m: Maker) -> Arguments:
    x, guide, grid = m(2, 3, n, 5), m.positive(2, n, 5) - 0.5, m(2, 12, 2, 3, 2)
    return {"x": x, "guide": guide, "grid": grid, "out": np.zeros_like(x)}


def _gmm(n: int, m: Maker) -> Arguments:
    return {"alpha": m(3), "mean": m(3, 4), "icf": m(3, 10), "x": m(n, 4)}


def bells_apart(x, out):  # type: ignore[no-untyped-def]
    bell = np.empty((x.shape[0], x.shape[1]))
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            bell[a, b] = 1.0 / (1.0 + x[a, b] * x[a, b])
    for u in range(x.shape[0] - 2):
        for b in range(x.shape[1]):
            out[u, b] = (bell[u + 2, b] - bell[u, b]) ** 3


def steep_flow(u, out):  # type: ignore[no-untyped-def]
    flux = np.empty((u.shape[0] - 1, u.shape[1]))
    for i in range(u.shape[0] - 1):
        for j in range(u.shape[1]):
            step = u[i + 1, j] - u[i, j]
            flux[i, j] = step / (1.0 + step * step)
    for i in range(1, u.shape[0] - 1):
        for j in range(u.shape[1]):
            out[i, j] = (flux[i, j] - flux[i - 1, j]) ** 2


def colours(table, at, out):  # type: ignore[no-untyped-def]
    for x in range(out.shape[0]):
        k = at[x]
        for c in range(3):
            out[x, c] = table[c, k] * table[c, k + 1]


def waves(a, phase, out):  # type: ignore[no-untyped-def]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(out.shape[2]):
                for b in range(out.shape[3]):
                    s = np.sin(phase[n, y, b]) * np.exp(phase[n, y, b])
                    out[n, c, y, b] = a[n, c, y, b] * s


def conv_strided(x, w, out):  # type: ignore[no-untyped-def]
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            for a in range(out.shape[2]):
                for b in range(out.shape[3]):
                    for c in range(x.shape[1]):
                        for j in range(w.shape[2]):
                            for i in range(w.shape[3]):
                                out[n, k, a, b] += (
                                    x[n, c, 2 * a + j, 2 * b + i] * w[k, c, j, i]
                                )


def every_third(x, w, out):  # type: ignore[no-untyped-def]
    for y in range(out.shape[0]):
        for k in range(w.shape[0]):
            for i in range(w.shape[1]):
                for b in range(out.shape[2]):
                    out[y, k, b] += x[y, 3 * b + i + 1] * w[k, i]


def upsampled(x, w, out):  # type: ignore[no-untyped-def]
    for y in range(out.shape[0]):
        for k in range(w.shape[0]):
            for i in range(w.shape[1]):
                for b in range(x.shape[2]):
                    out[y, 2 * b + i] += x[y, k, b] * np.sin(w[k, i])


def in_columns(x, w, out):  # type: ignore[no-untyped-def]
    for y in range(out.shape[0]):
        for k in range(w.shape[0]):
            for b in range(out.shape[2]):
                out[y, k, b] += x[y, 4 * b + 2] * np.sin(w[k])


def bells_around(x, centre, width, out):  # type: ignore[no-untyped-def]
    for p in range(out.shape[0]):
        total = 0.0
        for k in range(centre.shape[0]):
            far = 0.0
            for r in range(centre.shape[1]):
                d = (x[p, r] - centre[k, r]) * width[k, r]
                far += d * d
            total += np.exp(-far)
        out[p] = total


def harmonics(x, w, out):  # type: ignore[no-untyped-def]
    for p in range(out.shape[0]):
        s = 0.0
        for k in range(w.shape[0]):
            s += w[k] * np.cos(k * x[p])
        out[p] = s * s


def close_to_others(x, centre, out):  # type: ignore[no-untyped-def]
    for p in range(out.shape[0]):
        for k in range(centre.shape[0]):
            far = 1.0
            for r in range(centre.shape[1]):
                far += (x[r, p] - centre[k, r]) ** 2
            out[p] += 1.0 / far


def _bells_around(n: int, m: Maker) -> Arguments:
    out = np.zeros(3 * n, m.dtype)
    return {"x": m(3 * n, 4), "centre": m(3, 4), "width": m(3, 4), "out": out}


def _harmonics(n: int, m: Maker) -> Arguments:
    return {"x": m(3 * n), "w": m(4), "out": np.zeros(3 * n, m.dtype)}


def _close(n: int, m: Maker) -> Arguments:
    return {"x": m(4, 3 * n), "centre": m(3, 4), "out": np.zeros(3 * n, m.dtype)}


def _strided(n: int, m: Maker) -> Arguments:
    x, w = m(2, 3, 2 * n + 1, 2 * n + 2), m(4, 3, 3, 3)
    return {"x": x, "w": w, "out": np.zeros((2, 4, n, n), m.dtype)}


def _thirds(n: int, m: Maker) -> Arguments:
    return {"x": m(2, 3 * n + 2), "w": m(4, 3), "out": np.zeros((2, 4, n), m.dtype)}


def _doubled(n: int, m: Maker) -> Arguments:
    return {"x": m(3, 4, n), "w": m(4, 3), "out": m(3, 2 * n + 1)}


def _columns(n: int, m: Maker) -> Arguments:
    return {"x": m(3, 4 * n), "w": m(4), "out": m(3, 4, n)}


def _bells(n: int, m: Maker) -> Arguments:
    return {"x": m(n, 5), "out": np.zeros((n, 5), m.dtype)}


def _flow(n: int, m: Maker) -> Arguments:
    return {"u": m(n, 5), "out": np.zeros((n, 5), m.dtype)}


def _colours(n: int, m: Maker) -> Arguments:
    out = np.zeros((9 * n, 3), m.dtype)
    return {"table": m(3, n + 1), "at": m.indices(n, 9 * n), "out": out}


def _waves(n: int, m: Maker) -> Arguments:
    out = np.zeros((2, 3, n, 5), m.dtype)
    return {"a": m(*out.shape), "phase": m(2, n, 5), "out": out}


_MAKERS = {
    "conv2d": (_conv2d, "out"),
    "ckpt": (_ckpt, ""),
    "heat3d": (_heat3d, "out"),
    "dilconv": (_dilconv, "out"),
    "flownet": (_flownet, "out"),
    "stn": (_stn, "out"),
    "bslice": (_bslice, "out"),
    "gmm": (_gmm, ""),
}

#: Not along all, as they are timed: lanes cannot share what is added to the points.
_ALONG = {
    "gmm": ("alpha", "mean", "icf"),
    "bells_around": ("centre", "width"),
    "harmonics": ("w",),
    "close_to_others": ("centre",),
}

#: By the name of the loop with `_loops` behind it: the corpus has a conv2d of its own.
WORKLOADS = {
    f"{name}_loops": Entry(
        f"{name}_loops",
        getattr(loops(), name),
        make,
        tuple(out.split()),
        least=3,
        real=7,
        wrt=_ALONG.get(name),
    )
    for name, (make, out) in _MAKERS.items()
} | {
    (name := f.__name__): Entry(
        name, f, make, ("out",), least=3, real=7, wrt=_ALONG.get(name)
    )
    for f, make in (
        (bells_apart, _bells),
        (steep_flow, _flow),
        (colours, _colours),
        (waves, _waves),
        (conv_strided, _strided),
        (every_third, _thirds),
        (upsampled, _doubled),
        (in_columns, _columns),
        (bells_around, _bells_around),
        (harmonics, _harmonics),
        (close_to_others, _close),
    )
}
