"""Inner loops without edges: what becomes of them, and that every bit stays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pyrev.ir.dtypes import infer
from pyrev.ir.nodes import For, Param, Program
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.rows import rows
from tests.tools.interpreted import called_parallel

DTYPES = {
    **{name: "float64" for name in "abcdefstpqr"},
    **{name: "int64" for name in "nm"},
}
RANKS = {name: 1 for name in "abcdef"} | {"p": 2, "q": 2, "r": 2}


def rowed(text: str, parallel: bool = False) -> str:
    params = tuple(Param(n, RANKS.get(n, 0), d) for n, d in DTYPES.items())
    block = parse_block(text.strip("\n"))
    if parallel:
        block = tuple(called_parallel(s) if isinstance(s, For) else s for s in block)
    program = Program("f", params, block)
    made = rows(program, infer(program, DTYPES), CpuCosts())
    return block_text(made.body).strip("\n")


PEELED = {
    "clamps at both ends": (
        """
for x in range(n):
    a[x] = b[max(x - 1, 0)] + b[min(x + 1, n - 1)]
""",
        """
for x in range(min(1, n)):  # the first x, where clamps or tests act
    a[x] = b[max(x - 1, 0)] + b[min(x + 1, n - 1)]
for x in range(1, n - 1):
    a[x] = b[x - 1] + b[x + 1]
for x in range(max(1, n - 1), n):  # the last x
    a[x] = b[max(x - 1, 0)] + b[min(x + 1, n - 1)]
""",
    ),
    "a short loop inside": (
        """
for x in range(n):
    for i in range(3):
        if 0 <= x + i - 1 < n and m > 0:
            a[x] += b[x + i - 1] * d[2 - i]
    for k in range(-1, 1):
        c[x] += b[max(x - 2 * k, 0)]
""",
        """
for x in range(min(1, n)):  # the first x, where clamps or tests act
    for i in range(3):
        if 0 <= x + i - 1 and x + i - 1 < n and m > 0:
            a[x] += b[x + i - 1] * d[2 - i]
    for k in range(-1, 1):
        c[x] += b[max(x - 2 * k, 0)]
for x in range(1, n - 1):
    for i in range(3):
        if m > 0:
            a[x] += b[x + i - 1] * d[2 - i]
    for k in range(-1, 1):
        c[x] += b[x - 2 * k]
for x in range(max(1, n - 1), n):  # the last x
    for i in range(3):
        if 0 <= x + i - 1 and x + i - 1 < n and m > 0:
            a[x] += b[x + i - 1] * d[2 - i]
    for k in range(-1, 1):
        c[x] += b[max(x - 2 * k, 0)]
""",
    ),
    "a row that is a circle": (
        """
for x in range(n):
    a[x] = b[(x - 1) % n] + b[(x + 2) % n]
""",
        """
for x in range(min(1, n)):  # the first x, where clamps or tests act
    a[x] = b[(x - 1) % n] + b[(x + 2) % n]
for x in range(1, n - 2):
    a[x] = b[x - 1] + b[x + 2]
for x in range(max(1, n - 2), n):  # the last x
    a[x] = b[(x - 1) % n] + b[(x + 2) % n]
""",
    ),
    "a test": (
        """
for x in range(n):
    if x >= m:
        a[x] += b[x - m]
""",
        """
for x in range(min(max(0, m), n)):  # the first x, where clamps or tests act
    if x >= m:
        a[x] += b[x - m]
for x in range(max(0, m), n):
    a[x] += b[x - m]
""",
    ),
    "two tests in one": (
        """
for x in range(n):
    if 0 <= x - 2 and x - 2 < m:
        a[x] += b[x - 2]
""",
        """
for x in range(min(2, n)):  # the first x, where clamps or tests act
    if 0 <= x - 2 and x - 2 < m:
        a[x] += b[x - 2]
for x in range(2, min(n, m + 2)):
    a[x] += b[x - 2]
