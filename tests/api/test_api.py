# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The contract with users, sentence by sentence, on both targets."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.testing import GradientReport
from tests.corpora import corpus

Target = str


@pytest.fixture(params=["python", "numba"])
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(function: Any, target: str, **options: Any) -> Any:
    return pyrev.differentiable(function, target=target, **options)


def scale_into(x, out, k):
    for i in range(out.shape[0]):
        out[i] += k * x[i]


def overwrite(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i] * x[i]


def energy(x, k=2.0):
    total = 0.0
    for i in range(x.shape[0]):
        total += k * x[i] * x[i]
    return total


def both(x, out):
    s = 0.0
    for i in range(x.shape[0]):
        out[i] = x[i] * out[i]
        s += x[i]
    return out, s


def local(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = 3.0 * x[i]
    return y


def counts(x, hits):
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            hits[i] += 1
            x[i] *= 2.0


X = np.array([1.0, -2.0, 0.5])

# ----------------------------------------------------------------- the primal


def test_a_call_does_what_the_plain_function_does(target: str) -> None:
    f = make(scale_into, target)
    out, plain = np.ones(3), np.ones(3)
    assert f(X, out, 2.0) is None
    scale_into(X, plain, 2.0)
    assert np.array_equal(out, plain)
    assert f.python is scale_into
    assert f.__name__ == "scale_into"


def test_keywords_and_defaults_are_those_of_the_function(target: str) -> None:
    f = make(energy, target)
    assert f(X) == energy(X)
    assert f(k=3.0, x=X) == energy(X, 3.0)
    with pytest.raises(TypeError):
        f(X, unknown=1.0)
    with pytest.raises(TypeError):
        f()


def test_a_returned_parameter_is_the_same_object_and_a_local_array_is_new(
    target: str,
) -> None:
    out = np.ones(3)
    result, _ = pyrev.vjp(make(both, target), X.copy(), out)
    assert isinstance(result, tuple) and result[0] is out
    y, _ = pyrev.vjp(make(local, target), X)
    assert y is not X and np.array_equal(y, 3.0 * X)
    nothing, _ = pyrev.vjp(make(scale_into, target), X, out, 1.0)
    assert nothing is None


def test_plain_functions_are_decorated_on_the_fly() -> None:
    _, pullback = pyrev.vjp(scale_into, X, np.zeros(3), 2.0)
    assert np.array_equal(pullback(out=1.0).x, [2.0, 2.0, 2.0])
    assert np.array_equal(pyrev.grad(energy, wrt="x")(X), 4.0 * X)


def test_the_decorator_takes_arguments_or_none() -> None:
    bare = pyrev.differentiable(energy)
    named = pyrev.differentiable(target="python", wrt="x")(energy)
    assert bare(X) == named(X) == energy(X)
    with pytest.raises(pyrev.ArgumentError, match="choose"):
        pyrev.differentiable(energy, target="fortran")


# ----------------------------------------------------------------- in and out


def test_the_cotangent_is_of_the_final_value_and_the_gradient_of_the_initial(
    target: str,
) -> None:
    d_out = np.array([1.0, 2.0, 3.0])
    _, pullback = pyrev.vjp(make(scale_into, target), X, np.ones(3), 2.0)
    g = pullback(out=d_out)
    assert np.array_equal(g.out, d_out) and g.out is not d_out
    assert np.array_equal(g.x, 2.0 * d_out)
    assert g.k == pytest.approx(float(np.dot(X, d_out)))
    _, pullback = pyrev.vjp(make(overwrite, target), X, np.ones(3))
    g = pullback(out=d_out)
    assert np.array_equal(g.out, np.zeros(3))


def test_a_parameter_that_is_also_returned_receives_the_sum_of_both(
    target: str,
) -> None:
    f = make(both, target)
    _, pullback = pyrev.vjp(f, X.copy(), np.ones(3))
    once = pullback((np.ones(3), None))
    other = pullback(out=np.ones(3))
    sum_of_both = pullback((np.ones(3), None), out=np.ones(3))
    assert np.array_equal(once.out, other.out)
    assert np.array_equal(sum_of_both.out, 2.0 * once.out)
    assert np.array_equal(sum_of_both.x, 2.0 * once.x)


def test_none_in_a_tuple_of_cotangents_means_zero(target: str) -> None:
    _, pullback = pyrev.vjp(make(both, target), X.copy(), np.ones(3))
    assert np.array_equal(pullback((None, 2.0)).x, [2.0, 2.0, 2.0])


def test_a_number_is_a_cotangent_for_every_element(target: str) -> None:
    _, pullback = pyrev.vjp(make(scale_into, target), X, np.ones(3), 2.0)
    assert np.array_equal(pullback(out=0.5).x, [1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "give",
    [
        lambda p: p(),
        lambda p: p(other=np.ones(3)),
        lambda p: p(x=np.ones(3)),
        lambda p: p(out=np.ones(4)),
        lambda p: p(out=np.ones((3, 1))),
        lambda p: p(np.ones(3)),
        lambda p: p(out="text"),
    ],
)
def test_cotangents_that_do_not_fit_are_refused(give: Any) -> None:
    _, pullback = pyrev.vjp(make(scale_into, "python"), X, np.ones(3), 2.0)
    with pytest.raises(pyrev.ArgumentError):
        give(pullback)


def test_a_tuple_of_cotangents_has_the_length_of_the_result() -> None:
    _, pullback = pyrev.vjp(make(both, "python"), X.copy(), np.ones(3))
    for wrong in ((1.0,), (None, 1.0, 1.0), np.ones(3)):
        with pytest.raises(pyrev.ArgumentError):
            pullback(wrong)


def test_an_integer_output_has_no_cotangent() -> None:
    _, pullback = pyrev.vjp(make(counts, "python"), X.copy(), np.zeros(3, int))
    with pytest.raises(pyrev.ArgumentError):
        pullback(hits=np.ones(3))
    assert np.array_equal(pullback(x=1.0).x, [2.0, 1.0, 2.0])


# ----------------------------------------------------------------- gradients


def test_gradients_are_an_immutable_mapping_with_attributes(target: str) -> None:
    _, pullback = pyrev.vjp(make(scale_into, target), X, np.ones(3), 2.0)
    g = pullback(out=1.0)
    assert isinstance(g, pyrev.Gradients)
    assert list(g) == ["x", "out", "k"] and len(g) == 3
    assert g["x"] is g.x and dict(g.items())["k"] == g.k
    with pytest.raises((AttributeError, TypeError)):
        g.x = 1.0
    with pytest.raises(TypeError):
        g["x"] = 1.0
    with pytest.raises(AttributeError):
        _ = g.unknown
    with pytest.raises(KeyError):
        _ = g["unknown"]


def test_a_parameter_named_like_a_method_is_found_by_subscript() -> None:
    def f(keys, values):
        return keys * values

    _, pullback = pyrev.vjp(make(f, "python"), 2.0, 3.0)
    g = pullback(1.0)
    assert (g["keys"], g["values"]) == (3.0, 2.0)
    assert list(g.keys()) == ["keys", "values"]


def test_scalar_gradients_have_the_type_of_the_argument(target: str) -> None:
    f = make(scale_into, target)
    for k in (2.0, np.float64(2.0), np.float32(2.0)):
        _, pullback = pyrev.vjp(f, X, np.ones(3), k)
        assert type(pullback(out=1.0).k) is type(k)


def test_gradients_are_new_c_ordered_and_of_the_primal_dtype(target: str) -> None:
    x = np.asfortranarray(np.ones((3, 2), np.float32))

    def f(a, out):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[j, i] = a[i, j] * 2.0

    _, pullback = pyrev.vjp(make(f, target), x, np.zeros((2, 3), np.float32))
    g = pullback(out=1.0)
    assert g.a.dtype == np.float32 and g.a.flags.c_contiguous
    assert np.array_equal(g.a, np.full((3, 2), 2.0))


def test_strided_and_reversed_views_are_arguments_like_others(target: str) -> None:
    base = np.arange(10.0)
    f = make(overwrite, target)
    for view in (base[::2], base[::-1][:5], base[5:]):
        out = np.zeros(10)[::2]
        _, pullback = pyrev.vjp(f, view, out)
        assert np.array_equal(out, view * view)
        assert np.array_equal(pullback(out=1.0).x, 2.0 * view)


def test_a_parameter_without_influence_gets_zeros(target: str) -> None:
    def f(x, unused, s):
        return x * 2.0 + 0.0 * unused[0]

    _, pullback = pyrev.vjp(make(f, target), 1.0, np.ones(2), 3.0)
    g = pullback(1.0)
    assert np.array_equal(g.unused, np.zeros(2)) and g.s == 0.0


def test_wrt_chooses_parameters_by_name_or_index(target: str) -> None:
    f = make(scale_into, target)
    for wrt, names in (("x", ["x"]), (2, ["k"]), (("k", "x"), ["x", "k"])):
        _, pullback = pyrev.vjp(f, X, np.ones(3), 2.0, wrt=wrt)
        assert list(pullback(out=1.0)) == names


@pytest.mark.parametrize("wrt", ["hits", "unknown", 7, -1, 1.5])
def test_wrt_of_an_integer_or_unknown_parameter_is_refused(wrt: Any) -> None:
    with pytest.raises(pyrev.ArgumentError):
        pyrev.vjp(make(counts, "python"), X.copy(), np.zeros(3, int), wrt=wrt)


def test_no_float_parameter_at_all_is_refused() -> None:
    def f(n):
        s = 0
        for i in range(n):
            s += i
        return s

    with pytest.raises(pyrev.ArgumentError):
        pyrev.vjp(make(f, "python"), 3)


# ----------------------------------------------------------------- grad


def test_grad_gives_the_bare_array_for_one_name_and_gradients_otherwise(
    target: str,
) -> None:
    f = make(energy, target)
    assert np.array_equal(pyrev.grad(f, wrt="x")(X), 4.0 * X)
    assert np.array_equal(pyrev.grad(f, wrt=0)(X), 4.0 * X)
    value, g = pyrev.value_and_grad(f)(X, 3.0)
    assert value == energy(X, 3.0)
    assert np.array_equal(g.x, 6.0 * X) and g.k == pytest.approx(float(X @ X))
    only = pyrev.grad(f, wrt=("x",))(X)
    assert isinstance(only, pyrev.Gradients) and list(only) == ["x"]


@pytest.mark.parametrize("function", [local, scale_into, both])
def test_grad_of_a_function_without_one_scalar_result_is_refused(function: Any) -> None:
    arguments: dict[Any, tuple[Any, ...]] = {
        local: (X,),
        scale_into: (X, np.ones(3), 2.0),
        both: (X, np.ones(3)),
    }
    with pytest.raises(pyrev.ArgumentError):
        pyrev.grad(function)(*copy.deepcopy(arguments[function]))


# ----------------------------------------------------------------- pullbacks


def test_into_adds_to_the_callers_buffers(target: str) -> None:
    _, pullback = pyrev.vjp(make(scale_into, target), X, np.ones(3), 2.0)
    buffer = np.full(3, 10.0)
    g = pullback(out=1.0, into={"x": buffer})
    assert g.x is buffer and np.array_equal(buffer, [12.0, 12.0, 12.0])


def test_buffers_that_overlap_or_do_not_fit_are_refused() -> None:
    x, d_out = X.copy(), np.ones(3)
    _, pullback = pyrev.vjp(make(scale_into, "python"), x, np.ones(3), 2.0)
    wrong: list[Any] = [x, d_out, np.ones(4), np.ones(3, np.float32), [1.0, 2.0, 3.0]]
    for buffer in wrong:
        with pytest.raises(pyrev.ArgumentError):
            pullback(out=d_out, into={"x": buffer})
    with pytest.raises(pyrev.ArgumentError):
        pullback(out=d_out, into={"unknown": np.ones(3)})
    assert np.array_equal(d_out, np.ones(3))


def test_written_arrays_may_change_before_the_pullback(target: str) -> None:
    u = X.copy()
    _, pullback = pyrev.vjp(make(corpus.square_in_place, target), u)
    u[:] = 100.0
    assert np.array_equal(pullback(u=1.0).u, 2.0 * X)


# ---------------------------------------------------------------- calls that do not fit


@pytest.mark.parametrize(
    "arguments",
    [
        (np.ones((3, 1)), np.ones(3), 2.0),
        (1.0, np.ones(3), 2.0),
        (X, np.ones(3), np.ones(2)),
        (X, np.ones(3, np.clongdouble), 2.0),
        (np.ones(3, np.float16), np.ones(3), 2.0),
        (np.array(["a", "b", "c"]), np.ones(3), 2.0),
        (np.array([None, None, None]), np.ones(3), 2.0),
        (X.astype(">f8"), np.ones(3), 2.0),
        ([1.0, 2.0, 3.0], np.ones(3), 2.0),
        (X, None, 2.0),
        (X, np.ones(3), "text"),
        (np.ma.masked_array(X), np.ones(3), 2.0),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: Any, target: str) -> None:
    before = copy.deepcopy(arguments)
    f = make(scale_into, target)
    with pytest.raises(pyrev.ArgumentError):
        f(*arguments)
    with pytest.raises(pyrev.ArgumentError):
        pyrev.vjp(f, *arguments)
    for mine, theirs in zip(arguments, before, strict=True):
        if isinstance(mine, np.ndarray) and mine.dtype.kind in "fc":
            assert np.array_equal(mine, theirs)


def test_an_argument_error_is_a_value_error_and_a_type_error() -> None:
    assert issubclass(pyrev.ArgumentError, (ValueError,))
    assert issubclass(pyrev.ArgumentError, (TypeError,))
    assert issubclass(pyrev.ArgumentError, pyrev.PyrevError)


def test_an_array_too_small_for_its_accesses_raises_before_anything_is_written(
    target: str,
) -> None:
    f = make(corpus.conv1d, target)
    signal, kernel, out = np.ones(4), np.ones(3), np.zeros(3)
    with pytest.raises(IndexError, match="signal"):
        f(signal, kernel, out)
    with pytest.raises(IndexError, match="signal"):
        pyrev.vjp(f, signal, kernel, out)
    assert np.array_equal(out, np.zeros(3))


def test_read_only_and_overlapping_written_arrays_are_refused(target: str) -> None:
    f = make(scale_into, target)
    frozen = np.ones(3)
    frozen.flags.writeable = False
    base = np.arange(6.0)
    zero_stride = np.broadcast_to(np.ones(1), (3,)).view()
    for x, out in (
        (X, frozen),
        (base[:3], base[1:4]),
        (base[:3], base[:3]),
        (X, np.lib.stride_tricks.as_strided(base, (3,), (0,))),
    ):
        before = base.copy()
        with pytest.raises(pyrev.ArgumentError):
            f(x, out, 2.0)
        assert np.array_equal(base, before)
    f(zero_stride, base[:3], 1.0)
    f(frozen, base[:3], 1.0)


def test_read_only_arguments_may_overlap(target: str) -> None:
    def f(a, b):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * b[i]
        return s

    x = X.copy()
    g = pyrev.grad(make(f, target))(x, x)
    assert np.array_equal(g.a, x) and np.array_equal(g.b, x)


# ----------------------------------------------------------------- captured values

GAIN = 2.0


def with_global(x):
    return x * GAIN


def test_captured_values_are_read_at_every_call(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = make(with_global, target)
    assert f(3.0) == 6.0
    monkeypatch.setattr("tests.api.test_api.GAIN", 5.0)
    assert f(3.0) == 15.0
    assert pyrev.grad(f, wrt="x")(3.0) == 5.0

    k = 2.0

    def closed(x):
        return x * k

    g = make(closed, target)
    assert g(3.0) == 6.0
    k = 7.0
    assert g(3.0) == 21.0


# ----------------------------------------------------------------- kinks

KINKS: list[tuple[str, Any, tuple[float, ...], tuple[float, ...]]] = [
    ("max tie", lambda a, b: max(a, b), (1.0, 1.0), (1.0, 0.0)),
    ("min tie", lambda a, b: min(a, b), (1.0, 1.0), (1.0, 0.0)),
    ("maximum tie", lambda a, b: np.maximum(a, b), (1.0, 1.0), (1.0, 0.0)),
    ("minimum tie", lambda a, b: np.minimum(a, b), (1.0, 1.0), (1.0, 0.0)),
    ("abs at zero", lambda a: abs(a), (0.0,), (0.0,)),
    ("sign", lambda a: np.sign(a) * a, (2.0,), (1.0,)),
    ("floor", lambda a: math.floor(a) * a, (2.5,), (2.0,)),
    ("int", lambda a: int(a) * a, (2.5,), (2.0,)),
    ("floor division", lambda a, b: a // b, (7.0, 2.0), (0.0, 0.0)),
    ("remainder", lambda a, b: a % b, (7.0, 2.0), (1.0, -3.0)),
    ("power at zero", lambda a, b: a**b, (0.0, 2.0), (0.0, 0.0)),
    ("square at zero", lambda a: a**2, (0.0,), (0.0,)),
    ("first power at zero", lambda a: a**1, (0.0,), (1.0,)),
    ("hypot at the origin", lambda a, b: math.hypot(a, b), (0.0, 0.0), (0.0, 0.0)),
    ("atan2 at the origin", lambda a, b: math.atan2(a, b), (0.0, 0.0), (0.0, 0.0)),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [k[1:] for k in KINKS],
    ids=[k[0] for k in KINKS],
)
def test_the_side_chosen_at_a_kink(
    function: Any, at: tuple[float, ...], expected: tuple[float, ...], target: str
) -> None:
    _, pullback = pyrev.vjp(make(function, target), *at)
    assert tuple(pullback(1.0).values()) == expected


def test_nothing_of_the_branch_not_taken_reaches_a_gradient(target: str) -> None:
    def f(x):
        return math.log(x) if x > 0.0 else 3.0 * x

    assert pyrev.grad(make(f, target), wrt="x")(0.0) == 3.0

    def g(x):
        if x > 0.0:
            y = math.sqrt(x)
        else:
            y = 0.0
        return y + x

    assert pyrev.grad(make(g, target), wrt="x")(0.0) == 1.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x, c: math.sqrt(x) * c,
        lambda x, c: math.hypot(x, x) * c,
        lambda x, c: c / (x + 1.0) + math.sqrt(x) * c,
        lambda x, c: x**0.5 * c,
        lambda x, c: math.asin(x + 1.0) * c,
        lambda x, c: np.cbrt(x) * c,
    ],
)
def test_a_zero_cotangent_gives_an_exact_zero_at_a_singularity(
    function: Any, target: str
) -> None:
    g = pyrev.grad(make(function, target))(0.0, 0.0)
    assert g.x == 0.0


def test_division_by_zero_and_domain_errors_give_inf_and_nan() -> None:
    def f(x, y):
        return x / y

    def g(x):
        return math.log(x)

    assert make(f, "numba")(1.0, 0.0) == math.inf
    assert math.isnan(make(f, "numba")(0.0, 0.0))
    assert make(g, "numba")(0.0) == -math.inf
    assert math.isnan(make(g, "numba")(-1.0))


def test_integer_division_by_zero_raises(target: str) -> None:
    def f(x, n):
        s = 0.0
        for i in range(4):
            s += x * (i % n)
        return s

    with pytest.raises(ZeroDivisionError):
        make(f, target)(1.0, 0)


@pytest.mark.parametrize(("a", "n"), [(-7, 3), (7, -3), (-7, -3), (6, -3), (0, 5)])
def test_floor_division_and_remainder_of_negatives_are_pythons(
    a: int, n: int, target: str
) -> None:
    def f(x, a, n):
        s = 0.0
        for i in range(a, a + 3):
            s += x * (i // n) + 10.0 * x * (i % n)
        return s

    assert make(f, target)(1.0, a, n) == f(1.0, a, n)


# ----------------------------------------------------------------- text and errors


def test_source_is_there_before_any_call_and_never_changes() -> None:
    f = make(corpus.conv2d, "python")
    before = f.adjoint.source
    image, kernel = np.ones((5, 5), np.float32), np.ones((2, 2), np.float32)
    _, pullback = pyrev.vjp(f, image, kernel, np.zeros((4, 4), np.float32))
    pullback(out=1.0)
    assert f.adjoint.source == before
    assert "def conv2d_adjoint(image, kernel, out, d_out):" in before


def test_the_text_names_neither_pyrev_nor_a_backend() -> None:
    def kernel(x, out):
        for i in range(out.shape[0]):
            out[i] = x[i] * x[i + 1]

    source = make(kernel, "python").adjoint.source
    assert "kernel" in source and "test_api.py" in source
    for name in ("pyrev", "numba", "islpy", "cupy"):
        assert name not in source


def test_the_adjoint_can_be_called(target: str) -> None:
    f = make(scale_into, target)
    d_x, d_out, d_k = f.adjoint(X, np.ones(3), 2.0, np.ones(3))
    assert np.array_equal(d_x, [2.0, 2.0, 2.0]) and np.array_equal(d_out, np.ones(3))
    assert d_k == pytest.approx(float(X.sum()))


def test_names_of_the_user_are_never_taken() -> None:
    def f(x, d_x):
        d_y = x * d_x
        y = d_y * d_y
        return y

    g = pyrev.grad(make(f, "python"))(2.0, 3.0)
    assert (g.x, g.d_x) == (36.0, 24.0)
    assert "d_x_2" in make(f, "python").adjoint.source


def test_unsupported_functions_are_refused_at_decoration() -> None:
    def f(x):
        try:
            return x * 2.0
        except ValueError:
            return x

    with pytest.raises(pyrev.UnsupportedError) as refused:
        pyrev.differentiable(f)
    assert "test_api.py" in str(refused.value) and "try" in str(refused.value)


# ----------------------------------------------------------------- check_grad


def test_check_grad_says_that_a_right_gradient_is_right(target: str) -> None:
    for arguments in ((X,), (X.astype(np.float32),)):
        report = pyrev.check_grad(make(energy, target), *arguments, k=1.5)
        assert report and report.ok and isinstance(report, GradientReport)
        assert report.max_error <= report.tolerance
        assert "energy" in str(report) and "right" in str(report)
    out = np.ones(3)
    assert pyrev.check_grad(make(scale_into, target), X, out, 2.0)
    assert np.array_equal(out, np.ones(3))


def test_check_grad_names_the_entry_of_a_wrong_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pyrev.api import differentiable

    true_vjp = differentiable.vjp

    def planted(f: Any, *args: Any, **kw: Any) -> Any:
        result, pullback = true_vjp(f, *args, **kw)

        def wrong(*a: Any, **k: Any) -> Any:
            g = pullback(*a, **k)
            g.x[1] += 0.5
            return g

        return result, wrong

    monkeypatch.setattr(differentiable, "vjp", planted)
    report = pyrev.check_grad(make(energy, "python"), X)
    assert not report and not report.ok
    assert report.worst is not None and report.worst.where == "x[1]"
    assert "x[1]" in str(report) and "WRONG" in str(report)
    assert report.dot_product_error is not None
    assert report.dot_product_error > report.tolerance


def test_check_grad_differences_the_compiled_function_when_the_plain_one_is_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pyrev.testing.checker.SLOW", 0.0)
    report = pyrev.check_grad(make(energy, "python"), X)
    assert report and report.compiled and report.dot_product_error is None


@pytest.mark.parametrize("n", [2**63, -(2**63) - 1, np.uint64(2)])
def test_an_integer_that_does_not_fit_is_refused(n: Any) -> None:
    def every(a, n, out):
        for i in range(out.shape[0]):
            out[i] = a[i % n]

    out = np.zeros(2)
    with pytest.raises(pyrev.ArgumentError, match="fit 64 bits|dtype uint64"):
        pyrev.differentiable(every)(np.ones(2), n, out)
    assert list(out) == [0.0, 0.0]


def test_floats_for_an_array_of_integers_are_refused_before_anything_is_written() -> (
    None
):
    def halves(a, out):
        for i in range(a.shape[0]):
            out[i] = 0.5 * a[i]

    out = np.zeros(2, np.int8)
    with pytest.raises(pyrev.ArgumentError, match=r"out.astype\(np.float64\)"):
        pyrev.differentiable(halves)(np.array([1.0, 1e300]), out)
    assert list(out) == [0, 0]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_parameters_by_keyword_only(target: str) -> None:
    def f(x, *, p, q=2.0):
        return x * p + q

    g = pyrev.differentiable(f, target=target)
    assert g(2.0, p=3.0) == 8.0
    value, gradient = pyrev.value_and_grad(g)(2.0, q=1.0, p=3.0)
    assert value == 7.0 and gradient.p == 2.0 and gradient.q == 1.0


def test_a_parameter_may_be_called_target() -> None:
    def misses(x, target):
        total = 0.0
        for i in range(x.shape[0]):
            total += (x[i] - target) ** 2
        return total

    f = pyrev.differentiable(misses)
    given: dict[str, Any] = {"x": np.ones(3), "target": 2.0}
    assert f.explain("numba", **given) == str(f.adjoint.report("numba", **given))
    assert f.adjoint.explain("numba", **given) == f.explain("numba", **given)
    assert "target numba" in f.explain("numba", **given)
    assert "def misses_adjoint(" in f.adjoint.source_for("numba", **given)
    assert f.adjoint.source_for(target="numba") == f.adjoint.source_for("numba")


def staged(x, u, dt):
    least = x[0]
    for i in range(1, x.shape[0]):
        if x[i] < least:
            least = x[i]
    y, v = 0.0, u
    for t in range(x.shape[0]):
        k1 = math.sin(v) * y
        v = v + dt * math.sin(v + dt * k1)
        y = y + x[t] * v
    return y + least


def test_a_report_says_what_the_text_that_is_read_has_otherwise() -> None:
    f = pyrev.differentiable(staged)
    assert f.adjoint.report().readable == ()
    found = f.adjoint.report("numba").readable
    assert any(line.endswith("k1: recomputed there, taped here") for line in found)
    assert any(line.endswith("least_at: live there only") for line in found)
    assert any(line.endswith("x[i] < least: taped here only") for line in found)
    assert "otherwise in the text that is read" in f.explain("numba")
    assert f.adjoint.report("numba").to_dict()["readable"] == list(found)
