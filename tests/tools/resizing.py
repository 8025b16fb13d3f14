"""Random programs in which arrays get other lengths: ``g = g[1:]`` in loops.

python -m tests.tools.resizing --count 2000 --start 1 --jobs 2
python -m tests.tools.resizing --seed 4711      # one program, its adjoint, its verdict

An array is cut, halved, filtered and made anew in loops, inside other loops and on some
paths only, and read in many ways in between. Each program is judged by CPython: its
value, and its gradient by central differences of two steps.
"""

from __future__ import annotations

import random
import sys
import warnings
from typing import Any

import numpy as np

import pyrev
from tests.tools.hunt import defined, hunt

N = 9
MADE = ("f.copy()", "f * 0.9", "f", "f[:5] + x[1:6]", "x[1:]")
#: What may stand in the loop; `shorter` says which of it ends a `while`.
STEPS: tuple[tuple[str, ...], ...] = (
    ("g = g[1:]",),
    ("g = 0.7 * g[:-1] * g[1:] + 0.2",),
    ("g = np.diff(g) + 0.3",),
    (
        "h = np.empty(len(g) - 1)",
        "for j in range(h.shape[0]):",
        "    h[j] = 0.5 * g[j] * g[j + 1] + 0.1 * j",
        "g = h",
    ),
    ("s += np.sum(g * g)",),
    ("s += g[0] * len(g)",),
    ("h = g.copy()", "h[0] = 0.5 * h[0]", "s += np.sum(h * g)"),
    (
        "t = np.zeros(g.shape[0])",
        "for j in range(t.shape[0]):",
        "    t[j] = g[j] * x[j]",
        "s += t[-1] * t[0]",
    ),
    ("n = g.shape[0]", "s += n * g[n - 1]"),
    ("g = g * 1.1",),
    ("g[0] = 0.5 * g[-1] * g[0]",),
    ("if g[0] > 0.6:", "    g = g[:-1]"),
    ("if g[0] > 0.6:", "    g = g * 0.8"),
    ("g = g[g > 0.3]",),
    ("g = g[::-1]",),
    ("for v in g:", "    s += v * v"),
    ("u = g[:-1]", "s += np.sum(u) * u[0]"),
    ("w = np.sort(g)", "s += w[0] * w[-1]"),
    ("g, n = g[1:], g.shape[0]", "s += n * g[0]"),
    ("g = np.concatenate((g[:1], g[2:]))",),
)
SHORTER = ("g = g[1:]", "g = g[:-1] * g[1:]", "g = g[:len(g) - 1]")


def generated(seed: int) -> str:
    """A program."""
    draw = random.Random(seed)
    lines = ["f = x.copy()", "s = 0.0"]
    outer = draw.random() < 0.6
    inside = [f"g = {draw.choice(MADE)}"]
    body = [line for _ in range(draw.randint(1, 4)) for line in draw.choice(STEPS)]
    kind = draw.random()
    if kind < 0.4:
        inside.append(f"while len(g) > {draw.choice((1, 2, 3))}:")
        body.append(draw.choice(SHORTER))
    elif kind < 0.8:
        inside.append(f"for k in range({draw.choice((1, 2, 3))}):")
    else:
        inside.append("for k in range(g.shape[0] - 2):")
    inside += [f"    {line}" for line in body]
    inside.append("s += np.sum(g * g) * g.shape[0]")
    if draw.random() < 0.5:
        inside.append("f[0] = 0.9 * s")
    if outer:
        if draw.random() < 0.5:
            inside.append("f = f * 0.95")
        lines.append(f"for i in range({draw.choice((1, 2, 3))}):")
        inside = [f"    {line}" for line in inside]
    lines += [*inside, "return s + np.sum(f)"]
    return "\n".join(
        [
            "import numpy as np",
            "",
            "",
            "def f(x):",
            *(f"    {line}" for line in lines),
            "",
        ]
    )


def judged(seed: int, target: str = "python") -> tuple[int, str, str]:
    """Whether the program of a seed is right, refused or wrong, and in what."""
    plain = defined(generated(seed), f"<resizing {seed}>")
    x = 0.4 + 0.6 * np.random.default_rng(seed).random(N)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = plain(x.copy())
            slopes = [
                [(plain(x + h * e) - plain(x - h * e)) / (2 * h) for e in np.eye(N)]
                for h in (1e-6, 3e-6)
            ]
        except (IndexError, ValueError):
            return seed, "illegal", ""
        one, other = map(np.array, slopes)
        tame = np.isfinite(value) and abs(value) < 1e6
        if not tame or not np.allclose(one, other, rtol=1e-4, atol=1e-5):
            return seed, "not tame", ""
        try:
            f = pyrev.differentiable(plain, target=target)
            found: Any = f(x.copy()), pyrev.grad(f)(x.copy())["x"]
        except pyrev.UnsupportedError as error:
            return seed, "refused", str(error)
        except Exception as error:  # noqa: BLE001 (that is what is looked for)
            return seed, "wrong", f"{type(error).__name__}: {error}"
    if not np.allclose(found[0], value, rtol=1e-10):
        return seed, "wrong", f"value {found[0]} for {value}"
    scale = 1.0 + float(np.max(np.abs(one)))
    if not np.allclose(found[1], one, rtol=1e-4, atol=1e-5 * scale):
        return seed, "wrong", f"gradient {found[1]} for {one}"
    return seed, "right", ""


def shown(seed: int) -> None:
    text = generated(seed)
    f = pyrev.differentiable(defined(text, f"<resizing {seed}>"), target="python")
    print(text, f.adjoint.source, sep="\n")


if __name__ == "__main__":
    sys.exit(hunt("resizing", judged, shown, sys.argv[1:]))
