"""Adjoint scatters: the shapes that a reverse sweep leaves behind, with array sizes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scatter:
    """`text` runs for every `n` and `m` in the ranges; `shapes` are Python expressions.

    `gathers` are the arrays that must end up in a parallel loop; `integer` arrays hold
    subscripts below `below`.
    """

    name: str
    text: str
    shapes: dict[str, str]
    gathers: tuple[str, ...] = ()
    n: tuple[int, ...] = (0, 1, 2, 3, 4, 7)
    m: tuple[int, ...] = (1, 3)
    integer: tuple[str, ...] = ()
    below: str = "1"


CASES = (
    Scatter(
        "conv_1d",
        """
for x in reversed(range(d_out.shape[0])):
    for r in reversed(range(k.shape[0])):
        d_a[x + r] += d_out[x] * k[r]
        d_k[r] += d_out[x] * a[x + r]
""",
        {"d_out": "n", "k": "m", "d_k": "m", "d_a": "n + m", "a": "n + m"},
        ("d_a", "d_k"),
        m=(0, 1, 3),
    ),
    Scatter(
        "conv_2d",
        """
for y in reversed(range(d_out.shape[0])):
    for x in reversed(range(d_out.shape[1])):
        for j in reversed(range(k.shape[0])):
            for i in reversed(range(k.shape[1])):
                d_a[y + j, x + i] += d_out[y, x] * k[j, i]
                d_k[j, i] += d_out[y, x] * a[y + j, x + i]
""",
        {
            "d_out": "n, n + 1",
            "k": "m, m + 1",
            "d_k": "m, m + 1",
            "d_a": "n + m, n + m + 2",
            "a": "n + m, n + m + 2",
        },
        ("d_a", "d_k"),
        n=(0, 1, 2, 3, 4),
        m=(0, 1, 2, 3),
    ),
    Scatter(
        "conv_5d",
        """
for b in reversed(range(d_out.shape[0])):
    for f in reversed(range(d_out.shape[1])):
        for y in reversed(range(d_out.shape[2])):
            for x in reversed(range(d_out.shape[3])):
                for c in reversed(range(w.shape[1])):
                    for j in reversed(range(w.shape[2])):
                        for i in reversed(range(w.shape[3])):
                            d_a[b, c, y + j, x + i] += d_out[b, f, y, x] * w[f, c, j, i]
                            d_w[f, c, j, i] += d_out[b, f, y, x] * a[b, c, y + j, x + i]
""",
        {
            "d_out": "2, 2, n, n + 1",
            "w": "2, 3, m, m",
            "d_w": "2, 3, m, m",
            "d_a": "2, 3, n + m, n + m + 1",
            "a": "2, 3, n + m, n + m + 1",
        },
        ("d_a", "d_w"),
        n=(0, 1, 3),
        m=(1, 2),
    ),
    Scatter(
        "five_points",
        """
for y in reversed(range(1, n - 1)):
    for x in reversed(range(1, m - 1)):
        d_u[y, x] += -4 * d_o[y, x]
        d_u[y - 1, x] += d_o[y, x]
        d_u[y + 1, x] += d_o[y, x]
        d_u[y, x - 1] += d_o[y, x] * c[y, x]
        d_u[y, x + 1] += d_o[y, x] * c[y, x]
        d_o[y, x] = 0.0
""",
        {"d_u": "n, m", "d_o": "n, m", "c": "n, m"},
        ("d_u", "d_o"),
        m=(0, 1, 2, 3, 4, 6),
    ),
    Scatter(
        "strided_dilated",
        """
for y in reversed(range(d_out.shape[0])):
    for j in reversed(range(k.shape[0])):
        d_a[3 * y + 2 * j] += d_out[y] * k[j]
        d_k[j] += d_out[y] * a[3 * y + 2 * j]
""",
        {
            "d_out": "n",
            "k": "m",
            "d_k": "m",
            "d_a": "3 * n + 2 * m",
            "a": "3 * n + 2 * m",
        },
        ("d_a", "d_k"),
        m=(0, 1, 2, 3, 5),
    ),
    Scatter(
        "strided_dilated_2d",
        """
for y in reversed(range(d_out.shape[0])):
    for x in reversed(range(d_out.shape[1])):
        for j in reversed(range(3)):
            for i in reversed(range(3)):
                d_a[3 * y + 2 * j, 3 * x + 2 * i] += d_out[y, x] * k[j, i]
