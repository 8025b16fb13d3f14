"""Random programs about names of arrays: who is whom, and since when.

python -m tests.tools.aliases --count 5000 --start 1 --jobs 2
python -m tests.tools.aliases --seed 4711      # one program and its verdict

Arrays are short and the arithmetic is plain; what is drawn is which names stand for
which arrays: bound again, exchanged, lent to helpers that return them, written while
they have other names, on some paths, in loops that run so often as an argument says.
Each program is judged by CPython: its results and what it leaves in its arguments, and
one directional derivative by central differences.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import pyrev
from tests.tools.hunt import defined, hunt

_SIZE = 3


class _Writer:
    """One program, line by line."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.helpers: list[tuple[str, int, int]] = []
        self.left = 0

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def program(self) -> str:
        for k in range(self.draw.choice((0, 1, 1, 2))):
            self.helper(f"h{k}")
        self.put(0, "def f(x, y, n):")
        self.put(1, "s = 0.0")
        names = ["x", "y"]
        if self.draw.random() < 0.5:  # an array of its own, which helpers may return
            names.append("u")
            self.put(1, f"u = {self.draw.choice(('0.5 * x', 'x.copy()', 'x + y'))}")
        self.left = self.draw.randint(5, 11)
        self.block(1, names, True)
        results = self.draw.sample(names, min(2, len(names)))
        reads = " + ".join(f"np.sum({k + 1.0} * {n})" for k, n in enumerate(results))
        self.put(1, f"return s + {reads}")
        return "import numpy as np\n\n\n" + "\n".join(self.lines) + "\n"

    def helper(self, name: str) -> None:
        count = self.draw.choice((1, 2, 2))
        names = ["a", "b"][:count]
        returned = self.draw.choice((0, 1, 1, 1, 2))
        self.put(0, f"def {name}({', '.join(names)}, n):")
        self.left = self.draw.randint(1, 5)
        self.block(1, names, False)
        if returned == 1 and self.draw.random() < 0.25:
            self.put(1, f"if n > {self.draw.randint(0, 2)}:")
            self.put(2, f"return {self.draw.choice(names)}")
        if returned:
            given = [self.draw.choice(names) for _ in range(returned)]
            self.put(1, f"return {', '.join(given)}")
        self.put(0, "")
        self.put(0, "")
        self.helpers.append((name, count, returned))

    def block(self, depth: int, names: list[str], scalar: bool) -> None:
        """Statements; what is named in an inner block alone is not used behind it."""
        count = max(1, self.left if depth == 1 else self.draw.randint(1, 3))
        before = len(self.lines)
        while count > 0 and self.left > 0:
            count -= 1
            self.left -= 1
            self.statement(depth, names, scalar)
        if len(self.lines) == before:
            self.put(depth, f"{names[0]}[0] *= 0.5")

    def statement(self, depth: int, names: list[str], scalar: bool) -> None:
        draw = self.draw

        def pick() -> str:
            return draw.choice(names)

        kind = draw.random()
        if depth < 3 and kind < 0.24:
            if draw.random() < 0.5:
                self.put(depth, f"if n > {draw.randint(0, 2)}:")
                self.block(depth + 1, list(names), scalar)
                if draw.random() < 0.4:
                    self.put(depth, "else:")
                    self.block(depth + 1, list(names), scalar)
            else:
                often = draw.choice(("n", "n", "2", "3"))
                self.put(depth, f"for t{depth} in range({often}):")
                if draw.random() < 0.15:
                    self.put(depth + 1, f"if t{depth} == {draw.randint(0, 1)}:")
                    self.put(depth + 2, draw.choice(("continue", "break")))
                self.block(depth + 1, list(names), scalar)
            return
        if kind < 0.32:
            u = pick()
            target = draw.choice((u, u, "u", "v"))
            self.put(depth, f"{target} = {pick()}")
        elif kind < 0.46:
            target = draw.choice((pick(), "u", "v"))
            value = draw.choice(
                ("0.5 * {}", "{}.copy()", "{} + 0.1 * {}", "{}[:]", "{}[::-1]")
            )
            self.put(depth, f"{target} = {value.format(pick(), pick())}")
        elif kind < 0.6 and len(names) > 1:
            pair = draw.sample(names, 2)
            self.put(depth, f"{pair[0]}, {pair[1]} = {pair[1]}, {pair[0]}")
            target = pair[0]
        elif kind < 0.76 and self.helpers:
            name, count, returned = draw.choice(self.helpers)
            given = ", ".join(pick() for _ in range(count))
            into = [draw.choice((pick(), pick(), "u", "v")) for _ in range(returned)]
            if len(set(into)) < returned:
                into = []
            to = f"{', '.join(into)} = " if into and returned else ""
            if returned and not to:
                return
            self.put(depth, f"{to}{name}({given}, n)")
            names += [n for n in dict.fromkeys(into) if n not in names]
            return
        elif kind < 0.94 or not scalar:
            i, j = draw.randrange(_SIZE), draw.randrange(_SIZE)
            self.put(
                depth,
                draw.choice(
                    (
                        f"{pick()}[{i}] = 0.5 * {pick()}[{j}] + {draw.randint(1, 3)}.0",
                        f"{pick()}[:] = 0.5 * {pick()}",
                        f"{pick()} += 0.25 * {pick()}",
                    )
                ),
            )
            return
        else:
            self.put(depth, f"s += {pick()}[{draw.randrange(_SIZE)}]")
            return
        if target not in names:
            names.append(target)


