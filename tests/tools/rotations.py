"""Random programs in which arrays change places: ``u, v = v, u`` in loops.

python -m tests.tools.rotations --count 2000 --start 1 --jobs 2
python -m tests.tools.rotations --seed 4711      # one program, its adjoint, its verdict

Two to four arrays are made, changed and exchanged in loops of all kinds, on all paths
or on some. Each program is judged by CPython: its results, and a directional derivative
by central differences, for zero to five iterations.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pyrev
from tests.tools.hunt import defined, hunt

STEPS = range(6)
MADE = ("a.copy()", "np.zeros_like(a)", "np.zeros(a.shape)", "0.5 * a")
VALUES = (
    "np.sin({s})",
    "{s} * c[i]",
    "{s} * {s} * 0.3",
    "{s} + 0.1 * {before}",
    "{t} * {s}",
    "{s} / (1.5 + {t} * {t})",
    "np.cos({s}) - c[0] * {t}",
)


def generated(seed: int) -> tuple[str, int]:
    """A program, and how many axes its arrays have."""
    draw = random.Random(seed)
    rank = draw.choice((1, 1, 2))
    names = ["u", "v", "w", "z"][: draw.choice((2, 3, 3, 4))]
    lines = [f"{n} = {draw.choice(MADE)}" for n in names]
    if draw.random() < 0.15:
        lines[-1] = f"{names[-1]} = a"
    history = draw.random() < 0.3
    if history:
        lines.append(f"h = np.zeros((steps + 1, {', '.join(_sizes(rank))}))")
    kind = draw.choice(("for", "for", "for", "reversed", "while", "break"))
    body = _update(draw, names, rank)
    exchange = _exchange(draw, names)
    if draw.random() < 0.25:
        exchange = ["if c[0] > 0.5:", *_in(exchange)]
    if history:
        body.append(f"h[{'t' if kind != 'while' else '0'}] = {draw.choice(names)}")
    body = [*exchange, *body] if draw.random() < 0.2 else [*body, *exchange]
    if draw.random() < 0.2:
        body += _exchange(draw, names[:2])
    lines += _loop(kind, body)
    if draw.random() < 0.3:
        lines += ["for q in range(2):", *_in(exchange)]
    out = draw.choice(names)
    if history:
        lines.append(f"return {out}, h")
    else:
        lines.append(
            draw.choice((f"return {out}", f"return np.sum({out} * a)", "return u, v"))
        )
    text = "\n".join(["def f(a, c, steps):", *_in(lines)])
    return f"import numpy as np\n\n\n{text}\n", rank


def _sizes(rank: int) -> list[str]:
    return [f"a.shape[{k}]" for k in range(rank)]


def _in(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _update(draw: random.Random, names: Sequence[str], rank: int) -> list[str]:
    """Loops over all elements but the first, which change one array or two."""
    loops = ["for i in range(1, a.shape[0]):", "for k in range(a.shape[1]):"][:rank]
    behind = ", k" * (rank - 1)
    target, source = draw.sample(names, 2)
    value = draw.choice(VALUES).format(
        s=f"{source}[i{behind}]",
        t=f"{target}[i{behind}]",
        before=f"{source}[i - 1{behind}]",
    )
    inner = [f"{target}[i{behind}] {draw.choice(('=', '=', '+=', '-='))} {value}"]
    if draw.random() < 0.4:
        p, q = draw.sample(names, 2)
        inner.append(f"{p}[i{behind}] += 0.2 * {q}[i{behind}]")
    for loop in reversed(loops):
        inner = [loop, *_in(inner)]
    return inner


def _exchange(draw: random.Random, names: Sequence[str]) -> list[str]:
    order = list(names)
    while order == list(names):
        draw.shuffle(order)
    return [f"{', '.join(names)} = {', '.join(order)}"]


def _loop(kind: str, body: Sequence[str]) -> list[str]:
    match kind:
        case "while":
            return ["t = 0", "while t < steps:", *_in([*body, "t += 1"])]
        case "reversed":
            return ["for t in range(steps - 1, -1, -1):", *_in(body)]
        case "break":
            return [
                "for t in range(steps):",
                *_in(["if t > 3:", "    break", *body]),
            ]
    return ["for t in range(steps):", *_in(body)]


def _function(text: str, seed: int) -> Callable[..., Any]:
    return defined(text, f"<rotations {seed}>")


def judged(seed: int) -> tuple[int, str, str]:
    """The seed, "right", "refused" or "wrong", and what was found."""
    text, rank = generated(seed)
    plain = _function(text, seed)
    try:
        f = pyrev.differentiable(plain, target="python")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = next(filter(None, (_wrong(plain, f, rank, n) for n in STEPS)), "")
    except pyrev.UnsupportedError as error:
        return seed, "refused", str(error)
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        return seed, "wrong", f"{type(error).__name__}: {error}"
    return (seed, "wrong", found) if found else (seed, "right", "")


def _wrong(plain: Callable[..., Any], f: Any, rank: int, steps: int) -> str:
    """What is wrong for so many steps; nothing if nothing is."""
    rng = np.random.default_rng(steps)
    a, u = 0.5 * rng.normal(size=(2, *(4, 2)[:rank]))
    c, v = rng.normal(size=(2, 4))

    def run(step: float) -> tuple[Any, ...]:
        found = plain(a + step * u, c + step * v, steps)
        return found if isinstance(found, tuple) else (found,)

    wanted = run(0.0)
    values, pull = pyrev.vjp(f, a.copy(), c.copy(), steps)
    got = values if isinstance(values, tuple) else (values,)
    if not all(map(np.array_equal, got, wanted)):
        return f"steps={steps}: {got} for {wanted}"
    weights = [rng.normal(size=np.shape(w)) for w in wanted]
    slope = sum(
        float(np.sum(w * (p - q))) / 2e-6
        for w, p, q in zip(weights, run(1e-6), run(-1e-6), strict=True)
    )
    given = tuple(w if w.ndim else float(w) for w in weights)
    gradients = dict(pull(given if len(given) > 1 else given[0]).items())
    mine = sum(float(np.sum(gradients[n] * along)) for n, along in (("a", u), ("c", v)))
    if abs(mine - slope) <= 1e-5 * max(1.0, abs(slope)):
        return ""
    return f"steps={steps}: slope {mine} for {slope}"


def shown(seed: int) -> None:
    text, _ = generated(seed)
    f = pyrev.differentiable(_function(text, seed), target="python")
    print(text, f.adjoint.source, sep="\n")


if __name__ == "__main__":
    sys.exit(hunt("rotations", judged, shown, sys.argv[1:]))
