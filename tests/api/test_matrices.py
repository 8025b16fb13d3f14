"""Hessians and Jacobians against differences, and sparse ones against dense ones."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

import pyrev
from pyrev.api.differentiable import Call
from pyrev.api.matrices import _gradient
from pyrev.api.sparsity import coloured
from pyrev.bridges.pure import Pure
from pyrev.runtime import pool
from pyrev.testing.differences import central, moved
from pyrev.testing.outcome import draw_cotangents, floats, run, terms
from tests.corpora.conformance.entries import CONFORMANCE
from tests.corpora.entry import Entry
from tests.corpora.everything import accepted
from tests.turns import share_of

scipy = pytest.importorskip("scipy")
sparse = pytest.importorskip("scipy.sparse")
optimize = pytest.importorskip("scipy.optimize")

BY_NAME = {e.name: e for e in CONFORMANCE}


# -------------------------------------------------------------------- second order


def along(entry: Entry, target: str, size: int) -> None:
    """`<u, H v>` against differences of the gradient, which its own tests judge."""
    f = accepted(entry, target)
    rng = entry.generator(size)
    values = entry.make(size, np.float64, rng)
    weights = draw_cotangents(run(entry.plain, values, entry.outputs), rng)
    names = floats(values)
    v = {n: rng.uniform(-1, 1, np.shape(values[n])) for n in names}
    u = {n: rng.uniform(-1, 1, np.shape(values[n])) for n in names}
    given = {
        "cotangent": weights.positional,
        "cotangents": {n: w for n, w in weights.written.items() if w is not None},
    }

    def component(t: float) -> float:
        there = copy.deepcopy(moved(values, v, t))
        _, pullback = pyrev.vjp(f, **there)
        gradients = pullback(given["cotangent"], cotangents=given["cotangents"])
        return float(sum(np.sum(gradients[n] * u[n]) for n in names))

    before = copy.deepcopy(values)
    found = pyrev.hvp(f, **values, tangents=v, **given)
    for n, value in before.items():
        np.testing.assert_array_equal(values[n], value)
    mine = float(sum(np.sum(found[n] * u[n]) for n in names))
    # Where a step changes how a test comes out, a shorter one may not.
    slope = min(
        (central(component, step, 1.0) for step in (2e-3, 1e-4)), key=lambda s: s.error
    )
    scale = max(1.0, abs(slope.value))
    assert slope.error <= 1e-2 * scale, f"{entry.name}: no slope to compare with"
    assert abs(mine - slope.value) <= 1e-5 * scale + 10 * slope.error, entry.name


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(BY_NAME, 40))
def test_a_hessian_times_a_vector(name: str) -> None:
    along(BY_NAME[name], "python", max(4, BY_NAME[name].least))


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(BY_NAME, 320))
def test_a_hessian_times_a_vector_compiled(name: str) -> None:
    along(BY_NAME[name], "numba", BY_NAME[name].real)


def behind(counts, a):
    total = 0.0
    for i in range(counts.shape[0]):
        buffer = np.zeros(counts[i])
        for k in range(counts[i]):
            buffer[k] = a[k] * (buffer[k - 1] + 1.0)  # the last one, at first
        for k in range(counts[i]):
            total += buffer[k] ** 2
    return total


@pytest.mark.slow
def test_sparse_blocks_have_their_columns_in_order() -> None:
    def f(x, y):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] ** 2 * y[2 * i % y.shape[0]] ** 2 * x[(i + 2) % x.shape[0]]
        return total

    given = np.arange(1.0, 6.0), np.arange(1.0, 4.0)
    blocks, dense = pyrev.hessian(f, sparse=True)(*given), pyrev.hessian(f)(*given)
    for p in ("x", "y"):
        for q in ("x", "y"):
            made = blocks[p][q]
            np.testing.assert_allclose(made.toarray(), dense[p][q], rtol=1e-12)
            for a, b in itertools.pairwise(made.indptr):
                assert (np.diff(made.indices[a:b]) > 0).all()


@pytest.mark.slow
def test_second_order_where_data_makes_a_subscript_negative() -> None:
    counts, a = np.array([2, 3, 1]), np.array([0.3, -0.8, 0.7])
    v, w = np.array([1.0, 0.4, -0.6]), np.array([0.2, 1.0, 0.5])

    def slope(t: float) -> float:
        def value(s: float) -> float:
            return behind(counts, a + t * v + s * w)

        return central(value, 1e-2, 1.0).value

    expected = central(slope, 1e-2, 1.0).value
    found = pyrev.hvp(behind, counts, a, tangents={"a": v}).a @ w
    assert found == pytest.approx(expected, rel=1e-6)
    # And the adjoint as a function of its own.
    gradient = pyrev.differentiable(pyrev.differentiable(behind).adjoint)
    _, pullback = pyrev.vjp(gradient, counts, a, 1.0, wrt="a")
    assert pullback((w,)).a @ v == pytest.approx(expected, rel=1e-6)


def rosenbrock(x):
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def halved(x, y):
    """The steps are data: the adjoint records them in arrays that can grow."""
    s = x[0] * y
    while s > 0.01:
        s = s * s * 0.5
    return s


def climbed(x, y):
    """These arrays do grow, one of them has two axes."""
    u = x * y
    while u[0] < 20.0:
        u = u * 1.05 + 0.01 * u * u * y
    return np.sum(u)


def test_hessians() -> None:
    x = np.random.default_rng(0).random(7)
    expected = optimize.rosen_hess(x)
    found = pyrev.hessian(rosenbrock, wrt="x")(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)
    several = pyrev.hvp(rosenbrock, x, tangents={"x": np.eye(7)})
    np.testing.assert_allclose(several.x, expected, rtol=1e-12, atol=1e-9)
    one = pyrev.hvp(rosenbrock, x, tangents={"x": x})
    np.testing.assert_allclose(one.x, expected @ x, rtol=1e-11, atol=1e-9)


def test_blocks_of_a_hessian() -> None:
    def f(x, k, y):
        total = 0.0
        for i in range(x.shape[0]):
            for j in range(y.shape[1]):
                total += k * x[i] ** 2 * y[i, j]
        return total

    x, y = np.array([1.0, 2.0]), np.arange(6.0).reshape(2, 3)
    h = pyrev.hessian(f)(x, 3.0, y)
    np.testing.assert_allclose(h.x.x, np.diag(6 * y.sum(1)))
    np.testing.assert_allclose(h["x"]["k"], 2 * x * y.sum(1))
    np.testing.assert_allclose(h["k"]["x"], 2 * x * y.sum(1))
    assert h["k"]["k"] == 0 and h.y.y.shape == (2, 3, 2, 3) and not h.y.y.any()
    cross = pyrev.hvp(f, x, 3.0, y, tangents={"k": 2.0}, wrt=("x", "y"))
    np.testing.assert_allclose(cross.x, 4 * x * y.sum(1))
    np.testing.assert_allclose(cross.y, 2 * np.repeat(x[:, None] ** 2, 3, 1))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [halved, climbed])
def test_where_the_adjoint_records_what_grows(
    plain: Callable[..., Any], target: str
) -> None:
    f = pyrev.differentiable(plain, target=target)
    x, step = np.array([0.9]), 1e-5
    h = pyrev.hvp(f, x, 1.3, tangents={"x": np.ones(1), "y": 0.5})

    def gradient(t: float) -> Any:
        return pyrev.grad(f)(x + t, 1.3 + 0.5 * t)

    up, down = gradient(step), gradient(-step)
    for name in ("x", "y"):
        slope = (up[name] - down[name]) / (2 * step)
        np.testing.assert_allclose(h[name], slope, rtol=1e-6)


@pytest.mark.slow
def test_what_the_function_asserts_holds_for_its_hessian() -> None:
    def f(x, y):
        made = x * y  # of equal shapes, else a ValueError
        total = made[0]
        while total > 0.3:
            total *= x[1] * total
        return total

    x = np.array([0.9, 0.8])
    assert np.isfinite(pyrev.hvp(f, x, np.ones(2), tangents={"x": 1.0}).x).all()
    with pytest.raises(ValueError, match="shapes"):
        pyrev.hvp(f, x, np.ones(3), tangents={"x": 1.0})
    with pytest.raises(ValueError, match="shapes"):
        pyrev.hessian(f, wrt="x")(x, np.ones(3))


def test_what_a_test_of_the_user_selects_is_no_product_that_it_spares() -> None:
    def f(d, p, x):
        a = np.exp(d) * x if d != 0.0 else 0.0
        return a * p

    found = pyrev.hessian(f)(1.0, 2.0, 3.0)
    e = np.e
    expected = {"d": [6 * e, 3 * e, 2 * e], "p": [3 * e, 0, e], "x": [2 * e, e, 0]}
    for name, row in expected.items():
        got = [found[name][other] for other in "dpx"]
        np.testing.assert_allclose(got, row, rtol=1e-12)
    found = pyrev.hessian(f)(0.0, 2.0, 3.0)
    assert not any(found[name][other] for name in "dpx" for other in "dpx")


#: Twice differentiable and not quadratic, and none takes long.
CUBIC = """
    weak_scalar_parameters prange_rows rotate_three go_fast several_targets
    continued_fraction product_by_index math_trigonometry weighted_prefix_sums
    legendre_table
