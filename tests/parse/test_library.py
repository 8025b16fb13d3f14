"""NumPy's functions that are loops: the texts against NumPy, derivatives against
differences.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.parse.library import entries_of
from pyrev.parse.library.entries import functions
from pyrev.parse.library.sorting import by_keys
from tests.corpora.everything import on_targets
from tests.tools.oracle import check

RNG = np.random.default_rng(11)
V, W, T = RNG.normal(size=7), RNG.normal(size=7), RNG.normal(size=3)
M, S = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 3))
TIES = np.array([2.0, 1.0, 2.0, np.nan, 1.0, -0.0, 0.0])
SORTED = np.sort(V)
K = np.array([3, 0, 1, 0, 3, 5])
K7 = np.array([1, 0, 1, 1, 0, 2, 0])
EMPTY = np.zeros(0)
ENDS = np.array([np.inf, 2.0, -np.inf, np.nan, -0.0, -3.0])

#: Of each function the calls that its texts are tried with.
CALLS: dict[Any, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    np.argsort: [((V,), {}), ((TIES,), {"kind": "stable"}), ((EMPTY,), {}), ((K,), {})],
    np.sort: [((V,), {}), ((TIES,), {}), ((EMPTY,), {}), ((K,), {}), ((M,), {})]
    + [((M,), {"axis": 0}), ((M,), {"axis": 1})],
    np.argmax: [((M,), {"axis": 0}), ((M,), {"axis": 1})],
    np.argmin: [((M,), {"axis": 0}), ((M,), {"axis": 1})],
    np.gradient: [((V,), {}), ((V[:2], 0.3), {})],
    np.linalg.cholesky: [((S @ S.T + np.eye(3),), {})],
    np.logspace: [((0.0, 1.0, 5), {}), ((-1.0, 0.3), {})],
    np.searchsorted: [
        *(((SORTED, t), {}) for t in (*SORTED[:2], -9.0, 9.0, 0.1, np.nan)),
        *(((SORTED, t), {"side": "right"}) for t in (*SORTED[:2], 9.0, np.nan)),
        ((SORTED, W), {}),
        ((SORTED, W), {"side": "right"}),
        ((EMPTY, 1.0), {}),
    ],
    np.digitize: [
        *(((t, SORTED), {}) for t in (*SORTED[:2], 9.0)),
        *(((t, SORTED[::-1]), {}) for t in (*SORTED[:2], 9.0)),
        *(((t, SORTED), {"right": True}) for t in (*SORTED[:2], -9.0)),
        *(((t, SORTED[::-1]), {"right": True}) for t in (*SORTED[:2], -9.0)),
        ((W, SORTED), {}),
        ((W, SORTED), {"right": True}),
    ],
    np.unique: [((V,), {}), ((TIES,), {}), ((EMPTY,), {}), ((K,), {})]
    + [((K,), {"return_counts": True})],
    np.median: [((V,), {}), ((V[1:],), {}), ((TIES,), {}), ((K,), {}), ((V[:1],), {})],
    np.nanmedian: [((V,), {}), ((TIES,), {})],
    np.quantile: [((V, q), {}) for q in (0.0, 0.3, 0.5, 1.0)]
    + [((TIES, 0.5), {}), ((V, np.array([0.1, 0.9])), {})],
    np.percentile: [((V, q), {}) for q in (0.0, 30.0, 100.0)]
    + [((V, np.array([10.0, 90.0])), {})],
    np.nansum: [((V,), {}), ((TIES,), {}), ((M,), {})],
    np.nanmean: [((V,), {}), ((TIES,), {}), ((M,), {})],
    np.nanvar: [((V,), {}), ((TIES,), {})],
    np.nanstd: [((V,), {}), ((TIES,), {})],
    np.nanmax: [((V,), {}), ((TIES,), {})],
    np.nanmin: [((V,), {}), ((TIES,), {})],
    np.ptp: [((V,), {}), ((M,), {})],
    np.average: [((V,), {}), ((V,), {"weights": W})],
    np.count_nonzero: [((V > 0,), {}), ((TIES,), {}), ((M > 0,), {}), ((EMPTY,), {})],
    np.flatnonzero: [((V > 0,), {}), ((TIES,), {}), ((EMPTY,), {})],
    np.bincount: [((K,), {}), ((K,), {"weights": V[:6]}), ((K,), {"minlength": 9})],
    np.array_equal: [((V, V), {}), ((V, W), {}), ((V, V[1:]), {}), ((TIES, TIES), {})],
    np.isclose: [((1.0, 1.0 + 1e-9), {}), ((1.0, 1.1), {}), ((np.inf, np.inf), {})]
    + [((1.0, np.inf), {}), ((np.nan, np.nan), {}), ((1.0, 1.1), {"atol": 0.2})]
    + [((TIES, TIES), {}), ((TIES, TIES), {"equal_nan": True}), ((ENDS, ENDS), {})]
    + [
        ((ENDS, 2.0), {}),
        ((np.inf, ENDS), {}),
        ((M, M + 1e-9), {}),
        ((M, 0.3), {"atol": 0.5}),
        ((K, 3), {}),
    ]
    + [((ENDS, ENDS[::-1]), {}), ((np.nan, np.nan), {"equal_nan": True})],
    math.factorial: [((n,), {}) for n in (0, 1, 5, 20)],
    math.comb: [(nk, {}) for nk in ((0, 0), (5, 2), (3, 4), (40, 38), (61, 30))],
    math.gcd: [(ab, {}) for ab in ((12, 18), (0, 0), (-4, 6), (7, 0), (0, -3))],
    np.allclose: [((V, V + 1e-12), {}), ((V, W), {}), ((V, W), {"rtol": 9e9})]
    + [((V, 0.0), {}), ((M, M), {}), ((TIES, TIES), {"equal_nan": True})],
    np.fft.fftshift: [((V,), {}), ((V[1:],), {}), ((EMPTY,), {}), ((M,), {})],
    np.fft.ifftshift: [((V,), {}), ((V[1:],), {}), ((EMPTY,), {}), ((M,), {})],
    np.fft.fftfreq: [((7,), {}), ((8, 0.3), {}), ((1,), {"d": 2.0})],
    np.fft.rfftfreq: [((7,), {}), ((8, 0.3), {}), ((1,), {"d": 2.0})],
    np.interp: [((t, SORTED, W), {}) for t in (*SORTED[:2], -9.0, 9.0, 0.1, np.nan)]
    + [((W, SORTED, V), {})],
    np.trapezoid: [((V, W), {}), ((V,), {"dx": 0.3}), ((V,), {}), ((V[:1],), {})],
    np.polyval: [((V, 0.7), {}), ((V, W), {})],
    np.cross: [((T, T[::-1]), {})],
    np.maximum.accumulate: [((V,), {}), ((TIES,), {}), ((K,), {})],
    np.minimum.accumulate: [((V,), {}), ((TIES,), {}), ((K,), {})],
    np.convolve: [
        ((a, b), {"mode": mode})
        for mode in ("full", "same", "valid")
        for a, b in ((V, T), (T, V), (V, V[:4]), (V[:4], V), (V, W))
    ]
    + [((V, T), {})],
    np.linalg.solve: [((S, T), {}), ((S, M[:3, :2]), {})],
    np.linalg.inv: [((S,), {})],
    np.linalg.det: [((S,), {}), ((np.zeros((2, 2)),), {}), ((S[::-1],), {})],
    np.append: [((V, 1.0), {}), ((V, W), {}), ((K, 1.5), {}), ((2.0, V), {})]
    + [((1, K), {}), ((EMPTY, 1.0), {}), ((1.5, 2.0), {}), ((M, V), {}), ((M, S), {})]
    + [((M, S), {"axis": 0}), ((S, M[:3]), {"axis": 1}), ((V, W), {"axis": 0})],
    np.take: [
        ((V, 2), {}),
        ((V, np.array([2, -1, 2])), {}),
        ((M, np.array([5, 0])), {}),
    ]
    + [((M, np.array([1, 0, 1])), {"axis": k}) for k in (0, 1)],
    np.repeat: [((V, 2), {}), ((V[:6], K), {}), ((1.5, 3), {}), ((2, 0), {})]
    + [((V, 2), {"axis": 0}), ((M, 2), {"axis": 0}), ((M, 3), {"axis": 1})],
    np.tile: [((V, 3), {}), ((K, 2), {})],
    np.ndarray.sort: [],
    np.ndarray.fill: [],
    np.add.at: [],
    np.var: [((a,), {"ddof": k}) for a in (V, M) for k in (0, 1)]
    + [((M,), {"ddof": 1, "axis": k}) for k in (0, 1)],
    np.std: [((V,), {"ddof": 1}), ((M,), {"ddof": 1})]
    + [((M,), {"ddof": 1, "axis": k}) for k in (0, 1)],
    np.cov: [((V, W), {}), ((M,), {}), ((M,), {"rowvar": False}), ((M,), {"ddof": 0})],
    np.corrcoef: [((V, W), {}), ((M,), {}), ((M,), {"rowvar": False})],
    np.histogram: [((V,), {}), ((V, 4), {}), ((V, SORTED), {}), ((EMPTY, 3), {})]
    + [((V, 4, np.array([-1.0, 1.0])), {}), ((V, SORTED[1:5]), {"weights": W})]
    + [((T[:1], 3), {}), ((K, 4), {})],
    np.nan_to_num: [((TIES,), {}), ((TIES,), {"nan": 2.0})]
    + [((np.array([np.inf, 1.0, -np.inf]),), {})]
    + [((np.array([[np.inf, 1.0], [-np.inf, np.nan]]),), {"nan": 1.0})],
    np.nonzero: [((M > 0,), {}), ((M,), {})],
    np.where: [((M > 0,), {})],
    np.argwhere: [((V > 0,), {}), ((M > 0,), {})],
    np.triu_indices: [((4,), {}), ((4, 1), {}), ((4, -2), {}), ((3, 5), {})],
    np.tril_indices: [((4,), {}), ((4, 1), {}), ((4, -2), {}), ((3, -5), {})],
    np.meshgrid: [((V, T), {}), ((V, T), {"indexing": "ij"})],
    np.isin: [((K, K[:2]), {}), ((V, V[2:]), {}), ((V, V[2:]), {"invert": True})],
    np.delete: [((V, k), {}) for k in (0, 3, -1, -7)]
    + [((M, -1), {"axis": 0}), ((M, 1), {"axis": 1})],
    np.insert: [((V, k, 0.5), {}) for k in (0, 3, -1, 7)] + [((K, 2, 7), {})],
    np.pad: [
        ((a, width), {"mode": mode})
        for mode in ("constant", "edge", "wrap", "reflect", "symmetric")
        for a, width in ((V, 2), (T, 7), (M, 2), (V, np.array([0, 3])), (T[:1], 2))
    ]
    + [((V, 1), {"constant_values": 2.5}), ((M, 1), {"constant_values": 2.5})],
    np.polyfit: [((V, W, k), {}) for k in (0, 1, 3)],
    np.linalg.slogdet: [((S,), {}), ((S[::-1],), {}), ((np.zeros((2, 2)),), {})],
    math.gamma: [((t,), {}) for t in (0.3, 1.0, 5.0, 5.5, 22.0, 30.1, -0.5, -2.7)],
    math.fsum: [((V,), {}), ((EMPTY,), {})],
    np.add.outer: [((V, T), {})],
    np.subtract.outer: [((V, T), {})],
    np.multiply.outer: [((V, T), {})],
    np.tril: [((M,), {}), ((M, 1), {}), ((M, -1), {})],
    np.triu: [((M,), {}), ((M, 1), {}), ((M, -1), {})],
    math.lcm: [(ab, {}) for ab in ((12, 18), (0, 0), (-4, 6), (7, 0), (0, -3))],
    math.isqrt: [((n,), {}) for n in (0, 1, 15, 16, 17, 2**53 + 1, 2**62 - 1, 2**62)]
    + [((n,), {}) for n in (2**63 - 1, 3037000499**2, 3037000499**2 - 1)],
    math.prod: [((V,), {}), ((K,), {"start": 2}), ((EMPTY,), {}), ((K[1:3],), {})],
    math.dist: [((V, W), {}), ((T, T), {}), ((EMPTY, EMPTY), {})]
    + [((np.array([1.0, np.inf]), np.array([np.nan, 2.0])), {})]
    + [((1e200 * T, T), {}), ((1e-200 * T, 0.0 * T), {}), ((K, K[::-1]), {})],
    math.isclose: [((1.0, 1.0 + 1e-10), {}), ((1.0, 1.1), {}), ((np.inf, np.inf), {})]
    + [((1.0, np.inf), {}), ((np.nan, np.nan), {}), ((1.0, 1.1), {"abs_tol": 0.2})]
    + [((1.0, 1.1), {"rel_tol": 0.1}), ((1.1, 1.0), {"rel_tol": 0.1}), ((0, 0), {})],
    math.log: [((8.0, 2.0), {}), ((100, 10), {}), ((0.3, 7.5), {})],
    math.modf: [((t,), {}) for t in (2.5, -2.5, -0.0, -3.0, np.inf, np.nan, 3)],
    any: [((a,), {}) for a in (V > 9.0, V, EMPTY, TIES)],
    all: [((a,), {}) for a in (V > 9.0, V, EMPTY, TIES)],
    np.modf: [((t,), {}) for t in (2.5, -2.5, -0.0, -3.0, np.inf, -np.inf, np.nan)]
    + [((a,), {}) for a in (5.0 * V, TIES, ENDS, 5.0 * M, EMPTY, K)],
    np.divmod: [((7.5, 2.0), {}), ((-7, 2), {}), ((V, 0.3), {}), ((5.0 * V, W), {})]
    + [((0.7, W), {}), ((5.0 * M, 0.3), {}), ((M, M[::-1]), {})]
    + [((K, 2), {}), ((-K, K + 1), {}), ((EMPTY, 2.0), {})],
    np.gcd: [(ab, {}) for ab in ((12, 18), (0, 0), (-4, 6), (7, 0), (0, -3))]
    + [((6 * K, K[::-1]), {}), ((-K, 6), {}), ((6, K), {}), ((K[:0], 6), {})],
    np.lcm: [(ab, {}) for ab in ((12, 18), (0, 0), (-4, 6), (7, 0), (0, -3))]
    + [((6 * K, K[::-1]), {}), ((-K, 6), {}), ((6, K), {}), ((K[:0], 6), {})],
    np.nanprod: [((V,), {}), ((TIES,), {}), ((M,), {}), ((K,), {}), ((EMPTY,), {})],
    np.nancumsum: [((V,), {}), ((TIES,), {}), ((M,), {}), ((K,), {}), ((EMPTY,), {})],
    np.nancumprod: [((V,), {}), ((TIES,), {}), ((M,), {}), ((K,), {}), ((EMPTY,), {})],
    np.nanargmax: [((V,), {}), ((TIES,), {}), ((K,), {}), ((ENDS,), {})],
    np.nanargmin: [((V,), {}), ((TIES,), {}), ((K,), {}), ((ENDS,), {})],
    np.nanquantile: [((a, q), {}) for q in (0.0, 0.3, 1.0) for a in (V, TIES, K)]
    + [((TIES, np.array([0.1, 0.9])), {})],
    np.nanpercentile: [((a, q), {}) for q in (0.0, 30.0, 100.0) for a in (V, TIES)]
    + [((TIES, np.array([10.0, 90.0])), {})],
    np.correlate: [
        ((a, b), {"mode": mode})
        for mode in ("full", "same", "valid")
        for a, b in ((V, T), (T, V), (V, V[:4]), (V[:4], V), (V, W), (K, K[:2]))
    ]
    + [((V, T), {})],
    np.ediff1d: [((V,), {}), ((K,), {}), ((M,), {}), ((V[:1],), {}), ((EMPTY,), {})],
    np.extract: [((V > 0, V), {}), ((TIES, W), {}), ((M > 0, M), {}), ((K, V[:6]), {})],
    np.trim_zeros: [
        ((a,), {"trim": trim})
        for trim in ("fb", "f", "b")
        for a in (np.array([0.0, -0.0, 1.0, 0.0, np.nan, 0.0]), 0.0 * V, EMPTY, V, K)
    ]
    + [((K,), {})],
    np.unwrap: [((a,), {}) for a in (7.0 * V, V, TIES, K, EMPTY, V[:1], 30.0 * W)]
    + [((np.array([0.0, np.pi, 0.0, -np.pi, 3.0 * np.pi]),), {})],
    np.vander: [((V,), {}), ((V, 3), {}), ((K, 3), {}), ((V, 0), {}), ((EMPTY,), {})]
    + [((V,), {"increasing": True}), ((K, 4), {"increasing": True})],
    np.tri: [((4,), {}), ((4, 3), {}), ((3, 4, 1), {}), ((3,), {"k": -1}), ((0,), {})]
    + [((3, 4, -4), {}), ((3, 4, 9), {})],
    np.diagflat: [((V,), {}), ((T, 1), {}), ((K, -2), {}), ((M,), {}), ((EMPTY,), {})],
    np.geomspace: [((1.0, 8.0, 4), {}), ((-1.0, -8.0), {}), ((5.0, 0.2, 3), {})]
    + [((2.0, 3.0, n), {}) for n in (0, 1, 2)]
    + [((1, 1000, 4), {})],
    np.hanning: [((n,), {}) for n in (7, 8, 2, 1, 0, -1)],
    np.hamming: [((n,), {}) for n in (7, 8, 2, 1, 0, -1)],
    np.blackman: [((n,), {}) for n in (7, 8, 2, 1, 0, -1)],
    np.bartlett: [((n,), {}) for n in (7, 8, 2, 1, 0, -1)],
    **{
        f: [((V, np.append(V[2:5], W)), {}), ((TIES, TIES[:4]), {}), ((K, K[:3]), {})]
        + [((EMPTY, V), {}), ((V, EMPTY), {}), ((K, V[:3].round()), {})]
        for f in (np.intersect1d, np.union1d, np.setdiff1d, np.setxor1d)
    },
    np.rot90: [((M,), {"k": k}) for k in (-2, -1, 1, 2, 3)] + [((M,), {})],
    np.trace: [((a, k), {}) for k in (1, -1, 0, 5, -5) for a in (M, M.T, S)],
    np.resize: [((V, n), {}) for n in (0, 3, 7, 17)] + [((EMPTY, 3), {}), ((K, 9), {})],
    by_keys: [((V, K7), {}), ((K7, TIES), {}), ((K7, TIES, K7[::-1]), {})]
    + [((EMPTY, EMPTY), {}), ((2**62 + K7, TIES), {})],
    np.lexsort: [((np.array([V, K7]),), {}), ((np.array([K7, K7[::-1]]),), {})]
    + [((np.array([TIES, K7, TIES[::-1]]),), {}), ((np.array([EMPTY, EMPTY]),), {})],
    np.split: [((a, n), {}) for n in (2, 3) for a in (np.tile(V, 6), EMPTY)]
    + [((np.tile(V, 4), 4), {}), ((M, 2), {}), ((np.tile(K, 2), 3), {})]
    + [((np.tile(M, (3, 2)), n), {"axis": axis}) for n in (2, 3) for axis in (0, 1)],
    np.array_split: [((a, n), {}) for n in (2, 3, 4) for a in (V, W[1:], K[1:], EMPTY)],
    np.hsplit: [((np.tile(V, 12), n), {}) for n in (2, 3, 4)]
    + [((np.tile(M, 2), 2), {}), ((M, 3), {})],
    np.vsplit: [((M, 2), {}), ((S, 3), {})],
    np.take_along_axis: [
        ((M, np.array([[0, -1, 2], [1, 1, 0]])), {"axis": 0}),
        ((M, np.array([[0, -1]] * 4)), {"axis": 1}),
        ((M, np.argsort(M, axis=1)), {"axis": -1}),
        ((V, np.array([2, -1, 2])), {"axis": 0}),
    ],
    np.kron: [(ab, {}) for ab in ((V, T), (M, S), (V, M), (M, T), (K, T), (EMPTY, V))],
    np.linalg.matrix_power: [((S, n), {}) for n in (-2, -1, 0, 1, 2, 3, 7)]
    + [((np.array([[1, 1], [1, 0]]), 10), {})],
    np.put: [],
    np.copyto: [],
    np.fill_diagonal: [],
}


def text_for(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What the text for such a call gives."""
    for entry in entries_of(function):
        if len(args) > len(entry.order):
            continue
        given = dict(zip(entry.order, args, strict=False)) | named
        own = {n: v for n, v in given.items() if n in entry.ranks}
        ranks = {n: np.ndim(v) for n, v in own.items()}
        said = {n: v for n, v in given.items() if n not in own}
        needed = entry.ranks.keys() - entry.optional
        if ranks.items() <= entry.ranks.items() and needed <= own.keys():
            if entry.takes(said):
                params = inspect.signature(entry.function).parameters
                return entry.function(
                    **{n if n in params else f"{n}_": v for n, v in own.items()}
                )
    raise AssertionError("no text takes this")


