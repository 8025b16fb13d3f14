# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Subscripts: negative ones count from the end, others outside raise, as in Python."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis.bounds import Bounds
from pyrev.api.differentiable import Call
from pyrev.driver import inspection
from pyrev.driver.request import Request
from pyrev.driver.targets import NUMBA, PYTHON
from pyrev.emit.numba import emit_numba
from pyrev.ir.nodes import For, walk
from pyrev.ir.text import program_text
from pyrev.schedule.costs import SHIPPED
from pyrev.schedule.inspection import in_chunks
from tests.analysis.test_random_subscripts import function_of
from tests.tools import oracle
from tests.tools.costs import differentiable
from tests.tools.interpreted import interpreted, shuffled
from tests.turns import share_of

Make = Callable[[int, Callable[..., Any]], dict[str, Any]]
CASES: dict[str, tuple[Callable[..., Any], Make, tuple[str, ...]]] = {}


def case(make: Make, *outputs: str) -> Callable[[Any], Any]:
    """Register a function with what makes its arguments and what it writes."""

    def register(function: Any) -> Any:
        CASES[function.__name__] = (function, make, outputs)
        return function

    return register


def same(n: int, m: Any) -> dict[str, Any]:
    return {"a": m(n), "out": m(n)}


# ----------------------------------------------------------------- sizes decide


@case(same, "out")
def the_one_before(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i - 1] * a[i]


@case(same, "out")
def a_ring(a, out):
    n = a.shape[0]
    for i in range(n):
        out[i] = a[i - 1] + 2.0 * a[i] * a[(i + 1) % n]


@case(same, "out")
def backwards(a, out):
    for i in range(out.shape[0]):
        out[i] = a[-i] * a[i] + a[-i - 1]


