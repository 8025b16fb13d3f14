# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Every bullet of the contract's section on the language, alone and combined."""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import prange

import pyrev
from tests.corpora.entry import Cases

case = Cases()

# ---------------------------------------------------------------- loops


def prange_rows(a, out):
    for i in prange(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] ** 2
        out[i] = math.sqrt(1.0 + s)


case(prange_rows, lambda n, m: dict(a=m(n, n + 1), out=m(n)), "out")


def prange_with_reduction(a, b):
    total = 0.0
    for i in numba.prange(a.shape[0]):
        total += a[i] * b[i] * b[i]
    return total


case(prange_with_reduction, lambda n, m: dict(a=m(n), b=m(n)), real=40)


def prange_with_start(a, out):
    for i in prange(1, a.shape[0] - 1):
        out[i] = a[i - 1] * a[i + 1]


case(prange_with_start, lambda n, m: dict(a=m(n), out=m(n)), "out", wide=(3,))


def enumerate_rows(a, weights, out):
    for i, row in enumerate(a):
        for j, value in enumerate(row):
            out[i] += weights[j] * value * value


case(
    enumerate_rows,
    lambda n, m: dict(a=m(n, n + 1), weights=m(n + 1), out=m(n)),
    "out",
    covers=("row view",),
)


def enumerate_from_one(a):
    total = 0.0
    for k, value in enumerate(a, 1):
        total += value**2 / k
    return total


case(enumerate_from_one, lambda n, m: dict(a=m(n)))


def zip_three(a, b, c):
    total = 0.0
    for x, y, z in zip(a, b, c, strict=False):
        total += x * y - math.sin(z)
    return total


case(zip_three, lambda n, m: dict(a=m(n), b=m(n), c=m(n)))


def zip_unequal(a, b):
    total = 1.0
    for x, y in zip(a, b):  # noqa: B905
        total = total * (1.0 + 0.1 * x) + y
    return total


case(zip_unequal, lambda n, m: dict(a=m(n), b=m(n + 2)))


def zip_with_enumerate(a, b, out):
    for i, (x, y) in enumerate(zip(a, b)):  # noqa: B905
        out[i] += x * y


case(zip_with_enumerate, lambda n, m: dict(a=m(n), b=m(n), out=m(n)), "out")


def reversed_recurrence(a, decay):
    state = 0.0
    for value in reversed(a):
        state = decay * state + value * value
    return state


case(reversed_recurrence, lambda n, m: dict(a=m(n), decay=m.scalar(0.4, 0.8)))


def reversed_range_with_step(a, out):
    for i in reversed(range(1, a.shape[0], 3)):
        out[i] = a[i] * a[i - 1] + out[i - 1]


case(
    reversed_range_with_step,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    wide=(4, 7),
)


def iterate_values(values):
    product = 1.0
    for v in values:
        product *= 1.0 + v * v
    return product


case(iterate_values, lambda n, m: dict(values=m(n)), real=12)


def iterate_matrix(a, x):
    total = 0.0
    for row in a:
        s = 0.0
        for j in range(len(row)):
            s += row[j] * x[j]
        total += s * s
    return total


case(
    iterate_matrix,
    lambda n, m: dict(a=m(n, n + 1), x=m(n + 1)),
    covers=("row view",),
)


def for_else_search(a, limit):
    for i in range(a.shape[0]):
        if a[i] > limit:
            found = a[i] * i
            break
    else:
        found = limit * 2.0
    return found * found


case(
    for_else_search,
    lambda n, m: dict(a=m.distinct(n), limit=0.5),
    real=30,
)


def for_else_inside_loop(a, out):
    for i in range(a.shape[0]):
        for j in range(i):
            if a[j] > a[i]:
                out[i] = a[i] * a[j]
                break
        else:
            out[i] = 2.0 * a[i]


case(
    for_else_inside_loop,
    lambda n, m: dict(a=m.distinct(n), out=m(n)),
    "out",
    covers=("triangular",),
)


def for_else_without_break(a):
    s = 0.0
    for v in a:
        s += v * v
    else:
        s = s * s
    return s


case(for_else_without_break, lambda n, m: dict(a=m(n)))


def while_else_converged(x, tolerance_steps):
    k = 0
    while k < tolerance_steps:
        new = math.cos(x)
        if abs(new - x) < 0.02:
            result = new
            break
        x = new
        k += 1
    else:
        result = -x
    return result


case(
    while_else_converged,
    lambda n, m: dict(x=m.scalar(0.2, 0.4), tolerance_steps=n),
    real=30,
    covers=("trip count from data",),
)


def while_else_scan(a):
    i = 0
    while i < len(a):
        if a[i] > 0.4:
            break
        i += 1
    else:
        return 0.0
    return a[i] ** 2


case(while_else_scan, lambda n, m: dict(a=m.distinct(n)), real=25)


def while_else_plain(a, n):
    s = a
    while n > 0:
        s = s * a + 1.0
        n -= 1
    else:
        s = 0.5 * s
    return s


case(while_else_plain, lambda n, m: dict(a=m.scalar(), n=n), real=8)


def loop_variable_after_the_loop(a):
    s = 0.0
    for i in range(3, a.shape[0], 2):
        s += a[i]
    for j in range(a.shape[0]):
        s *= 1.0 + 0.1 * a[j]
    return s * a[j] + i


case(
    loop_variable_after_the_loop,
    lambda n, m: dict(a=m(n)),
    least=4,
    wide=(5,),
)


def range_reads_once(a, n, out):
    for i in range(n):
        n = n - 1
        out[i] = a[i] * n


case(range_reads_once, lambda n, m: dict(a=m(n), n=n, out=m(n)), "out")


def index_changed_in_the_body(a, out):
    for i in range(a.shape[0]):
        k = i
        i = i // 2
        out[k] = a[i] * a[k]


case(index_changed_in_the_body, lambda n, m: dict(a=m(n), out=m(n)), "out")


def steps_from_parameters(a, start, stop, step, out):
    for i in range(start, stop, step):
        out[i] = out[i] * a[i]


case(
    steps_from_parameters,
    lambda n, m: dict(a=m(n), start=n - 1, stop=-1, step=-2, out=m(n)),
    "out",
)


def bounds_from_a_table(first, last, a, out):
    for i in range(first.shape[0]):
        for j in range(first[i], last[i]):
            out[j] += a[i] * a[i] * out[j]


case(
    bounds_from_a_table,
    lambda n, m: dict(
        first=m.indices(n, n), last=m.indices(n + 1, n), a=0.3 * m(n), out=m(n)
    ),
    "out",
    covers=("bounds from data",),
)

# ---------------------------------------------------------------- control flow


def collatz_weights(start, a):
    n = start
    s = 0.0
    k = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        s = s * 0.9 + a[k % a.shape[0]] ** 2
        k += 1
    return s


case(
    collatz_weights,
    lambda n, m: dict(start=n, a=m(4)),
    least=1,
    real=9,
)


def while_in_a_loop(a, out):
    for i in range(a.shape[0]):
        x = a[i]
        while abs(x) < 5.0:
            x = 1.7 * x + 0.1 * x * x
        out[i] = x


case(
    while_in_a_loop,
    lambda n, m: dict(a=m.positive(n), out=m(n)),
    "out",
    real=6,
    covers=("trip count from data",),
    seed=1,
)


def while_in_a_while(x):
    outer = 0
    while x < 60.0 and outer < 20:
        inner = 0.5
        while inner < x:
            inner = 2.0 * inner + 0.01 * x
        x = x + 0.3 * inner
        outer += 1
    return x


case(
    while_in_a_while,
    lambda n, m: dict(x=m.scalar(1.0, 1.4)),
    least=3,
    real=3,
    covers=("trip count from data",),
    seed=1,
)


def break_out_of_two(a, limit):
    total = 0.0
    stop = False
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] ** 2
            if total > limit:
                stop = True
                break
        if stop:
            break
    return total * total


case(break_out_of_two, lambda n, m: dict(a=m(n, n), limit=2.0), real=6)


def break_at_the_top(a, out):
    i = 0
    while True:
        if i >= a.shape[0] or a[i] < -0.9:
            break
        out[i] = a[i] * a[i]
        i += 1


case(break_at_the_top, lambda n, m: dict(a=m(n), out=m(n)), "out", real=12)


def break_after_overwrite(u, limit):
    for t in range(20):
        size = 0.0
        for i in range(u.shape[0]):
            u[i] = 0.5 * u[i] * u[i] + 0.1
            size += u[i]
        if size < limit:
            break
    return size


case(
    break_after_overwrite,
    lambda n, m: dict(u=m.positive(n), limit=0.13 * n),
    "u",
    least=1,
    real=7,
    covers=("trip count from data", "time stepping"),
)


def continue_in_while(a):
    i = -1
    s = 1.0
    while i < len(a) - 1:
        i += 1
        if a[i] < 0.0:
            continue
        s = s * (1.0 + a[i])
    return s


case(continue_in_while, lambda n, m: dict(a=m.away(n)), real=20)


