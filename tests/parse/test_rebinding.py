"""Names of arrays that change places, or are bound again, on some paths only.

Each function is judged by CPython: values, what it leaves in its arguments, and the
gradient by differences of the plain function.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import pyrev

CASES: list[Any] = []


def case(*sizes: int, numbers: Any = (), shape: Any = None) -> Any:
    """A function of arrays of these sizes, called with each tuple of `numbers`."""

    def keep(f: Any) -> Any:
        for given in numbers or [()]:
            label = "-".join([f.__name__, *map(str, given)])
            CASES.append(pytest.param(f, sizes, given, shape, id=label))
        return f

    return keep


def swapping(p, q, k):
    if k > 1:
        p, q = q, p
    p[0] = 2.0 * q[1] * p[0]
    return p


def simulate(u, v, n):
    for _ in range(n):
        for i in range(1, u.shape[0]):
            v[i] = u[i] * 0.9 + 0.1 * u[i - 1]
        u, v = v, u
    return u


def simulate_alone(u, n):
    v = np.zeros_like(u)
    for _ in range(n):
        for i in range(1, u.shape[0]):
            v[i] = u[i] * 0.9 + 0.1 * u[i - 1]
        u, v = v, u
    return u


@case(3, numbers=[(2.0,)])
def written_beside_its_second_name(u, x):
    u[0], v = x, u
    return v[0] * v[1]


@case(4, 4, numbers=[(0,), (2,)])
def all_of_an_array_changes_places_with_it(x, y, n):
    x[1] = 0.5 * y[1] + 2.0
    for _ in range(3):
        y = x[:]
        if n > 0:
            x, y = y, x
    return np.sum(1.0 * x) + np.sum(2.0 * y)


@case(3, numbers=[(2.0,)])
def made_written_and_named_again(u, x):
    v = np.zeros(3)
    v[0], w = x, v
    w[1] = u[0]
    return w[0] * w[1] + v[1]


@case(4, numbers=[(0,), (3,)])
def two_names(u, n):
    a = u.copy()
    old = a
    for _ in range(n):
        a = a * 2.0
    return np.sum(a * a + old)


@case(4, 4, numbers=[(0,), (1,), (3,)])
def one_view_or_another(u, v, n):
    r = u[1:]
    s = 0.0
    for _ in range(n):
        s += r[0]
        r = v[1:]
    return s


@case(4, numbers=[(0,), (1,), (4,)])
def leapfrog_with_the_new_name_first(x, n):
    u = x * 1.0
    prev = x
    for _ in range(n):
        nxt = 2.0 * u - 0.5 * prev
        prev = u
        u = nxt
    return np.sum(u * prev)


@case(3, numbers=[(0,), (1,), (2,)])
def made_again_after_it_changed_places(x, n):
    w = x * 0.5
    if n > 0:
        x, w = w, x
    for _ in range(n):
        w = w * 2.0
    return np.sum(w * x)


@case(4, numbers=[(0,), (1,), (4,)])
def leapfrog(x, n):
    prev = x
    u = x * 1.0
    for _ in range(n):
        nxt = 2.0 * u - 0.5 * prev
        prev = u
        u = nxt
    return np.sum(u * prev)


@case(4, numbers=[(0,), (3,)])
def best_so_far(x, n):
    best = x
    bestv = 1e9
    for _ in range(n):
        x = x - 0.1 * x * x
        v = np.sum(x)
        if v < bestv:
            best = x
            bestv = v
    return np.sum(best * best)


@case(4, 4, 4, numbers=[(k,) for k in range(7)])
def rotated_or_swapped(a, b, c, n):
    for t in range(n):
        if t % 3 == 0:
            a, b, c = b, c, a
        else:
            a, c = c, a
        a[0] += b[1] * c[0]
    return a[0] + 2 * b[0] + 3 * c[1]


@case(4, 4, numbers=[(0,), (1,), (2,), (3,)])
def swapped_by_a_third_name(a, b, n):
    for _ in range(n):
        tmp = a
        a = b
        b = tmp
        a[0] += 0.5 * b[1]
    return a[0] * 2 + b[0]


@case(4, numbers=[(0,), (1,), (3,), (9,)])
def swapped_behind_a_break(a, n):
    b = np.zeros_like(a)
    for _ in range(n):
        for i in range(1, a.shape[0]):
            b[i] = a[i] * 0.5 + a[i - 1]
        if b[1] > 50.0:
            break
        a, b = b, a
    return np.sum(a * a)


@case(4, 4, numbers=[(-1,), (1,)])
def read_by_a_nested_function(a, b, flag):
    def look():
        return a[0]

    if flag > 0:
        a, b = b, a
    return look() * 2.0 + b[1]


@case(4, 4, numbers=[(1,), (-1,), (-9,)])
def bound_on_three_paths(a, b, k):
    u = a * 2.0
    if k > 0:
        u = b * 3.0
    elif k < -5:
        u = a
    return np.sum(u * u)


@case(4, 4, numbers=[(1,), (2,)])
def swapped_in_a_helper(a, b, k):
    r = swapping(a, b, k)
    return r[0] * a[0] + b[0]


@case(4, numbers=[(0,), (2,), (3,)])
def simulated_again_and_again(u, n):
    u = u.copy()
    for _ in range(3):
        u = simulate_alone(u, n)
    return np.sum(u * u)


@case(4, numbers=[(2,), (3,)])
def simulated_twice(u, n):
    u = u.copy()
    u = simulate_alone(u, n)
    u = simulate_alone(u, n)
    u[0] = 3 * u[1]
    return np.sum(u * u)


@case(4, numbers=[(2,), (3,)])
def before_and_after_a_simulation(x, n):
    u = x.copy()
    old = x.copy()
    s = 0.0
    for _ in range(3):
        old = u
        u = simulate_alone(u, n)
        s += np.sum(old * u)
    return s


@case(4, numbers=[(2,), (3,)])
def buffers_of_the_caller(x, n):
    u = x.copy()
    v = np.zeros_like(x)
    r = simulate(u, v, n)
    return np.sum(r * r) + u[0] * v[0]


@case(4, numbers=[(2,), (3,)])
def result_of_the_iteration_before(x, n):
    u = x.copy()
    s = 0.0
    r = x * 1.0
    for _ in range(3):
        s += np.sum(r * u)
        r = simulate_alone(u, n)
    return s


@case(2, 2, numbers=[(-1,), (1,)])
def swapped_under_an_if(a, b, flag):
    if flag > 0:
        a, b = b, a
    return a[0] * 2.0 + b[1]


@case(2, 2, numbers=[(0,), (1,), (2,), (3,), (4,)])
def swapped_behind_a_continue(a, b, n):
    for t in range(n):
        if t % 2 == 1:
            continue
        a[0] += b[1] * a[1]
        a, b = b, a
    return a[0]


@case(2, 2, numbers=[(0,), (1,), (3,), (4,)])
def swapped_now_and_then(a, b, n):
    for t in range(n):
        a[0] += b[1]
        if t % 2 == 0:
            a, b = b, a
    return a[0]


@case(2, 2, numbers=[(1,), (7,)])
def swapped_in_an_else(a, b, n):
    for t in range(4):
        if t > n:
            break
    else:
        a, b = b, a
    return a[0]


@case(3, 3, numbers=[(0,), (2,), (5,)])
def swapped_before_an_early_return(a, b, n):
    for t in range(4):
        a[1] += 0.5 * b[0]
        if t == n:
            a, b = b, a
            return a[0] * b[1]
        a, b = b, a
    return a[2] + b[1]


@case(3, 3, numbers=[(2,), (5,)])
def swapped_while(a, b, n):
    t = 0
    while t < n:
        a[0] = a[0] * b[1] + b[2]
        if a[0] > 1.5:
            a, b = b, a
        t += 1
    return a[0] + 2.0 * b[0]


@case(3, 4, 3, 4, numbers=[(0,), (1,), (2,), (3,)], shape=(3, 4))
def swapped_in_two_axes(u, v, n):
    for t in range(n):
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                v[i, j] = 1.5 * u[i, j] * u[0, j]
        if t != 1:
            u, v = v, u
    return np.sum(u[:, 1:]) + v[0, 0]


def gradients(image):
    gx = image[1:, :] - image[:-1, :]
    gy = image[:, 1:] - image[:, :-1]
    mag = gx[:, :-1] ** 2 + gy[:-1, :] ** 2
    gx[:, :-1] *= mag
    return gx, gy


@case(4, 5, shape=(4, 5))
def made_of_two_arrays(image):
    gx, gy = gradients(image)
    return np.sum(gx**2) + np.sum(gy**2)


def doubled(u, n):
    u, v = u.copy(), np.zeros(u.shape)
    for _ in range(n):
        v[:] = u * u
        u, v = v, u
    return u


@case(3, 4, numbers=[(0,), (1,), (2,)], shape=(3, 4))
def double_buffered(x, n):
    final = doubled(x, n)
    return np.sum(final)


@case(3, 4, numbers=[(0,), (2,)], shape=(3, 4))
def the_same_names_outside(u, n):
    v = doubled(u, n)
    u = doubled(v, 1)
    return np.sum(u * v)


def stepped(x, n):
    u = x.copy()
    for _ in range(n):
        u = u + 0.5 * u * x
    return u


@case(4, numbers=[(0,), (3,)])
def bound_again_in_a_helper(x, n):
    w = stepped(x, n)
    u = stepped(w, 1)
    return u[0] * w[1]


@case(4, 4, numbers=[(0,), (3,)])
def two_at_once(p, v, n):
    position, velocity = p, v
    for _ in range(n):
        velocity = velocity - 0.1 * position
        position = position + velocity
    return np.dot(position, velocity)


@case(4, numbers=[(0,), (2,)])
def the_old_array(u, n):
    for _ in range(n):
        old = u
        u = u * 0.5
        u[0] = old[1]
    return np.sum(u)


@case(3, 3)
def later_a_number(p, q):
    r = q - p
    r = np.linalg.norm(r)
    return r


@case(5, 5, numbers=[(0,), (3,)])
def relaxed_in_place(p, b, n):
    def relax(p, b):
        old = p.copy()
        p[1:-1] = 0.5 * (old[2:] + old[:-2]) - b[1:-1]
        return p

    for _ in range(n):
        p = relax(p, b)
    return np.sum(p**2)


def limited(v, most):
    speed = np.sqrt(np.sum(v**2))
    if speed > most:
        return v * (most / speed)
    return v


@case(3, numbers=[(0.5,), (50.0,)])
def a_new_array_or_the_argument(v, most):
    w = limited(v, most)
    return w[0] * w[1] + v[2]


def early(x, y, count):
    if count == 0:
        return np.zeros(3)
    if count == 1:
        return x + y
    return 2.0 * x * y


@case(3, 3, numbers=[(0,), (1,), (2,)])
def a_new_array_on_each_path(x, y, c):
    s = 0.0
    for k in range(3):
        w = early(x, y * k, c * k)
        s += w[0] * w[1] * x[0]
    return s


@case(2, 2, numbers=[(0,), (1,), (2,), (3,)])
def swapped_in_two_loops(a, b, n):
    for _ in range(n):
        b[0] = a[0] * a[1]
        a, b = b, a
    for t in range(n + 1):
        b[1] = a[1] * 0.5 + a[0] * t
        a, b = b, a
    return a[0] + 3.0 * b[0] + a[1] * b[1]


@case(3, numbers=[(0,), (3,)])
def written_by_its_other_name(u, n):
    a = u.copy()
    for _ in range(n):
        b = a * 2.0
        a = b
        b[0] = 0.5 * a[1]
    return np.sum(a * u)


@case(3, numbers=[(0,), (3,)])
def accepted_or_rejected(x, n):
    current = x.copy()
    best = current
    least = 100.0
    for k in range(n):
        trial = current * 0.9
        trial[k % 3] += 0.1
        value = np.sum(trial * trial)
        if value < least + 0.2:
            current = trial
            if value < least:
                best = trial
                least = value
    return np.sum(best * current)


def turned_or_swapped(a, b, c, m):
    if m == 0:
        a, b, c = c, a, b
    elif m == 1:
        b, c = c, b
    a[0] = a[0] * b[1] + c[2]
    return b


@case(4, 4, 4, numbers=[(0,), (1,), (2,)])
def exchanged_in_each_call_of_a_helper(p, q, r, m):
    t = 0.0
    for j in range(3):
        w = turned_or_swapped(p, q, r, (m + j) % 3)
        t += w[0] * w[2]
    return t + p[0] * q[1] + r[2]


def smoothed(a, n):
    b = np.zeros_like(a)
    for _ in range(n):
        b[1:-1] = 0.5 * (a[2:] + a[:-2]) * a[1:-1]
        if b[1] < 0.05:
            break
        a, b = b, a
    return a


@case(5, 5, numbers=[(0.0,), (2.0,), (5.0,), (50.0,)])
def exchanged_or_replaced(x, y, most):
    best = x.copy()
    current = y.copy()
    for t in range(3):
        new = smoothed(current + 0.1 * t, 2)
        if np.sum(new) > most:
            best, current = current, best
        else:
            current = new
    return np.sum(best * current)


@case(3, numbers=[(1,), (2,), (4,)])
def made_with_other_axes_where_it_was_bound(x, n):
    s = 0.0
    for i in range(n):
        w = x * 2.0
        v = x * 3.0
        if i < 1:
            s += 1.0
        else:
            w, v = v, w
        w = np.outer(w, v)
        s += w[0, 1] * w[1, 0]
    return s


@case(3, numbers=[(0,), (5,), (13,)])
def ring_of_ten(x, n):
    a, b, c, d, e = x * 1.0, x * 2.0, x * 3.0, x * 4.0, x * 5.0
    f, g, h, i, j = x * 6.0, x * 7.0, x * 8.0, x * 9.0, x * 10.0
    for _ in range(n):
        a[0] += j[1] * 0.1
        a, b, c, d, e, f, g, h, i, j = b, c, d, e, f, g, h, i, j, a
    return np.sum(a * b) + np.sum(c * j) * 2.0


@case(*[3] * 10, numbers=[(0,), (7,), (31,)])
def rings_that_come_back_after_thirty(a, b, c, d, e, f, g, h, i, j, n):
    for k in range(n):
        a[0] += j[1] * 0.1
        if k > 28:
            break
        a, b, c, d, e, f, g, h, i, j = b, a, d, e, c, g, h, i, j, f
        b[1] *= 1.1
    return np.sum(a * b) + np.sum(c * j) * 2.0


@case(3, numbers=[(4,), (17,)])
def rings_in_a_while(x, n):
    a, b, c, d, e = x * 1.0, x * 2.0, x * 3.0, x * 4.0, x * 5.0
    f, g, h, i, j = x * 6.0, x * 7.0, x * 8.0, x * 9.0, x * 10.0
    k = 0
    while k < n and a[0] < 100.0:
        a[0] += j[1] * 0.1
        if k == 3:
            k += 2
            continue
        a, b, c, d, e, f, g, h, i, j = b, a, d, e, c, g, h, i, j, f
        b[1] *= 1.1
        k += 1
    return np.sum(a * b) + np.sum(c * j) * 2.0


def crossed(p, q):
    return q, p


@case(7, numbers=[(0,), (1,), (4,), (7,)])
def swapped_by_a_third_name_backwards(x, n):
    u, v = x * 1.0, x * x
    s = 0.0
    for k in reversed(range(n)):
        s = s * 0.9 + x[k] * u[k]
        t = u
        u = v
        v = t
    return s * u[0]


@case(7, numbers=[(0,), (1,), (4,), (7,)])
def swapped_by_a_helper_backwards(x, n):
    u, v = x * 1.0, x * x
    s = 0.0
    for k in reversed(range(n)):
        s = s * 0.9 + x[k] * u[k]
        u, v = crossed(u, v)
        if s > 8.0:
            break
    return s * u[0]


@case(7, numbers=[(1,), (4,), (6,)])
def swapped_backwards_in_steps(x, n):
    u, v = x * 1.0, x * x
    s = 0.0
    for k in reversed(range(0, n, 2)):
        s = s * 0.9 + x[k] * u[k]
        [u, v] = [v, u]
    for k in reversed(range(n, 0, -3)):
        s = s * 0.9 + x[k] * u[k]
        u, v = v, u
        if s > 100.0:
            break
    for k in reversed(range(n, 0, -1)):
        s = s * 0.9 + x[k] * u[k]
        u, v = v, u
    for k in reversed(range(1, 6, 3)):
        s = s * 0.9 + x[k] * u[k]
        u, v = v, u
    for k in reversed(range(n - 1, n + 1)):
        n -= 1
        s = s * 0.9 + x[k] * u[k - 1]
        u, v = v, u
    return s * u[k]


@case(4, numbers=[(-1,), (1,)])
def two_names_of_one_take_turns(x, n):
    u = x * 2.0
    w = u
    v = x * x
    for _ in range(n + 2):
        u, w, v = v, v, u
    if n > 0:
        u, w, v = v, v, u
    return np.sum(u * v * w)


@case(4, numbers=[(0,), (1,), (2,)])
def each_is_the_other_reversed(x, n):
    u, v, w = x * 1.0, x * x, x + 1.0
    for _ in range(n):
        u, v = v[::-1], u[::-1]
    if n > 1:
        u, v, w = v[::-1], w[::-1], u[::-1]
    return np.sum(u * u * v * w * np.array([1.0, 2.0, 3.0, 4.0]))


def relaxed(u, n):
    for _ in range(n):
        u = u * 0.5 + u * u
    return u


@case(4, numbers=[(0,), (2,)])
def an_array_here_and_a_number_there(x, n):
    return relaxed(x[0], n) * np.sum(relaxed(x, n)) * relaxed(x[1], 1)


@case(4, numbers=[(0,), (2,)])
def swapped_in_a_loop_without_iterations(x, n):
    u, v = x * 2.0, x * x
    for _ in range(3, 3):
        u, v = v, u
    for _ in range(n):
        u, v = v, u
    return np.sum(u * u * v)


def on_a_path(x, n):
    u = x * 2.0
    if n > 0:
        u = u * x
        return np.sum(u)
    return np.sum(u * u)


@case(4, numbers=[(0,), (1,)])
def bound_again_on_a_path_that_returns(x, n):
    return on_a_path(x, n) * on_a_path(x, 1 - n)


@case(4, numbers=[(0,), (1,)])
def a_parameter_bound_again_on_a_path(x, n):
    x[0] *= x[1]
    if n > 0:
        x = x * x
        x[1] = 3.0
        return np.sum(x)
    x[2] = x[1] * x[1]
    return np.sum(x * x)


@case(6, numbers=[(0,), (4,)])
def what_a_loop_behind_reads(x, n):
    u, v = x * 1.0, x * x
    if n > 1:
        u, v = v, u * 2.0
    k = 0
    while k < n:
        u = v * x
        k += 1
    if n > 2:
        u = x * x
    k = 0
    while k < u[1] + 3:
        u = u * x
        k += 1
    if n > 3:
        u = v * 3.0
    for e in u:
        k += e
    if n > 1:
        u = v * 3.0
    if n > 2:
        u = v * 2.0
    else:
        u = x * v
    return np.sum(u * v) * k


def made(
    f: Any, sizes: tuple[int, ...], numbers: tuple[Any, ...], shape: Any
) -> list[Any]:
    rng = np.random.default_rng(len(f.__name__))
    shapes = [(n,) for n in sizes] if shape is None else [shape]
    if shape is not None:
        shapes *= f.__code__.co_argcount - len(numbers)
    return [*(rng.uniform(0.5, 1.5, s) for s in shapes), *numbers]


@pytest.mark.slow
@pytest.mark.parametrize("f, sizes, numbers, shape", CASES)
def test_names_stand_for_the_arrays_that_cpython_gives_them(
    f: Any, sizes: Any, numbers: Any, shape: Any
) -> None:
    arguments = made(f, sizes, numbers, shape)
    g = pyrev.differentiable(f, target="python")
    plain, ours = copy.deepcopy(arguments), copy.deepcopy(arguments)
    # The call itself would be one of the plain function.
    assert g.primal(*ours) == pytest.approx(f(*plain), rel=1e-12)
    for one, other in zip(plain, ours, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    report = pyrev.check_grad(g, *arguments)
    assert report.ok, str(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    "f, n",
    [
        (rotated_or_swapped, 5),
        (swapped_behind_a_break, 9),
        (leapfrog, 3),
        (ring_of_ten, 13),
        (swapped_by_a_helper_backwards, 4),
    ],
)
def test_compiled_too(f: Any, n: int) -> None:
    arguments = made(f, (4,) * (f.__code__.co_argcount - 1), (n,), None)
    expected = f(*copy.deepcopy(arguments))
    g = pyrev.differentiable(f)
    assert g(*copy.deepcopy(arguments)) == pytest.approx(expected, rel=1e-12)
    report = pyrev.check_grad(g, *arguments)
    assert report.ok, str(report)


def three_axes(x, s, steps):
    a = np.zeros_like(x)
    for _ in range(steps):
        x, a = a, x
        for i in range(a.shape[0]):
            for j in range(1, a.shape[1]):
                for k in range(1, a.shape[2]):
                    a[i, j, k] -= s * (a[i, 0, k] * x[0, j, 1] + a[i, 0, 1])
    return np.sum(x * a)


def test_records_of_arrays_with_three_axes_have_indices_of_their_own() -> None:
    x = np.random.default_rng(0).uniform(0.5, 1.5, (2, 2, 3))
    report = pyrev.check_grad(
        pyrev.differentiable(three_axes, target="python"), x, 0.8, 3
    )
    assert report.ok, str(report)


def scaled(b, c, n):
    for _ in range(n):
        b = c * b
    return b


def divided(b, c, n):
    if n > 1:
        b = b / c
    return np.sum(b * b)


@pytest.mark.slow
@pytest.mark.parametrize("f", [scaled, divided])
@pytest.mark.parametrize("number", [1.5, 2, np.float32(1.5)])
@pytest.mark.parametrize("target", ["python", "numba"])
def test_numbers_of_python_leave_float32_as_it_is(
    f: Any, number: Any, target: str
) -> None:
    b = np.array([0.5, -1.25, 2.0], np.float32)
    g = pyrev.differentiable(f, target=target)
    expected = f(b.copy(), number, 3)
    value, pullback = pyrev.vjp(g, b.copy(), number, 3)
    assert value.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    gradient = pullback(np.ones_like(expected))["b"]
    h = 1e-6 * np.eye(3)
    wide = b.astype(np.float64)
    differences = [
        (np.sum(f(wide + e, number, 3)) - np.sum(f(wide - e, number, 3))) / 2e-6
        for e in h
    ]
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, differences, rtol=2e-6)


@pytest.mark.parametrize("f", [scaled, divided])
@pytest.mark.parametrize("number", [np.float64(1.5), np.int64(2)])
def test_numbers_of_numpy_make_it_float64(f: Any, number: Any) -> None:
    b = np.array([0.5, -1.25, 2.0], np.float32)
    assert f(b, number, 3).dtype == np.float64
    g = pyrev.differentiable(f, target="python")
    g(b.copy(), number.item(), 3)
    with pytest.raises(pyrev.UnsupportedError, match="float32, and float64 from here"):
        g(b.copy(), number, 3)


# ------------------------------------------------- arrays of numbers and arrays


def of_a_number(b, c):  # type: ignore[no-untyped-def]
    e = c * b
    return e


def of_a_local_number(b, c):  # type: ignore[no-untyped-def]
    s = c + 1
    e = b / s
    return e - 0.5


def of_an_element(b, c):  # type: ignore[no-untyped-def]
    s = b[0] * c
    e = b + s
    return e


def given_rank(b, c):  # type: ignore[no-untyped-def]
    e = b.copy()
    e = e * c
    return e


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("c", [2.5, 2, np.float64(2.5), np.float32(2.5), np.int64(2)])
@pytest.mark.parametrize(
    "f", [of_a_number, of_a_local_number, of_an_element, given_rank]
)
def test_an_array_has_the_dtype_that_numpy_gives_it(
    f: Any, c: float, target: str
) -> None:
    b = np.array([0.1, 1.3, 2.7], np.float32)
    expected = f(b, c)
    d = pyrev.differentiable(f, target=target)
    try:
        found, pullback = pyrev.vjp(d, b, c, wrt="b")
    except pyrev.UnsupportedError as refused:
        # The name is bound again, to an array that has another dtype.
        assert expected.dtype == np.float64 and f is given_rank
        assert [w.code for w in refused.findings] == ["P206"]
        return
    assert found.dtype == expected.dtype
    tolerance = 1e-6 if expected.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance)
    wide, step = b.astype(np.float64), 1e-6
    slopes = [
        np.sum(f(wide + step * e, float(c)) - f(wide - step * e, float(c))) / (2 * step)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(pullback(1.0).b, slopes, rtol=1e-5)


def grown(u):  # type: ignore[no-untyped-def]
    a = np.empty_like(u)
    for _ in range(3):
        u, a = a, u
    return 0.5


def nobody_reads(v, u):  # type: ignore[no-untyped-def]
    w = np.zeros_like(u)
    for _ in range(2):
        for _ in range(v.shape[0]):
            scale = grown(v)  # noqa: F841
        u, w, v = w, v, u
    return np.sum(u * u) + w[0]


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_nobody_reads_has_no_dtype_to_agree_with(target: str) -> None:
    v, u = np.array([0.3, 1.1]), np.array([0.7, -0.4])
    expected = nobody_reads(v.copy(), u.copy())
    value, g = pyrev.value_and_grad(
        pyrev.differentiable(nobody_reads, target=target), wrt=("v", "u")
    )(v.copy(), u.copy())
    assert value == pytest.approx(expected, rel=1e-12)
    step = 1e-6
    for name, k in (("v", 0), ("u", 1)):
        slopes = []
        for e in np.eye(2):
            ends = []
            for sign in (1, -1):
                args = [v.copy(), u.copy()]
                args[k] += sign * step * e
                ends.append(nobody_reads(*args))
            slopes.append((ends[0] - ends[1]) / (2 * step))
        np.testing.assert_allclose(g[name], slopes, rtol=1e-6, atol=1e-9)


def two_axes(x, y, flag):  # type: ignore[no-untyped-def]
    a = x * 2.0
    b = y * 3.0
    for i in range(a.shape[0]):
        if flag > 0:
            a, b = b, a
        a[i, 0] += 1.0
    return np.sum(a * a) + b[0, 1]


def two_axes_of_copies(x, y, flag):  # type: ignore[no-untyped-def]
    a = x
    b = y
    for _ in range(2):
        a = a * 1.5
        b = b * 0.5
        if flag > 0:
            a, b = b, a
    return np.sum(a * a) + b[0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("f", [two_axes, two_axes_of_copies])
@pytest.mark.parametrize("target", ["python", "numba"])
def test_arrays_that_change_places_agree_in_every_extent(f: Any, target: str) -> None:
    g = pyrev.differentiable(f, target=target)
    for flag in (0, 1):
        x, y = np.ones((2, 3)), np.full((2, 3), 0.5)
        assert g(x, y, flag) == pytest.approx(f(x, y, flag), rel=1e-12)
        assert pyrev.check_grad(g, x, y, flag).ok
    for other in ((2, 4), (3, 3), (2, 2)):
        with pytest.raises(ValueError, match="`[ab]` and `[ab]` change places"):
            g(np.ones((2, 3)), np.ones(other), 1)


def scaled_in_a_helper(v, w):  # type: ignore[no-untyped-def]
    w = 0.05 * v
    return w


def a_number_given_for_an_array(v):  # type: ignore[no-untyped-def]
    scaled_in_a_helper(v, 0.5)
    z = scaled_in_a_helper(v, 2.0)
    return np.sum(z * v)


def test_a_number_given_to_a_helper_may_become_an_array_there() -> None:
    v = np.array([1.0, 2.0, 3.0])
    for target in ("python", "numba"):
        f = pyrev.differentiable(a_number_given_for_an_array, target=target)
        report = pyrev.check_grad(f, v)
        assert report.ok, report
        value, gradient = pyrev.value_and_grad(f, wrt="v")(v)
        assert np.isclose(value, a_number_given_for_an_array(v))
        np.testing.assert_allclose(gradient, [0.1, 0.2, 0.3])


def turned_rows(a, b, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        a, b = b, a
    return a[1]


def a_row_is_written(x, p, n):  # type: ignore[no-untyped-def]
    g = turned_rows(x, p, n)
    g[:] = 0.5
    return np.sum(p[0, 0] * p)


def what_a_row_is_of_is_written(x, p, n):  # type: ignore[no-untyped-def]
    g = turned_rows(x, p, n)
    p[1, 0, 0] = 7.0
    return np.sum(g * g)


def a_row_of_a_row_is_written(x, p, n):  # type: ignore[no-untyped-def]
    g = turned_rows(x, p, n).T
    g[0, 0] = 3.0
    return np.sum(p[0, 0] * p)


def rows_are_mixed(x, p, n):  # type: ignore[no-untyped-def]
    g = turned_rows(x, p, n)
    for i in range(2):
        p[1, i, 0] = g[1 - i, 0]
    return np.sum(p * p)


@pytest.mark.slow
@pytest.mark.parametrize(
    "f",
    [
        a_row_is_written,
        what_a_row_is_of_is_written,
        a_row_of_a_row_is_written,
        rows_are_mixed,
    ],
)
def test_a_view_that_a_helper_returns_after_an_exchange_is_not_written(f: Any) -> None:
    with pytest.raises(pyrev.UnsupportedError, match="P206.*\n.*\n.*helper returned"):
        pyrev.differentiable(f)


def a_row_is_read(x, p, n):  # type: ignore[no-untyped-def]
    g = turned_rows(x, p, n)
    total = 0.0
    for i in range(g.shape[0]):
        total += g[i, 0] * p[1, i, 0] * x[0, i, 0]
    return total


@pytest.mark.slow
def test_a_view_that_a_helper_returns_after_an_exchange_may_be_read() -> None:
    rng = np.random.default_rng(0)
    for target in ("python", "numba"):
        f = pyrev.differentiable(a_row_is_read, target=target)
        for n in (2, 3):
            report = pyrev.check_grad(f, *rng.random((2, 2, 2, 2)), n)
            assert report.ok, report


SEEN = np.arange(3.0)


def filled_in_turns(p, n):
    b = np.zeros_like(p)
    for t in range(n):
        if t < 5:
            p, b = b, p
            p += 1.0
    return b


def from_a_helper_in_a_loop(a, n):
    for _ in range(2):
        a = filled_in_turns(a, n)
    return np.sum(a)


def one_of_several_names(a, n):
    x = a
    b = np.zeros_like(a)
    for t in range(n):
        if t % 2 == 0:
            x, b = b, x
        b += 1.0
        x = np.sin(x)
    return np.sum(x) + np.sum(b)


def a_global_in_turns(a, n):
    x = SEEN
    b = np.zeros_like(a)
    for t in range(n):
        if t < 2:
            x, b = b, x
        b += 1.0
    return np.sum(x)


def a_global_for_a_while(a, n):
    x = SEEN
    b = a * 2.0
    if n > 0:
        x, b = b, x
    return np.sum(x * x) + b[1]


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (from_a_helper_in_a_loop, "what a helper returned, or what another name"),
        (one_of_several_names, "`x` may stand for the array that is written here"),
        (a_global_in_turns, "`SEEN` is not a parameter"),
        (a_global_for_a_while, "`SEEN` is not a parameter"),
    ],
)
def test_what_is_written_as_one_array_may_be_the_one_that_it_changed_places_with(
    f: Any, why: str
) -> None:
    with pytest.raises(pyrev.UnsupportedError) as caught:
        pyrev.differentiable(f)
    assert why in str(caught.value)


@case(3, numbers=[(0,), (1,), (2,)])
def written_before_it_changes_places(a, n):
    x = a
    b = a * 2.0
    b[0] += 1.0
    if n > 1:
        x = np.sin(x)
    if n > 0:
        x, b = b, x
    return np.sum(x * x) + b[1]


@case(4, 4, numbers=[(0,), (1,)])
def names_that_nobody_reads_change_places(p, u, n):
    w = u
    if n > 0:
        p, u, w = u, w, p
    u[0] *= u[1] * u[2]
    return np.sum(u)


def scaled_below(p, a):
    if np.sum(a) < 4.0:
        a = 0.5 * p * p
    return a


@case(4, 4, numbers=[(0.0,), (9.0,)])
def bound_again_in_the_helper_that_an_array_is_made_for(u, p, c):
    v = scaled_below(u, (p + c) * 1.0)
    for _ in range(2):
        v[1:] *= v[:-1] + u[0]
    w = scaled_below(u, p.copy())
    w[0] += c
    return np.sum(v * w) + p[0] * u[1]


def like(q):  # type: ignore[no-untyped-def]
    return np.zeros_like(q)


def copy_of(q):  # type: ignore[no-untyped-def]
    own = q.copy()
    return own


def of_two_axes(a, b):  # type: ignore[no-untyped-def]
    x, y = like(a), copy_of(b)
    for i in range(2):
        for j in range(3):
            x[i, j] = 2.0 * j + i
            y[i, j] *= y[i, j]
    return np.sum(x * a) * np.sum(y)


def test_a_parameter_has_the_axes_of_what_a_helper_makes_like_it() -> None:
    names: dict[str, Any] = {}
    exec(pyrev.differentiable(of_two_axes).adjoint.source, names)
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.5, 1.5, (2, 3)), rng.uniform(0.5, 1.5, (2, 3))
    found = names["of_two_axes_adjoint"](a, b, 1.0)
    h = 1e-6
    for place in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[place] = h
        by_a = (of_two_axes(a + step, b) - of_two_axes(a - step, b)) / (2 * h)
        by_b = (of_two_axes(a, b + step) - of_two_axes(a, b - step)) / (2 * h)
        assert found[0][place] == pytest.approx(by_a, rel=1e-7)
        assert found[1][place] == pytest.approx(by_b, rel=1e-7)


def mean_of_powers(w):  # type: ignore[no-untyped-def]
    k = 0
    while k < 3 and w[0, -1] >= 0.3:
        w = w * w
        k += 1
    return np.mean(w)


def means_between_exchanges(x, n):  # type: ignore[no-untyped-def]
    a = np.empty_like(x)
    a[:] = 0.0
    for _ in range(n):
        for i in range(1, a.shape[0]):
            for j in range(x.shape[1] - 1):
                inner = mean_of_powers(a * a + 0.0 * mean_of_powers(a))
                a[i, j] = min(x[i, j + 1] + 1.5, inner)
        x, a = a, x
    x, a = a, x


@pytest.mark.slow
def test_extents_of_what_each_copy_of_a_loop_makes_are_its_own() -> None:
    x = np.random.default_rng(0).random((2, 2))
    f = pyrev.differentiable(means_between_exchanges, target="python")
    for n in (1, 2):
        report = pyrev.check_grad(f, x, n)
        assert report.ok, report


def loses_an_array(b):  # type: ignore[no-untyped-def]
    cur = b.copy()
    for _ in range(2):
        b, cur = (cur, b)
    acc = np.zeros_like(b)
    for _ in range(3):
        b, acc, cur = (acc, cur, 0.5)


def an_array_is_lost(x):  # type: ignore[no-untyped-def]
    loses_an_array(x)
    return np.sum(x * x)


def test_names_that_do_not_come_back_to_their_arrays_are_no_error_of_ours() -> None:
    try:
        f = pyrev.differentiable(an_array_is_lost, target="python")
    except pyrev.UnsupportedError as refusal:
        assert "P206" in str(refusal)
    else:
        report = pyrev.check_grad(f, np.array([1.0, 2.0]))
        assert report.ok, report
