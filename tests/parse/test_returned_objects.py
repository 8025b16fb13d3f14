# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Results that are parameters on some paths: the caller gets the same object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check


def early(x, y, k):
    if k > 1:
        return x
    return np.sin(x) * y


def either(x, y, k):
    if k > 1:
        return x
    return y


def sorted_or_not(x, y, k):
    if k > 1:
        b = x
    else:
        b = np.sort(np.arctan(x) * y)
    return b


def by_expression(x, y, k):
    return x if k > 1 else x * y


def by_name(x, y, k):
    b = x if k > 1 else y
    return b


def scaled_in_place_of(x, y, k):
    if k > 1:
        x = x * y
    return x


def out_of_a_loop(x, y, k):
    for i in range(k):
        if x[i] > 0.6:
            return x
        x = x * 1.25 + y
    return x


def the_better_one(x, y, k):
    best = x
    for i in range(k):
        if y[i] > best[i]:
            best = y
    return best


def a_pair(x, y, k):
    if k == 0:
        return x, y
    if k == 1:
        return y, x
    u = np.zeros_like(x)
    for i in range(len(x)):
        u[i] = x[i] * y[i]
    return u, x


def with_a_number(x, y, k):
    x = np.asarray(x)
    if k > 1:
        x = x - x.mean() * y
    return x, k


def changing_places(x, y, k):
    for _i in range(k):
        x, y = y, x
    return x


def what_is_written(x, y, k):
    x[0] = y[0] ** 2
    if k == 2:
        return x
    y[1] = x[0] * 2.0
    return y


def by_several_names(x, y, k):
    a = x
    b = a
    if k == 1:
        b = y
    elif k > 1:
        b = a + y
    c = b
    return c


def _clipped(u, top):
    if top > 2:
        return u
    return np.minimum(u, 0.5)


def what_a_helper_gives_behind_it(x, y, k):
    if k == 0:
        return x
    z = _clipped(x * y, k)
    return z


def by_a_helper(x, y, k):
    return _clipped(x, k)


def _with_a_number(u, top, scale=2.0):
    if top > 1:
        return u, scale
    return u * scale, scale + 1.0


def by_the_pair_of_a_helper(x, y, k):
    z, s = _with_a_number(x, k, scale=y[0])
    return s, z


def _one_of(a, b, k):
    z = a if k > 1 else b
    return z


def by_helpers_of_helpers(x, y, k):
    z = _one_of(b=_clipped(y, k + 2), a=x, k=k)
    return _clipped(z, k + 1)


def by_a_helper_twice(x, y, k):
    z = _clipped(x, k)
    if k != 3:
        return z
    return _clipped(y, k)


def written_behind_a_helper(x, y, k):
    z, _ = _with_a_number(x, k)
    z[1] *= y[0]
    return z


FUNCTIONS: list[Callable[..., Any]] = [
    by_a_helper,
    by_the_pair_of_a_helper,
    by_helpers_of_helpers,
    by_a_helper_twice,
    written_behind_a_helper,
    early,
    either,
    sorted_or_not,
    by_expression,
    by_name,
    scaled_in_place_of,
    out_of_a_loop,
    the_better_one,
    a_pair,
    with_a_number,
    changing_places,
    what_is_written,
    by_several_names,
    what_a_helper_gives_behind_it,
]
X, Y = np.array([0.3, 0.7, 0.2]), np.array([0.4, 0.1, 0.9])


def _objects(result: Any, given: list[Any]) -> list[list[int]]:
    parts = result if isinstance(result, tuple) else (result,)
    return [[k for k, a in enumerate(given) if p is a] for p in parts]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_the_caller_gets_the_object_of_the_plain_function(f, target):
    d = pyrev.differentiable(target=target)(f)
    ways: list[Callable[..., Any]] = [
        d,
        d.primal,
        lambda *a: pyrev.vjp(d, *a)[0],
        lambda *a: pyrev.jvp(d, *a, tangents={"x": np.ones(3)})[0],
    ]
    for k in range(4):
        given = [X.copy(), Y.copy(), k]
        want = f(*given)
        for way in ways:
            own = [X.copy(), Y.copy(), k]
            got = way(*own)
            assert _objects(got, own[:2]) == _objects(want, given[:2])
            for a, b in zip([*_parts(got), *own], [*_parts(want), *given], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)


def _parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("k", range(3))
def test_derivatives(f, k, rng):
    d = pyrev.differentiable(target="python")(f)
    written = ("x", "y") if f is what_is_written else ()
    if f is written_behind_a_helper:
        written = ("x",) if k > 1 else ()
    check(d, f, {"x": X, "y": Y, "k": k}, written, rng)


def a_part_of_a_parameter(x, k):
    if k > 1:
        return x[1:]
    return x[1:] * 2.0


def _writing(u, k):
    if k > 1:
        u[0] = 0.5
        return u
    return u * 2.0


def by_a_helper_that_writes(x, k):
    return _writing(x, k)


def _drawing(u, rng):
    if rng.random() > 0.5:
        return u
    return u * 2.0


def by_a_helper_that_draws(x, rng):
    return _drawing(x, rng)


def test_what_a_helper_that_draws_gives_back_is_refused():
    f = pyrev.differentiable(by_a_helper_that_draws, target="numba")
    with pytest.raises(pyrev.UnsupportedError):
        f(X, np.random.default_rng(1))


@pytest.mark.parametrize("f", [a_part_of_a_parameter, by_a_helper_that_writes])
def test_what_the_text_does_not_show_is_refused(f):
    with pytest.raises(pyrev.UnsupportedError, match="P110"):
        assert pyrev.differentiable(f).adjoint.source