def continue_and_break(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        if b[i] < 0:
            continue
        if b[i] > 0.9:
            break
        s += a[i] * b[i]
        if s > 3.0:
            continue
        s *= 1.1
    return s


case(continue_and_break, lambda n, m: dict(a=m(n), b=m.away(n)), real=14)


def pass_branches(a, out):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            pass
        elif a[i] > 0.0:
            out[i] = a[i] ** 3
        else:
            out[i] *= a[i]


case(pass_branches, lambda n, m: dict(a=m.distinct(n), out=m(n)), "out")


def pass_in_loops(a):
    for i in range(a.shape[0]):
        pass
    while False:
        pass
    return a[0] * a[i]


case(pass_in_loops, lambda n, m: dict(a=m(n)), least=1)


def pass_as_a_stub(a):
    if a.shape[0] == 0:
        pass
    else:
        a[0] = a[0] * a[-1]


case(pass_as_a_stub, lambda n, m: dict(a=m(n)), "a", covers=("negative index",))


def guard_clauses(a, b):
    if a.shape[0] == 0:
        return 0.0
    if a.shape[0] != b.shape[0]:
        return -1.0
    if a[0] < 0.0:
        return b[0] * a[0]
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


case(guard_clauses, lambda n, m: dict(a=m.away(n), b=m(n)))


def return_from_nested_loops(a, limit):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > limit:
                return a[i, j] * (i + 1) + j
    return limit**2


case(
    return_from_nested_loops,
    lambda n, m: dict(a=m.distinct(n, n), limit=0.31),
    real=7,
)


def return_tuple_from_while(x, rate):
    k = 0
    while True:
        x = x * rate + 0.1
        k += 1
        if x > 4.0:
            return x, x * rate
        if k == 12:
            return x * 0.5, rate


case(
    return_tuple_from_while,
    lambda n, m: dict(x=m.scalar(), rate=m.scalar(1.1, 1.4)),
    least=3,
    real=3,
    covers=("trip count from data",),
)


def return_nothing_early(a, out):
    for i in range(a.shape[0]):
        if a[i] > 0.8:
            return
        out[i] = math.exp(a[i])


case(
    return_nothing_early,
    lambda n, m: dict(a=m.distinct(n), out=m(n)),
    "out",
    real=20,
)


def sign_changes(a):
    count = 0
    total = 0.0
    for i in range(1, a.shape[0]):
        if not a[i] * a[i - 1] > 0:
            count += 1
            total += a[i] - a[i - 1]
    return total * count


case(sign_changes, lambda n, m: dict(a=m.away(n)))


def logic_of_three(a, b, c, out):
    for i in range(a.shape[0]):
        if (a[i] > 0 and b[i] > 0) or (not c[i] > 0 and a[i] < b[i]):
            out[i] = a[i] * b[i]
        elif not (a[i] > 0 or b[i] > 0):
            out[i] = c[i] ** 2
        else:
            out[i] += c[i]


case(
    logic_of_three,
    lambda n, m: dict(a=m.away(n), b=m.away(n) + 0.003, c=m.away(n), out=m(n)),
    "out",
)


def short_circuit_bounds(a, idx):
    s = 0.0
    for i in range(idx.shape[0]):
        k = idx[i]
        if k >= 0 and k < a.shape[0] and a[k] > 0:
            s += a[k] ** 2
        if k < 0 or a[min(k, a.shape[0] - 1)] < 0:
            s -= 0.5 * k
    return s


case(
    short_circuit_bounds,
    lambda n, m: dict(a=m.away(n), idx=m.indices(n + 4, n) - 2),
    least=1,
)


def chained_comparisons(a, lo, hi):
    s = 0.0
    for i in range(a.shape[0]):
        if lo < a[i] <= hi:
            s += a[i]
        elif -1.0 <= a[i] < lo < hi:
            s += a[i] ** 2
    return s


case(
    chained_comparisons,
    lambda n, m: dict(a=m.distinct(n), lo=-0.24, hi=0.21),
    real=20,
)


def asserted_sizes(a, b, out):
    assert a.shape[0] == b.shape[0], "sizes differ"
    assert out.shape[0] >= a.shape[0]
    for i in range(a.shape[0]):
        assert b[i] > 0.0
        out[i] = a[i] / b[i]


case(
    asserted_sizes,
    lambda n, m: dict(a=m(n), b=m.positive(n), out=m(n)),
    "out",
)


def asserted_progress(x):
    last = math.inf
    while x > 0.1:
        x = x * 0.6
        assert x < last, "no progress"
        last = x
    return x * x


case(
    asserted_progress,
    lambda n, m: dict(x=m.scalar()),
    least=3,
    real=3,
    covers=("trip count from data",),
)


def asserted_index(idx, a):
    s = 0.0
    for k in idx:
        assert 0 <= k < len(a), "index out of range"
        s += a[k] * a[k]
    return s


case(
    asserted_index,
    lambda n, m: dict(idx=m.indices(n, n), a=m(n)),
    covers=("index from an array",),
)


def maybe_unbound(a, n):
    for i in range(n):
        last = a[i] * a[i]
    if n > 0:
        return last
    return 0.0


case(maybe_unbound, lambda n, m: dict(a=m(n), n=n))


def truthy_numbers(a, flags, count):
    s = 0.0
    while count:
        count -= 1
        if flags[count % flags.shape[0]]:
            s += a[count % a.shape[0]]
        s *= 1.05
    return s


case(
    truthy_numbers,
    lambda n, m: dict(a=m(n), flags=m.indices(2, n), count=2 * n),
    least=1,
    real=9,
)

# ---------------------------------------------------------------- assignment


def annotated_locals(a, out):
    n: int = a.shape[0]
    total: float = 0.0
    for i in range(n):
        square: float = a[i] * a[i]
        total += square
        out[i] = total


case(annotated_locals, lambda n, m: dict(a=m(n), out=m(n)), "out")


def annotated_parameters(a: np.ndarray, scale: float, n: int) -> float:
    best: float = -10.0
    for i in range(n):
        v: float = a[i] * scale
        best = max(best, v)
    return best


case(annotated_parameters, lambda n, m: dict(a=m.distinct(n), scale=m.scalar(), n=n))


def annotated_without_value(a):
    x: float
    s: float = 0.0
    for v in a:
        x = v * v
        s += x * v
    return s


case(annotated_without_value, lambda n, m: dict(a=m(n)))


def every_augmented_element(u, v):
    for i in range(u.shape[0]):
        u[i] += v[i]
        u[i] -= 0.5 * v[i]
        u[i] *= v[i]
        u[i] /= 1.0 + v[i] * v[i]
        u[i] **= 2
        u[i] %= 7.0
        u[i] += i
        v[i] //= 4.0


case(
    every_augmented_element,
    lambda n, m: dict(u=0.3 * m.positive(n), v=0.5 * m.positive(n)),
    "u v",
)


def every_augmented_scalar(x, y, n):
    k = 17
    for i in range(n):
        x += y
        x *= 1.1
        x -= 0.2 * y
        x /= 1.0 + y
        x **= 2
        k //= 2
        k %= 5
        k += 3
        x += k
    x %= 100.0
    return x


case(
    every_augmented_scalar,
    lambda n, m: dict(x=0.1 * m.scalar(), y=m.scalar(), n=min(n, 3)),
)


def power_in_place(u, p):
    for i in range(u.shape[0]):
        u[i] **= p
        u[i] *= u[i]


case(power_in_place, lambda n, m: dict(u=m.positive(n), p=m.scalar(1.5, 2.5)), "u")


def volumes_in_place(u, growth):
    side = growth
    for i in range(u.shape[0]):
        u[i] **= 3
        side **= 1.1
        u[i] = math.cbrt(u[i] + side)


case(
    volumes_in_place,
    lambda n, m: dict(u=m.positive(n), growth=m.scalar(1.0, 1.1)),
    "u",
    real=9,
)


def modulo_in_place(u, period):
    for i in range(u.shape[0]):
        u[i] *= 3.0
        u[i] %= period


case(
    modulo_in_place,
    lambda n, m: dict(u=(m.indices(4, n) + 0.37).astype(m.dtype) / 3, period=1.0 + 0.1),
    "u",
    seed=2,
)


def wrap_angles(theta, turns):
    total = 0.0
    for i in range(theta.shape[0]):
        x = theta[i] * turns
        x %= 2.0 * math.pi
        total += x * x
    return total


case(
    wrap_angles,
    lambda n, m: dict(theta=1.0 * m.away(n), turns=m.scalar(2.0, 3.0)),
)


def quantisation_error(u, step):
    total = 0.0
    for i in range(u.shape[0]):
        level = u[i]
        level //= step
        total += (u[i] - step * level) ** 2
    return total


case(
    quantisation_error,
    lambda n, m: dict(
        u=((m.indices(5, n) - 2 + 0.3 + 0.4 * m.rng.random(n)) * 0.5).astype(m.dtype),
        step=0.5,
    ),
)


def cube_scalar_in_place(x, n):
    for _ in range(n):
        x **= 3
        x *= 0.7
    y = x
    y **= 0.5
    y %= 50.0
    return y


case(cube_scalar_in_place, lambda n, m: dict(x=m.scalar(0.9, 1.3), n=min(n, 2)))


def integer_elements(a, counts):
    total = 0.0
    work = counts.copy()
    for i in range(a.shape[0]):
        work[i] //= 2
        total += a[i] * work[i]
        work[i] %= 3
        total *= 1.0 + 0.1 * work[i]
    return total


case(integer_elements, lambda n, m: dict(a=m(n), counts=m.indices(9, n)))


def floor_and_modulo_elements(u, v):
    for i in range(u.shape[0]):
        v[i] = u[i] * u[i]
        u[i] //= 0.5
        v[i] %= 0.9
        v[i] += u[i]


case(
    floor_and_modulo_elements,
    lambda n, m: dict(
        u=((m.indices(4, n) + 0.3 + 0.1 * m.rng.random(n)) * 0.5).astype(m.dtype),
        v=m(n),
    ),
    "u v",
    seed=5,
)


def swap_pairs(a):
    for i in range(0, a.shape[0] - 1, 2):
        a[i], a[i + 1] = a[i + 1], a[i]
        a[i] *= a[i + 1]


case(swap_pairs, lambda n, m: dict(a=m(n)), "a", wide=(4,))


def rotate_three(a, b, c, n):
    for _ in range(n):
        a, b, c = b, c * a, 0.5 * a
    return a, b, c


case(
    rotate_three,
    lambda n, m: dict(a=m.scalar(), b=m.scalar(), c=m.scalar(), n=n),
    real=7,
)


def reverse_by_swaps(a, out):
    i, j = 0, a.shape[0] - 1
    while i < j:
        a[i], a[j] = a[j], a[i]
        i, j = i + 1, j - 1
    for k in range(a.shape[0]):
        out[k] = a[k] * k


case(
    reverse_by_swaps,
    lambda n, m: dict(a=m(n), out=m(n)),
    "a out",
    covers=("index carried through a loop",),
)


def swapped_columns(a):
    for i in range(a.shape[0]):
        a[i, 0], a[i, 1] = a[i, 1], a[i, 0] * a[i, 1]


case(swapped_columns, lambda n, m: dict(a=m(n, 2)), "a")


def several_targets(a, b, c):
    for i in range(a.shape[0]):
        b[i] = c[i] = x = a[i] * a[i]
        b[i] *= x


case(several_targets, lambda n, m: dict(a=m(n), b=m(n), c=m(n)), "b c")


def swap_scalars_by_comparison(a, b, c):
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a * 2.0 + b * 3.0 + c * 5.0


case(
    swap_scalars_by_comparison,
    lambda n, m: dict(
        a=m.scalar(0.5, 0.7), b=m.scalar(0.1, 0.3), c=m.scalar(0.3, 0.48)
    ),
    least=3,
    real=3,
)


def parameter_rebound(x, n):
    x = x * 2.0
    for i in range(n):
        x = x - 0.1 * x * x
    return x.sum()


case(
    parameter_rebound,
    lambda n, m: dict(x=m(4), n=min(n, 4)),
    covers=("rebound array",),
)


def local_rebound_under_a_test(a):
    b = a.copy()
    for t in range(3):
        c = np.zeros_like(b)
        for i in range(b.shape[0]):
            c[i] = b[i] * b[i - 1]
        if c[0] > 0.0:
            b = c + 0.5
        else:
            b = c - 0.5
    return b


case(
    local_rebound_under_a_test,
    lambda n, m: dict(a=m.away(n)),
    least=1,
    real=9,
    covers=("rebound array", "negative index"),
)

# ---------------------------------------------------------------- arithmetic


def integer_bits(a, out):
    n = a.shape[0]
    for i in range(n):
        k = (i & 3) | (i << 1 & 4)
        k = k ^ (i >> 2)
        out[i] = a[k % n] * (~i & 7) + k


case(integer_bits, lambda n, m: dict(a=m(n), out=m(n)), "out")


def gray_code_order(a):
    s = 0.0
    n = a.shape[0]
    for i in range(n):
        g = i ^ (i >> 1)
        if g < n:
            s = s * 0.9 + a[g] ** 2
    return s


case(gray_code_order, lambda n, m: dict(a=m(n)))


def bit_reversed(a, bits, out):
    for i in range(1 << bits):
        r = 0
        for b in range(bits):
            r |= ((i >> b) & 1) << (bits - 1 - b)
        out[r] = a[i] * a[i]


case(
    bit_reversed,
    lambda n, m: dict(a=m(2 ** min(n, 4)), bits=min(n, 4), out=m(2 ** min(n, 4))),
    "out",
)


def masks_and_flags(a, mask):
    s = 0.0
    for i in range(a.shape[0]):
        if (mask[i] & 1) | (mask[i] ^ 2 == 0):
            s += a[i]
        s *= 1.0 + 0.01 * (~mask[i])
    return s


case(masks_and_flags, lambda n, m: dict(a=m(n), mask=m.indices(8, n)))


def power_tower_bits(a, n):
    shift = 1 << (n % 4)
    value = a ** (shift | 1)
    return value * (n ^ 5) + a * ~n


case(power_tower_bits, lambda n, m: dict(a=m.scalar(0.8, 1.2), n=n))


def hashed_lookup(table, keys):
    s = 0.0
    n = table.shape[0]
    for k in keys:
        h = (k * 2654435761) & 0xFFFF
        h ^= h >> 4
        s += table[h % n] ** 2 * (1 + (h << 1) % 3)
    return s


case(
    hashed_lookup,
    lambda n, m: dict(table=m(n), keys=m.indices(100, n)),
    covers=("wrapped index",),
)


def bools_as_numbers(a, out):
    for i in range(a.shape[0]):
        positive = a[i] > 0
        out[i] = a[i] * positive + (a[i] < -0.5) * 2.0 - (i % 2 == 0)


case(
    bools_as_numbers,
    lambda n, m: dict(a=m.distinct(n), out=m(n)),
    "out",
    covers=("bools as numbers",),
)


def counted_bools(a, b):
    count = 0
    s = 0.0
    for i in range(a.shape[0]):
        inside = bool(a[i] * a[i] + b[i] * b[i] < 1.0)
        count += inside
        s += inside * a[i] * b[i]
    return s * count


case(
    counted_bools,
    lambda n, m: dict(a=0.4 * m(n), b=m.distinct(n)),
    covers=("bools as numbers",),
)


def negative_floor_division(a, out):
    n = a.shape[0]
    for i in range(n):
        k = (-i - 1) // 3
        r = (-i) % 3
        out[i] = a[k] * r + (i - n) // 2


case(
    negative_floor_division,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    wide=(4,),
    covers=("negative index",),
)


def float_floor_and_modulo(a, step, out):
    for i in range(a.shape[0]):
        out[i] = a[i] % step + 0.1 * (a[i] // step) + a[i] * step


case(
    float_floor_and_modulo,
    lambda n, m: dict(
        a=((m.indices(7, n) - 3 + 0.3 + 0.4 * m.rng.random(n)) * 0.5).astype(m.dtype),
        step=0.5,
        out=m(n),
    ),
    "out",
)


def weak_python_scalars(a, out):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * 2.0
        out[i] = s / 3 + 1


case(
    weak_python_scalars,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    covers=("weak scalars",),
)


def weak_scalar_parameters(a, scale, power):
    total = 0.0
    for v in a:
        total += scale * v**power
    return total


case(
    weak_scalar_parameters,
    lambda n, m: dict(a=m.positive(n), scale=m.scalar(), power=2),
    covers=("weak scalars",),
)


def mixed_integers_and_floats(a, k):
    s = 0
    for i in range(a.shape[0]):
        s = s + k * i
        s += a[i] / 2
    return s * 0.5


case(
    mixed_integers_and_floats,
    lambda n, m: dict(a=m(n), k=3),
    covers=("weak scalars",),
)

# ---------------------------------------------------------------- local arrays


def arrays_of_every_kind(a):
    n = a.shape[0]
    z = np.zeros(n)
    o = np.ones(n)
    e = np.empty(n)
    f = np.full(n, 0.5)
    t = np.array([1.0, 2.0, 4.0])
    for i in range(n):
        e[i] = a[i] * t[i % 3]
        z[i] += e[i] * o[i] + f[i]
        o[i] = z[i] * z[i]
    return o


case(arrays_of_every_kind, lambda n, m: dict(a=m(n)))


def arrays_like_others(a):
    z = np.zeros_like(a)
    o = np.ones_like(a)
    e = np.empty_like(a)
    f = np.full_like(a, 2.0)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            e[i, j] = a[i, j] * f[i, j]
            z[i, j] += e[i, j] + o[i, j]
            o[i, j] -= a[i, j] ** 2
    return z, o


case(arrays_like_others, lambda n, m: dict(a=m(n, n + 1)), real=8)


def arrays_with_dtypes(a):
    n = a.shape[0]
    count = np.zeros(n, dtype=np.int64)
    mask = np.zeros(n, dtype=np.bool_)
    wide = np.zeros(n, dtype=np.float64)
    for i in range(n):
        if a[i] > 0:
            mask[i] = True
            count[i] += i
    for i in range(n):
        if mask[i]:
            wide[i] = a[i] * count[i]
    return wide


case(
    arrays_with_dtypes,
    lambda n, m: dict(a=m.away(n)),
    covers=("integer local array",),
)


def array_of_parameters(x, y, z):
    v = np.array([x, y, z, x * y])
    s = 0.0
    for i in range(v.shape[0]):
        s += v[i] * v[i - 1]
    return s


case(
    array_of_parameters,
    lambda n, m: dict(x=m.scalar(), y=m.scalar(), z=m.scalar()),
    least=3,
    real=3,
    covers=("negative index",),
)


def nested_array_literal(a):
    kernel = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]) / 16.0
    out = np.zeros_like(a)
    for y in range(1, a.shape[0] - 1):
        for x in range(1, a.shape[1] - 1):
            for j in range(3):
                for i in range(3):
                    out[y, x] += kernel[j, i] * a[y + j - 1, x + i - 1]
    return out


