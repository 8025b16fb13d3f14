"""What writes or draws happens once, and in the order of the text."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev

HEAD = """
import math
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np

class P(NamedTuple):
    u: float
    v: float

@dataclass
class D:
    u: float
    v: float

def k(a):
    a[0] += 1.0
    return int(a[0]) % 3

def row(m, a):
    a[0] += 1.0
    return m[int(a[0]) % 3]

def two(a):
    a[1] *= 10.0
    return a[0], a[0] + a[1]


def h(a):
    a[0] += 0.125
    return a[1] * 2.0 + a[0]

def hv(a):
    a[0] += 0.125
    return a * 1.25
"""

#: Statements with a number N.
NUMBERS = """
c += divmod(N, 0.3)[1]
c += np.clip(N, 0.1, 2)
c += N ** 2
c += 0.1 < N < 2.0
c += N if N > 0.3 else c
c += math.copysign(N, c)
c += sum([N, c, N])
c += sum(N for _ in range(3))
c += [N for _ in range(3)][1]
c += abs(complex(N, c))
c += (N + 1j).imag
c += np.exp(1j * N).real
c += (complex(c, N) + N * c).imag
a[int(N) % 3] *= N
a[a > N] = c
q = d = N; c += q - d * 2
q, d = N, N; c += q - 3 * d
q = [N, c]; c += q[0] * q[1]
z = np.zeros(3, complex); z[int(N) % 3] = N; z[1] += N * 1j; c += z[1].imag - z[0].real
z = np.zeros(3, complex); z[int(N) % 3] = complex(a[0], N); c += np.sum(z).real
z = N + 1j * N; z *= N; z += N; c += z.real - z.imag
for i, v in enumerate([N, c]): c += i * v
for v, w in zip([N, c], [c, N]): c += v * w * w
""".strip().splitlines()

#: Statements with an array A.
ARRAYS = """
c += A @ A
c += np.var(A)
c += A[A > 0.5].sum()
c += np.where(A > 0.5, A, a).sum()
c += np.linalg.norm(A)
c += (A + 1j * np.cumprod(a)).imag.sum()
c += (3.0 + 1j * A).real.sum()
Z = A + 1j * np.cumprod(a); c += np.sum(Z).imag
Z = 3.0 + 1j * A; c += np.sum(Z).imag + np.sum(Z).real
z = A + 1j * A; z *= A; z[0] = A[0]; c += z.sum().real - z.sum().imag
for i, v in enumerate(A): c += i * v
for v, w in zip(A, A): c += v * w
c += sum(v * i for i, v in enumerate(A))
c += sum(v * w for v, w in zip(A, A))
c += [v for v in A][1]
y = [v for v in A if v > 0.5]; c += len(y)
y = [v for v in a if A[0] > 0.5]; c += len(y)
y = [A for _ in range(2)]; c += y[1][0] - y[0][2]
u, v, w = A; c += v * w
q = A; q[0] += 1; c += q[0]
a += A
""".strip().splitlines()

#: Statements whose places, keywords, bounds and what they run over act: with numbers N
#: and places K; m is a matrix, b a vector.
PLACES = """
p = P(v=N, u=N); c += p.u - 2 * p.v
p = P(v=N, u=a[0]); c += p.u - 2 * p.v
p = D(v=N, u=N); c += p.u - 2 * p.v
p = P(1.0, 2.0)._replace(v=N, u=N); c += p.u - 2 * p.v
m[int(a[0]) % 3] += N
b[int(a[0]):] += N
m[K] += N
c += (m[K] - m[K]).sum()
c += m[K] @ m[K]
u, v = m[K], m[K]; c += u @ v
y = m[K] * N; c += y.sum()
w = b[:K + 1] * N; c += w.sum()
m[:, K] *= N
m[K, 1:] *= N
m[K] -= m[K] * 0.5
c += m[K].dot(m[:, K])
b[:K] += N
b[K:] += N
d = m[K] - m[K]; c += np.sqrt(np.sum(d * d))
c += np.mean((m[K] - m[K]) ** 2)
a[:] = m[K] + m[K]
m[:, K] -= m[:, K].mean()
m[K] = m[K] + m[K]
s = np.zeros(3); s[:K] = a[:K]; c += s[0] - s[1] + s[2]
c += (b[K:] + b[K:]).sum()
c += (b[K:] + b[:-K]).sum()
s = [1.0, 2.0, 3.0]; s[K] += 5.0; c += s[0] + 10 * s[1] + 100 * s[2]
s = [N] * 3; c += s[0] + 10 * s[1] + 100 * s[2]
s = [(0.1, 1.0), (0.2, 2.0), (0.3, 3.0)]; x, y = s[K]; c += x - y
s = []; s.append(1.0); s.append(2.0); s.append(4.0); s[K] *= 5.0; c += s[0] - s[1]
for x, y in zip((N, N), (a[0], N)): c = 3 * c + x - 2 * y
for x in reversed([N, N]): c = 3 * c + x
for i, x in enumerate(reversed((N, a[0]))): c = 3 * c + x + i
for x, y in zip(range(K, 5), a): c = 3 * c + x - 2 * y + N
for i in reversed(range(K, 3)): c += N * i
for i in range(K + 2): c = 3 * c + N
s = [2.0 for _ in range(K)]; c += len(s) + a[0]
s = [1.0 for _ in range(2) for _ in range(K)]; c += len(s) + a[0]
s = [x for x in a[K:]]; c += len(s)
c += sum(a[1] * i for i in range(K + 1))
a[a > 0.4] += two(a)[1]
m[K] += two(a)[1]
c += (row(m, a) - row(m, a) * N).sum()
c += row(m, a) @ row(m, a) + row(m, a) @ m[K]
for i in reversed(range(3)): c = 3 * c + N * i
i = np.array([1, 2]); a[i] += two(a)[1]
b[b < N] *= b[b < N]
d = {"u": 5.0}; x = d.get("u", N); c += x
x, y = divmod(two(a)[1], two(a)[0]); c += x + y
c += a[1] + two(a)[1]
c += (m[K] * N).sum() if c > 0.3 else (m[K] - N).sum()
while (m[K] * N).sum() < 40.0 and c < 3: c += 1
""".strip().splitlines()

CASES = [
    *(
        re.sub(r"\bK\b", k, re.sub(r"\bN\b", n, s))
        for s in PLACES
        for n, k in (("h(a)", "k(a)"), ("gen.random()", "gen.integers(0, 3)"))
    ),
    *(
        re.sub(r"\bN\b", n, s)
        for s in NUMBERS
        for n in ("h(a)", "gen.normal(0.7, 0.2)")
    ),
    *(re.sub(r"\bA\b", n, s) for s in ARRAYS for n in ("hv(a)", "gen.random(size=3)")),
]
#: What is outside of the language, in one of its forms.
REFUSED = ("for _ in range(2) for _ in",)
#: Where a length that turns out to be one is stretched, which `ValueError` says here.
STRETCHED = ("s = np.zeros(3); s[:k", "c += (b[k", "b[b <")
END = "    return c + np.sum(a) + np.sum(b * b) + np.sum(m * np.outer(a, b))\n"
X = np.array([0.3, 0.5, 0.7])


def outcome(call: Callable[..., Any]) -> tuple[float, list[float], int]:
    """The value, what the array holds, and where the generator is."""
    gen, a, b = np.random.default_rng(5), X.copy(), X[::-1] * 3.0
    m = np.arange(1.0, 10.0).reshape(3, 3) ** 1.5
    value = call(a, b, m, 0.4, gen)
    left = [*a, *b, *m.ravel()]
    return value, left, gen.bit_generator.state["state"]["state"]


@pytest.mark.parametrize("statement", CASES)
def test_what_acts_happens_once(statement: str, tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in statement.split("; "))
    path = tmp_path / "written.py"
    path.write_text(f"{HEAD}\ndef f(a, b, m, c, gen):\n{body}{END}")
    f = runpy.run_path(str(path))["f"]
    try:
        made = pyrev.differentiable(f, target="python")
        found = outcome(made.primal)
    except ValueError as error:
        if "different shapes" in str(error) and statement.startswith(STRETCHED):
            return
        raise
    except pyrev.UnsupportedError:
        assert any(word in statement for word in REFUSED), statement
        return
    try:
        value, array, state = outcome(f)
    except (ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            outcome(made.primal)
        return
    assert found == (pytest.approx(value, rel=1e-12), pytest.approx(array), state)

    def pushed(a: Any, *more: Any) -> Any:
        result, moved = pyrev.jvp(made, a, *more, tangents={"a": np.ones(3)})
        assert np.isfinite(moved["return"])
        return result

    assert outcome(pushed) == (pytest.approx(value), pytest.approx(array), state)
    assert outcome(pyrev.grad(made))[2] == state


def go(y):  # type: ignore[no-untyped-def]
    return y[0] < 5.0


def step(y):  # type: ignore[no-untyped-def]
    y[0] += 1.0
    return y[0] * y[1]


def a_helper_moves_what_decides(x):  # type: ignore[no-untyped-def]
    out = []
    y = x.copy()
    while go(y):
        s = step(y)
        out.append(s)
    return np.array(out)


def test_a_list_is_not_counted_ahead_without_what_decides() -> None:
    """Counted without the step it would never end."""
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(a_helper_moves_what_decides)
