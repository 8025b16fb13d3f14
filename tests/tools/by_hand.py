"""The generated adjoints beside those that were derived by hand: lines, tokens, errors.

python -m tests.tools.by_hand                    # the table
python -m tests.tools.by_hand --show wave        # both texts, as they are counted
python -m tests.tools.by_hand --out before.json  # what the texts of the corpora have
python -m tests.tools.by_hand --compare before.json

Comments, docstrings and imports are left out, and both are laid out by one formatter at
100 columns. The error is that of a derivative along random directions, against central
differences of the plain function in CPython.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import io
import json
import pkgutil
import subprocess
import sys
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np

import pyrev
from tests import hand
from tests.corpora.everything import EVERY

NAMES = sorted(m.name for m in pkgutil.iter_modules(hand.__path__))
#: Every so many functions of the corpora are counted: sixty of them.
EVERY_SO_MANY = 12
SIZES = (3, 5)

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Pair:
    """A function, its adjoint by hand, and how to call it."""

    name: str
    plain: Callable[..., Any]
    by_hand: Callable[..., Any]
    arguments: Callable[[int, np.random.Generator], dict[str, Any]]
    text: str


def load(name: str) -> Pair:
    """The function of a module of `tests.hand`."""
    module = importlib.import_module(f"tests.hand.{name}")
    text = Path(str(module.__file__)).read_text()
    by_hand = getattr(module, f"{name}_adjoint")
    return Pair(name, getattr(module, name), by_hand, module.arguments, text)


def bare(text: str, function: str) -> str:
    """The definition of a function, laid out, without comments and docstring."""
    found = [
        n
        for n in ast.parse(text).body
        if isinstance(n, ast.FunctionDef) and n.name == function
    ]
    (definition,) = found
    if ast.get_docstring(definition) is not None:
        del definition.body[0]
    command = [sys.executable, "-m", "ruff", "format", "--line-length=100", "-"]
    return subprocess.run(
        command,
        input=ast.unparse(definition) + "\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def lines(text: str) -> int:
    """How many lines have text."""
    return sum(bool(line.strip()) for line in text.splitlines())


def tokens(text: str) -> int:
    """How many tokens a text has, layout left out."""
    read = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(t.type not in _LAYOUT for t in read)


def generated(pair: Pair) -> str:
    """The text of the generated adjoint."""
    return str(pyrev.differentiable(pair.plain, target="python").adjoint.source)


def error(
    pair: Pair, adjoint: Callable[..., Any], n: int, rng: np.random.Generator
) -> float:
    """How far an adjoint is off along a random direction, relative to the slope."""
    given = pair.arguments(n, rng)
    floats = [
        name
        for name, v in given.items()
        if isinstance(v, float) or getattr(v, "dtype", np.dtype(int)).kind == "f"
    ]
    along = {name: rng.normal(size=np.shape(given[name])) for name in floats}

    def run(step: float) -> list[Any]:
        """What the function writes and returns, a little further along."""
        moved = {
            name: v + step * along[name] if name in along else v
            for name, v in given.items()
        }
        moved = {name: _own(v) for name, v in moved.items()}
        result = pair.plain(**moved)
        written = [
            v
            for name, v in moved.items()
            if isinstance(v, np.ndarray) and name in writes
        ]
        return written if result is None else [*written, result]

    writes = _written(pair, given)
    h = 1e-5
    ends = run(h), run(-h)
    weights = [rng.normal(size=np.shape(v)) for v in ends[0]]
    slope = sum(
        float(np.sum(w * (a - b))) / (2 * h)
        for w, a, b in zip(weights, *ends, strict=True)
    )
    passed = [w if w.ndim else float(w) for w in weights]
    before = {name: _own(v) for name, v in given.items()}
    found = adjoint(*given.values(), *passed)
    for name, v in before.items():
        assert np.array_equal(v, given[name]), f"{pair.name}: {name} is changed"
    found = found if isinstance(found, tuple) else (found,)
    mine = sum(
        float(np.sum(d * along[name])) for name, d in zip(floats, found, strict=True)
    )
    return abs(mine - slope) / max(1.0, abs(slope))


def _own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _written(pair: Pair, given: dict[str, Any]) -> list[str]:
    """The arrays that the function writes."""
    moved = {name: _own(v) for name, v in given.items()}
    pair.plain(**moved)
    return [name for name, v in moved.items() if not np.array_equal(v, given[name])]


def worst(pair: Pair, adjoint: Callable[..., Any]) -> float:
    """The largest error at a few sizes."""
    return max(error(pair, adjoint, n, np.random.default_rng(n)) for n in SIZES)


def run_text(text: str, function: str) -> Callable[..., Any]:
    """A function of a text."""
    space: dict[str, Any] = {}
    exec(compile(text, f"<{function}>", "exec"), space)  # noqa: S102
    made: Callable[..., Any] = space[function]
    return made


def table() -> int:
    """Print both beside each other."""
    print(f"{'':12}{'lines':>12}{'':8}{'tokens':>14}{'':10}errors")
    ratios: list[tuple[float, float]] = []
    for name in NAMES:
        pair = load(name)
        text = generated(pair)
        ours, theirs = (bare(t, f"{name}_adjoint") for t in (text, pair.text))
        made = run_text(text, f"{name}_adjoint")
        errors = worst(pair, made), worst(pair, pair.by_hand)
        counts = [(f(ours), f(theirs)) for f in (lines, tokens)]
        ratio = tuple(a / b for a, b in counts)
        ratios.append((ratio[0], ratio[1]))
        shown = [
            f"{a:5d} for {b:3d} {r:5.2f}"
            for (a, b), r in zip(counts, ratio, strict=True)
        ]
        print(f"{name:12}{'   '.join(shown)}   {errors[0]:.0e} {errors[1]:.0e}")
    for k, what in enumerate(("lines", "tokens")):
        some = [r[k] for r in ratios]
        middle = geometric_mean(some)
        print(f"{what}: geometric mean {middle:.2f}, at most {max(some):.2f}")
    return 0


def counted() -> dict[str, tuple[int, int]]:
    """Lines and tokens of the adjoints of some functions of the corpora."""
    found = {}
    for name in sorted(EVERY)[::EVERY_SO_MANY]:
        try:
            f = pyrev.differentiable(EVERY[name].plain, target="python")
            source = f.adjoint.source
        except pyrev.UnsupportedError:
            continue
        text = bare(source, f"{EVERY[name].plain.__name__}_adjoint")
        found[name] = lines(text), tokens(text)
    return found


def compare(before: dict[str, Sequence[int]], now: dict[str, tuple[int, int]]) -> int:
    """Print what has changed; 1 if a text is longer."""
    both = sorted(before.keys() & now.keys())
    longer = []
    for name in both:
        (a, b), (c, d) = before[name], now[name]
        if c > a or d > b:
            longer.append(name)
        print(f"{name:36} lines {a:4d} -> {c:4d}   tokens {b:5d} -> {d:5d}")
    for k, what in enumerate(("lines", "tokens")):
        middle = geometric_mean([now[n][k] / before[n][k] for n in both])
        print(f"{what}: geometric mean {middle}")
    print("longer:", *longer)
    return int(bool(longer))


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", choices=NAMES)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", type=Path)
    options = parser.parse_args(argv)
    if options.show:
        pair = load(options.show)
        for text in (pair.text, generated(pair)):
            print(bare(text, f"{options.show}_adjoint"))
        return 0
    if options.out:
        options.out.write_text(json.dumps(counted(), indent=1))
        return 0
    if options.compare:
        return compare(json.loads(options.compare.read_text()), counted())
    return table()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