case(nested_array_literal, lambda n, m: dict(a=m(n, n)), wide=(3,), real=8)


def array_sized_by_data(counts, a):
    total = 0.0
    for i in range(counts.shape[0]):
        buffer = np.zeros(counts[i])
        for k in range(counts[i]):
            buffer[k] = a[(i + k) % a.shape[0]] * (buffer[k - 1] + 1.0)
        for k in range(counts[i]):
            total += buffer[k] ** 2
    return total


case(
    array_sized_by_data,
    lambda n, m: dict(counts=m.indices(4, n), a=m(n + 1)),
    covers=("bounds from data", "wrapped index"),
)


def ones_and_identity(a):
    n = a.shape[0]
    basis = np.ones((n, 2))
    for i in range(n):
        basis[i, 1] = a[i]
    gram = np.zeros((2, 2), dtype=float)
    for p in range(2):
        for q in range(2):
            for i in range(n):
                gram[p, q] += basis[i, p] * basis[i, q]
    return gram[0, 0] * gram[1, 1] - gram[0, 1] * gram[1, 0]


case(ones_and_identity, lambda n, m: dict(a=m(n)))


def ones_like_running(a):
    w = np.ones_like(a)
    for i in range(1, a.shape[0]):
        w[i] = w[i - 1] * a[i]
    return w


case(
    ones_like_running,
    lambda n, m: dict(a=m.positive(n)),
    covers=("in-place recurrence",),
)


def weights_of_ones(a):
    w = np.ones(a.shape[0] + 1)
    idx = np.empty(a.shape[0], dtype=np.int32)
    for i in range(a.shape[0]):
        idx[i] = (3 * i) % a.shape[0]
        w[i + 1] = w[i] * (1.0 + 0.1 * a[idx[i]])
    return w[-1]


case(
    weights_of_ones,
    lambda n, m: dict(a=m(n)),
    covers=("integer local array", "index from an array", "negative index"),
)


def ones_like_weights(a):
    w = np.ones_like(a)
    f = np.full_like(a, 3.0)
    for i in range(0, a.shape[0], 2):
        w[i] = a[i]
        f[i] -= a[i] ** 2
    return w * f


case(ones_like_weights, lambda n, m: dict(a=m(n)), covers=("whole-array expression",))

# ---------------------------------------------------------------- indices


def reflected_stencil(a, out):
    n = a.shape[0]
    for i in range(n):
        for k in range(-2, 3):
            j = abs(i + k)
            if j >= n:
                j = 2 * n - 2 - j
            out[i] += a[j] * (k + 3)


case(
    reflected_stencil,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    least=3,
    wide=(5,),
    covers=("reflected index",),
)


def reflected_by_minimum(a, out):
    n = a.shape[0]
    for i in range(n):
        left = abs(i - 1)
        right = min(i + 1, 2 * (n - 1) - (i + 1))
        out[i] = a[left] - 2.0 * a[i] + a[right]


case(
    reflected_by_minimum,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    least=2,
    covers=("reflected index",),
)


def reflected_image_blur(a, out):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            for d in range(-1, 2):
                yy = y + d
                if yy < 0:
                    yy = -yy - 1
                elif yy > h - 1:
                    yy = 2 * h - 1 - yy
                out[y, x] += a[yy, x] ** 2


case(
    reflected_image_blur,
    lambda n, m: dict(a=m(n, n + 1), out=m(n, n + 1)),
    "out",
    real=8,
    covers=("reflected index",),
)


def chained_subscripts(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i][j] * b[j]
            b[j] += a[i][j]
    return s


case(chained_subscripts, lambda n, m: dict(a=m(n, n + 1), b=m(n + 1)), "b", real=8)


def chained_writes(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i][j] = a[i][j] ** 2
            out[i][j] *= 0.5


case(chained_writes, lambda n, m: dict(a=m(n, n + 1), out=m(n, n + 1)), "out", real=8)