def generated(seed: int) -> str:
    """The text of one program."""
    return _Writer(seed).program()


def _function(text: str, seed: int) -> Callable[..., Any]:
    return defined(text, f"<aliases {seed}>")


def _run(f: Callable[..., Any], x: Any, y: Any, n: int) -> list[Any]:
    x, y = x.copy(), y.copy()
    return [f(x, y, n), x, y]


def judged(seed: int) -> tuple[int, str, str]:
    """The seed, "right", "refused", "no program" or "wrong", and what was found."""
    text = generated(seed)
    plain = _function(text, seed)
    rng = np.random.default_rng(seed)
    x, y, u, v = rng.uniform(0.5, 1.5, (4, _SIZE))
    try:
        wanted = [_run(plain, x, y, n) for n in range(4)]
    except UnboundLocalError:
        return seed, "no program", ""
    try:
        f = pyrev.differentiable(plain, target="python")
    except pyrev.UnsupportedError as error:
        return seed, "refused", str(error)
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        return seed, "wrong", f"{type(error).__name__}: {error}"
    try:
        for n, want in enumerate(wanted):
            a, b = x.copy(), y.copy()
            got = [f.primal(a, b, n), a, b]
            for mine, right in zip(got, want, strict=True):
                if not np.allclose(mine, right, rtol=1e-12, atol=0):
                    return seed, "wrong", f"n={n}: {got} for {want}"
            h = 1e-6
            ahead, behind = (_run(plain, x + k * u, y + k * v, n) for k in (h, -h))
            weights = [1.0, u + 1.0, v + 1.0]
            slope = sum(
                np.sum(w * (p - q) / (2 * h))
                for w, p, q in zip(weights, ahead, behind, strict=True)
            )
            arrays = {"x": x.copy(), "y": y.copy()}
            _, pull = pyrev.vjp(f, **arrays, n=n)
            # What the program does not write has no cotangent: it is what it was.
            given = {"x": weights[1], "y": weights[2]}
            writes = {of for _, of in pull._outputs if isinstance(of, str)}
            kept = {name: given[name] for name in given if name in writes}
            gradients = dict(pull(1.0, cotangents=kept).items())
            found = sum(
                np.sum((gradients[name] + (name not in kept) * given[name]) * along)
                for name, along in {"x": u, "y": v}.items()
            )
            if not abs(found - slope) <= 1e-6 * max(1.0, abs(slope)):
                return seed, "wrong", f"n={n}: slope {found} for {slope}"
    except (pyrev.UnsupportedError, pyrev.ArgumentError) as error:
        return seed, "refused", str(error)
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        return seed, "wrong", f"{type(error).__name__}: {error}"
    return seed, "right", ""


def shown(seed: int) -> None:
    print(generated(seed))


if __name__ == "__main__":
    sys.exit(hunt("aliases", judged, shown, sys.argv[1:]))