""",
        {"d_out": "n, n + 1", "k": "3, 3", "d_a": "3 * n + 6, 3 * n + 9"},
        ("d_a",),
        n=(0, 1, 2, 3, 4),
        m=(1,),
    ),
    Scatter(
        "stride_2_window",
        """
for x in reversed(range(n)):
    for r in reversed(range(m)):
        d_a[2 * x + r] += d_o[x] * k[r]
""",
        {"d_a": "2 * n + m", "d_o": "n", "k": "m"},
        ("d_a",),
        m=(0, 1, 2, 3, 4),
    ),
    Scatter(
        "upsample",
        """
for x in reversed(range(d_o.shape[0])):
    d_a[x // 4] += d_o[x] * w[x % 4]
""",
        {"d_a": "n // 4 + 1", "d_o": "n", "w": "4"},
        ("d_a",),
        n=(0, 1, 2, 3, 4, 5, 7, 8, 9),
        m=(1,),
    ),
    Scatter(
        "linear_upsample",
        """
for x in reversed(range(d_o.shape[0])):
    d_a[x // 2] += 0.5 * d_o[x]
    d_a[(x + 1) // 2] += 0.5 * d_o[x]
""",
        {"d_a": "n // 2 + 2", "d_o": "n"},
        ("d_a",),
        m=(1,),
    ),
    Scatter(
        "downsample",
        """
for x in reversed(range(n)):
    for r in reversed(range(4)):
        d_a[4 * x + r] += d_o[x]
""",
        {"d_a": "4 * n + 2", "d_o": "n"},
        ("d_a",),
        m=(1,),
    ),
    Scatter(
        "many_to_one",
        """
for x in reversed(range(n)):
    for y in reversed(range(m)):
        d_a[2 * x + y] += d_o[x, y]
""",
        {"d_a": "2 * n + m", "d_o": "n, m"},
        ("d_a",),
        m=(0, 1, 2, 3, 5),
    ),
    Scatter(
        "three_factors",
        """
for x in reversed(range(n)):
    for y in reversed(range(n)):
        for z in reversed(range(n)):
            d_a[6 * x + 10 * y + 15 * z] += d_o[x, y, z]
""",
        {"d_a": "31 * n + 1", "d_o": "n, n, n"},
        ("d_a",),
        n=(0, 1, 2, 3),
        m=(1,),
    ),
    Scatter(
        "sum_and_difference",
        """
for x in reversed(range(n)):
    for y in reversed(range(m)):
        d_a[x + y, x - y + m] += d_o[x, y]
        d_b[x + y] += d_o[x, y]
""",
        {"d_a": "n + m, n + m + 1", "d_b": "n + m", "d_o": "n, m"},
        ("d_b",),
        m=(0, 1, 2, 3),
    ),
    Scatter(
        "triangle",
        """
for i in reversed(range(n)):
    for j in reversed(range(i + 1)):
        d_x[j] += d_o[i] * l[i, j]
        d_l[i, j] += d_o[i] * x[j]
        d_y[i - j] += d_o[i] * l[i, j]
""",
        {"d_x": "n", "x": "n", "d_o": "n", "l": "n, n", "d_l": "n, n", "d_y": "n"},
        ("d_x", "d_l", "d_y"),
        m=(1,),
    ),
    Scatter(
        "clamp",
        """
for x in reversed(range(n)):
    for r in reversed(range(m)):
        d_a[min(max(x + r - 1, 0), n - 1)] += d_o[x] * k[r]
""",
        {"d_a": "n", "d_o": "n", "k": "m"},
        m=(0, 1, 2, 3, 4, 6),
    ),
    Scatter(
        "clamp_2d",
        """
for y in reversed(range(n)):
    for x in reversed(range(n)):
        for j in reversed(range(3)):
            for i in reversed(range(3)):
                d_a[min(max(y + j - 1, 0), n - 1), min(max(x + i - 1, 0), n - 1)] += \\
                    d_o[y, x] * k[j, i]
""",
        {"d_a": "n, n", "d_o": "n, n", "k": "3, 3"},
        m=(1,),
        n=(0, 1, 2, 3, 4),
    ),
    Scatter(
        "wrap",
        """
for x in reversed(range(n)):
    for r in reversed(range(3)):
        d_a[(x + r - 1) % n] += d_o[x] * k[r]
""",
        {"d_a": "n", "d_o": "n", "k": "3"},
        m=(1,),
    ),
    Scatter(
        "wrap_8",
        """
for x in reversed(range(n)):
    for r in reversed(range(3)):
        d_a[(x + r) % 8] += d_o[x] * k[r]
""",
        {"d_a": "8", "d_o": "n", "k": "3"},
        ("d_a",),
        n=(0, 1, 3, 7, 8, 9, 20),
        m=(1,),
    ),
    Scatter(
        "reflect",
        """
for x in reversed(range(n)):
    for r in reversed(range(3)):
        d_a[n - 1 - abs(n - 1 - abs(x + r - 1))] += d_o[x] * k[r]
""",
        {"d_a": "n", "d_o": "n", "k": "3"},
        n=(2, 3, 4, 7),
        m=(1,),
    ),
    Scatter(
        "mirror",
        """
for x in reversed(range(n)):
    for r in reversed(range(3)):
        d_a[(-1 - (x + r - 1)) if x + r - 1 < 0 else
            (2 * n - 1 - (x + r - 1)) if x + r - 1 >= n else x + r - 1] += d_o[x] * k[r]
""",
        {"d_a": "n", "d_o": "n", "k": "3"},
        m=(1,),
    ),
    Scatter(
        "zero_padding",
        """
for x in reversed(range(n)):
    for r in reversed(range(m)):
        if 0 <= x + r - 1 and x + r - 1 < n:
            d_a[x + r - 1] += d_o[x] * k[r]
            d_k[r] += d_o[x] * a[x + r - 1]
""",
        {"d_a": "n", "a": "n", "d_o": "n", "k": "m", "d_k": "m"},
        ("d_a", "d_k"),
        m=(0, 1, 2, 3, 5),
    ),
    Scatter(
        "data_guard",
        """
for x in reversed(range(n)):
    for r in reversed(range(m)):
        if x + r >= 1 and a[x + r] > 0:
            d_a[x + r] += d_o[x] * k[r]
        else:
            d_a[x + r] += d_o[x]
""",
        {"d_a": "n + m", "a": "n + m", "d_o": "n", "k": "m"},
        ("d_a",),
        m=(0, 1, 2, 3),
    ),
    Scatter(
        "diagonal",
        """
for x in reversed(range(n)):
    for r in reversed(range(m)):
        d_a[x, x] += d_o[x] * b[r]
        d_b[r] += d_o[x] * a[x, x]
        d_c[x + r, x + r] += d_o[x]
        d_e[x, n - 1 - x] += b[r]
""",
        {
            "d_a": "n, n",
            "a": "n, n",
            "d_e": "n, n",
            "d_c": "n + m, n + m",
            "d_o": "n",
            "b": "m",
            "d_b": "m",
        },
        ("d_a", "d_b", "d_c", "d_e"),
    ),
    Scatter(
        "two_ranges",
        """
for x in reversed(range(n)):
    d_a[x] += d_o[x]
    d_a[x + m] += 2 * d_o[x]
""",
        {"d_a": "n + m", "d_o": "n"},
        ("d_a",),
        m=(0, 1, 2, 9),
    ),
    Scatter(
        "symmetrise",
        """
for i in reversed(range(n)):
    for j in reversed(range(n)):
        d_a[i, j] += d_o[i, j]
        d_a[j, i] += d_o[i, j]
        d_o[i, j] = 0.0
""",
        {"d_a": "n, n", "d_o": "n, n"},
        ("d_a", "d_o"),
        m=(1,),
    ),
    Scatter(
        "transpose",
        """
for i in reversed(range(n)):
    for j in reversed(range(m)):
        d_a[j, i] += d_o[i, j]
        d_b[j] += d_o[i, j]
""",
        {"d_a": "m, n", "d_o": "n, m", "d_b": "m"},
        ("d_a", "d_b"),
    ),
    Scatter(
        "stepped",
        """
for x in reversed(range(0, n, 3)):
    for r in reversed(range(5)):
        d_a[x + r] += d_o[x] * k[r]
for x in reversed(range(n - 1, -1, -2)):
    for r in reversed(range(5)):
        d_a[x + r] += d_o[x] * k[r]
""",
        {"d_a": "n + 5", "d_o": "n", "k": "5"},
        ("d_a",),
        n=(0, 1, 2, 3, 4, 5, 6, 7, 10),
        m=(1,),
    ),
    Scatter(
        "planes",
        """
for x in reversed(range(n)):
    d_u[x, 0] += 2 * d_u[x, 1] * u[x, 0]
    d_c[x + 1] += d_u[x, 1]
    d_c[x] += d_u[x, 1]
""",
        {"d_u": "n, 2", "u": "n, 2", "d_c": "n + 1"},
        ("d_c",),
        m=(1,),
    ),
    Scatter(
        "time_loop",
        """
for t in reversed(range(m)):
    for i in reversed(range(1, n - 1)):
        d_u[t, i - 1] += d_u[t + 1, i]
        d_u[t, i] += -2 * d_u[t + 1, i]
        d_u[t, i + 1] += d_u[t + 1, i]
        d_u[t + 1, i] = 0.0
""",
        {"d_u": "m + 1, n"},
        ("d_u",),
    ),
    Scatter(
        "prefix_sum",
        """
for i in reversed(range(1, n)):
    d_x[i - 1] += d_x[i]
""",
        {"d_x": "n"},
        m=(1,),
    ),
    Scatter(
        "horner",
        """
for r in range(1, m + 1):
    for x in reversed(range(n)):
        d_p[x, m - r + 1] += d_p[x, m - r] * f[x]
        d_c[r] += d_p[x, m - r]
        d_p[x, m - r] = 0.0
""",
        {"d_p": "n, m + 1", "f": "n", "d_c": "m + 1"},
    ),
    Scatter(
        "data_index",
        """
for x in reversed(range(n)):
    for y in reversed(range(m)):
        d_a[index[x], y] += d_o[x, y]
        d_b[index[x]] += d_o[x, y]
""",
        {"d_a": "n, m", "d_b": "n", "d_o": "n, m", "index": "n"},
        ("d_a",),
        integer=("index",),
        below="n",
    ),
    Scatter(
        "data_in_one_subscript",
        """
for i in reversed(range(-2, 2)):
    d_m[index[i + 2], n + 1 - i] += d_w[i + 2]
    d_m[n + 1 - i, max(min(i, n - 1), 0)] += d_w[i + 2]
""",
        {"d_m": "n + 4, n + 4", "d_w": "4", "index": "4"},
        ("d_m",),
        n=(1, 2, 3),
        m=(1,),
        integer=("index",),
        below="n",
    ),
    Scatter(
        "scalars",
        """
for x in reversed(range(1, n - 1)):
    lap = u[x - 1] - 2 * u[x] + u[x + 1]
    d_lap = 2 * d_o[x] * lap
    d_c[x] += d_lap
    d_u[x - 1] += d_lap
    d_u[x] += -2 * d_lap
    d_u[x + 1] += d_lap
    d_o[x] = 0.0
""",
        {"u": "n", "d_u": "n", "d_c": "n", "d_o": "n"},
        ("d_u", "d_c", "d_o"),
        m=(1,),
    ),
    Scatter(
        "conditional_scalars",
        """
for x in reversed(range(1, n - 1)):
    lap = u[x - 1] - 2 * u[x] + u[x + 1]
    d_lap = 0.0
    if lap > 0:
        v = lap * lap
        d_c[x] += d_t * v
        d_lap += 2 * lap * d_t
    d_u[x - 1] += d_lap
    d_u[x] += -2 * d_lap
    d_u[x + 1] += d_lap
""",
        {"u": "n", "d_u": "n", "d_c": "n", "d_o": "n"},
        ("d_u", "d_c"),
        m=(1,),
    ),
    Scatter(
        "scalar_across_an_inner_loop",
        """
for x in reversed(range(n)):
    s = 0.0
    for r in range(m):
        s += a[x + r] * k[r]
    d_s = 2 * s * d_o[x]
    for r in reversed(range(m)):
        d_a[x + r] += d_s * k[r]
        d_k[r] += d_s * a[x + r]
""",
        {"a": "n + m", "d_a": "n + m", "k": "m", "d_k": "m", "d_o": "n"},
        ("d_a", "d_k"),
        m=(0, 1, 3),
    ),
    Scatter(
        "read_then_zeroed_scalar",
        """
for x in reversed(range(n)):
    d_t = d_o[x]
    d_o[x] = 0.0
    d_a[x] += d_t * b[x + 1]
    d_a[x + 1] += d_t * b[x]
""",
        {"d_o": "n", "d_a": "n + 1", "b": "n + 1"},
        ("d_a", "d_o"),
        m=(1,),
    ),
    Scatter(
        "total",
        """
for y in reversed(range(n)):
    for x in reversed(range(m)):
        d_g += d_o[y, x] * a[y, x]
        d_a[y, x] += d_o[y, x]
""",
        {"d_o": "n, m", "a": "n, m", "d_a": "n, m"},
        ("d_a",),
    ),
    Scatter(
        "integer_scalar_index",
        """
for x in reversed(range(n)):
    for r in reversed(range(3)):
        at = min(max(x + r - 1, 0), n - 1)
        d_a[at] += d_o[x] * k[r]
        d_k[r] += d_o[x] * a[at]
""",
        {"d_a": "n", "a": "n", "d_o": "n", "k": "3", "d_k": "3"},
        ("d_k",),
        m=(1,),
    ),
    Scatter(
        "summed_scalar",
        """
for i in reversed(range(n)):
    d_c = 2 * d_o[i] * x[i]
    t = d_o[i]
    d_c += t * x[i + 1]
    d_x[i + 1] += t * x[i]
    d_x[i] += d_c
    d_o[i] = 0.0
""",
        {"d_x": "n + 1", "x": "n + 1", "d_o": "n"},
        ("d_x",),
        m=(1,),
    ),
    Scatter(
        "summed_scalar_read_on_the_way",
        """
for i in reversed(range(n)):
    d_c = 2 * d_o[i] * x[i]
    d_x[i] += d_c
    d_x[i + 1] += d_o[i]
    d_c += d_o[i] * x[i + 1]
    d_x[i] += d_c
""",
        {"d_x": "n + 1", "x": "n + 1", "d_o": "n"},
        m=(1,),
    ),
    Scatter(
        "summed_scalar_of_a_value_that_changes",
        """
for i in reversed(range(n)):
    t = d_o[i]
    d_c = 2 * t
    t = t * x[i]
    d_c += t
    d_x[i + 1] += t
    d_x[i] += d_c
""",
        {"d_x": "n + 1", "x": "n + 1", "d_o": "n"},
        m=(1,),
    ),
    Scatter(
        "summed_scalar_of_an_element_that_changes",
        """
for i in reversed(range(n)):
    d_c = 2 * d_o[i]
    d_o[i] = x[i]
    d_c += d_o[i]
    d_x[i + 1] += d_o[i]
    d_x[i] += d_c
""",
        {"d_x": "n + 1", "x": "n + 1", "d_o": "n"},
        m=(1,),
    ),
    Scatter(
        "summed_scalar_in_a_branch",
        """
for i in reversed(range(n)):
    d_c = 2 * d_o[i]
    if x[i] > 0:
        d_c += d_o[i] * x[i]
        d_x[i + 1] += d_o[i]
    d_x[i] += d_c
""",
        {"d_x": "n + 1", "x": "n + 1", "d_o": "n"},
        m=(1,),
    ),
    Scatter(
        "summed_scalar_in_a_loop",
        """
for i in reversed(range(n)):
    for k in reversed(range(3)):
        d_c = 2 * d_o[i, k]
        d_c -= d_o[i, k] * x[i + k]
        d_x[i + k] += d_c
        d_x[i] += d_o[i, k]
""",
        {"d_x": "n + 3", "x": "n + 3", "d_o": "n, 3"},
        ("d_x",),
        m=(1,),
    ),
    Scatter(
        "unpool",
        """
for x in reversed(range(n)):
    for i in reversed(range(4)):
        d_i[x] += d_o[2 * x + i]
for k in reversed(range(n)):
    for j in reversed(range(m)):
        d_p[k, 2 * k + 5, k - 2 * j + 2 * m] += d_q[k, j]
""",
        {
            "d_i": "n",
            "d_o": "2 * n + 4",
            "d_p": "n, 2 * n + 6, n + 2 * m + 1",
            "d_q": "n, m",
        },
        ("d_i", "d_p"),
    ),
    Scatter(
        "wave_3d",
        """
for x in reversed(range(1, n - 1)):
    for y in reversed(range(1, n - 1)):
        for z in reversed(range(1, n - 1)):
            d_u[x, y, z] += (2 - 6 * c[x, y, z]) * d_o[x, y, z]
            d_u[x - 1, y, z] += c[x, y, z] * d_o[x, y, z]
            d_u[x + 1, y, z] += c[x, y, z] * d_o[x, y, z]
            d_u[x, y - 1, z] += c[x, y, z] * d_o[x, y, z]
            d_u[x, y + 1, z] += c[x, y, z] * d_o[x, y, z]
            d_u[x, y, z - 1] += c[x, y, z] * d_o[x, y, z]
            d_u[x, y, z + 1] += c[x, y, z] * d_o[x, y, z]
            d_v[x, y, z] += -1 * d_o[x, y, z]
            d_o[x, y, z] = 0.0
""",
        {k: "n, n, n" for k in ("d_u", "d_v", "c", "d_o")},
        ("d_u", "d_v", "d_o"),
        n=(0, 1, 2, 3, 4, 5),
        m=(1,),
    ),
)