@case(lambda n, m: {"a": m(n), "out": m(n), "k": n // 2}, "out")
def a_distance(a, out, k):
    for i in range(out.shape[0]):
        out[i] += a[i - k] * a[k]


@case(lambda n, m: {"a": m(n), "out": m(n), "k": -1}, "out")
def a_negative_number(a, out, k):
    for i in range(out.shape[0]):
        out[i] += a[k] * a[i]


@case(lambda n, m: {"a": m(2 * n), "b": m(n), "out": m(2 * n)}, "out")
def by_the_size_of_another(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i - b.shape[0]] * a[i]


@case(lambda n, m: {"a": m(n, n + 1), "out": m(n, n + 1)}, "out")
def both_axes(a, out):
    n, w = a.shape
    for i in range(n):
        for j in range(w):
            out[i, j] = a[i - 1, j] * a[i, j - 1] + a[-1, -j]


@case(same, "out")
def written_from_the_end(a, out):
    for i in range(out.shape[0]):
        out[i - 1] = a[i] * a[i]


@case(same, "out")
def written_twice(a, out):
    n = out.shape[0]
    for i in range(n):
        out[i] = a[i] * a[i]
    for i in range(n // 2 + 1):
        out[-i] = out[i] * a[-i]


@case(lambda n, m: {"u": m(n)}, "u")
def in_place(u):
    for i in range(u.shape[0]):
        u[i] = u[i - 1] * u[i] + 1.0


@case(lambda n, m: {"u": m(n), "steps": 3}, "u")
def in_place_again_and_again(u, steps):
    for _ in range(steps):
        for i in range(u.shape[0]):
            u[i] = 0.5 * u[i] * u[i] + 0.25 * u[i - 1]


@case(same, "out")
def a_local_array(a, out):
    n = a.shape[0]
    t = np.zeros(n)
    for i in range(n):
        t[i - 1] = a[i] * a[i]
    for i in range(n):
        out[i] = t[i] * t[i - 1]


@case(same, "out")
def through_a_scalar(a, out):
    for i in range(out.shape[0]):
        left = i - 1
        right = -i
        out[i] = a[left] * a[i] + a[right]


@case(same, "out")
def a_scalar_of_an_outer_loop(a, out):
    for i in range(2):
        j = i - 2 if a.shape[0] > 1 else -1
        for k in range(out.shape[0]):
            out[k] += a[j] * a[k]


@case(lambda n, m: {"a": m(n)})
def only_a_sum(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i - 1] * a[i] * a[-i]
    return s


@case(same, "out")
def under_a_test(a, out):
    for i in range(out.shape[0]):
        if a[i] > 0.9:
            out[i] = a[i - 1] * a[i]


@case(same, "out")
def on_one_path_of_an_expression(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i - 1] * a[i] if a[i] > 1.0 else a[i]


# ----------------------------------------------------------------- data decides


@case(lambda n, m: {"a": m(2 * n), "out": m(n, 2), "w": 2}, "out")
def flat_rows(a, out, w):
    for y in range(out.shape[0]):
        for x in range(w):
            out[y, x] = a[(y - 1) * w + x] * a[y * w + x]


@case(lambda n, m: {"a": m(n + 3), "p": np.arange(-2, n - 1), "out": m(n)}, "out")
def bounds_from_an_array(a, p, out):
    for i in range(out.shape[0]):
        for k in range(p[i], p[i + 1]):
            out[i] += a[k] * a[k + 1]


@case(same, "out")
def carried_from_below_zero(a, out):
    k = -1
    for i in range(a.shape[0]):
        out[k] = a[k] * a[i]
        k += 1


@case(lambda n, m: {"a": m(n), "p": np.arange(-n, n), "out": m(2 * n)}, "out")
def an_array_of_both_signs(a, p, out):
    for i in range(p.shape[0]):
        out[p[i]] += a[p[i]] * a[-p[i] - 1]


@case(lambda n, m: {"a": m(n), "next": np.arange(-1, n - 1), "out": m(n)}, "out")
def a_walk(a, next, out):
    k, steps = -1, 0
    while steps < a.shape[0]:
        out[k] += a[k] * a[-1 - k]
        k = next[k]
        steps += 1


@case(lambda n, m: {"a": m(n), "out": m(n)}, "out")
def left_early(a, out):
    for i in range(out.shape[0]):
        if a[i - 1] > 1.4:
            break
        out[i - 1] = a[i - 1] * a[i]


@case(lambda n, m: {"a": np.sort(m(n)), "x": m(3), "out": m(3)}, "out")
def binary_search(a, x, out):
    for i in range(x.shape[0]):
        low, high = -1, a.shape[0]
        while high - low > 1:
            middle = (low + high) // 2
            if a[middle] <= x[i]:
                low = middle
            else:
                high = middle
        out[i] = a[low] * x[i]


@case(lambda n, m: {"a": m(n + 1), "out": m(n + 1)}, "out")
def literals(a, out):
    out[-1] = a[-2] * a[-1]
    out[-2] += out[-1] * a[0]


COMPILED = ("a_distance", "both_axes", "in_place", "through_a_scalar", "a_walk")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("size", [1, 2, 3, 17])
def test_a_negative_subscript_counts_from_the_end(
    name: str, size: int, rng: np.random.Generator
) -> None:
    function, make, outputs = CASES[name]
    arguments = make(size, lambda *shape: rng.uniform(0.5, 1.5, shape))
    f = pyrev.differentiable(function, target="python")
    oracle.check(f, function, arguments, outputs, rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [*COMPILED, *share_of(sorted(CASES.keys() - set(COMPILED)), 4)]
)
def test_a_negative_subscript_counts_from_the_end_compiled(
    name: str, rng: np.random.Generator
) -> None:
    function, make, outputs = CASES[name]
    f = pyrev.differentiable(function)
    for size in (2, 17):
        arguments = make(size, lambda *shape: rng.uniform(0.5, 1.5, shape))
        oracle.check(f, function, arguments, outputs, rng)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_text_before_any_call_is_right_for_negative_subscripts(
    name: str, rng: np.random.Generator
) -> None:
    function, make, outputs = CASES[name]
    arguments = make(9, lambda *shape: rng.uniform(0.5, 1.5, shape))
    f = pyrev.differentiable(function, target="python")
    own = copy.deepcopy(arguments)
    result, pullback = pyrev.vjp(f, **own)
    seeds: Any
    if result is None:
        seeds = {f"d_{n}": rng.uniform(size=arguments[n].shape) for n in outputs}
        expected = pullback(cotangents={n: seeds[f"d_{n}"] for n in outputs})
    else:
        seeds = {"d_result": 1.5}
        expected = pullback(1.5)
    found = f.adjoint.python(*arguments.values(), *seeds.values())
    for mine, theirs in zip(found, expected.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)


# ----------------------------------------------------------------- outside


def outside(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i + 1]


def outside_at_the_end_of_the_walk(a, p, out):
    k = 0
    while k >= 0:
        out[k] = a[k]
        k = p[k]


def outside_by_a_literal(a, out):
    for i in range(out.shape[0]):
        out[i] = a[-2]


def outside_under_a_test(a, out):
    for i in range(out.shape[0]):
        if a[0] > 0.0:
            out[i] = a[i + 1]


def outside_from_below(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i - 3]


def outside_in_a_row(a, out):
    for i in range(2):
        for j in range(out.shape[0]):
            out[j] = a[i * out.shape[0] + j]


def outside_a_local_array(a, out, n):
    t = np.zeros(max(n, 2))
    for i in range(a.shape[0]):
        t[i] = a[i]
    out[0] = t[0]


def outside_a_short_range_of_small_integers(a, out, k):
    for i in range(k - 1):
        out[i] = a[i]


def outside_where_a_guard_goes_around(a, p, out):
    for i in range(out.shape[0]):
        j = p[i]
        if j + 1 < a.shape[0] and j >= 0:
            out[i] = a[j]


def outside_where_a_bound_goes_around(a, p, out):
    for i in range(out.shape[0]):
        j = p[i]
        out[i] = a[min(abs(j), a.shape[0] - 1)]


def outside_after_a_second_read(a, p, out):
    for i in range(out.shape[0]):
        out[i] = a[p[p[i]]]


def ones(n: int) -> Any:
    return np.ones(n)


OUTSIDE: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (outside, (ones(3), ones(3))),
    (outside_at_the_end_of_the_walk, (ones(3), np.array([1, 2, 3]), ones(3))),
    (outside_at_the_end_of_the_walk, (ones(1), np.array([1]), ones(1))),
    (outside_by_a_literal, (ones(1), ones(3))),
    (outside_under_a_test, (ones(3), ones(3))),
    (outside_from_below, (ones(2), ones(2))),
    (outside_in_a_row, (ones(3), ones(2))),
    (outside_where_a_guard_goes_around, (ones(3), np.array([2**63 - 1]), ones(1))),
    (outside_where_a_bound_goes_around, (ones(3), np.array([-(2**63)]), ones(1))),
    (outside_a_local_array, (ones(3), ones(1), 0)),
    (outside_a_local_array, (ones(3), ones(1), -5)),
    (outside_a_short_range_of_small_integers, (ones(2), ones(2), np.uint8(0))),
    (outside_after_a_second_read, (ones(2), np.array([1, 2]), ones(2))),
    (outside_after_a_second_read, (ones(2), np.array([-3, 0]), ones(2))),
]


@pytest.mark.parametrize(("function", "arguments"), OUTSIDE)
def test_an_index_outside_raises_before_anything_is_written(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    with pytest.raises(IndexError), np.errstate(over="ignore"):
        function(*copy.deepcopy(arguments))
    f = pyrev.differentiable(function, target="python")
    own = copy.deepcopy(arguments)
    for call in (f, lambda *a: pyrev.vjp(f, *a)):
        with pytest.raises(
            IndexError, match=r"test_bounds.py:\d+: in `.*` leaves axis"
        ):
            call(*own)
        for mine, given in zip(own, arguments, strict=True):
            assert oracle.same_bits(mine, given)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "arguments"), OUTSIDE)
def test_an_index_outside_raises_in_compiled_code_too(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    own = copy.deepcopy(arguments)
    with pytest.raises(IndexError, match="leaves axis"):
        pyrev.differentiable(function)(*own)
    for mine, given in zip(own, arguments, strict=True):
        assert oracle.same_bits(mine, given)


def test_an_index_outside_that_is_never_reached_does_not_matter() -> None:
    def f(a, out):
        for i in range(out.shape[0]):
            if a[i] < 0.0:
                break
            out[i] = a[i] * a[i + 1]

    a, out = np.array([1.0, 2.0, 3.0, -1.0]), np.zeros(9)
    pyrev.differentiable(f, target="python")(a, out)
    assert list(out[:4]) == [2.0, 6.0, -3.0, 0.0]


# ----------------------------------------------------------------- what an inspector is


def bounds_of(f: pyrev.Differentiable) -> Bounds:
    """What is known of the subscripts before any call."""
    return f._units.inspection.bounds(f._units.function.default_kinds())


def inspector(f: pyrev.Differentiable, *arguments: Any) -> Any:
    """The inspector's function for a call, or None if sizes say enough."""
    call = Call(f, arguments, {})
    inspection = f._units.inspection
    bounds = inspection.bounds(call.kinds)
    if not bounds.in_doubt(call.values):
        return None
    variant = bounds.check(call.values)
    request = Request(PYTHON, call.kinds, (), call.values, variant)
    return inspection._inspector(request)


def test_data_is_inspected_only_where_the_sizes_leave_a_doubt() -> None:
    def f(a, out):
        for i in range(out.shape[0]):
            if a[i] > 0.0:
                out[i] = a[i + 1]

    g = pyrev.differentiable(f, target="python")
    assert inspector(g, np.ones(4), np.ones(3)) is None
    assert inspector(g, np.ones(3), np.ones(3)) is not None


def test_an_inspector_stops_at_its_first_finding() -> None:
    def f(a, p, out):
        k = 0
        while p[k] != 7:  # for ever, if reading went on inside the array
            k = k + 1
        out[0] = a[k]

    p = np.array([1, 2, 3])
    with pytest.raises(IndexError, match=r"`p\[k\]`"):
        pyrev.differentiable(f, target="python")(np.ones(3), p, np.ones(1))


def test_an_inspector_leaves_a_range_without_end() -> None:
    def f(a, start, out):
        for i in range(out.shape[0]):
            for k in range(start[i], start[i + 1]):
                out[i] += a[k]

    start = np.array([0, -(2**63), 2**62])
    for target in ("python", "numba"):
        with pytest.raises(IndexError, match=r"`a\[k\]`"):
            pyrev.differentiable(f, target=target)(np.ones(3), start, np.ones(2))


def test_an_inspector_stops_where_an_assertion_fails() -> None:
    # As text: pytest rewrites the assertions of this file.
    f = function_of(
        """
def f(a, p, out):
    for i in range(out.shape[0]):
        assert p[i] > 0, "positive"
        out[i] = a[p[i]] / p[i]
"""
    )
    g = pyrev.differentiable(f, target="python")
    p = np.array([1, 0, 9])
    with pytest.raises(AssertionError, match="positive"):
        g(np.ones(3), p, np.ones(3))
    with pytest.raises(IndexError):
        g(np.ones(3), p[::-1], np.ones(3))


def test_an_inspector_computes_only_what_subscripts_need() -> None:
    def f(a, p, out):
        for i in range(out.shape[0]):
            s = 0.0
            for j in range(a.shape[0]):
                s += np.sin(a[j])
            out[p[i]] = s

    text = inspector(
        pyrev.differentiable(f), np.ones(2), np.array([0]), np.ones(1)
    ).text
    assert "p[i]" in text.text
    assert "sin" not in text.text


def settling(a, rows, depth, count):  # type: ignore[no-untyped-def]
    """Which cells are looked at rests on what is computed of the ones before."""
    s = 0.0
    for i in range(rows.shape[0]):
        r = rows[i]
        for k in range(count[r]):
            if depth[r, k] > s:
                s += depth[r, k] * a[r]
                depth[r, k] = s
    return s


def test_what_is_looked_at_first_asks_no_floats() -> None:
    f = pyrev.differentiable(settling, target="python")
    bounds = bounds_of(f)
    usual = bounds.variants.usual
    exact, wide = (
        program_text(made(usual))
        for made in (bounds.variants.inspector, bounds.variants.wider_inspector)
    )
    assert "if 0 < count[" not in exact
    assert "s +=" in exact
    assert "if 0 < count[" in wide  # the ends of the range say it
    assert "s +=" not in wide
    assert not bounds.variants.rounded_themselves


SETTLING = {
    "inside": ([0, 1, 2], [2, 1, 0], None),
    "negative": ([0, -1, 1], [2, 1, 1], None),
    "a row outside": ([0, 3, 1], [2, 1, 1], IndexError),
    "a row outside, not reached": ([0, 1], [2, 1, 7], None),
    "a place outside": ([1, 2], [2, 1, 3], IndexError),
    "an empty range that begins outside": ([0], [-9, 5, 5], None),
}


@pytest.mark.parametrize("case", SETTLING)
@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
def test_both_inspectors_agree(case: str, target: str) -> None:
    rows, count, error = SETTLING[case]
    f = pyrev.differentiable(settling, target=target)
    for _ in range(2):  # the second time it is known whether the first look missed
        given = (np.ones(3), np.array(rows), np.full((3, 2), 0.5), np.array(count))
        own = copy.deepcopy(given)
        if error is not None:
            with pytest.raises(error):
                f.primal(*own)
            assert oracle.same_bits(own[2], given[2])
            continue
        assert f.primal(*own) == pytest.approx(settling(*copy.deepcopy(given)))


def around(x, lo, hi, off):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(lo.shape[0]):
        for k in range(lo[i], hi[i]):
            s += x[k + off[i]]
    return s


def around_backwards(x, lo, hi, off):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(lo.shape[0]):
        for k in range(lo[i], hi[i]):
            s += x[off[i] - k]
    return s


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("plain", [around, around_backwards])
def test_a_range_whose_ends_are_inside_may_go_around(plain: Any, target: str) -> None:
    most = 2**63 - 1
    f = pyrev.differentiable(plain, target=target)
    for lo, off in ((-most - 1, most), (-most, -most)):
        given = np.ones(50), np.array([lo]), np.array([most]), np.array([off])
        with pytest.raises(IndexError):
            f.primal(*given)
    given = np.ones(50), np.array([3]), np.array([7]), np.array([6])
    assert f.primal(*given) == plain(*given)


GUARDED = """
def f(x, q, r, m):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        {}
    return s
"""
#: What only a test of what was summed keeps from being computed, and the arguments q,
#: r and m beside ones: reads, a loop without end, and what raises.
UNREACHED = {
    "a read": ("if 0 <= r[i] and r[i] < q.shape[0] and s > 0.3: s += x[q[r[i]]]",),
    "a choice": ("s += x[q[r[i]]] if r[i] < 2 and r[i] > -1 and s > 0.3 else 0.0",),
    "another side": (
        "if s > 1e6 or r[i] >= q.shape[0] or r[i] < 0: s += 1.0\n"
        "        else: s += x[q[r[i]]]",
    ),
    "a long loop": (
        "if s < 1.5:\n            for k in range(m[i]): s += x[q[k % 2]]",
        [1, 10**17, 10**17, 0, 0],
    ),
    "a division": ("if s < 1.5: s += x[r[i] // m[i]]", [1, 0, 0, 0, 0]),
    "a power": ("if s < 1.5: s += x[2 ** m[i]]", [1, -1, -1, 0, 0]),
    "a float": ("if s < 1.5: s += x[int(0.0 / (m[i] * 1.0))]", [1, 0, 0, 0, 0]),
}


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("case", UNREACHED)
def test_a_look_computes_nothing_that_the_function_does_not(
    case: str, target: str
) -> None:
    text, *more = UNREACHED[case]
    plain = function_of(GUARDED.format(text))
    r = (
        np.array([0, 1, 10**12, -(10**12), 0])
        if not more
        else np.array([1, 0, 0, 0, 0])
    )
    m = np.array(more[0] if more else [0] * 5)
    given = np.ones(5), np.array([0, 1]), r, m
    with np.errstate(all="ignore"):
        expected = plain(*given)
        assert pyrev.differentiable(plain, target=target).primal(*given) == expected


def on_and_on(x, following, k):  # type: ignore[no-untyped-def]
    s, count = 0.0, 0
    while k >= 0:
        count += 1
        if count > x.shape[0]:
            raise ValueError("a cycle")
        s += x[k]
        k = following[k]
    return s


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
def test_a_look_ends_where_the_function_raises(target: str) -> None:
    f = pyrev.differentiable(on_and_on, target=target)
    with pytest.raises(ValueError, match="a cycle"):
        f.primal(np.ones(5), np.array([1, 2, 0, 1, 1]), 0)
    assert f.primal(np.ones(5), np.array([1, 2, -1, 1, 1]), 0) == 3.0


def of_a_computed_test(a, p):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(p.shape[0]):
        k = p[i]
        s += a[i]
        if s < 2.5:
            s += a[k]
    return s


def test_a_look_that_found_what_was_not_there_is_not_tried_again() -> None:
    f = pyrev.differentiable(of_a_computed_test, target="python")
    a, p = np.ones(3), np.array([0, 0, 9])
    assert f.primal(a, p) == of_a_computed_test(a, p)
    made = f._units._memo._made.values()
    looks = [v for v in made if isinstance(v, inspection.Wider)]
    assert [one.missed for one in looks] == [True]
    with pytest.raises(IndexError, match=r"`a\[k\]`"):
        f.primal(np.array([0.1, 0.1, 0.1]), p)


def test_float_arithmetic_can_not_move_an_index_after_it_was_inspected() -> None:
    def f(x, a, out):
        for i in range(out.shape[0]):
            s = 0.0
            for j in range(x.shape[0]):
                s += x[j]
            out[i] = a[int(s)] * a[i]

    g = pyrev.differentiable(f)
    call = Call(g, (np.full(8, 0.1), np.ones(3), np.ones(3)), {})
    bounds = g._units.inspection.bounds(call.kinds)
    result = bounds.inspected_variant(
        bounds.check(call.values), bounds.in_doubt(call.values), (0, 0)
    )
    unit = g._units.primal(Request(NUMBA, call.kinds, (), call.values, result))
    assert "a[max(min(int(s), a.shape[0] - 1), 0)]" in unit.text.text
    assert (
        "a[i]" in unit.text.text
    )  # which is `a[np.int64(i)]` where it may be negative


# ----------------------------------------------------------------- clamped floats


def between(x, g):
    s = 0.0
    for i in range(g.shape[0]):
        p = min(max(g[i], 0.0), x.shape[0] - 1.0)
        k = min(int(p), x.shape[0] - 2)
        w = p - k
        s += (1 - w) * x[k] ** 2 + w * x[k + 1] ** 2
    return s


def inside_only(x, g):
    s = 0.0
    for i in range(g.shape[0]):
        k = int(np.floor(g[i]))
        for j in range(2):
            if 0 <= k + j and k + j < x.shape[0]:
                s += x[k + j] ** 2 * (g[i] - k)
    return s


def moved_after(x, g):
    """The clamp holds for a value that is replaced before it is used."""
    s = 0.0
    for i in range(g.shape[0]):
        p = min(max(g[i], 0.0), x.shape[0] - 1.0)
        p = p * 2.0
        s += x[min(int(p), x.shape[0] - 1)] ** 2
    return s


def moved_on_a_path(x, g):
    s = 0.0
    for i in range(g.shape[0]):
        p = max(g[i], 0.0)
        if i % 2 == 1:
            p = g[i]
        s += x[min(int(p), x.shape[0] - 1)] ** 2
    return s


def moved_in_a_loop(x, g):
    s = 0.0
    p = max(g[0], 0.0)
    for i in range(g.shape[0]):
        s += x[min(int(p), x.shape[0] - 1)] ** 2
        p = g[i]
    return s


def from_below(x, g):
    """A clamp from above says nothing about what is below."""
    s = 0.0
    for i in range(g.shape[0]):
        s += x[min(int(min(g[i], 3.0)), x.shape[0] - 1)] ** 2
    return s


SURE = (between, inside_only)
UNSURE = (moved_after, moved_on_a_path, moved_in_a_loop, from_below)


@pytest.mark.parametrize("f", SURE, ids=lambda f: f.__name__)
def test_what_is_clamped_or_tested_is_not_looked_at(f: Callable[..., Any]) -> None:
    made = pyrev.differentiable(f)
    bounds = bounds_of(made)
    values = {"x": np.ones(9), "g": np.ones(40)}
    assert not bounds.in_doubt(values)


def test_an_adjoint_does_not_rely_on_a_test_that_was_made_before() -> None:
    made = pyrev.differentiable(inside_only, target="numba")
    values = {"x": np.ones(9), "g": np.ones(4)}
    assert "max(min(k + j, x.shape[0] - 1)" in made.adjoint.source_for(
        "numba", **values
    )
    assert "x.shape[0] - 1" not in made.primal.source_for("numba", **values)


def window(x, g):
    s = 0.0
    for i in range(g.shape[0]):
        p = min(max(g[i], 0.0), x.shape[0] - 1.0)
        k = min(int(p), x.shape[0] - 3)
        for j in range(k, k + 3):
            s += x[j] ** 2 * (p - j)
    return s


def place_in_a_window(x, g):
    s = 0.0
    for i in range(g.shape[0]):
        p = min(max(g[i], 0.0), x.shape[0] - 1.0)
        k = min(int(p), x.shape[0] - 3)
        for j in range(k, k + 3):
            place = j - k
            s += x[place] ** 2 * (p - j)
    return s


def between_two_floats(x, g):
    s = 0.0
    for i in range(g.shape[0]):
        p = min(max(g[i], 0.0), x.shape[0] - 3.0)
        k = min(int(p), x.shape[0] - 3)
        last = k + 2
        s += x[last - k] ** 2 * p
    return s


def one_or_the_other(x, g):
    s = 0.0
    for i in range(g.shape[0]):
        k = int(np.floor(g[i]))
        m = k - 2 if k > 1 else 0
        m = min(m, x.shape[0] - 1)
        s += x[m] ** 2 * g[i]
    return s


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "sure"),
    [
        (between, True),
        (window, True),
        (inside_only, False),
        (place_in_a_window, False),
        (between_two_floats, False),
        (one_or_the_other, False),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_an_adjoint_trusts_what_every_value_of_one_float_keeps_inside(
    f: Callable[..., Any], sure: bool
) -> None:
    made = pyrev.differentiable(f, target="numba")
    x, g = np.linspace(1.0, 2.0, 9), np.array([0.3, 1.7, 6.4, 7.2, 2.1])
    text = made.adjoint.source_for("numba", x, g)
    assert (", x.shape[0] - 1)," in text) != sure
    assert pyrev.check_grad(made, x, g)


def planes(x, g, out):
    for n in range(out.shape[0]):
        for i in range(g.shape[0]):
            k = int(np.floor(1.5 * g[i]))
            after = k + 1
            if 0 <= k and k < out.shape[1]:
                out[n, i] = x[n, k] * g[i]
            if 0 <= after and after < out.shape[1]:
                out[n, i] += x[n, after]


def test_only_what_a_float_moves_is_clamped_in_an_adjoint() -> None:
    made = differentiable(planes, target="numba")
    values = {"x": np.ones((4, 9)), "g": np.ones(5), "out": np.ones((4, 9))}
    text = made.adjoint.source_for("numba", **values)
    assert "max(min(k, x.shape[1] - 1), -x.shape[1])" in text
    assert "max(min(after, x.shape[1] - 1), -x.shape[1])" in text
    assert "x.shape[0] - 1" not in text
    assert "for chunk in prange(32):" in text
    values["x"] = np.ones((3, 9))  # now n may be outside, if a float lets it
    assert bounds_of(made).in_doubt(values)
    assert "min(n, x.shape[0] - 1)" in made.adjoint.source_for("numba")


@pytest.mark.slow
def test_planes_are_right_for_all_sizes_or_raise() -> None:
    made = pyrev.differentiable(planes)
    rng = np.random.default_rng(3)
    g = np.array([0.3, 1.7, 6.4, 7.2, -2.1, 8.3])
    for rows in (2, 3):
        x = rng.normal(size=(rows, 9))
        out = rng.normal(size=(3, 9))
        if rows < 3:
            before = out.copy()
            with pytest.raises(IndexError):
                made(x, g, out)
            assert np.array_equal(out, before)
        else:
            assert pyrev.check_grad(made, x, g, out)


@pytest.mark.parametrize("f", UNSURE, ids=lambda f: f.__name__)
def test_what_may_have_moved_since_is_looked_at(f: Callable[..., Any]) -> None:
    made = pyrev.differentiable(f)
    bounds = bounds_of(made)
    assert bounds.in_doubt({"x": np.ones(9), "g": np.ones(40)})


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("f", [*SURE, *UNSURE], ids=lambda f: f.__name__)
def test_subscripts_from_floats_are_right_or_raise(
    f: Callable[..., Any], target: str
) -> None:
    made = pyrev.differentiable(f, target=target)  # type: ignore[call-overload]
    gradient = pyrev.grad(made)
    x = np.linspace(1.0, 2.0, 9)
    inner = np.array([0.3, 1.7, 6.4, 7.2, 2.1])
    assert pyrev.check_grad(made, x, inner)
    outer = np.array([-3.3, 11.6, 7.9, -0.2, 8.0, 7.99, -8.7])
    for g in (inner, outer, 2.0**62 * outer, np.array([-np.inf, np.inf]), 9.0 * outer):
        for size in (0, 1, 2, 9):
            try:
                expected = f(x[:size], g)
            except (IndexError, OverflowError):
                with pytest.raises((IndexError, ValueError, OverflowError)):
                    made(x[:size], g)
            else:
                try:
                    found = made(x[:size], g)
                except (ValueError, IndexError):
                    assert np.abs(g).max() > 1e18  # no 64-bit integer
                else:
                    assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
                    gradient(x[:size], g)
    for one in (made, gradient):
        with pytest.raises(ValueError, match="integer"):
            one(x, np.array([0.5, np.nan, 1.5]))


# ----------------------------------------------------------------- 64 bits


def scaled(a, out, k):
    for i in range(out.shape[0]):
        out[i] = a[(k * i) // k]


def far_apart(a, out):
    for i in range(out.shape[0]):
        out[i] = a[2**62 * i]


def a_large_factor(a, out, k):
    for i in range(out.shape[0]):
        out[i] = a[i] * (k * k)


@pytest.mark.parametrize(
    ("function", "fits", "wraps"),
    [
        (scaled, (ones(3), ones(3), 7), (ones(3), ones(3), 2**62)),
        (scaled, (ones(3), ones(3), np.int64(-7)), (ones(3), ones(3), -(2**62))),
        (far_apart, (ones(1), ones(1)), (ones(3), ones(3))),
        (a_large_factor, (ones(3), ones(3), 2**30), (ones(3), ones(3), 2**32)),
    ],
)
def test_an_integer_that_would_pass_64_bits_is_refused(
    function: Callable[..., Any], fits: tuple[Any, ...], wraps: tuple[Any, ...]
) -> None:
    f = pyrev.differentiable(function, target="python")
    mine, plain = copy.deepcopy(fits), copy.deepcopy(fits)
    f(*mine)
    function(*plain)
    assert oracle.same_bits(mine[1], plain[1])
    with pytest.raises((pyrev.ArgumentError, IndexError)):
        f(*copy.deepcopy(wraps))


def test_integers_that_can_not_be_large_cost_one_comparison() -> None:
    def f(a, out):
        for y in range(out.shape[0]):
            for x in range(out.shape[1]):
                out[y, x] = a[3 * (y * out.shape[1] + x)]

    f_ = pyrev.differentiable(f, target="python")
    assert bounds_of(f_)._magnitudes._limit >= 2**20


def test_small_integers_wrap_as_in_numpy() -> None:
    def f(a, out, k):
        for i in range(out.shape[0]):
            out[i] = a[k + 1]

    a = np.arange(200.0)
    for target in ("python", "numba"):
        out, plain = np.zeros(1), np.zeros(1)
        with np.errstate(over="ignore"):
            pyrev.differentiable(f, target=target)(a, out, np.int8(127))
            f(a, plain, np.int8(127))
        assert out == plain == a[-128]


def looked_up(a, p, q, out):
    for i in range(out.shape[0]):
        k = p[i]
        out[i] += a[k]
        for j in range(p[i], q[i]):
            if a[j] > 1.0:
                out[i] += a[j] * a[q[j - 1]]
    for i in range(1, out.shape[0]):
        out[i] += a[p[i - 1] + 1]


@pytest.mark.slow
def test_an_inspector_in_chunks_finds_what_it_finds_in_one_piece() -> None:
    f = pyrev.differentiable(looked_up, target="python")
    rng = np.random.default_rng(0)
    found = Counter[int]()
    for seed in range(80):
        n = int(rng.integers(1, 90))
        p, q = (rng.integers(-1, n, n + 2) for _ in range(2))
        for _ in range(int(rng.integers(0, 3))):
            one = p if rng.random() < 0.5 else q
            one[rng.integers(n)] = int(rng.choice([-n - 3, n + 3, 2 * n]))
        arrays = {"a": rng.uniform(0.5, 1.5, n + 1), "p": p, "q": q}
        arrays["out"] = np.zeros(n)
        kinds = f._units.function.kinds(arrays)
        bounds = f._units.inspection.bounds(kinds)
        program = bounds.variants.inspector(bounds.variants.usual)
        parts = in_chunks(program, lambda *_: True, SHIPPED)
        loops = [s for s in walk(parts.body) if isinstance(s, For) and s.parallel]
        assert len(loops) == 2
        given = [arrays[x.name] for x in program.params]
        dtypes = {name: kind.dtype for name, kind in kinds.items()}
        made = [
            interpreted(
                emit_numba(one, dtypes, wraps=True).text.text, one.name, shuffled(seed)
            )
            for one in (program, parts)
        ]
        with np.errstate(over="ignore"):
            whole, chunks = (one(*given) for one in made)
        assert chunks[0] == whole[0]
        assert whole[0] or chunks == whole
        found[min(1, abs(whole[0]))] += 1
    assert min(found[0], found[1]) > 10


def test_an_inspector_stays_whole_where_iterations_share_something() -> None:
    def walk_on(a, p, out):
        k = 0
        for i in range(out.shape[0]):
            k = p[k]
            out[i] = a[k]

    def numbered(a, p, n):
        for i in range(n):
            a[p[i]] = 0.5

    for function in (walk_on, numbered):
        bounds = bounds_of(pyrev.differentiable(function, target="python"))
        program = bounds.variants.inspector(bounds.variants.usual)
        assert in_chunks(program, lambda *_: True, SHIPPED) == program


# ------------------------------------------------------------------ large tables


def rows_of_squares(x, at, start, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        for p in range(start[i], start[i + 1]):
            out[i] += x[at[p]] ** 2


def of_rows(at: list[int]) -> dict[str, Any]:
    return {
        "x": np.arange(1.0, 4.0),
        "at": np.array(at, np.int32),
        "start": np.array([0, 2, len(at)]),
        "out": np.zeros(2),
    }


@pytest.mark.slow
def test_loops_are_not_followed_where_no_element_of_a_table_is_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = differentiable(rows_of_squares, replace(SHIPPED, table_elements=1))
    with monkeypatch.context() as patch:
        patch.setattr(inspection.Inspection, "_inspector", None)
        given = of_rows([0, 2, 1, 1])
        _, pullback = pyrev.vjp(f, **given)
        np.testing.assert_array_equal(given["out"], [10.0, 8.0])
        np.testing.assert_array_equal(pullback(out=np.ones(2))["x"], [2.0, 8.0, 6.0])
    for at in ([0, 3, 1], [0, -4, 1]):
        with pytest.raises(IndexError, match="leaves axis 0 of `x`"):
            f(**of_rows(at))
    given = of_rows([0, -1, 1])
    _, pullback = pyrev.vjp(f, **given)
    np.testing.assert_array_equal(given["out"], [10.0, 4.0])
    np.testing.assert_array_equal(pullback(out=np.ones(2))["x"], [2.0, 4.0, 6.0])
    given = of_rows([0, 1, 2]) | {"start": np.array([0, 2, 4])}
    with pytest.raises(IndexError, match="leaves axis 0 of `at`"):
        f(**given)
    np.testing.assert_array_equal(given["out"], 0.0)


@pytest.mark.parametrize(
    "at",
    [
        np.broadcast_to(np.array(1, np.int64), 1 << 40),
        np.broadcast_to(np.array([1, 2]), (1 << 40, 2)),
        np.lib.stride_tricks.sliding_window_view(np.arange(1 << 17) % 3, 1 << 16),
    ],
    ids=["repeated", "repeated rows", "windows"],
)
def test_a_table_that_memory_holds_only_once_is_not_read_element_by_element(
    at: np.ndarray[Any, Any],
) -> None:
    """It has from 2 ** 32 to 2 ** 41 elements."""

    def taken(x, at, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            out[i] = x[at[at[i]]] ** 2

    def rows(x, at, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            out[i] = x[at[at[i, 0], 1]] ** 2

    function = taken if at.ndim == 1 else rows
    given = {"x": np.arange(1.0, 4.0), "at": at, "out": np.zeros(2)}
    expected = given | {"out": np.zeros(2)}
    function(**expected)
    pyrev.differentiable(function)(**given)
    np.testing.assert_array_equal(given["out"], expected["out"])
