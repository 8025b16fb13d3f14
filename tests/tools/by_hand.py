"""The generated adjoints and tangents beside those that were derived by hand.

python -m tests.tools.by_hand                    # two tables: lines, tokens, errors
python -m tests.tools.by_hand --show wave        # both adjoints, as they are counted
python -m tests.tools.by_hand --out before.json  # what the adjoints of the corpora have
python -m tests.tools.by_hand --compare before.json

The last three take `--mode tangent`. Comments, docstrings and imports are left out, and
both are laid out by one formatter at 100 columns. The error is that of a derivative
along random directions, against central differences of the plain function in CPython.
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
MODES = ("adjoint", "tangent")

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
    """A function, its derivative by hand, and how to call the function."""

    name: str
    mode: str
    plain: Callable[..., Any]
    by_hand: Callable[..., Any]
    arguments: Callable[[int, np.random.Generator], dict[str, Any]]
    text: str

    @property
    def derivative(self) -> str:
        """The name that its derivative has in both texts."""
        return f"{self.name}_{self.mode}"


def load(name: str, mode: str) -> Pair:
    """The function of a module of `tests.hand`, with its adjoint or its tangent."""
    module = importlib.import_module(f"tests.hand.{name}")
    text = Path(str(module.__file__)).read_text()
    by_hand = getattr(module, f"{name}_{mode}")
    return Pair(name, mode, getattr(module, name), by_hand, module.arguments, text)


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
    """The text of the generated derivative."""
    made = pyrev.differentiable(pair.plain, target="python")
    return str(getattr(made, pair.mode).source)


def error(
    pair: Pair, derivative: Callable[..., Any], n: int, rng: np.random.Generator
) -> float:
    """How far a derivative is off along a random direction, relative to the slopes."""
    given = pair.arguments(n, rng)
    along = {
        name: rng.normal(size=np.shape(v))[()]
        for name, v in given.items()
        if isinstance(v, float) or getattr(v, "dtype", np.dtype(int)).kind == "f"
    }
    h = 1e-5
    ends = outputs(pair, given, along, h), outputs(pair, given, along, -h)
    slopes = [(a - b) / (2 * h) for a, b in zip(*ends, strict=True)]
    if pair.mode == "tangent":
        moved = forward(pair, derivative, given, along)
        return max(_apart(a, b) for a, b in zip(moved, slopes, strict=True))
    weights = [rng.normal(size=np.shape(v))[()] for v in slopes]
    slope = sum(np.sum(w * v) for w, v in zip(weights, slopes, strict=True))
    return _apart(backward(pair, derivative, given, along, weights), slope)


def outputs(
    pair: Pair, given: dict[str, Any], along: dict[str, Any], step: float
) -> list[Any]:
    """What the function writes and returns, a little further along."""
    moved = {
        name: v + step * along[name] if name in along else v
        for name, v in _own(given).items()
    }
    result = pair.plain(**moved)
    written = [moved[name] for name in _written(pair, given)]
    return written if result is None else [*written, result]


def forward(
    pair: Pair,
    tangent: Callable[..., Any],
    given: dict[str, Any],
    along: dict[str, Any],
) -> list[Any]:
    """The tangents of what the function writes and returns, which must be right."""
    values, dots = _own(given), _own(along)
    found = tangent(*values.values(), *dots.values())
    written = _written(pair, given)
    made = [values[name] for name in written], [dots[name] for name in written]
    if found is not None:
        for some, one in zip(made, found, strict=True):
            some.append(one)
    for one, right in zip(made[0], outputs(pair, given, {}, 0.0), strict=True):
        assert np.allclose(one, right, rtol=1e-12), f"{pair.name}: another value"
    return made[1]


def backward(
    pair: Pair,
    adjoint: Callable[..., Any],
    given: dict[str, Any],
    along: dict[str, Any],
    weights: list[Any],
) -> float:
    """The slope of the weighted outputs, by an adjoint that changes no argument."""
    before = _own(given)
    found = adjoint(*given.values(), *weights)
    for name, v in before.items():
        assert np.array_equal(v, given[name]), f"{pair.name}: {name} is changed"
    found = found if isinstance(found, tuple) else (found,)
    terms = zip(found, along.values(), strict=True)
    return float(sum(np.sum(d * p) for d, p in terms))


def _apart(found: Any, right: Any) -> float:
    return float(np.max(np.abs(found - right)) / max(1.0, np.max(np.abs(right))))


def _own(values: dict[str, Any]) -> dict[str, Any]:
    """The same, with arrays of their own."""
    return {
        name: v.copy() if isinstance(v, np.ndarray) else v for name, v in values.items()
    }


def _written(pair: Pair, given: dict[str, Any]) -> list[str]:
    """The arrays that the function writes."""
    moved = _own(given)
    pair.plain(**moved)
    return [name for name, v in moved.items() if not np.array_equal(v, given[name])]


def worst(pair: Pair, derivative: Callable[..., Any]) -> float:
    """The largest error at a few sizes."""
    return max(error(pair, derivative, n, np.random.default_rng(n)) for n in SIZES)


def run_text(text: str, function: str) -> Callable[..., Any]:
    """A function of a text."""
    space: dict[str, Any] = {}
    exec(compile(text, f"<{function}>", "exec"), space)  # noqa: S102
    made: Callable[..., Any] = space[function]
    return made


def counts(pair: Pair, text: str) -> list[tuple[int, int]]:
    """Lines, and tokens, of the generated text and of the one by hand."""
    ours, theirs = (bare(t, pair.derivative) for t in (text, pair.text))
    return [(f(ours), f(theirs)) for f in (lines, tokens)]


def table(mode: str) -> list[list[float]]:
    """Print both beside each other; the ratios of their lines, and of their tokens."""
    print(f"{mode:12}{'lines':>12}{'':8}{'tokens':>14}{'':10}errors")
    ratios: list[list[float]] = [[], []]
    for name in NAMES:
        pair = load(name, mode)
        text = generated(pair)
        made = run_text(text, pair.derivative)
        errors = worst(pair, made), worst(pair, pair.by_hand)
        shown = []
        for known, (a, b) in zip(ratios, counts(pair, text), strict=True):
            known.append(a / b)
            shown.append(f"{a:5d} for {b:3d} {a / b:5.2f}")
        print(f"{name:12}{'   '.join(shown)}   {errors[0]:.0e} {errors[1]:.0e}")
    for what, some in zip(("lines", "tokens"), ratios, strict=True):
        middle = geometric_mean(some)
        print(f"{what}: geometric mean {middle:.2f}, at most {max(some):.2f}")
    return ratios


def counted(mode: str) -> dict[str, tuple[int, int]]:
    """Lines and tokens of the derivatives of some functions of the corpora."""
    found = {}
    for name in sorted(EVERY)[::EVERY_SO_MANY]:
        try:
            f = pyrev.differentiable(EVERY[name].plain, target="python")
            source = getattr(f, mode).source
        except pyrev.UnsupportedError:
            continue
        text = bare(source, f"{EVERY[name].plain.__name__}_{mode}")
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
    parser.add_argument("--mode", choices=MODES, default="adjoint")
    options = parser.parse_args(argv)
    mode = options.mode
    if options.show:
        pair = load(options.show, mode)
        for text in (pair.text, generated(pair)):
            print(bare(text, pair.derivative))
    elif options.out:
        options.out.write_text(json.dumps(counted(mode), indent=1))
    elif options.compare:
        return compare(json.loads(options.compare.read_text()), counted(mode))
    else:
        for each in MODES:
            table(each)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