for x in range(max(2, min(n, m + 2)), n):  # the last x
    if 0 <= x - 2 and x - 2 < m:
        a[x] += b[x - 2]
""",
    ),
    "a test of a test": (
        """
for x in range(n):
    a[x] += b[1 if (x if x < m else 2) < 3 else 2]
""",
        """
for x in range(min(n, m, 3)):
    a[x] += b[1]
for x in range(max(0, min(n, m, 3)), n):  # the last x
    a[x] += b[1 if (x if x < m else 2) < 3 else 2]
""",
    ),
    "going down": (
        """
for x in range(n):
    a[x] = b[max(m - x, 0)]
""",
        """
for x in range(min(n, m + 1)):
    a[x] = b[m - x]
for x in range(max(0, min(n, m + 1)), n):  # the last x
    a[x] = b[max(m - x, 0)]
""",
    ),
}

FUSED = {
    "increments of one element": (
        """
for x in range(n):
    a[x] += b[x]
for x in range(n):
    a[x] += c[x] * s
""",
        """
for x in range(n):
    a[x] = a[x] + b[x] + c[x] * s
""",
    ),
    "with two indices": (
        """
for x in range(n):
    a[x] = b[x]
for y in range(n):
    c[y] = a[y] * s
""",
        """
for x in range(n):
    a[x] = b[x]
    c[x] = a[x] * s
""",
    ),
}

LEFT = {
    "a neighbour": """
for x in range(n):
    a[x] = b[x]
for x in range(n - 1):
    c[x] = a[x + 1]
""",
    "a neighbour in the same range": """
for x in range(n):
    a[x] = b[x]
for x in range(n):
    c[x] = a[n - 1 - x]
""",
    "a scalar that is handed on": """
for x in range(n):
    s = b[x]
for x in range(n):
    c[x] = s
""",
    "a circle in steps of two": """
for x in range(n):
    a[x] = b[(2 * x + 1) % n]
""",
    "a circle that changes": """
for x in range(n):
    a[x] = b[(x + 1) % m]
    m = m + 1
""",
    "a clamp that changes": """
for x in range(n):
    a[x] = b[max(x - m, 0)]
    m += 1
""",
    "a test of values": """
for x in range(n):
    if b[x] < s:
        a[x] = b[x]
""",
    "a loop inside": """
for x in range(n):
    for y in range(m):
        a[y] += b[max(x - 1, 0)] * c[x]
""",
}


JAMMED = {
    "terms of one element": (
        """
for i in range(3):
    for x in range(n):
        a[x] += b[x + i] * c[i]
""",
        """
for x in range(n):
    a[x] = a[x] + b[x] * c[0] + b[x + 1] * c[1] + b[x + 2] * c[2]
""",
    ),
    "terms of shifted elements": (
        """
for i in range(2):
    for x in range(n):
        a[x + i] += b[x] * c[i]
""",
        """
if n >= 1:
    for i in range(2):  # the first few of a
        for at in range(i, 1):
            a[at] += b[at - i] * c[i]
    for at in range(1, n):  # the elements of a that get all of its 2 terms
        a[at] = a[at] + b[at] * c[0] + b[at - 1] * c[1]
    for i in range(2):  # the last few of a
        for at in range(n, n + i):
            a[at] += b[at - i] * c[i]
else:
    for i in range(2):
        for x in range(n):
            a[x + i] += b[x] * c[i]
""",
    ),
}

JAMMED["sums of several elements"] = (
    """
for i in range(2):
    for x in range(n):
        a[i] += b[x + i] * c[x]
""",
    """
for x in range(n):
    a[0] += b[x] * c[x]
    a[1] += b[x + 1] * c[x]
""",
)

JAMMED["rows that are there"] = (
    """
for j in range(max(0, m - n + 1), min(3, m + 1)):
    for x in range(n):
        a[x] += p[m - j, x] * c[j]