""".split()


@pytest.mark.slow
@pytest.mark.parametrize("name", CUBIC)
def test_third_order(name: str) -> None:
    """The third derivative along a line, against a polynomial through plain values."""
    entry = BY_NAME[name]
    size = max(4, entry.least)
    rng = entry.generator(size)
    values = entry.make(size, np.float64, rng)
    weights = draw_cotangents(run(entry.plain, values, entry.outputs), rng)
    names = floats(values)
    v = {n: rng.uniform(-1, 1, np.shape(values[n])) for n in names}

    f = pyrev.differentiable(entry.plain, target="python")
    call = Call(f, (), copy.deepcopy(dict(values)))
    seeds = dict(enumerate(weights.returned)) | weights.written
    gradient, given = _gradient(call, names, seeds)
    found = pyrev.hvp(
        gradient, *given, tangents=v, cotangent=tuple(v[n] for n in names), wrt=names
    )
    mine = float(sum(np.sum(found[n] * v[n]) for n in names))

    def along_the_line(t: float) -> float:
        there = copy.deepcopy(moved(values, v, t))
        return sum(terms(run(entry.plain, there, entry.outputs), weights))

    reach = 0.02
    nodes = np.cos(np.pi * (np.arange(13) + 0.5) / 13)
    line = np.polynomial.Chebyshev.fit(
        nodes, [along_the_line(reach * t) for t in nodes], 12, domain=(-1, 1)
    )
    expected = float(line.deriv(3)(0.0)) / reach**3
    assert abs(expected) > 0.05  # else anything small would do
    assert mine == pytest.approx(expected, rel=1e-5)


def test_a_hessian_needs_one_number() -> None:
    def f(x, out):
        for i in range(2):
            out[i] = x[i] ** 2

    with pytest.raises(pyrev.ArgumentError, match="returns nothing"):
        pyrev.hvp(f, np.ones(2), np.zeros(2), tangents={"x": 1.0})
    found = pyrev.hvp(
        f, np.ones(2), np.zeros(2), tangents={"x": 1.0}, cotangents={"out": 3.0}
    )
    np.testing.assert_allclose(found.x, 6.0)


def cubes(u, index):
    total = 0.0
    for i in range(index.shape[0]):
        total += u[index[i]] ** 3
    return total


@pytest.mark.parametrize("deterministic", [False, True])
def test_without_atomics_a_derivative_to_be_derived_again_has_none(
    deterministic: bool,
) -> None:
    f = pyrev.differentiable(cubes, deterministic=deterministic)
    given = {"u": np.ones(4), "index": np.array([1, 1, 2])}
    call = Call(f, (), given)
    call.check()
    gradient, _ = _gradient(call, ("u",), {0: 1.0})
    bridged, *_ = Pure(f)._adjoint(given, ("u",), {0: 1.0})
    for made in (gradient, bridged.f):
        text = made.primal.source_for("cuda")
        assert ("atomicAdd" in text) is not deterministic


# -------------------------------------------------------------------- Jacobians


def five_points(u, out):
    for y in range(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            around = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1]
            out[y, x] = around - 4 * u[y, x] + u[y, x] ** 2


def clamped(u, out):
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            for k in range(-1, 2):
                out[y, x] += u[min(max(y + k, 0), u.shape[0] - 1), x] ** (2 + k)


def gathered(u, index, out):
    for i in range(index.shape[0]):
        if i % 3 != 1:
            out[i] = u[index[i]] * u[-1 - i]


def rows_of_sums(u, out):
    for i in range(out.shape[0]):
        total = 0.0
        for j in range(i + 1):
            total += u[j] ** 2
        out[i] = total
        out[i] *= 2.0


def running(u, out):
    carried = 0.0
    for i in range(u.shape[0]):
        carried = 0.5 * carried + u[i] ** 2
        out[i] = carried


def in_place(u, steps, out):
    for i in range(out.shape[0]):
        out[i] = u[i]
    for _ in range(steps):
        for i in range(1, out.shape[0]):
            out[i] = out[i] + 0.1 * out[i - 1] ** 2


def two_buffers(u, steps, out):
    v = np.zeros_like(u)
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i - 1] * u[i + 1]
        for i in range(u.shape[0]):
            u[i] += 0.1 * v[i]
    for i in range(u.shape[0]):
        out[i] = u[i]


def branches(u, out):
    for i in range(u.shape[0]):
        if i > 2 and u[i] > 0.5:
            out[i] = u[i] * u[0]
        else:
            out[i] = u[i - 1] if i > 0 else u[i]


def sometimes(u, out):
    for i in range(u.shape[0]):
        if u[i] > 0.5:
            out[i] = u[i] * u[0]


def last_wins(u, out):
    for i in range(u.shape[0]):
        out[i % 3] = u[i] ** 2


def overwritten(u, out):
    for i in range(u.shape[0] - 1):
        out[i] = u[i] ** 2
        out[i + 1] = u[0]


def columns(u, out):
    for j in range(u.shape[1]):
        for i in range(1, u.shape[0]):
            out[i, j] = out[i - 1, j] + u[i, j] ** 2


def whole(u, out):
    out[1:-1] = u[:-2] * u[2:]
    out[0] = np.sum(u[:3])


RNG = np.random.default_rng(7)
SPARSE: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (five_points, (RNG.random((6, 7)), np.zeros((6, 7)))),
    (clamped, (RNG.random((4, 3)), np.zeros((4, 3)))),
    (gathered, (RNG.random(9), np.array([3, 3, 0, -1, 5, 5]), np.zeros(6))),
    (rows_of_sums, (RNG.random(6), np.zeros(5))),
    (running, (RNG.random(6), np.zeros(6))),
    (in_place, (RNG.random(7), 3, np.zeros(7))),
    (two_buffers, (RNG.random(8), 2, np.zeros(8))),
    (last_wins, (RNG.random(8), np.zeros(3))),
    (overwritten, (RNG.random(6), np.zeros(6))),
    (columns, (RNG.random((4, 3)), np.zeros((4, 3)))),
    (whole, (RNG.random(7), np.zeros(7))),
]


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """New memory holds NaN, as that of an earlier call might."""
    new = pool.empty

    def empty(shape: Any, dtype: DTypeLike = np.float64) -> Any:
        made = new(shape, dtype)
        made.fill(np.nan if made.dtype.kind == "f" else 99)
        return made

    monkeypatch.setattr(pool, "empty", empty)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(("f", "args"), SPARSE, ids=[f.__name__ for f, _ in SPARSE])
def test_sparse_is_dense_and_its_pattern_is_exact(
    f: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    f = pyrev.differentiable(f, target="python")
    before = copy.deepcopy(args)
    dense = pyrev.jacobian(f, wrt="u", of="out")(*args)
    found = pyrev.jacobian(f, wrt="u", of="out", sparse=True)(*args)
    for mine, theirs in zip(args, before, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert isinstance(found, sparse.csr_matrix)
    expected = dense.reshape(found.shape)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-13, atol=1e-14)
    ones = sparse.csr_matrix(
        (np.ones(found.nnz), found.indices, found.indptr), found.shape
    )
    np.testing.assert_array_equal(ones.toarray() != 0, expected != 0)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("branching", [branches, sometimes])
def test_a_test_of_floats_takes_both_branches(branching: Callable[..., Any]) -> None:
    f = pyrev.differentiable(branching, target="python")
    u = RNG.random(8)
    dense = pyrev.jacobian(f, wrt="u", of="out")(u, np.zeros(8))
    found = pyrev.jacobian(f, wrt="u", of="out", sparse=True)(u, np.zeros(8))
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-13)
    assert found.nnz > np.count_nonzero(dense)


def test_jacobians_by_both_modes_against_differences() -> None:
    def wide(x, k, out):
        for i in range(out.shape[0]):
            out[i] = k * x[i % 2] ** 2 + x[(i + 1) % 2]

    for size in (1, 5):  # fewer outputs than inputs, and more
        x, out = np.array([0.5, -1.5]), np.ones(size)
        found = pyrev.jacobian(wide)(x, 2.0, out)
        assert found["x"].shape == (size, 2) and found["out"].shape == (size, size)
        assert not found["out"].any()
        for n in range(2):
            step = np.zeros(2)
            step[n] = 1e-6
            up, down = np.zeros(size), np.zeros(size)
            wide(x + step, 2.0, up)
            wide(x - step, 2.0, down)
            np.testing.assert_allclose(found["x"][:, n], (up - down) / 2e-6, rtol=1e-8)
        np.testing.assert_allclose(found["k"], x[np.arange(size) % 2] ** 2)


def test_the_jacobian_of_a_returned_value() -> None:
    def product(a, x):
        made = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                made[i] += a[i, j] * x[j]
        return made

    a, x = RNG.random((3, 4)), RNG.random(4)
    np.testing.assert_allclose(pyrev.jacobian(product, wrt="x")(a, x), a)
    found = pyrev.jacobian(product, wrt="a", sparse=True)(a, x).toarray()
    np.testing.assert_allclose(found, np.kron(np.eye(3), x))
    np.testing.assert_allclose(
        pyrev.jacobian(rosenbrock, wrt="x", of="return")(x), optimize.rosen_der(x)
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 16, 33])
def test_a_stencil_has_five_colours_at_any_size(size: int) -> None:
    u = RNG.random((size, size + 2))
    rows = pyrev.jacobian(five_points, wrt="u", sparse=True)(u, np.zeros_like(u))
    colours, count = coloured(rows, u.shape)
    assert count == 5
    for row in range(rows.shape[0]):
        mine = colours[rows.indices[rows.indptr[row] : rows.indptr[row + 1]]]
        assert len(set(mine)) == len(mine)


def test_colours_of_what_is_no_stencil() -> None:
    rows = sparse.random(60, 40, density=0.06, random_state=3, format="csr")
    colours, count = coloured(rows, (40,))
    assert np.diff(rows.indptr).max() <= count < 40
    for row in range(60):
        mine = colours[rows.indices[rows.indptr[row] : rows.indptr[row + 1]]]
        assert len(set(mine)) == len(mine)


def test_a_sparse_hessian() -> None:
    x = RNG.random(30)
    found = pyrev.hessian(rosenbrock, wrt="x", sparse=True)(x)
    np.testing.assert_allclose(found.toarray(), optimize.rosen_hess(x), atol=1e-9)
    assert found.nnz == 3 * 30 - 2


def test_where_floats_decide_what_is_read_it_is_refused() -> None:
    def looked_up(x, table, out):
        for i in range(x.shape[0]):
            out[i] = table[int(x[i])] * x[i]

    args = np.array([0.5, 1.5]), np.ones(3), np.zeros(2)
    with pytest.raises(pyrev.ArgumentError, match="floats decide a subscript"):
        pyrev.jacobian(looked_up, wrt="table", sparse=True)(*args)
    with pytest.raises(pyrev.ArgumentError, match="how often this runs"):
        pyrev.jacobian(halved, wrt="x", sparse=True)(np.ones(1), 1.0)


@pytest.mark.parametrize(("of", "said"), [(None, "name one"), ("y", "name one")])
def test_which_output_is_meant(of: str | None, said: str) -> None:
    def f(x, out):
        out[0] = x[0]
        return x[1]

    with pytest.raises(pyrev.ArgumentError, match=said):
        pyrev.jacobian(f, wrt="x", of=of)(np.ones(2), np.zeros(1))