def chained_three_deep(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                s += a[i][j][k] * a[i][j, k - 1]
    return s


case(
    chained_three_deep,
    lambda n, m: dict(a=m(n, 3, n)),
    real=5,
    covers=("negative index",),
)


def row_views(a, out):
    for i in range(1, a.shape[0]):
        r = a[i]
        above = a[i - 1]
        o = out[i]
        for j in range(r.shape[0]):
            o[j] = r[j] * above[j]
            r[j] = 0.5 * o[j]


case(
    row_views,
    lambda n, m: dict(a=m(n, n + 1), out=m(n, n + 1)),
    "a out",
    real=8,
    covers=("row view", "overwrites what was read"),
)


def flattened_stencil(u, width, out):
    height = u.shape[0] // width
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            k = y * width + x
            out[k] = u[k - width] + u[k + width] + u[k - 1] * u[k + 1]


case(
    flattened_stencil,
    lambda n, m: dict(u=m(n * (n + 1)), width=n + 1, out=m(n * (n + 1))),
    "out",
    wide=(3,),
    real=8,
    covers=("flattened index",),
)


def flattened_triangle(packed, x, y):
    n = x.shape[0]
    for i in range(n):
        for j in range(i + 1):
            a = packed[i * (i + 1) // 2 + j]
            y[i] += a * x[j]
            if i != j:
                y[j] += a * x[i]


case(
    flattened_triangle,
    lambda n, m: dict(packed=m(n * (n + 1) // 2), x=m(n), y=m(n)),
    "y",
    real=9,
    covers=("flattened index", "triangular"),
)


def unflattened_pixels(flat, h, w, out):
    for k in range(h * w):
        out[k // w, k % w] = flat[k] ** 2


case(
    unflattened_pixels,
    lambda n, m: dict(flat=m(n * (n + 1)), h=n, w=n + 1, out=m(n, n + 1)),
    "out",
    real=8,
    covers=("flattened index",),
)


def linked_list_walk(link, value, start):
    k = start
    total = 0.0
    while k >= 0:
        total = 0.5 * total + value[k] ** 2
        k = link[k]
    return total


case(
    linked_list_walk,
    lambda n, m: dict(link=np.arange(n)[::1] - 1, value=m(n), start=n - 1),
    covers=("index carried through a loop", "index from an array"),
)


def two_pointers(a, target):
    i = 0
    j = len(a) - 1
    s = 0.0
    while i < j:
        pair = a[i] + a[j]
        if pair < target:
            i += 1
            s += pair
        else:
            j -= 1
            s -= pair * pair
    return s


case(
    two_pointers,
    lambda n, m: dict(
        a=(0.3 * np.arange(n) - 0.15 * n + 0.01 * m.rng.random(n)).astype(m.dtype),
        target=0.07,
    ),
    real=9,
    covers=("index carried through a loop",),
)


def ring_buffer(x, taps):
    size = taps.shape[0]
    buffer = np.zeros(size)
    head = 0
    out = np.zeros_like(x)
    for t in range(x.shape[0]):
        buffer[head] = x[t]
        for k in range(size):
            out[t] += taps[k] * buffer[(head - k) % size]
        head = (head + 1) % size
    return out


case(
    ring_buffer,
    lambda n, m: dict(x=m(n), taps=m(3)),
    wide=(3,),
    covers=("wrapped index", "index carried through a loop"),
)


def negative_indices(a):
    s = a[-1] * a[0]
    for i in range(a.shape[0]):
        s += a[-i] * a[-i - 1]
    a[-1] = s
    return s


case(
    negative_indices,
    lambda n, m: dict(a=m(n)),
    "a",
    least=1,
    covers=("negative index",),
)


def double_gather(first, second, x, out):
    for i in range(first.shape[0]):
        out[second[i]] += x[first[second[i]]] ** 2


case(
    double_gather,
    lambda n, m: dict(first=m.indices(n, n), second=m.indices(n, n), x=m(n), out=m(n)),
    "out",
    covers=("index from an array",),
)

# ---------------------------------------------------------------- functions


def numpy_exponentials(x, out):
    for i in range(x.shape[0]):
        v = x[i]
        out[i] = np.exp(-v) + np.expm1(v) * np.log(v) + np.log1p(v * v)
        out[i] += np.log2(v) * np.log10(v) + np.sqrt(v) * np.cbrt(v) + np.power(v, 3.0)


case(numpy_exponentials, lambda n, m: dict(x=m.positive(n), out=m(n)), "out")


def math_exponentials(x):
    s = 0.0
    for v in x:
        s += math.exp(v) * math.expm1(v) + math.log(v) * math.log1p(v)
        s += math.log2(v) * math.log10(1.0 + v) + math.sqrt(v) + math.pow(v, 1.5)
    return s


case(math_exponentials, lambda n, m: dict(x=m.positive(n)))


def whole_exponentials(x):
    y = np.exp(x) + np.expm1(x) + np.log(x) * np.log1p(x) + np.cbrt(x)
    return y * np.sqrt(x) + np.log2(x) * np.log10(x) + np.power(x, 2.5)


case(whole_exponentials, lambda n, m: dict(x=m.positive(n)))


def math_trigonometry(x, out):
    for i in range(x.shape[0]):
        v = 0.9 * x[i]
        out[i] = math.sin(v) * math.cos(v) + math.tan(v)
        out[i] += (
            math.asin(v) * math.acos(v) + math.atan(v) + math.atan2(v, 1.0 + v * v)
        )
        out[i] += math.degrees(v) * math.radians(v)


case(math_trigonometry, lambda n, m: dict(x=m(n), out=m(n)), "out")


def numpy_trigonometry(x, out):
    for i in range(x.shape[0]):
        v = 0.9 * x[i]
        out[i] = np.sin(v) * np.cos(v) + np.tan(v) + np.arcsin(v) * np.arccos(v)
        out[i] += np.arctan(v) + np.arctan2(1.5, v) + np.degrees(v) * np.radians(v)


case(numpy_trigonometry, lambda n, m: dict(x=m(n), out=m(n)), "out")


def whole_trigonometry(x):
    v = 0.9 * x
    a = np.sin(v) + np.cos(v) * np.tan(v) + np.arcsin(v) + np.arccos(v) * np.arctan(v)
    return a + np.arctan2(v, 2.0) + np.rad2deg(v) * np.deg2rad(v) + np.hypot(v, 1.0)


case(whole_trigonometry, lambda n, m: dict(x=m(n)))


def math_hyperbolics(x, out):
    for i in range(x.shape[0]):
        v = 0.9 * x[i]
        out[i] = math.sinh(v) * math.cosh(v) + math.tanh(v) + math.asinh(v)
        out[i] += math.acosh(2.0 + v) * math.atanh(v) + math.erf(v) * math.erfc(v)


case(math_hyperbolics, lambda n, m: dict(x=m(n), out=m(n)), "out")


def numpy_hyperbolics(x, out):
    for i in range(x.shape[0]):
        v = 0.9 * x[i]
        out[i] = np.sinh(v) * np.cosh(v) + np.tanh(v) * np.arcsinh(v)
        out[i] += np.arccosh(2.0 + v * v) + np.arctanh(v)


case(numpy_hyperbolics, lambda n, m: dict(x=m(n), out=m(n)), "out")


def whole_hyperbolics(x):
    v = 0.9 * x
    return (
        np.sinh(v)
        + np.cosh(v) * np.tanh(v)
        + np.arcsinh(v) * np.arccosh(2.0 + v) * np.arctanh(v)
    )


case(whole_hyperbolics, lambda n, m: dict(x=m(n)))


def error_functions(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += math.erf(x[i]) * math.erfc(0.5 * x[i]) + math.hypot(x[i], 2.0)
    return s


case(error_functions, lambda n, m: dict(x=m(n)))


def normal_tail(x, sigma):
    s = 0.0
    for v in x:
        s += math.erfc(v / sigma) ** 2
    return s


case(normal_tail, lambda n, m: dict(x=m(n), sigma=m.scalar()))


def math_rounding(x, out):
    for i in range(x.shape[0]):
        v = x[i] * 3.0
        out[i] = v * math.floor(v) + v * v * math.ceil(v) + math.trunc(v) * v
        out[i] += math.fmod(v, 2.5) + round(v) * v + math.copysign(v * v, v)
        out[i] += math.fabs(v)


def _between(n, m):
    return ((m.indices(5, n) - 2 + 0.15 + 0.2 * m.rng.random(n)) / 3).astype(m.dtype)


case(math_rounding, lambda n, m: dict(x=_between(n, m), out=m(n)), "out")


def numpy_rounding(x, out):
    for i in range(x.shape[0]):
        v = x[i] * 3.0
        out[i] = v * np.floor(v) + v * v * np.ceil(v) + np.trunc(v) * v + np.abs(v)
        out[i] += np.fmod(v, 2.5) + np.round(v) * v + np.copysign(v, -1.0) * np.sign(v)


case(numpy_rounding, lambda n, m: dict(x=_between(n, m), out=m(n)), "out")


def whole_rounding(x):
    v = x * 3.0
    a = v * np.floor(v) + np.ceil(v) * v + np.trunc(v) * v + np.sign(v) * v
    return a + np.abs(v) * np.rint(v) + np.fmod(v, 2.5) + np.copysign(v, 1.0)


case(whole_rounding, lambda n, m: dict(x=_between(n, m)))


def sign_and_copysign(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += np.sign(x[i]) * y[i] + math.copysign(y[i] * y[i], x[i]) * x[i]
    return s


case(sign_and_copysign, lambda n, m: dict(x=m.away(n), y=m.away(n)))


def smaller_and_larger(a, b, out):
    for i in range(a.shape[0]):
        out[i] = min(a[i], b[i]) * max(a[i], b[i], 0.1)
        out[i] += np.minimum(a[i], 0.2) + np.maximum(a[i], b[i]) ** 2
        out[i] += np.fmin(a[i], b[i]) * np.fmax(a[i], b[i])
        out[i] += np.clip(a[i], -0.3, 0.4) * np.where(b[i] > 0, a[i], b[i] * b[i])


case(
    smaller_and_larger,
    lambda n, m: dict(a=m.distinct(n), b=m.distinct(n) + 0.05, out=m(n)),
    "out",
    seed=3,
)


def whole_minima(a, b):
    c = np.minimum(a, b) * np.maximum(a, 0.15) + np.fmin(a, b) * np.fmax(a, 0.16)
    return c + np.clip(a, -0.3, 0.4) + np.where(a > b, a * b, b)


case(whole_minima, lambda n, m: dict(a=m.distinct(n), b=m.distinct(n) + 0.05), seed=3)


def limiter_superbee(r, out):
    for i in range(r.shape[0]):
        a = np.fmin(2.0 * r[i], 1.0)
        b = np.fmin(r[i], 2.0)
        out[i] = np.fmax(0.0, np.fmax(a, b)) * r[i]
        out[i] += np.minimum(r[i], 0.7) * np.where(r[i] < 0.3, r[i], 1.0)


case(
    limiter_superbee,
    lambda n, m: dict(r=1.01 * m.distinct(n), out=m(n)),
    "out",
    wide=(4,),
)


def clipped_gradient(g, limit, out):
    for i in range(g.shape[0]):
        out[i] = np.clip(g[i], -limit, limit) * g[i]
        out[i] = np.minimum(out[i], 0.5)


case(
    clipped_gradient,
    lambda n, m: dict(g=m.distinct(n), limit=0.36, out=m(n)),
    "out",
    seed=3,
)


def tested_numbers(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        q = y[i] / x[i]
        if math.isnan(q):
            s += 1.0
        elif math.isinf(q):
            s += y[i]
        elif math.isfinite(q):
            s += q
    return s


case(
    tested_numbers,
    lambda n, m: dict(x=m.away(n), y=m(n)),
)


def nan_to_zero(x, mask):
    total = 0.0
    count = 0
    for i in range(x.shape[0]):
        v = x[i] if mask[i] else math.nan
        if not np.isnan(v) and np.isfinite(v):
            total += v * v
            count += 1
    return total / count if count else 0.0


case(nan_to_zero, lambda n, m: dict(x=m(n), mask=m.indices(2, n)))


def infinite_start(x, out):
    best = np.inf
    low = -np.inf
    for i in range(x.shape[0]):
        best = min(best, x[i])
        low = max(low, x[i])
        if np.isinf(best) or np.isnan(low) or not np.isfinite(low):
            continue
        out[i] = best * low * math.pi


case(infinite_start, lambda n, m: dict(x=m.distinct(n), out=m(n)), "out")


def angles_in_degrees(a):
    s = 0.0
    for v in a:
        s += math.sin(math.radians(10.0 * v)) + np.degrees(0.01 * v) * math.tan(v)
    return s * np.pi / 180.0


case(angles_in_degrees, lambda n, m: dict(a=m(n)))


def masked_inf_tests(x):
    y = np.where(np.isnan(x) | np.isinf(x), 0.0, x * x)
    s = 0.0
    for i in range(x.shape[0]):
        if np.isfinite(x[i]):
            s += y[i] * x[i]
    return s


case(masked_inf_tests, lambda n, m: dict(x=m(n)))

# ---------------------------------------------------------------- builtins


def conversions(a, k):
    s = float(k)
    for i in range(len(a)):
        j = int(10.0 * abs(a[i])) % len(a)
        s += a[j] * float(i) + bool(i % 2) * a[i]
    return s


case(
    conversions,
    lambda n, m: dict(a=_between(n, m), k=3),
    covers=("index from a float", "bools as numbers"),
    seed=1,
)


def sizes_of_arrays(a, b):
    s = 0.0
    if a.ndim == 2 and b.ndim == 1:
        for i in range(len(a)):
            for j in range(a.shape[1]):
                s += a[i, j] * b[j] / a.size
    return s * len(b)


case(sizes_of_arrays, lambda n, m: dict(a=m(n, n + 1), b=m(n + 1)), real=8)


def ranks_decide(a):
    s = 0.0
    if a.ndim == 1:
        for i in range(a.size):
            s += a[i] ** 2
    return s * float(a.ndim) + int(2.7)


case(ranks_decide, lambda n, m: dict(a=m(n)))


def dtype_of_another(a):
    work = np.zeros(a.shape[0], dtype=a.dtype)
    table = np.ones(3, dtype=a.dtype)
    for i in range(a.size):
        work[i] = a[i] * table[i % 3]
        table[i % 3] = work[i]
    return work


case(dtype_of_another, lambda n, m: dict(a=m(n)))


def zeros_of_same_type(a, n):
    out = np.empty(a.shape, dtype=a.dtype)
    for i in range(a.shape[0]):
        out[i] = a[i] ** n
    total = np.zeros(1, dtype=a.dtype)
    for i in range(len(out)):
        total[0] += out[i]
    return total[0] * float(n)


case(zeros_of_same_type, lambda n, m: dict(a=m.positive(n), n=2))


def transposed_product(a, b):
    c = np.zeros((a.shape[1], b.shape[1]), a.dtype)
    t = a.T
    for i in range(t.shape[0]):
        for j in range(b.shape[1]):
            for k in range(b.shape[0]):
                c[i, j] += t[i, k] * b[k, j]
    return c


case(
    transposed_product,
    lambda n, m: dict(a=m(n, n + 1), b=m(n, 2)),
    real=8,
    covers=("view",),
)


def transposed_write(a, out):
    out.T[:] = a
    t = out.T
    for i in range(t.shape[0]):
        t[i, 0] *= 2.0


case(
    transposed_write,
    lambda n, m: dict(a=m(n, n + 1), out=m(n + 1, n)),
    "out",
    least=1,
    real=8,
    covers=("view",),
)


def sum_over_transpose(a, w):
    return np.sum(a.T @ a * w) + float(a.ndim)


case(sum_over_transpose, lambda n, m: dict(a=m(n, 3), w=m(3, 3)), real=9)


def boolean_conversion(a, flags):
    s = 0.0
    for i in range(a.size):
        on = bool(flags[i])
        if on:
            s += float(a[i])
        else:
            s -= 0.5 * a[i] * int(not on)
    return s


case(boolean_conversion, lambda n, m: dict(a=m(n), flags=m.indices(2, n)))

# ---------------------------------------------------------------- calls


def _sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def scalar_helpers(x, w, out):
    for i in range(x.shape[0]):
        out[i] = _sigmoid(w * x[i]) * (1.0 - _sigmoid(x[i]))


case(
    scalar_helpers,
    lambda n, m: dict(x=m(n), w=m.scalar(), out=m(n)),
    "out",
    covers=("scalar helper",),
)


def _blend(a, b, t):
    x = a + (b - a) * t
    w = x * x
    return w - x


def helper_locals_named_like_arrays(x, w, out):
    for i in range(out.shape[0]):
        out[i] = _blend(x[i], x[i + 1], w[i])


case(
    helper_locals_named_like_arrays,
    lambda n, m: dict(x=m(n + 1), w=m(n), out=m(n)),
    "out",
    covers=("scalar helper",),
)


def _branching(x, limit=0.25, slope=0.1):
    if x > limit:
        return x * x
    elif x > 0.0:
        return limit * x
    return slope * x


def helper_with_early_returns(x):
    s = 0.0
    for v in x:
        s += _branching(v) + _branching(v, slope=0.3) * _branching(v, 0.05, 0.2)
    return s


case(
    helper_with_early_returns,
    lambda n, m: dict(x=m.distinct(n)),
    covers=("scalar helper", "helper with a default"),
    seed=2,
)


def _root(a, start=1.0, steps=25):
    x = start
    for k in range(steps):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-15:
            break
        x = new
    return x


def helper_with_a_loop(a, out):
    for i in range(a.shape[0]):
        out[i] = _root(a[i]) + _root(a[i] * a[i], start=2.0)


case(
    helper_with_a_loop,
    lambda n, m: dict(a=m.positive(n), out=m(n)),
    "out",
    covers=("scalar helper", "helper with a default"),
)


def _polar(x, y):
    r = math.hypot(x, y)
    return r, math.atan2(y, x)


def tuple_helpers(x, y, out):
    for i in range(x.shape[0]):
        r, phi = _polar(x[i], y[i])
        out[i, 0], out[i, 1] = r * r, phi


case(
    tuple_helpers,
    lambda n, m: dict(x=m.away(n), y=m.away(n), out=m(n, 2)),
    "out",
    covers=("tuple helper",),
)


def _rotate(x, y, angle):
    c, s = math.cos(angle), math.sin(angle)
    return c * x - s * y, s * x + c * y


def cordic_rotations(points, angles):
    for i in range(points.shape[0]):
        for a in angles:
            points[i, 0], points[i, 1] = _rotate(points[i, 0], points[i, 1], a)


case(
    cordic_rotations,
    lambda n, m: dict(points=m(n, 2), angles=m(3)),
    "points",
    real=9,
    covers=("tuple helper",),
)


def _axpy(alpha, x, y):
    for i in range(x.shape[0]):
        y[i] += alpha * x[i]


def helper_on_rows(a, b, alpha):
    for i in range(1, a.shape[0]):
        _axpy(alpha, a[i - 1], a[i])
    _axpy(2.0, b, a[0])


case(
    helper_on_rows,
    lambda n, m: dict(a=m(n, 3), b=m(3), alpha=m.scalar()),
    "a",
    least=1,
    real=9,
    covers=("array helper", "row view"),
)


def _normalise(v):
    norm = 0.0
    for i in range(v.shape[0]):
        norm += v[i] * v[i]
    norm = math.sqrt(norm)
    for i in range(v.shape[0]):
        v[i] /= norm
    return norm


def helper_on_slices(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += _normalise(a[i, 1:])
        total += _normalise(a[i, :2])
    return total


case(
    helper_on_slices,
    lambda n, m: dict(a=m.away(n, 4)),
    "a",
    real=9,
    covers=("array helper", "view"),
)


def _blurred(a, passes=1):
    out = a.copy()
    for p in range(passes):
        last = out.copy()
        for i in range(1, a.shape[0] - 1):
            out[i] = 0.25 * last[i - 1] + 0.5 * last[i] + 0.25 * last[i + 1]
    return out


def helper_returns_arrays(a):
    once = _blurred(a)
    twice = _blurred(once * a, passes=2)
    return once + twice


case(
    helper_returns_arrays,
    lambda n, m: dict(a=m(n)),
    wide=(3,),
    covers=("array helper", "helper with a default"),
)


@pyrev.differentiable(target="python")
def _softplus(x):
    return math.log1p(math.exp(x))


@pyrev.differentiable(target="python")
def _smooth_into(a, out):
    for i in range(1, a.shape[0]):
        out[i] = 0.5 * (a[i] + a[i - 1])


def differentiable_helpers(a, out):
    _smooth_into(a, out)
    for i in range(a.shape[0]):
        out[i] = _softplus(out[i])


case(differentiable_helpers, lambda n, m: dict(a=m(n), out=m(n)), "out")


def differentiable_in_a_loop(x, n):
    for _ in range(n):
        x = _softplus(x) - 0.5
    return x


case(differentiable_in_a_loop, lambda n, m: dict(x=m.scalar(), n=n), real=6)


def differentiable_twice(a, b):
    t = np.zeros(a.shape[0])
    _smooth_into(a, t)
    _smooth_into(out=b, a=t)
    return _softplus(x=t[0])


case(differentiable_twice, lambda n, m: dict(a=m(n), b=m(n)), "b", least=1, wide=(3,))


def lambda_helpers(a, scale, out):
    square = lambda v: v * v  # noqa: E731
    mix = lambda p, q: p * scale + square(q)  # noqa: E731
    for i in range(a.shape[0]):
        out[i] = mix(a[i], out[i])


case(
    lambda_helpers,
    lambda n, m: dict(a=m(n), scale=m.scalar(), out=m(n)),
    "out",
)


def lambda_of_two(x, y):
    f = lambda u, v: math.exp(u * v)  # noqa: E731
    return f(x, y) + f(y, x * x)


case(lambda_of_two, lambda n, m: dict(x=m.scalar(), y=m.scalar()), least=3, real=3)


def lambda_integrand(a, n):
    g = lambda t: a * t * t + math.sin(t)  # noqa: E731
    s = 0.0
    for k in range(n):
        s += g((k + 0.5) / n) / n
    return s


case(lambda_integrand, lambda n, m: dict(a=m.scalar(), n=n))


def nested_with_closure(a, weight, out):
    bias = 0.25

    def layer(v):
        if v > bias:
            return weight * v
        return bias * v

    for i in range(a.shape[0]):
        out[i] = layer(layer(a[i]) + 1.0)


case(
    nested_with_closure,
    lambda n, m: dict(a=m.distinct(n), weight=m.scalar(), out=m(n)),
    "out",
    seed=1,
)


def nested_on_arrays(a, out):
    def sweep(src, dst, factor=0.5):
        for i in range(1, src.shape[0]):
            dst[i] = src[i] + factor * dst[i - 1]

    sweep(a, out)
    sweep(out, a, factor=0.25)


case(
    nested_on_arrays,
    lambda n, m: dict(a=m(n), out=m(n)),
    "a out",
    covers=("array helper", "helper with a default"),
)


def nested_twice(x, n):
    def outer(v):
        def inner(w):
            return w * w + x

        return inner(v) - 0.5 * inner(x)

    s = x
    for _ in range(n):
        s = 0.3 * outer(s)
    return s


case(nested_twice, lambda n, m: dict(x=m.scalar(), n=min(n, 5)))

GRAVITY = 9.81
ORDER = 4
TOLERANCE = 1e-3
STENCIL = np.array([-1.0 / 12, 4.0 / 3, -5.0 / 2, 4.0 / 3, -1.0 / 12])
NEIGHBOURS = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])


def module_constants(h, dt, steps):
    v = 0.0
    for k in range(steps):
        v -= GRAVITY * dt
        h += v * dt
        if k >= ORDER:
            h *= 1.01
    return h


case(module_constants, lambda n, m: dict(h=m.scalar(), dt=0.1, steps=n), real=8)


def module_constants_as_sizes(a, out):
    window = np.zeros(ORDER)
    for i in range(a.shape[0]):
        window[i % ORDER] = a[i]
        for k in range(ORDER):
            out[i] += window[k] ** 2 / GRAVITY


case(
    module_constants_as_sizes,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    wide=(4,),
    covers=("overwrites what was read",),
)


def module_tolerance(x):
    while abs(x) > TOLERANCE and x > 0:
        x = x - (x * x - 2.0 + TOLERANCE) / GRAVITY
        if x < 1.5:
            return x * GRAVITY
    return x


case(
    module_tolerance,
    lambda n, m: dict(x=m.scalar(2.0, 2.4)),
    least=3,
    real=3,
    covers=("trip count from data",),
)


def module_stencil(u, out):
    for i in range(2, u.shape[0] - 2):
        for k in range(5):
            out[i] += STENCIL[k] * u[i + k - 2] * u[i]


case(module_stencil, lambda n, m: dict(u=m(n), out=m(n)), "out", wide=(5,))


def module_stencil_in_place(u, steps):
    for t in range(steps):
        for i in range(2, u.shape[0] - 2):
            u[i] += 0.1 * STENCIL[0] * u[i - 2] + 0.1 * STENCIL[t % 5] * u[i + 1] ** 2


case(
    module_stencil_in_place,
    lambda n, m: dict(u=m(n), steps=3),
    "u",
    wide=(5,),
    covers=("time stepping", "in-place recurrence"),
)


def module_neighbours(u):
    h, w = u.shape
    total = 0.0
    for y in range(h):
        for x in range(w):
            for k in range(NEIGHBOURS.shape[0]):
                yy = y + NEIGHBOURS[k, 0]
                xx = x + NEIGHBOURS[k, 1]
                if 0 <= yy < h and 0 <= xx < w:
                    total += (u[y, x] - u[yy, xx]) ** 2
    return total


case(
    module_neighbours,
    lambda n, m: dict(u=m(n, n + 1)),
    real=7,
    covers=("index from an array",),
)


def _make_power(exponent, table):
    def powered(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i] ** exponent * table[i % table.shape[0]]

    return powered


case(
    _make_power(2.5, np.array([1.0, 0.5, 2.0])),
    lambda n, m: dict(x=m.positive(n), out=m(n)),
    "out",
)


def _make_filter(taps):
    order = len(taps)

    def filtered(x):
        s = 0.0
        for i in range(order - 1, x.shape[0]):
            y = 0.0
            for k in range(order):
                y += taps[k] * x[i - k]
            s += y * y
        return s

    return filtered


case(_make_filter(np.array([0.5, 0.3, 0.2])), lambda n, m: dict(x=m(n)), wide=(3,))


def _make_loss(activation, margin):
    def margin_loss(scores):
        s = 0.0
        for v in scores:
            s += activation(margin - v)
        return s

    return margin_loss


case(_make_loss(_sigmoid, 0.75), lambda n, m: dict(scores=m(n)))


def keyword_calls(a, b):
    return _branching(limit=0.5, x=a, slope=b) + _root(start=1.5, a=b)


case(
    keyword_calls,
    lambda n, m: dict(a=m.scalar(0.6, 0.9), b=m.scalar()),
    least=3,
    real=3,
    covers=("scalar helper", "helper with a default"),
)


def defaults_of_its_own(a, scale=2.0, power=3, shift=0.5):
    s = 0.0
    for v in a:
        s += (scale * v + shift) ** power
    return s


case(defaults_of_its_own, lambda n, m: dict(a=m(n), scale=m.scalar(), shift=0.4))

# ---------------------------------------------------------------- whole arrays


def shifted_right_side_first(u):
    u[1:] = u[:-1] * 2.0
    u[:-1] += u[1:] * u[:-1]


case(
    shifted_right_side_first,
    lambda n, m: dict(u=m(n)),
    "u",
    wide=(3,),
    covers=("right side first", "whole-array expression"),
)


def reversed_in_place(u, out):
    u[:] = u[::-1]
    out[:] = u * u[::-1]
    out[::-1] += u


case(
    reversed_in_place,
    lambda n, m: dict(u=m(n), out=m(n)),
    "u out",
    covers=("right side first",),
)


def reversed_tail(a, b):
    return np.dot(a[::-1], b) + np.sum(a[-1:0:-2])


case(reversed_tail, lambda n, m: dict(a=m(n), b=m(n)), wide=(4,))


def every_third(u, v):
    u[::3] = v[::3] ** 2
    u[1::3] *= v[1::3]
    return np.sum(u[2::3])


case(
    every_third,
    lambda n, m: dict(u=m(n), v=m(n)),
    "u",
    least=1,
    wide=(4,),
    real=20,
)


def broadcast_outer(a, b):
    table = a[:, None] * b[None, :] + a[:, None] ** 2
    table += b
    return table.sum(axis=0)


case(
    broadcast_outer,
    lambda n, m: dict(a=m(n), b=m(n + 1)),
    real=9,
    covers=("broadcasting",),
)


def broadcast_rows(x, scale, shift, out):
    out[:] = x * scale + shift[:, np.newaxis]
    out -= x[0]


case(
    broadcast_rows,
    lambda n, m: dict(x=m(n, 3), scale=m(3), shift=m(n), out=m(n, 3)),
    "out",
    least=1,
    real=9,
    covers=("broadcasting", "row view"),
)


def distances_to_centres(points, centres):
    d = points[:, None, :] - centres[None, :, :]
    return np.sqrt(np.sum(d * d, axis=2) + 0.1)


case(
    distances_to_centres,
    lambda n, m: dict(points=m(n, 2), centres=m(3, 2)),
    real=8,
    covers=("broadcasting",),
)


def reductions_of_all_kinds(a):
    return (
        np.sum(a)
        + np.mean(a) * np.max(a)
        + np.min(a) ** 2
        + a.sum() * a.mean()
        + a.min() * a.max()
    )


case(
    reductions_of_all_kinds,
    lambda n, m: dict(a=m.distinct(n)),
    least=1,
    covers=("whole-array expression",),
)


def reductions_by_axis(a):
    rows = a.sum(axis=1)
    cols = np.mean(a, axis=0)
    top = np.max(a, axis=1)
    low = a.min(axis=0)
    return np.dot(rows, top) + np.dot(cols, low)


case(
    reductions_by_axis,
    lambda n, m: dict(a=m.distinct(n, n + 1)),
    least=1,
    real=7,
)


def min_max_scaling(a):
    low = np.min(a)
    high = np.max(a)
    a -= low
    a /= high - low


case(
    min_max_scaling,
    lambda n, m: dict(a=m.distinct(n)),
    "a",
    least=2,
    covers=("whole-array expression",),
)


def matrix_products(a, b, x):
    c = a @ b
    y = c @ x
    z = x @ c
    return y @ z + np.dot(x, x)


case(matrix_products, lambda n, m: dict(a=m(n, 3), b=m(3, n), x=m(n)), real=9)


def views_alias(a, out):
    left = a[: a.shape[0] // 2]
    right = a[a.shape[0] // 2 :]
    left *= 2.0
    right[:] = right * right
    for i in range(left.shape[0]):
        left[i] += right[i]
    out[:] = a


case(
    views_alias,
    lambda n, m: dict(a=m(n), out=m(n)),
    "a out",
    covers=("view",),
)


def view_of_a_view(a):
    inner = a[1:-1]
    core = inner[1:-1]
    core += inner[:-2]
    inner *= 0.5
    return np.sum(core * core)


case(
    view_of_a_view,
    lambda n, m: dict(a=m(n)),
    "a",
    least=4,
    wide=(5,),
    covers=("view", "right side first"),
)


def column_views(a, b):
    for j in range(a.shape[1]):
        column = a[:, j]
        column *= b[j]
        b[j] = column.sum()
    return b


case(
    column_views,
    lambda n, m: dict(a=m(n, n + 1), b=m(n + 1)),
    "a b",
    real=8,
    covers=("view",),
)


def block_copy(a, out):
    h = min(a.shape[0], out.shape[0])
    w = min(a.shape[1], out.shape[1])
    out[:h, :w] = a[:h, :w]
    out[h:, :] = 0.0
    out[0, :] += 1.0


case(
    block_copy,
    lambda n, m: dict(a=m(n, n + 2), out=m(n + 1, n)),
    "out",
    real=8,
)


def scalar_broadcast_writes(a, value):
    a[:] = value
    a[1:3] = 2.0 * value
    a[-1] *= value


case(
    scalar_broadcast_writes,
    lambda n, m: dict(a=m(n), value=m.scalar()),
    "a",
    least=1,
    wide=(3,),
    covers=("negative index", "broadcasting"),
)


def cumulative_by_slices(a):
    n = a.shape[0]
    shift = 1
    while shift < n:
        a[shift:] += a[:-shift].copy()
        shift *= 2


case(cumulative_by_slices, lambda n, m: dict(a=m(n)), "a", wide=(8,), real=20)


def empty_slices(a):
    s = np.sum(a[5:3]) + np.sum(a[:0])
    a[3:2] = 7.0
    a[:1] *= 2.0
    for i in range(a.shape[0]):
        s += np.sum(a[i + 1 : i])
        s += np.dot(a[i:], a[i:])
    return s


case(empty_slices, lambda n, m: dict(a=m(n)), "a", real=8)


def slices_out_of_range(a, b):
    b[: a.shape[0]] += a[:1000]
    return np.sum(a[-1000:] ** 2) + np.sum(a[a.shape[0] :])


case(slices_out_of_range, lambda n, m: dict(a=m(n), b=m(n + 2)), "b")


def select_by_where(a, b, out):
    out[:] = np.where(a > 0, np.sqrt(np.abs(a)), b * a)
    mask = b > 0.1
    out += np.where(mask, 1.0, b)


case(
    select_by_where,
    lambda n, m: dict(a=m.away(n), b=m.distinct(n) + 0.005, out=m(n)),
    "out",
    covers=("whole-array expression",),
)

# ---------------------------------------------------------------- sizes that change


def one_row_fewer(x, n):
    a = np.zeros((n, 4))
    n = n - 1
    for i in range(n):
        for j in range(4):
            a[i, j] += x[i] * j
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(4):
            s += a[i, j] * a[i, j] + a[i, j]
    return s


case(one_row_fewer, lambda n, m: dict(x=m(n), n=n), least=1)


def shorter_than_before(x, n):
    a = np.zeros(n)
    n = n - 1
    b = np.ones(n)
    s = 0.0
    for i in range(a.shape[0]):
        a[i] = x[i] * x[i]
    for i in range(b.shape[0]):
        b[i] += a[i + 1] * x[i]
        s += b[i] * b[i]
    return s + a[a.shape[0] - 1] * n


case(shorter_than_before, lambda n, m: dict(x=m(n), n=n), least=1)


def as_long_as_before(x, n):
    a = np.zeros((n, 2))
    n = n - 2
    b = np.zeros_like(a)
    for i in range(b.shape[0]):
        for j in range(2):
            b[i, j] = x[i] * (j + n)
    return np.sum(b * b)


case(as_long_as_before, lambda n, m: dict(x=m(n), n=n), least=1)


def longer_than_read(x, n):
    a = np.zeros(n)
    n = n + 3
    for i in range(n - 3):
        a[i] = x[i] ** 2
    s = 0.0
    for i in range(len(a)):
        s += a[i] * n
    return s


case(longer_than_read, lambda n, m: dict(x=m(n), n=n), least=1)


def window_by_its_last(x, w):
    out = np.zeros(x.shape[0] - w + 1)
    w = w - 1
    for i in range(out.shape[0]):
        for j in range(w + 1):
            out[i] += x[i + j] * x[i + j]
    s = 0.0
    for i in range(out.shape[0]):
        s += out[i] * (w + 1)
    return s


case(window_by_its_last, lambda n, m: dict(x=m(n + 2), w=3), least=1)


def sums_in_one_more(x, n):
    a = np.zeros(n)
    m = n
    n = m + 1
    b = np.zeros(n)
    for i in range(m):
        b[i + 1] = b[i] + x[i]
    a += b[:m]
    return np.sum(a * a) + b[n - 1]


case(sums_in_one_more, lambda n, m: dict(x=m(n), n=n), least=1)


def whole_arrays_of_fewer(x, n):
    a = np.zeros(n)
    a += x[:n]
    n = n - 1
    c = a * a
    d = np.zeros(n)
    d += c[1:] * x[:n]
    return np.sum(d) + np.sum(c)


case(whole_arrays_of_fewer, lambda n, m: dict(x=m(n), n=n), least=1)


def _without_gaps(x, mask, n):
    seen = np.zeros(n)
    kept = np.zeros(n)
    n = n - 1
    for i in range(n + 1):
        if mask[i] > 0 and not np.isnan(x[i]):
            seen[i] = x[i] * x[i]
        else:
            kept[i] = 0.5
    return seen, kept


def gaps_in_turn(x, w, mask, n):
    a, b = _without_gaps(x, mask, n)
    n = n - 1
    s = 0.0
    for t in range(3):
        if t == 1:
            a, b = b, a
        c = np.zeros(a.shape[0])
        for i in range(n):
            c[i + 1] = a[i] * w + b[i + 1] * (mask[i] - 1)
        a = c
        for i in range(len(b)):
            s += a[i] * b[i] + a[i] * (i + n)
    return s * a.shape[0]


case(
    gaps_in_turn,
    lambda n, m: dict(
        x=np.where(np.arange(n) == n // 2, np.nan, m(n)),
        w=0.7,
        mask=(np.arange(n) % 3 + 1).astype(np.int8),
        n=n,
    ),
    least=1,
)


def _turned_gaps(x, mask):
    n = x.shape[0]
    kept = np.zeros((n, n))
    weights = np.zeros(n, np.int8)
    for i in range(n):
        for j in range(n):
            if not np.isnan(x[i, j]):
                kept[i, j] = x[i, j] * mask[j]
            else:
                weights[i] = weights[i] + 1
    return np.einsum("ij->ji", kept), weights


def turned_over(x, w, mask):
    a, gaps = _turned_gaps(x, mask)
    b = a.copy()
    diagonal = np.einsum("ii->i", a)
    c = np.einsum("ij,jk->ik", a, b)
    s = 0.0
    for t in range(3):
        if t % 2 == 1:
            b, c = c, b
        for i in range(x.shape[0]):
            diagonal[i] = 0.5 * diagonal[i] + w * b[i, 0] * (gaps[i] + 1)
            c[i, i] = c[i, i] * w + t
        s += np.einsum("ij,ij,j->", b, c, mask) + diagonal[t % x.shape[0]]
    return s + np.einsum("ij,k->", a, gaps)


case(
    turned_over,
    lambda n, m: dict(
        x=np.where(np.arange(n * n).reshape(n, n) == n, np.nan, m(n, n)),
        w=0.7,
        mask=(np.arange(n) % 3 + 1).astype(np.int8),
    ),
    least=1,
)


def fewer_rows_each_time(x, n):
    s = 0.0
    for _ in range(3):
        a = np.zeros((n, 4))
        n = n - 1
        for i in range(n):
            for j in range(4):
                a[i, j] += x[i] * j
        for i in range(n + 1):
            for j in range(4):
                s += a[i, j] * a[i, j] + np.exp(a[i, j])
    return s


case(fewer_rows_each_time, lambda n, m: dict(x=m(n), n=n), least=3)


def sums_of_some_rows(b, q, lo, hi):
    s = 0.0
    for t in range(2):
        a = np.zeros(q.shape[0])
        for y in range(lo, hi):
            for x in range(b.shape[0]):
                a[y] += b[x] * q[y, x]
        for y in range(q.shape[0]):
            s += a[y] * a[y] * (t + 1)
    return s


case(
    sums_of_some_rows, lambda n, m: dict(b=m(n), q=m(2 * n, n), lo=n // 2, hi=2 * n - 1)
)


# ---------------------------------------------------------------- compiled functions


@numba.njit
def njit_smooth(a, out):
    for i in range(1, a.shape[0] - 1):
        out[i] = a[i - 1] * a[i + 1] + 0.5 * a[i]


case(njit_smooth, lambda n, m: dict(a=m(n), out=m(n)), "out", wide=(3,))


@numba.njit(fastmath=False)
def _njit_kernel(r):
    if r < 1.0:
        return (1.0 - r) ** 2
    return 0.0


@numba.njit(parallel=False, cache=False)
def njit_calls_njit(x):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            s += _njit_kernel(abs(x[i] - x[j]))
    return s


case(
    njit_calls_njit,
    lambda n, m: dict(x=1.03 * m.distinct(n)),
    real=12,
    covers=("scalar helper", "triangular"),
)


def plain_calls_njit(x, out):
    for i in prange(x.shape[0]):
        out[i] = _njit_kernel(x[i]) * x[i]


case(
    plain_calls_njit,
    lambda n, m: dict(x=1.03 * m.distinct(n), out=m(n)),
    "out",
    covers=("scalar helper",),
)


@numba.jit(nopython=True, error_model="numpy")
def njit_with_while(x):
    s = 1.0
    k = 0
    while k < x.shape[0] and s < 8.0:
        s = s * (1.0 + x[k])
        k += 1
    return s


case(njit_with_while, lambda n, m: dict(x=m.positive(n)))


def value_of_a_loop_that_never_runs(x, out):
    for _ in range(0):
        if x[0] > 0.0:
            out[0] += x[1]
        else:
            for k in range(2):
                pass
            out[k] -= x[k]
    for i in range(x.shape[0]):
        out[i] += x[i] ** 2


case(value_of_a_loop_that_never_runs, lambda n, m: dict(x=m(n), out=m(n)), "out")


def new_array_for_a_turned_name(x):
    u = x * 2.0
    v = x + 1.0
    for _ in range(2):
        x, u, v = u, v, x
    u[0] *= 1.5
    for _ in range(2):
        u = x * v * u
    x[0] += u[1] * v[0]
    return u[0]


case(new_array_for_a_turned_name, lambda n, m: dict(x=m(n)), "x", least=2)


def last_index_if_there_is_one(x, n):
    s = 0.0
    for i in range(n):
        s = 0.5 * s + x[i]
        t = s * x[i]
    best = t if n > 0 else 1.0
    return best + (x[i] * t if n > 1 and i > 0 and t < 9.0 else 0.25 * x[0])


case(
    last_index_if_there_is_one,
    lambda n, m: dict(x=m(n), n=n - 1),
    least=1,
)


def scalars_used_again(x, w, steps, out):
    s = x[0] * w[0]
    for _ in range(steps):
        for i in range(1, x.shape[0]):
            t = s
            for j in range(w.shape[0]):
                t = t * 0.5 + math.sin(x[i] * w[j])
            s = t * x[i - 1]
            x[i] = s * 0.5 + x[i]
            if t > 0.0:
                s = 0.1 * x[i]
        t = 1.0
        for j in range(w.shape[0]):
            s = w[j] * x[0] + 1.0
            t *= s
        out[0] += t
        s = out[0] * 0.1
    k = 0
    while k < w.shape[0] and s < 50.0:
        t = s * w[k]
        s = s + t * t
        k += 1
    for i in range(x.shape[0]):
        s = x[i] * x[i]
        out[i] += s * t if k > 0 else s


case(
    scalars_used_again,
    lambda n, m: dict(x=m(n), w=m.positive(3), steps=2, out=m(n)),
    "x out",
    least=1,
    real=12,
)


def loops_that_come_to_nothing(a, w, out):
    if w[0] > -2.0:
        root = math.sqrt(1.0 + w[0] * w[0])
    if w[0] > -2.0:
        for _ in range(3):
            unused = 1  # noqa: F841
    for i in range(a.shape[0]):
        out[i] += abs(a[i]) * w[0]
    if w[0] > -2.0:
        for i in range(a.shape[0]):
            for _ in range(2):
                pass
        out[0] *= root


case(
    loops_that_come_to_nothing,
    lambda n, m: dict(a=m.away(n), w=m(n), out=m(n)),
    "out",
    least=1,
    real=9,
)


def _padded(u, shape):
    out = np.zeros(shape)
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[i + 1, j + 1] = u[i, j]
    return out


def padded_by_a_shape(u, w):
    n, m = u.shape
    size = (n + 2, m + 2)
    p = _padded(u, size)
    out = np.zeros(u.shape)
    for i in range(n):
        for j in range(m):
            for k in range(3):
                out[i, j] += w[k] * p[i + k, j + 1] * p[i + 1, j + k]
    return out


case(
    padded_by_a_shape,
    lambda n, m: dict(u=m(n, n + 1), w=m(3)),
    least=1,
    real=5,
    covers=("array helper",),
)


def _cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def area_of_a_polygon(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        here = (x[i], y[i])
        before = (x[i - 1], y[i - 1])
        total += _cross(before, here)
    return 0.5 * total


case(area_of_a_polygon, lambda n, m: dict(x=m(n), y=m(n)), least=1, real=9)


def mean_of_a_volume(v, w):
    shape = v.shape
    depth, height, width = shape
    total = 0.0
    for k in range(depth):
        for j in range(height):
            for i in range(shape[2]):
                total += v[k, j, i] ** 2 * w[k]
    return total / (len(shape) * height * width)


case(
    mean_of_a_volume,
    lambda n, m: dict(v=m(n, n, 2), w=m(n)),
    least=1,
    real=4,
)


def channels_last(image, gain):
    height, width = image.shape[1:]
    out = np.empty(image.shape[:2])
    for b in range(image.shape[0]):
        for y in range(height):
            out[b, y] = 0.0
            for x in range(width):
                out[b, y] += image[b, y, x] * gain[x]
    return out


case(
    channels_last,
    lambda n, m: dict(image=m(2, n, n + 1), gain=m(n + 1)),
    least=1,
    real=5,
)


def leapfrog_with_a_state(q0, p0, k):
    q, p = q0, p0
    for _ in range(4):
        state = (q + 0.05 * p, p)
        force = -k * state[0] ** 3
        q, p = state[0], state[1] + 0.1 * force
    return q * q + p * p


case(
    leapfrog_with_a_state, lambda n, m: dict(q0=m.scalar(), p0=m.scalar(), k=m.scalar())
)


def weights_or_ones(x, w=None):
    if w is None:
        w = np.ones(x.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        total += w[i] * x[i] * x[i]
    return total


case(weights_or_ones, lambda n, m: dict(x=m(n)))


def initial_state_or_zeros(a, h0=None, gain=None):
    h = np.zeros(a.shape[1]) if h0 is None else h0.copy()
    g = 0.7 if gain is None else gain
    for t in range(a.shape[0]):
        for j in range(a.shape[1]):
            h[j] = math.tanh(g * h[j] + a[t, j])
    return h


case(initial_state_or_zeros, lambda n, m: dict(a=m(n, 3), h0=m(3)), real=20)


def _resistance(v, limit=None, factor=1.5):
    if limit is not None and v > limit:
        return limit + factor * (v - limit)
    return v * v


def optional_limits(x, lower=None, upper=None):
    total = 0.0
    for i in range(x.shape[0]):
        total += _resistance(x[i]) + _resistance(x[i], upper)
        if lower is not None and x[i] < lower:
            total += _resistance(x[i], limit=None, factor=2.0) * 0.5
    return total


case(optional_limits, lambda n, m: dict(x=m(n), upper=0.3171))


def sampled_or_given_step(y, dx=None, x=None):
    if dx is None and x is None:
        dx = 1.0
    s = 0.0
    for i in range(y.shape[0] - 1):
        h = dx if x is None else x[i + 1] - x[i]
        s += 0.5 * h * (y[i] + y[i + 1]) ** 2
    return s


case(sampled_or_given_step, lambda n, m: dict(y=m(n), x=np.cumsum(m.positive(n))))


def _bands_of(rows, w, missing):
    length = (rows.shape[1] - w.shape[1]) // 2 + 1
    bands = np.zeros((rows.shape[0], w.shape[0], length))
    for y in range(rows.shape[0]):
        for k in range(w.shape[0]):
            for i in range(w.shape[1]):
                for b in range(length):
                    x = rows[y, 2 * b + i]
                    if np.isnan(x):
                        missing[y] += 1
                    else:
                        bands[y, k, b] += np.exp(-x * x) * x * w[k, i]
    return bands


def _spread_again(bands, w, width):
    rows = np.zeros((bands.shape[0], width))
    for y in range(bands.shape[0]):
        for k in range(w.shape[0]):
            for i in range(w.shape[1]):
                for b in range(bands.shape[2]):
                    rows[y, 2 * b + i] += bands[y, k, b] * w[k, i]
    return rows


def wavelets_with_gaps(signal, w, levels):
    rows, spare = signal, np.tanh(signal)
    missing = np.zeros(signal.shape[0], np.int8)
    energy = 0.0
    for t in range(levels.shape[0]):
        if levels[t] % 2 == 1:
            rows, spare = spare, rows
        bands = _bands_of(rows, w, missing)
        if bands.shape[2] > 1:
            spare = rows
            rows = _spread_again(bands, w, rows.shape[1])
        for y in range(rows.shape[0]):
            for x in range(rows.shape[1]):
                if not np.isnan(spare[y, x]):
                    energy += rows[y, x] * np.tanh(spare[y, x]) / (1 + missing[y])
    return energy


case(
    wavelets_with_gaps,
    lambda n, m: dict(
        signal=np.where(np.arange(2 * n + 3) == n, np.nan, m(2, 2 * n + 3)),
        w=m(4, 3),
        levels=np.array([1, 2, 3], np.int8),
    ),
    least=1,
    real=7,
)


def _half_of_the_circle(u, w, gaps):
    row = np.empty(u.shape[0])
    for i in range(u.shape[0]):
        near = 0.0
        for k in range(3):
            q = (i + k - 1) % u.shape[0]
            c = 0.5 if k == 1 else 0.25
            near += c * u[q]
        if np.isnan(near):
            row[i] = 0.1
            gaps[i % gaps.shape[0]] += 1
        elif gaps[i % gaps.shape[0]] > 1:
            row[i] = near
        else:
            row[i] = near * near * w[i]
    half = np.zeros(u.shape[0] // 2 + 1)
    for i in range(half.shape[0]):
        half[i] = row[i] * row[(i - 2) % row.shape[0]]
    return half


def halves_of_a_circle(u, w, steps):
    spare = np.tanh(w)
    gaps = np.zeros(2, np.int8)
    energy = 0.0
    for t in range(steps.shape[0]):
        last = u.shape[0] - 1
        if steps[t] % 2 == 1:
            u = _half_of_the_circle(u, w, gaps)
        for i in range(u.shape[0]):
            if last - i >= 0 and not np.isnan(u[i]):
                energy += u[i] * spare[last - i] / (1 + gaps[i % 2])
    return energy


case(
    halves_of_a_circle,
    lambda n, m: dict(
        u=np.where(np.arange(n + 2) == n, np.nan, m(n + 2)),
        w=m(n + 2),
        steps=np.array([1, 2, 3], np.int8),
    ),
    least=1,
    real=9,
)


def _filtered(input, filter, part):
    hash = np.zeros(input.shape)
    for y in range(input.shape[0] // part):
        for x in range(input.shape[1]):
            for i in range(filter.shape[0]):
                at = (x + i) % input.shape[1]
                if not np.isnan(input[y, at]):
                    hash[y, x] += np.sin(input[y, at]) * filter[i]
    return hash


def filtered_in_parts(input, filter, parts):
    sum, old = input, np.cos(input)
    total, peak = 0.0, 1.0
    t = 0
    while t < parts.shape[0]:
        part = int(parts[t])
        if part % 2 == 1:
            sum, old = old, sum
        sum = _filtered(sum, filter, part)
        total += sum[0, 0] * filter[t % 2]
        peak = peak * np.cos(sum[0, sum.shape[1] - 1])
        t += 1
    for t in range(parts.shape[0]):
        old = _filtered(old, filter, int(parts[t]))
        total = total * 0.5 + old[0, t % old.shape[1]]
    return total + peak * sum[0, 0]


case(
    filtered_in_parts,
    lambda n, m: dict(
        input=np.where(np.arange((n + 3) * (n + 1)) == 1, np.nan, m((n + 3) * (n + 1)))
        .reshape(n + 3, n + 1)
        .copy(),
        filter=m(2),
        parts=np.array([2, 1, 3], np.int8),
    ),
    least=1,
    real=9,
)


def channels_named_like_builtins(input, filter, hash):
    for n in range(hash.shape[0]):
        for k in range(hash.shape[1]):
            for a in range(hash.shape[2]):
                for c in range(input.shape[1]):
                    for i in range(filter.shape[2]):
                        hash[n, k, a] += input[n, c, a + i] * filter[k, c, i]


case(
    channels_named_like_builtins,
    lambda n, m: dict(input=m(2, 3, n + 2), filter=m(n, 3, 3), hash=m(2, n, n)),
    "hash",
    real=7,
)