""",
    """
for j in range(3):
    if j >= m - n + 1:
        if j < m + 1:
            for x in range(n):
                a[x] += p[m - j, x] * c[j]
""",
)

TOGETHER = {
    "a row is made and used": (
        """
s = 1.0
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
t = 2.0
for z in range(n):
    for x in range(m):
        r[z, x] += p[z, m - 1 - x] * t
""",
        """
s = 1.0
t = 2.0
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
    for x in range(m):
        r[y, x] += p[y, m - 1 - x] * t
""",
    ),
    "zeros by the rows": (
        """
v = np.zeros((n, m))
for y in range(n):
    for x in range(m):
        v[y, x] += q[y, x]
""",
        """
v = np.empty((n, m))
for y in range(n):
    for x in range(v.shape[1]):
        v[y, x] = 0.0
    for x in range(m):
        v[y, x] += q[y, x]
""",
    ),
    "zeros by fewer rows": (
        """
v = np.zeros((n, m))
for y in range(n - 1):
    for x in range(m):
        v[y, x] += q[y, x]
""",
        """
v = np.empty((n, m))
for y in range(n - 1):
    if y < v.shape[0]:
        for x in range(v.shape[1]):
            v[y, x] = 0.0
    for x in range(m):
        v[y, x] += q[y, x]
for y_2 in range(max(0, n - 1), v.shape[0]):  # the rows of v that nothing is added to
    for x in range(v.shape[1]):
        v[y_2, x] = 0.0
""",
    ),
    "an interior behind the whole": (
        """
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
for w in range(1, n - 1):
    for x in range(1, m - 1):
        p[w, x] += q[w - 1, x]
""",
        """
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
    if y >= 1 and y < n - 1:
        for x in range(1, m - 1):
            p[y, x] += q[y - 1, x]
""",
    ),
    "zeros of two arrays": (
        """
v = np.zeros((p.shape[0], p.shape[1], n))
w = np.zeros((p.shape[0], p.shape[1], n))
for z in range(p.shape[0]):
    for y in range(p.shape[1]):
        for x in range(1, n - 1):
            v[z, y, x] += p[z, y] * q[y, x]
            v[z, y, x - 1] += p[z, y]
        for x in range(1, n - 1):
            w[z, y, x + 1] += p[z, y] * r[y, x]
""",
        """
v = np.empty((p.shape[0], p.shape[1], n))
w = np.empty((p.shape[0], p.shape[1], n))
for z in range(p.shape[0]):
    for y in range(p.shape[1]):
        for x in range(w.shape[2]):
            w[z, y, x] = 0.0
        for x in range(v.shape[2]):
            v[z, y, x] = 0.0
        for x in range(1, n - 1):
            v[z, y, x] += p[z, y] * q[y, x]
            v[z, y, x - 1] += p[z, y]
            w[z, y, x + 1] += p[z, y] * r[y, x]
""",
    ),
    "what reads the same blocks": (
        """
for y in range(n):
    for x in range(16 * y, min(m, 16 * y + 16)):
        for k in range(n):
            a[y] += e[x] * q[x, k]
for w in range(n):
    for x in range(16 * w, min(m, 16 * w + 16)):
        for k in range(n):
            b[w] += q[x, k] * s
""",
        """
for y in range(n):
    for x in range(16 * y, min(m, 16 * y + 16)):
        for k in range(n):
            a[y] += e[x] * q[x, k]
            b[y] += q[x, k] * s
""",
    ),
    "a test of data that the range guards": (
        """
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
for y in range(n - 1):
    if q[y + 1, 0] > s:
        for x in range(m):
            p[y, x] += q[y, x]
""",
        """
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
    if y < n - 1 and q[y + 1, 0] > s:
        for x in range(m):
            p[y, x] += q[y, x]
""",
    ),
    "ranges that overlap": (
        """