def test_every_function_of_the_library_is_tried() -> None:
    assert {f for f in functions() if f not in CALLS} <= {getattr(np, "trapz", None)}


@pytest.mark.parametrize(
    ("function", "args", "named"),
    [(f, *call) for f, calls in CALLS.items() for call in calls],
)
def test_a_text_gives_in_cpython_what_numpy_gives(
    function: Any, args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    found = text_for(function, args, named)
    wanted = function(*args, **named)
    if not isinstance(wanted, (tuple, list)):
        found, wanted = (found,), (wanted,)
    for mine, theirs in zip(found, wanted, strict=True):
        assert np.shape(mine) == np.shape(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-13)


#: What NumPy itself computes in the short type, or in another order.
SHORT = {np.cross, np.linalg.solve, np.linalg.inv, np.linalg.det, np.linalg.cholesky}
#: Of which the second argument says a place.
RANKED = {np.quantile, np.percentile, np.nanquantile, np.nanpercentile}


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float32])
@pytest.mark.parametrize("function", [f for f in CALLS if f not in SHORT])
def test_a_text_takes_short_numbers_as_numpy_does(function: Any, dtype: Any) -> None:
    room = np.iinfo(dtype) if dtype is not np.float32 else np.finfo(dtype)
    low, high = max(float(room.min), -120.0), min(float(room.max), 250.0)

    def short(value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.dtype != np.float64:
            return value
        if value.size == 0 or not np.all(np.isfinite(value)):
            return value.astype(dtype) if dtype is np.float32 else None
        spread = (value - value.min()) / max(np.ptp(value), 1.0)
        return (low + (high - low) * spread).astype(dtype)

    for args, named in CALLS[function]:
        # Of a quantile the second says which.
        parts = 1 if function in RANKED else len(args)
        mine = (*map(short, args[:parts]), *args[parts:])
        given = {n: short(a) for n, a in named.items()}
        if any(a is None for a in (*mine, *given.values())):
            continue
        with np.errstate(all="ignore"):
            wanted = function(*mine, **given)
            found = text_for(function, mine, given)
        if not isinstance(wanted, (tuple, list)):
            found, wanted = (found,), (wanted,)
        for one, other in zip(found, wanted, strict=True):
            exact = 1e-13 if dtype is not np.float32 else 1e-5
            np.testing.assert_allclose(one, other, rtol=exact, atol=exact)


# ------------------------------------------------------------- as users call them


def order_of_weights(x, w):
    order = np.argsort(w)[::-1]
    s = 0.0
    for k in range(len(order)):
        s += k * x[order[k]] ** 2
    return s


def by_methods(x, w):
    order = w.argsort()
    return np.sum(x[order].cumprod()) + w[order].searchsorted(0.0) * x[0]


def sorted_rows(x, w):
    m = np.stack((x, w))
    return np.sum(np.sort(m) * np.sort(x) * w)


def table_lookup(x, w):
    grid = np.linspace(-3.0, 3.0, 5)
    s = 0.0
    for k in range(len(x)):
        j = np.searchsorted(grid, x[k], side="right") - 1
        t = (x[k] - grid[j]) / (grid[j + 1] - grid[j])
        s += (1.0 - t) * w[j] + t * w[j + 1]
    return s + np.sum(np.interp(x, grid, w[:5]) ** 2)


def robust_scale(x, w):
    centre = np.median(x)
    spread = np.median(np.abs(x - centre))
    return centre * spread + np.quantile(w, 0.3) ** 2 + np.percentile(w, 80.0)


def gaps(x, w):
    y = x.copy()
    y[2] = np.nan
    return np.nansum(y * w) + np.nanmean(y) * np.nanstd(y) + np.nanmax(y) * np.nanmin(y)


def bins(x, w):
    k = np.digitize(x, np.array([-0.5, 0.0, 0.5]))
    sums = np.bincount(k, weights=w * x)
    return np.sum(sums * sums) + np.count_nonzero(x > 0.0) * np.average(
        x, weights=w * w
    )


def small_system(x, w):
    a = np.array([[2.0 + x[0], x[1], 0.3], [w[0], 3.0, x[2]], [0.1, w[1], 2.5]])
    s = np.linalg.solve(a, w[:3])
    return np.sum(s * s) * np.linalg.det(a) + np.sum(np.linalg.inv(a) ** 2)


def polynomials(x, w):
    return np.polyval(w, 0.3) * np.trapezoid(x, dx=0.1) + np.sum(
        np.convolve(x, w[:3], mode="same") ** 2
    )


def torque(x, w):
    c = np.cross(x[:3], w[:3])
    return np.sum(c * c) + np.ptp(x) * np.sum(np.maximum.accumulate(x) * w)


def arranged(x, w):
    a = np.append(np.repeat(x, 2), w[0])
    return (
        np.sum(a**3)
        + np.sum(np.tril(np.diag(x)) * np.triu(np.diag(w))) * np.tile(w, 2)[9]
    )


def in_place(x, w):
    y = x.copy()
    y.sort()
    z = np.zeros(7)
    np.add.at(z, np.array([1, 0, 1]), x[:3] * w[:3])
    np.add.at(z, np.array([6, 6]), x[0])
    t = np.empty((2, 2))
    t.fill(x[1])
    u = np.empty(3)
    u.fill(w[1])
    k = np.int32(2.7)
    return np.sum(y * w) + np.sum(z * z) + np.sum(t * t) * u[0] + x.clip(-0.5, 0.5)[k]


def along_axes(x, w):
    m = np.stack((x, w, x * w))
    kinds, counts = np.unique(np.array([2, 0, 2]), return_counts=True)
    best = np.argmax(m, axis=1)
    s = x[best[0]] * m.argmin(axis=0)[1] + np.sum(np.cumsum(m, axis=0) ** 2 * counts[1])
    s += np.sum(m.cumsum(axis=1)[:, 2] ** 2) * kinds[1] + np.sum(
        np.gradient(x, 0.5) * w
    )
    s += np.sum(np.percentile(x, np.array([10.0, 70.0])) ** 2)
    s += np.sum(np.linalg.cholesky(m @ m.T + 3.0 * np.eye(3)) ** 3)
    s += np.sum(np.logspace(x[0], w[0], 4)) + np.argmax(x) * np.sum(x.cumsum())
    return s + (
        np.sum(np.sort(m, axis=0)[0] ** 2)
        + np.sum(np.median(m, axis=0) * x)
        + np.sum(np.median(m, axis=1) ** 2)
    )


def series(x, w):
    total = 0.0
    for k in range(len(x)):
        weight = math.comb(6, k) / (math.factorial(k) * math.gcd(12, k))
        total += weight * x[k] ** 2 * np.exp2(w[k])
    return total * math.exp2(w[0])


def of_one_dtype(x, w):
    if not x.shape == w.shape == x.shape:
        raise AssertionError
    x = np.asarray(x, dtype=np.float64)
    kept = np.array(w, dtype=float)
    rows = np.ascontiguousarray(np.reshape(w, (1, -1)), np.float64)
    kept[0] = 3.0
    made = np.asarray(2.0 * x, dtype=np.float64)
    tiny = np.finfo(x.dtype).eps
    return np.sum(kept * made * rows[0] / (x * x + tiny)) + np.sum(x * w)


FORMS = [
    series,
    of_one_dtype,
    in_place,
    along_axes,
    order_of_weights,
    by_methods,
    sorted_rows,
    table_lookup,
    robust_scale,
    gaps,
    bins,
    small_system,
    polynomials,
    torque,
    arranged,
]


@pytest.mark.parametrize(("plain", "target"), on_targets(FORMS, 3))
def test_derivatives(plain: Callable[..., Any], target: str) -> None:
    rng = np.random.default_rng(3)
    order = rng.permutation(7)
    given = {"x": 0.4 * (order - 3.2), "w": 0.3 * (rng.permutation(7) - 2.7)}
    check(pyrev.differentiable(plain, target=target), plain, given, [], rng)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_is_asked_to_be_float64_is_no_other(target: str) -> None:
    f = pyrev.differentiable(of_one_dtype, target=target)
    w = np.ones(3)
    for x in (np.ones(3, np.float32), np.ones(3, np.int64)):
        with pytest.raises(pyrev.UnsupportedError, match="and float64 from here on"):
            f(x, w)
    with pytest.raises(AssertionError):
        f(w[1:], w)


def ways(n, k):
    return 1.0 * math.comb(n, k), 1.0 * math.factorial(n)


def test_what_does_not_fit_64_bits_is_told() -> None:
    f = pyrev.differentiable(ways, target="numba")
    assert f(20, 3) == ways(20, 3)
    for n, k in ((67, 33), (21, 1)):
        with pytest.raises(OverflowError, match="more than 64 bits"):
            f(n, k)
    for n, k in ((-1, 1), (3, -1)):
        with pytest.raises(ValueError, match="neg"):
            ways(n, k)
        with pytest.raises(ValueError, match="neg"):
            f(n, k)


def test_a_singular_matrix_raises_what_numpy_raises() -> None:
    def f(a):
        return np.sum(np.linalg.solve(a, np.ones(2)))

    for target in ("python", "numba"):
        with pytest.raises(np.linalg.LinAlgError):
            pyrev.differentiable(f, target=target)(np.ones((2, 2)))


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.int8])
@pytest.mark.parametrize(
    "of",
    [
        lambda x: np.append(x, 1.5),
        lambda x: np.append(x, 2),
        lambda x: np.cumprod(x),
        lambda x: np.convolve(x, x),
        lambda x: np.cumsum(np.stack((x, x)), axis=0),
        lambda x: np.cumsum(np.stack((x, x)), axis=1),
        lambda x: np.array([np.median(x[:2]), np.average(x, weights=x)]),
        lambda x: np.array(
            [np.interp(1, np.arange(3), x), np.interp(x[0], x[1:], x[1:])]
        ),
        lambda x: np.gradient(x),
        lambda x: np.array([np.linalg.norm(x), np.var(x), np.mean(x)]),
        lambda x: np.linalg.inv(np.diag(x)),
        lambda x: np.polyval(x, x),
        lambda x: np.sort(x),
        lambda x: np.repeat(x, 2),
        lambda x: np.unique(x),
        lambda x: np.diag(x),
    ],
)
def test_the_dtype_is_that_of_numpy(of: Callable[..., Any], dtype: Any) -> None:
    x = np.array([120, 100, 127], dtype)
    wanted, found = of(x), pyrev.differentiable(of, target="python").primal(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    # Products of unsigned integers are signed here, as their sums are.
    assert found.dtype == wanted.dtype or wanted.dtype == np.uint64


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_numpy_raises_is_raised(target: str) -> None:
    def negative(x):
        return np.bincount(np.array([-1, 2]))[0] + x[0]

    def beyond(x):
        return np.quantile(x, 1.2 * x[0])

    def unequal(x):
        return np.trapezoid(x, x[1:])

    for f in (negative, beyond, unequal):
        with pytest.raises(ValueError):
            pyrev.differentiable(f, target=target).primal(np.ones(3))


def test_a_function_of_the_same_name_is_the_users() -> None:
    def sort(a):
        return a * 2.0

    def f(x):
        return np.sum(sort(x) * x)

    x = np.array([2.0, 1.0])
    assert pyrev.differentiable(f, target="python")(x) == f(x)


def rounded(x, scale):
    low = np.round(x * scale, 2) * x
    high = np.around(x * 1000.0, decimals=-2) + x.round(1)
    total = 0.0
    for k in range(len(x)):
        total += np.round(x[k] * scale, 3) * x[k]
    return low, high, total


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_decimals_are_rounded_as_numpy_does(target: str, dtype: Any) -> None:
    f = pyrev.differentiable(rounded, target=target)
    x = (RNG.normal(size=300) * 7.0).astype(dtype)
    for found, wanted in zip(f.primal(x, 1.0)[:2], rounded(x, 1.0)[:2], strict=True):
        assert found.dtype == dtype
        # Compiled code may keep a product in double precision.
        few = 4 * np.finfo(dtype).eps
        np.testing.assert_allclose(found, wanted, rtol=few if target == "numba" else 0)
    if dtype == np.float64:
        # In the middle of every step, which are further apart than differences.
        check(f, rounded, {"x": V.round(1), "scale": 1e-4}, [], RNG)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_integers_are_rounded_to_themselves(target: str) -> None:
    def whole(k, x):
        at = np.round(k, 1)
        at[0] = k[1]
        return at, k.round(), x[np.round(k)] * np.round(k[2])

    k, x = np.array([0, 1, 2]), np.array([0.5, 2.5, -1.5])
    found = pyrev.differentiable(whole, target=target).primal(k.copy(), x)
    for mine, theirs in zip(found, whole(k.copy(), x), strict=True):
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs)
