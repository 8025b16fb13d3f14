"""`custom_vjp`: a helper's own rule, in every mode, and its check at first use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pyrev
from pyrev.parse.custom import rule_of

TARGETS = ["python", "numba"]
Array = NDArray[np.float64]


def root_vjp(a, result, d_result):
    return d_result / (2 * result)


@pyrev.custom_vjp(root_vjp)
def root(a):
    x = 1.0
    while abs(x * x - a) > 1e-14 * a:
        x = 0.5 * (x + a / x)
    return x


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def softplus_vjp(x, result, d_result):
    s = sigmoid(x)
    return d_result * s


@pyrev.custom_vjp(softplus_vjp)
def softplus(x):
    return math.log1p(math.exp(x))


def polar_vjp(r, t, x, y, d_x, d_y):
    return d_x * math.cos(t) + d_y * math.sin(t), -d_x * y + d_y * x


@pyrev.custom_vjp(polar_vjp)
def polar(r, t):
    return r * math.cos(t), r * math.sin(t)


def horner_vjp(x, n, result, d_result):
    total = 0.0
    power = 1.0
    for k in range(1, n):
        total += d_result * k * power
        power *= x
    if n < 2:
        total = 0.0
    return total, 0.0


@pyrev.custom_vjp(horner_vjp)
def horner(x, n):  # 1 + x + ... + x ** (n - 1)
    total = 0.0
    for _ in range(n):
        total = total * x + 1.0
    return total


def step_vjp(x, result, d_result):
    return d_result


@pyrev.custom_vjp(step_vjp, check=False)
def step(x):
    return math.floor(x) + 0.0


def roots(u, out):
    for i in range(u.shape[0]):
        out[i] = root(u[i]) * u[i]


def smooth(u):
    total = 0.0
    for i in range(u.shape[0]):
        total += softplus(u[i] * 2) * u[i]
    return total


def turned(u, v, out):
    for i in range(u.shape[0]):
        x, y = polar(u[i], v[i])
        out[i] = x * y + x


def series(u):
    total = 0.0
    for i in range(u.shape[0]):
        total += horner(u[i], n=i) * root(horner(x=u[i], n=3))
    return total


def weighed_vjp(x, k, y, result, d_result):
    by_k = d_result * x * x * y**3
    return d_result * 2 * x * k * y**3, by_k, d_result * 3 * x * x * k * y * y


@pyrev.custom_vjp(weighed_vjp)
def weighed(x, k=2.0, y=1.0):
    return x * x * k * y**3


def named_in_another_order(u, w):
    total = 0.0
    for i in range(u.shape[0]):
        total += weighed(y=w, x=u[i], k=math.sin(u[i])) + weighed(u[i], y=w * u[i])
    return total


def in_place(u, steps):
    for _ in range(steps):
        for i in range(1, u.shape[0]):
            if u[i] > 0.2:
                u[i] = root(u[i] * u[i - 1] + softplus(u[i]))


def rounded(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += step(x[i]) * x[i]
    return total


U = np.linspace(0.4, 2.0, 7)
V = np.linspace(-1.0, 2.5, 7)
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (roots, (U, np.zeros(7))),
    (smooth, (U,)),
    (turned, (U, V, np.zeros(7))),
    (series, (U,)),
    (named_in_another_order, (U, 0.7)),
    (in_place, (U, 3)),
]
NAMES = [function.__name__ for function, _ in CALLS]


def _fresh(args: tuple[Any, ...]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("function", "args"), CALLS, ids=NAMES)
def test_rule_gives_the_gradient(
    function: Callable[..., Any], args: tuple[Any, ...], target: str
) -> None:
    # Against differences of the plain function, and the tangent beside the adjoint.
    made = pyrev.differentiable(function, target=target)
    report = pyrev.check_grad(made, *_fresh(args))
    assert report.ok, report


@pytest.mark.parametrize("target", TARGETS)
def test_primal_is_the_helper_and_has_no_rule(target: str) -> None:
    made = pyrev.differentiable(roots, target=target)
    ours, plain = np.zeros(7), np.zeros(7)
    made(U, ours)
    roots(U, plain)
    np.testing.assert_allclose(ours, plain, rtol=1e-15)
    assert "2 * " not in made.primal.source_for(target)
    assert "along" not in made.primal.source
    looped = pyrev.differentiable(squared_twice, target=target)
    assert "for " not in looped.primal.source


@pytest.mark.parametrize("memory", [None, 1 << 12])
def test_loop_that_is_checkpointed(memory: int | None) -> None:
    function = pyrev.differentiable(in_place, target="python", memory=memory)
    _, pullback = pyrev.vjp(function, U.copy(), 9)
    got = pullback(u=np.ones(7)).u
    for k in range(7):
        sides = []
        for way in (-1e-6, 1e-6):
            moved = U.copy()
            moved[k] += way
            in_place(moved, 9)
            sides.append(moved.sum())
        assert got[k] == pytest.approx((sides[1] - sides[0]) / 2e-6, rel=1e-6, abs=1e-8)


def several_vjp(x, z, p, q, r, dp, dq, dr):
    dq = 2.0 * dq
    t = dq * 0.5 / math.sqrt(x)
    v = -t if x > 1.0 else t
    w = dp - v * 0.0
    d_x = float(v) + w * z - dr / z
    return d_x, dp * x - (0.0 * dq - dr * x / z / z)


@pyrev.custom_vjp(several_vjp, check=False)
def several(x, z):
    return x * z, 2.0 * math.sqrt(x), -x / z


def one_of_several(x, z):
    p, _, r = several(x, z)
    return p * p + r * z * z


def each_of_several(x, z):
    p, q, r = several(x, z)
    return p * p + r * z * q


def looped_vjp(x, result, d_result):
    total = 0.0
    table = np.full(3, result * 0.0)
    for k in range(3):
        total += x + table[k]
        if k > 1:
            total = total - x
    return d_result * total


@pyrev.custom_vjp(looped_vjp)
def looped(x):
    return x * x


def squared_twice(x):
    return looped(x) * looped(x * x)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("function", "args"),
    # At zero the second result has an infinite derivative, which is not asked for.
    [
        (one_of_several, (0.0, 0.7)),
        (one_of_several, (0.4, 0.7)),
        (each_of_several, (0.4, 0.7)),
        (squared_twice, (0.6,)),
    ],
)
def test_only_what_a_result_depends_on_is_in_its_derivative(
    function: Callable[..., Any], args: tuple[float, ...], target: str
) -> None:
    got = pyrev.grad(pyrev.differentiable(function, target=target))(*args)
    for k, name in enumerate(got):
        h = 1e-5 * (args[k] or 1.0)
        # To one side, where the function ends at zero.
        steps = [-1, 0, 1] if args[k] else [0, 1, 2]
        a, b, c = (function(*args[:k], args[k] + m * h, *args[k + 1 :]) for m in steps)
        slope = (c - a) / (2 * h) if args[k] else (-3 * a + 4 * b - c) / (2 * h)
        assert got[name] == pytest.approx(slope, rel=1e-7, abs=1e-7)


def filled_vjp(x, result, d_result):
    table = np.full(3, d_result)
    return table[1] * 2.0 * x


def stored_vjp(x, result, d_result):
    table = np.zeros(3)
    table[1] = d_result * x
    return table[1] * 2.0


def decided_vjp(x, result, d_result):
    total = 2.0 * x
    if d_result > 0.0:
        total = 0.0
    return total * d_result


def offset_vjp(x, result, d_result):
    total = d_result + x
    return total * 2.0 * x


@pytest.mark.parametrize("rule", [filled_vjp, stored_vjp, decided_vjp, offset_vjp])
def test_a_rule_that_is_not_seen_to_be_linear_is_refused_where_it_is_not(
    rule: Callable[..., Any],
) -> None:
    @pyrev.custom_vjp(rule)
    def squared(x):
        return x * x

    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.differentiable(lambda x: squared(x) * x)
    (found,) = caught.value.findings
    first = rule.__code__.co_firstlineno
    assert found.code == "P118" and first < found.at.line <= first + 3


def test_a_rule_that_cannot_be_read_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec("def unread(x, y, p, q, dp, dq): return 2.0 * dp, 2.0 * dq", namespace)

    @pyrev.custom_vjp(namespace["unread"])
    def both(x, y):
        return 2.0 * x, 2.0 * y

    def used(x, y):
        a, b = both(x, y)
        return a * b

    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.differentiable(used)
    assert [f.code for f in caught.value.findings] == ["P114"]


def test_second_derivatives_that_a_rule_does_not_give_are_refused_by_each_way() -> None:
    def unpacked(x):
        p, q = x  # a check, which the tangent leaves out
        return root(p) * q

    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.hessian(unpacked, wrt="x")(np.array([2.0, 0.7]))
    assert [f.code for f in caught.value.findings] == ["P119"]


def test_meant_to_differ() -> None:
    # Straight through: the derivative of step(x) * x is x + step(x).
    x = np.array([0.3, 1.7, -0.4])
    got = pyrev.grad(rounded)(x).x
    np.testing.assert_allclose(got, x + np.floor(x))


@pytest.mark.parametrize("target", TARGETS)
def test_forward(target: str) -> None:
    function = pyrev.differentiable(roots, target=target)
    _, moved = pyrev.jvp(function, U, np.zeros(7), tangents={"u": np.ones(7)})
    np.testing.assert_allclose(moved.out, 1.5 * np.sqrt(U), rtol=1e-12)


def test_second_order_of_a_rule_without_the_result() -> None:
    got = pyrev.hessian(smooth, wrt="u")(U)
    s = 1 / (1 + np.exp(-2 * U))
    # d2/du2 of u softplus(2u), by hand.
    np.testing.assert_allclose(got, np.diag(4 * s + 4 * U * s * (1 - s)), rtol=1e-12)
    third = pyrev.hvp(
        pyrev.differentiable(pyrev.differentiable(smooth).adjoint),
        U,
        1.0,
        tangents={"u": np.ones(7)},
        cotangent=(np.ones(7),),
        wrt="u",
    ).u
    h = 1e-4

    def second(u: Array) -> Array:
        s = 1 / (1 + np.exp(-2 * u))
        return 4 * s + 4 * u * s * (1 - s)

    slope = (second(U + h) - second(U - h)) / (2 * h)
    np.testing.assert_allclose(third, slope, rtol=1e-6)


def test_second_order_through_a_result_is_refused() -> None:
    with pytest.raises(pyrev.UnsupportedError, match="P119"):
        pyrev.hvp(
            roots, U, np.zeros(7), tangents={"u": U}, cotangents={"out": np.ones(7)}
        )
    with pytest.raises(pyrev.UnsupportedError, match="P119"):
        again = pyrev.differentiable(pyrev.differentiable(roots).adjoint)
        pyrev.vjp(again, U, np.zeros(7), np.ones(7))


def test_sparse_jacobian_follows_the_rule() -> None:
    made = pyrev.jacobian(turned, wrt="v", of="out", sparse=True)(U, V, np.zeros(7))
    slope = U * U * np.cos(2 * V) - U * np.sin(V)
    np.testing.assert_allclose(made.toarray(), np.diag(slope), rtol=1e-12)
    assert made.nnz == 7


def test_partials() -> None:
    _, found = pyrev.partials(roots, U, np.zeros(7), wrt="u")
    np.testing.assert_allclose(found.out.u, 1.5 * np.sqrt(U), rtol=1e-12)


def test_plain_python_is_the_helper() -> None:
    assert root(4.0) == pytest.approx(2.0)
    assert root.__name__ == "root"
    assert rule_of(root) is not None and rule_of(sigmoid) is None


# -------------------------------------------------------------------- what is refused


def wrong_vjp(x, result, d_result):
    return 2.1 * d_result * x


def test_a_wrong_rule_is_found_at_first_use() -> None:
    @pyrev.custom_vjp(wrong_vjp)
    def square(x):
        return x * x

    def total(u, out):
        for i in range(u.shape[0]):
            out[i] = square(u[i])

    out = np.zeros(7)
    with pytest.raises(pyrev.ArgumentError, match=r"square\(x=0\.4\).* 0\.8, .* 0\.84"):
        pyrev.vjp(total, U, out)
    assert not out.any()  # nothing was written before


def test_rules_are_compared_once() -> None:
    def cube_vjp(x, result, d_result):
        return 3 * x * x * d_result

    @pyrev.custom_vjp(cube_vjp)
    def cube(x):
        return x * x * x

    def total(u, n):
        return cube(u) if n > 0 else u

    rule = rule_of(cube)
    assert rule is not None and rule.waits
    pyrev.grad(total)(2.0, 0)
    assert rule.waits  # it was not called
    assert pyrev.grad(total)(2.0, 1).u == 12.0
    assert not rule.waits


def test_either_side_of_a_kink_is_a_derivative() -> None:
    def relu_vjp(x, result, d_result):
        return d_result if x > 0 else 0.0

    @pyrev.custom_vjp(relu_vjp)
    def relu(x):
        return x if x > 0 else 0.0

    def total(u):
        s = 0.0
        for i in range(u.shape[0]):
            s += relu(u[i])
        return s

    got = pyrev.grad(total)(np.array([0.0, -1.0, 2.0])).u
    np.testing.assert_array_equal(got, [0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    "rule",
    [
        lambda x, y, d: min(max(d, -1.0), 1.0),
        lambda x, y, d: d * d,
        lambda x, y, d: d + x,
        lambda x, y, d: x / d,
        lambda x, y, d: d if d > 0 else 0.0,
        lambda x, y, d: math.sin(d),
        lambda x, y, d: 1.0,
    ],
)
def test_a_rule_that_is_not_linear_is_refused(rule: Any) -> None:
    @pyrev.custom_vjp(rule, check=False)
    def same(x):
        return x

    def total(u):
        return same(u) * 2

    with pytest.raises(pyrev.UnsupportedError, match="P118"):
        pyrev.grad(total)(1.0)


def test_a_rule_that_is_linear_by_loops_and_branches() -> None:
    def rule(x, y, d):
        total = 0.0
        e = 2 * d
        for k in range(3):
            total += e * k
        if x > 1:
            total = total - 3 * e
        else:
            total = -total + 4 * e
        return total / 6 + (d if x > 0 else -d) * 0.0

    @pyrev.custom_vjp(rule, check=False)
    def strange(x):
        return x

    def total(u):
        return strange(u) * 5

    assert pyrev.grad(total)(2.0).u == pytest.approx(0.0)
    assert pyrev.grad(total)(0.5).u == pytest.approx(5 / 3)


def test_what_does_not_fit() -> None:
    with pytest.raises(pyrev.ArgumentError, match="give the rule"):
        pyrev.custom_vjp(3)  # type: ignore[arg-type]
    with pytest.raises(pyrev.ArgumentError, match="takes the 2 arguments"):
        pyrev.custom_vjp(root_vjp)(lambda a, b: a)
    with pytest.raises(pyrev.UnsupportedError, match="P117"):
        pyrev.grad(root)(2.0)

    def half_vjp(a, b, result, d_result):
        return d_result

    @pyrev.custom_vjp(half_vjp, check=False)
    def both(a, b):
        return a * b

    with pytest.raises(pyrev.UnsupportedError, match="P117"):
        pyrev.grad(lambda x: both(x, x))(2.0)

    @pyrev.custom_vjp(root_vjp, check=False)
    def first(a):
        return a[0]

    def of_array(u):
        return first(u)

    with pytest.raises(pyrev.UnsupportedError, match="P117|P203"):
        pyrev.grad(of_array)(U)


def pole_vjp(a, result, d_result):
    return d_result / (2 * result)


@pyrev.custom_vjp(pole_vjp)
def root_with_a_pole(a):
    return a**0.5


def at_a_pole(x):
    return root_with_a_pole(x)


def power_of_a_half(x):
    return x**0.5


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("f", [at_a_pole, power_of_a_half])
def test_a_derivative_may_have_a_pole_where_the_function_has_none(f, target):
    made = pyrev.differentiable(f, target=target)
    assert pyrev.grad(made)(0.0).x == np.inf
    assert pyrev.grad(made)(4.0).x == 0.25
    assert pyrev.jvp(made, 0.0, tangents={"x": 1.0})[1]["return"] == np.inf