for y in range(n - 1):
    for x in range(m):
        p[y, x] = q[y, x]
for y in range(1, n):
    for x in range(m):
        r[y, x] = q[y, x]
""",
        """
for y in range(n):
    if y < n - 1:
        for x in range(m):
            p[y, x] = q[y, x]
    if y >= 1:
        for x in range(m):
            r[y, x] = q[y, x]
""",
    ),
}

APART = {
    "what reads other blocks": """
for y in range(n):
    for x in range(16 * y, min(m, 16 * y + 16)):
        for k in range(n):
            a[y] += e[x] * q[x, k]
for w in range(n):
    for x in range(8 * w, min(m, 8 * w + 8)):
        for k in range(n):
            b[w] += q[x, k] * s
""",
    "another row": """
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
for y in range(n):
    for x in range(m):
        r[y, x] += p[n - 1 - y, x]
""",
    "nothing in common": """
for y in range(n):
    for x in range(m):
        p[y, x] = a[x]
for y in range(n):
    for x in range(m):
        r[y, x] += q[y, x]
""",
    "the interior of what the row before gets": """
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
for y in range(1, n - 1):
    for x in range(m):
        r[y, x] += p[y - 1, x]
""",
    "ranges of which nobody knows which is longer": """
for y in range(n):
    for x in range(m):
        p[y, x] = q[y, x]
for y in range(m):
    for x in range(m):
        p[y, x] += q[y, x]
""",
    "sums of what only one of them loads": """
for y in range(n):
    for x in range(m):
        a[y] += p[y, x] * q[y, x]
""",
    "a sum over a bound that differs": """
for y in range(n):
    for x in range(y):
        a[y] += b[x] * q[y, x]
""",
    "sums that one of them reads": """
for y in range(n):
    for x in range(m):
        a[y] += b[x] * a[x]
""",
    "sums into what the data say": """
for y in range(n):
    for x in range(m):
        a[s[y]] += b[x] * q[y, x]
""",
    "zeros that are read before": """
v = np.zeros((n, m))
s = v[0, 0]
for y in range(n):
    for x in range(m):
        v[y, x] += q[y, x]
""",
    "zeros of a size that has changed since": """
v = np.zeros((n, m))
n = n - 1
for y in range(n):
    for x in range(m):
        v[y, x] += q[y, x]
""",
    "zeros of other rows": """
v = np.zeros((n, m))
for y in range(n - 1):
    for x in range(m):
        v[y + 1, x] += q[y, x]
