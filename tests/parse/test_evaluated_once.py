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
import numpy as np

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
b = d = N; c += b - d * 2
b, d = N, N; c += b - 3 * d
b = [N, c]; c += b[0] * b[1]
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
b = A; b[0] += 1; c += b[0]
a += A
""".strip().splitlines()

CASES = [
    *(
        re.sub(r"\bN\b", n, s)
        for s in NUMBERS
        for n in ("h(a)", "gen.normal(0.7, 0.2)")
    ),
    *(re.sub(r"\bA\b", n, s) for s in ARRAYS for n in ("hv(a)", "gen.random(size=3)")),
]
X = np.array([0.3, 0.5, 0.7])


def outcome(call: Callable[..., Any]) -> tuple[float, list[float], int]:
    """The value, what the array holds, and where the generator is."""
    gen, a = np.random.default_rng(5), X.copy()
    value = call(a, 0.4, gen)
    return value, a.tolist(), gen.bit_generator.state["state"]["state"]


@pytest.mark.parametrize("statement", CASES)
def test_what_acts_happens_once(statement: str, tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in statement.split("; "))
    path = tmp_path / "written.py"
    path.write_text(f"{HEAD}\ndef f(a, c, gen):\n{body}    return c + np.sum(a)\n")
    f = runpy.run_path(str(path))["f"]
    made = pyrev.differentiable(f, target="python")
    found = outcome(made.primal)
    value, array, state = outcome(f)
    assert found == (pytest.approx(value, rel=1e-12), pytest.approx(array), state)

    def pushed(a: Any, c: float, gen: Any) -> Any:
        result, moved = pyrev.jvp(made, a, c, gen, tangents={"a": np.ones(3)})
        assert np.isfinite(moved["return"])
        return result

    assert outcome(pushed) == (pytest.approx(value), pytest.approx(array), state)
    assert outcome(pyrev.grad(made))[2] == state