""",
}


@pytest.mark.parametrize("name", JAMMED)
def test_a_row_gets_its_terms_in_one_loop(name: str) -> None:
    text, expected = JAMMED[name]
    assert rowed(text) == expected.strip("\n")


@pytest.mark.parametrize("name", TOGETHER)
def test_loops_over_the_same_rows_become_one(name: str) -> None:
    text, expected = TOGETHER[name]
    assert rowed(text, parallel=True) == expected.strip("\n")


@pytest.mark.parametrize("name", APART)
def test_rows_stay_apart(name: str) -> None:
    assert rowed(APART[name], parallel=True) == APART[name].strip("\n")


def drawn_taps(rng: random.Random) -> str:
    """A short loop around a long one, which adds to shifted elements."""
    shift = rng.choice(["", " + i", " - i", " + 2 * i", " - 2 * i"])
    base = {"": 0, " + i": 0, " - i": 4, " + 2 * i": 0, " - 2 * i": 8}[shift]
    first, end = rng.choice([(0, 3), (1, 4), (0, 1), (2, 2), (-1, 2), (0, 5)])
    lo = rng.choice(["0", "1", "m"])
    value = rng.choice(["b[x] * d[i + 1]", "b[x + i + 1]", "s * b[x] + i", "t"])
    long, short = f"range({lo}, n)", f"range({first}, {end})"
    if rng.random() < 0.3:
        short = f"range(max({first}, m - 4), min({end}, n - m))"
    if rng.random() < 0.3:
        long, short = f"reversed({long})", f"reversed({short})"
    at = rng.choice([f"x{shift} + {base + 2}"] * 3 + ["i + 1"])
    return f"for i in {short}:\n    for x in {long}:\n        a[{at}] += {value}"


@pytest.mark.parametrize("seed", range(150))
def test_random_taps_keep_every_bit(seed: int) -> None:
    text = drawn_taps(random.Random(seed))
    made = rowed(text)

    def run(lines: str, n: int, m: int) -> list[float]:
        space: dict[str, Any] = {"n": n, "m": m, "s": 0.7, "t": -0.3, "np": np}
        for k, name in enumerate("abcd"):
            space[name] = np.linspace(0.1 + k, 0.9, 40) ** 3
        exec(lines, space)
        return list(space["a"])

    for n, m in ((0, 0), (1, 0), (2, 1), (3, 5), (9, 2), (10, 7), (15, 3)):
        assert run(made, n, m) == run(text, n, m), f"n={n} m={m}\n{text}\n\n{made}"


def drawn_nests(rng: random.Random) -> str:
    """Nests over rows of the same arrays, each of them parallel, over many ranges."""
    nests = []
    for _ in range(rng.randint(2, 4)):
        own, other = rng.choice([("p", "r"), ("r", "p")])
        lo, hi = rng.choice(["0", "1", "2"]), rng.choice(["n", "n - 1", "n + 1", "m"])
        row = rng.choice(["w", "y"])
        move = rng.choice(["", "", " + 1", " - 1"])
        value = rng.choice(
            [f"{other}[{row}{move}, x]", f"q[{row}{move}, x]", f"q[{row}, x] * s"]
        )
        op = rng.choice(["=", "+="])
        inner = f"    for x in range({rng.choice('01')}, {rng.choice(['m', 'm - 1'])}):"
        line = f"        {own}[{row}, x] {op} {value}"
        if rng.random() < 0.4:
            test = rng.choice([f"{row} < m", f"q[{row} + 1, 0] > 0.4"])
            inner = f"    if {test}:\n    {inner}"
            line = f"    {line}"
        nests.append(f"for {row} in range({lo}, {hi}):\n{inner}\n{line}")
    return "\n".join(nests)


@pytest.mark.parametrize("seed", range(300))
def test_random_nests_over_rows_keep_every_bit(seed: int) -> None:
    text = drawn_nests(random.Random(seed))
    made = rowed(text, parallel=True)

    def run(lines: str, n: int, m: int) -> list[Any]:
        space: dict[str, Any] = {"n": n, "m": m, "s": 0.7, "max": max, "min": min}
        for k, name in enumerate("pqr"):
            space[name] = np.linspace(0.1 + k, 0.9, 144).reshape(12, 12) ** 3
        exec(lines, space)
        return [space[name].tolist() for name in "pr"]

    for n, m in ((0, 0), (1, 0), (1, 3), (2, 2), (3, 5), (9, 2), (9, 9)):
        assert run(made, n, m) == run(text, n, m), f"n={n} m={m}\n{text}\n\n{made}"


@pytest.mark.slow
def test_many_random_nests_over_rows_have_a_loop_less() -> None:
    texts = [drawn_nests(random.Random(seed)) for seed in range(300)]
    fewer = [
        t for t in texts if rowed(t, parallel=True).count("for ") < t.count("for ")
    ]
    assert len(fewer) > 60


@pytest.mark.parametrize("name", PEELED)
def test_the_middle_has_no_edges(name: str) -> None:
    text, expected = PEELED[name]
    assert rowed(text) == expected.strip("\n")


@pytest.mark.parametrize("name", FUSED)
def test_loops_over_the_same_elements_become_one(name: str) -> None:
    text, expected = FUSED[name]
    assert rowed(text) == expected.strip("\n")


@pytest.mark.parametrize("name", LEFT)
def test_it_stays_as_it_is(name: str) -> None:
    assert rowed(LEFT[name]) == LEFT[name].strip("\n")


def drawn(rng: random.Random) -> str:
    """Loops with clamps, tests and shifted accesses, any of which may touch."""

    short = [""]  # what a short loop around the statement adds

    def place(loose: bool) -> str:
        k = rng.randint(-2, 2)
        shifted = rng.choice(["x", f"x + {k}", f"m - x + {k}", f"n - x + {k}"])
        shifted += rng.choice(short)
        if loose:
            return shifted
        return f"min(max({shifted}, 0), {rng.choice(['n - 1', 'n - 2', 'm', '3'])})"

    def inside(array: str) -> str:
        if rng.random() < 0.2:
            count = rng.choice(["n", "n", "m", "n + 1", "n - 5", "7", "-4"])
            return f"{array}[({place(True)}) % ({count})]"
        return f"{array}[min(max({place(True)}, 0), 11)]"

    def value() -> str:
        if rng.random() < 0.3:
            inner = f"(x if {place(True)} < {rng.choice(['m', 'n - 1'])} else 2)"
            test = f"{inner} {rng.choice(['<', '>='])} {rng.choice(['3', 'm', '1'])}"
            return f"b[{rng.choice(['1', 'x'])} if {test} else 2] * s"
        return f"{inside(rng.choice('abc'))} * {rng.choice(['s', '0.5', 't'])}"

    lines: list[str] = []
    for _ in range(rng.randint(1, 3)):
        lo, hi = rng.choice(["0", "1", "m"]), rng.choice(["n", "n - 1", "m + 2"])
        reverse = rng.random() < 0.2
        head = f"reversed(range({lo}, {hi}))" if reverse else f"range({lo}, {hi})"
        lines.append(f"for x in {head}:")
        for _ in range(rng.randint(1, 3)):
            inner = rng.random() < 0.3
            short[:] = ["", " + i", " - i", " + 2 * i", " - i + 1"] if inner else [""]
            if inner:
                first = rng.choice([-1, 0, 0, 1])
                lines.append(
                    f"    for i in range({first}, {first + rng.choice([1, 3])}):"
                )
            sign = rng.choice(["=", "+=", "+="])
            deep = "    " * inner
            at = rng.choice(["a[x]", "b[x]", inside("a"), inside("c")])
            line = f"{at} {sign} {value()}"
            if rng.random() < 0.4:
                op = rng.choice(["<", "<=", ">", ">="])
                other = rng.choice(["0", "m", "n - 2", "n"])
                test = f"{place(True)} {op} {other}"
                if rng.random() < 0.3:
                    test += f" {rng.choice(['and', 'or'])} {place(True)} >= 1"
                lines += [f"{deep}    if {test}:", f"{deep}        {line}"]
                if rng.random() < 0.3:
                    lines += [f"{deep}    else:", f"{deep}        b[x] += {value()}"]
            else:
                lines.append(f"{deep}    {line}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(400))
def test_random_loops_keep_every_bit(seed: int) -> None:
    text = drawn(random.Random(seed))
    made = rowed(text)

    def run(lines: str, n: int, m: int) -> dict[str, Any]:
        space: dict[str, Any] = {"n": n, "m": m, "s": 0.7, "t": -0.3, "np": np}
        for k, name in enumerate("abc"):
            space[name] = np.linspace(0.1 + k, 0.9, 12)
        failed = None
        try:
            exec(lines, space)
        except ZeroDivisionError as error:
            failed = str(error)
        return {"failed": failed} | {name: space[name].tolist() for name in "abc"}

    for n, m in ((0, 0), (1, 0), (2, 1), (3, 5), (9, 2), (10, 7), (10, 10)):
        assert run(made, n, m) == run(text, n, m), f"n={n} m={m}\n{text}\n\n{made}"
