"""Sequences of calls: does every call answer for the function as it is at that moment?

A module in a file and a notebook cell define functions with helpers, closures, defaults
and captured values. A sequence decorates them, calls them, and changes what they are in
between: it edits the file, reloads it, runs the cell again, replaces code, defaults,
cells, helpers, arrays and numbers, and calls from several threads. Each answer is
compared with the plain function in CPython at that moment, its gradient with central
differences; a refusal must be P114, and only where a text has changed.

    python -m tests.tools.sequences [--count N] [--first SEED] [--target python|numba]
"""

from __future__ import annotations

import argparse
import linecache
import random
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

import pyrev
from pyrev.api.differentiable import Differentiable
from pyrev.ir.diagnostics import UnsupportedError

STEPS = 14
THREADS = 4


# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False


# -------------------------------------------------------------------- the judge


def differences(
    f: Callable[..., Any], args: Sequence[Any], kw: dict[str, Any], step: float
) -> list[Any]:
    """The derivative of a plain function by each float among `args`, else None."""
    found: list[Any] = []
    exact = [_exact(a) for a in args]
    for k, value in enumerate(exact):
        if not _is_float(args[k]):
            found.append(None)
            continue
        slope = np.zeros(np.shape(value))
        for place in np.ndindex(slope.shape):
            sides = []
            for way in (-step, step):
                moved = list(exact)
                moved[k] = np.array(value, float)
                moved[k][place] += way
                if not slope.shape:
                    moved[k] = float(moved[k])
                sides.append(float(f(*moved, **kw)))
            slope[place] = (sides[1] - sides[0]) / (2 * step)
        found.append(slope)
    return found


def _exact(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.float64) if value.dtype.kind == "f" else value.copy()
    return float(value) if isinstance(value, np.floating) else value


def _is_float(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )


def expected(
    f: Callable[..., Any], *args: Any, step: float | None = None, **kw: Any
) -> tuple[Any, list[Any], float]:
    """Value and derivatives of a plain function, and how well they are known."""
    single = any(getattr(a, "dtype", None) == np.float32 for a in args)
    value = f(*(a.copy() if isinstance(a, np.ndarray) else a for a in args), **kw)
    slopes = differences(f, args, kw, step or 1e-6)
    return value, slopes, 1e-3 if single or step else 1e-5


def disagreement(f: Differentiable, true: Any, *args: Any, **kw: Any) -> str:
    """What is wrong with the value or the gradient of a call, "" if nothing is."""
    value, slopes, tolerance = true
    found = f(*args, **kw)
    if not np.isclose(found, value, rtol=tolerance, atol=tolerance):
        return f"value {found!r}, CPython {value!r}"
    result, pullback = pyrev.vjp(f, *args, **kw)
    if not np.isclose(result, value, rtol=tolerance, atol=tolerance):
        return f"value of vjp {result!r}, CPython {value!r}"
    return unlike(pullback(1.0), slopes, tolerance) or unlike(
        pyrev.grad(f)(*args, **kw), slopes, tolerance
    )


def unlike(gradients: Any, slopes: Sequence[Any], tolerance: float) -> str:
    """What is wrong with gradients, the first parameters' compared."""
    for name, slope in zip(
        gradients, [s for s in slopes if s is not None], strict=False
    ):
        scale = 1.0 + float(np.max(np.abs(slope), initial=0.0))
        if not np.allclose(gradients[name], slope, rtol=0, atol=10 * tolerance * scale):
            return f"gradient of {name} {gradients[name]!r}, differences {slope!r}"
    return ""


def agrees(f: Any, *args: Any, step: float | None = None, **kw: Any) -> bool:
    """Are value and gradients those of the plain function in CPython?"""
    made = f if isinstance(f, Differentiable) else pyrev.differentiable(f)
    wrong = disagreement(
        made, expected(made.python, *args, step=step, **kw), *args, **kw
    )
    assert not wrong, wrong
    return True


# -------------------------------------------------------------------- the world


OF_T = ("t * t", "t * k", "np.sin(t) * k", "t + k * t * t", "t ** 3 - k", "np.exp(-t)")
OF_U = ("u * u", "2.0 * u", "u * 3.0", "u * u * u", "np.cos(u)", "1.0 / (1.0 + u)")

MODULE = """
def h(t, k={k}, *, s={s}):
    {comment}
    def inner(u, m={m}):
        return ({of_u}) * m
    return inner({of_t}) + s * t

def f(x, w={w}, *, b={b}):
    sq = lambda u: {of_u2}
    total = 0.0
    for i in range(x.shape[0]):
        total += h(x[i]) * C + sq(x[i]) * T[i]
        total += space.j(x[i]) * space.c
    return total * w + b

def make(a, j):
    def g(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += j(x[i]) * a + {of_x}
        return total
    def put(**named):
        nonlocal a, j
        a, j = named.get("a", a), named.get("j", j)
    return g, put

pair = (lambda x: np.sum(x * {k}) * C, lambda x: np.sum(x * x) * {w})
"""

CELL = """
def cell(x, p={k}):
    q = lambda u: {of_u}
    return q(x[0]) * p + one(x[1]) * {w}

def one(t, k={k}):
    return {of_t}
"""


@dataclass
class World:
    """A module in a file, a notebook cell, and what was made of them."""

    random: random.Random
    folder: Path
    target: str
    log: list[str] = field(default_factory=list)
    handles: list[Differentiable] = field(default_factory=list)
    #: Pullbacks with the slopes that they must give, whatever came after.
    waiting: list[tuple[Any, list[Any]]] = field(default_factory=list)
    puts: list[Callable[..., None]] = field(default_factory=list)
    edited: bool = False
    ends: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.file = self.folder / "written.py"
        self.cell = f"<cell of {self.folder.name}>"
        self.module = ModuleType("written")
        self.space = ModuleType("space")
        self.space.j = np.sin  # type: ignore[attr-defined]
        self.space.c = 0.5  # type: ignore[attr-defined]
        self.names = vars(self.module)
        self.names |= {"np": np, "space": self.space}
        self.renumber()
        self.write(MODULE)
        self.load()
        self.run_cell()
        self.edited = False

    # ---------------------------------------------------------------- texts

    def filled(self, text: str) -> str:
        r = self.random
        given = {n: r.choice((2.0, 3.0, 0.5, 1.5)) for n in "kswbm"}
        return text.format(
            **given,
            of_t=r.choice(OF_T),
            of_u=r.choice(OF_U),
            of_u2=r.choice(OF_U),
            of_x=r.choice(("x[i]", "x[i] * x[i]", "np.sin(x[i])")),
            comment="pass" if r.random() < 0.3 else "# as it is",
        )

    def write(self, text: str) -> None:
        """Another text in the file; what was loaded stays as it is."""
        text = self.filled(text)
        if self.random.random() < 0.2:
            text = "\n# a line more\n" + text
        self.file.write_text(text)
        self.edited = True

    def edit(self) -> None:
        self.write(MODULE)

    def load(self) -> None:
        """The module anew, in the same namespace, as `importlib.reload` does."""
        text = self.file.read_text()
        exec(compile(text, str(self.file), "exec", dont_inherit=True), self.names)
        self.close_over()

    def edit_and_load(self) -> None:
        self.edit()
        self.load()

    def close_over(self) -> None:
        g, put = self.names["make"](self.number(), self.function())
        self.names["g"] = g
        self.puts.append(put)

    def run_cell(self) -> None:
        """The notebook's cell once more, with another text."""
        text = self.filled(CELL)
        linecache.cache[self.cell] = (len(text), None, text.splitlines(True), self.cell)
        exec(compile(text, self.cell, "exec", dont_inherit=True), self.names)
        self.edited = True

    def compiled(self, name: str, text: str) -> FunctionType:
        """A function from a cell of its own."""
        text = self.filled(text)
        file = f"{self.cell} {len(linecache.cache)}"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        names: dict[str, Any] = {}
        exec(compile(text, file, "exec", dont_inherit=True), self.names, names)
        made = names[name]
        assert isinstance(made, FunctionType)
        return made

    # ---------------------------------------------------------------- values

    def number(self) -> Any:
        return self.random.choice(
            (2, 2.5, 3, -1.5, True, np.float32(0.5), np.float64(1.25), np.int32(2))
        )

    def renumber(self) -> None:
        self.names["C"] = self.number()
        self.names["T"] = np.array([1.0, 0.5, 2.0, 1.5])[: self.random.choice((3, 4))]

    def rebind(self) -> None:
        dtype = self.random.choice((np.float64, np.float32, np.int64))
        self.names["T"] = np.arange(1, 5).astype(dtype)

    def mutate(self) -> None:
        self.names["T"][self.random.randrange(3)] = self.random.choice((1, 2, 3))

    def set_space(self) -> None:
        self.space.c = self.number()  # type: ignore[attr-defined]

    def function(self) -> Any:
        """A function of a number, in one of its forms."""
        made = self.compiled("other", "def other(t, k={k}, *, s={s}): return {of_t}\n")
        kind = self.random.choice(("plain", "lambda", "numpy", "ours"))
        if kind == "numpy":
            return self.random.choice((np.sin, np.exp, np.square))
        if kind == "lambda":
            return self.compiled(
                "o",
                "o = lambda t: ({of_t}) if True else t\n".replace("k", "2.0").replace(
                    "{of_t}", "t * t * 2.0"
                ),
            )
        return pyrev.differentiable(made, target="python") if kind == "ours" else made

    # ---------------------------------------------------------------- changes

    def helper(self) -> None:
        """Another function under the name of a helper."""
        if self.random.random() < 0.5:
            self.space.j = self.function()  # type: ignore[attr-defined]
        else:
            made = self.compiled("h", "def h(t, k={k}, *, s={s}): return {of_t} + s\n")
            self.names[self.random.choice(("h", "one"))] = made

    def code(self) -> None:
        """Other code in the same function object, as `%autoreload` puts it there."""
        made = self.compiled("h", "def h(t, k={k}, *, s={s}): return {of_t} - s\n")
        if self.names["h"].__code__.co_freevars:
            return
        self.names["h"].__code__ = made.__code__

    def main_code(self) -> None:
        text = "def f(x, w={w}, *, b={b}): return np.sum(x * x) * w + h(x[0]) * b\n"
        self.names["f"].__code__ = self.compiled("f", text).__code__

    def defaults(self) -> None:
        f = self.names[self.random.choice(("f", "h", "one"))]
        if f.__defaults__:
            f.__defaults__ = (self.random.choice((2.0, 4.0, 3)),)

    def keywords(self) -> None:
        f = self.names[self.random.choice(("f", "h"))]
        if f.__kwdefaults__:
            (name,) = f.__kwdefaults__
            if self.random.random() < 0.5:
                f.__kwdefaults__[name] = self.random.choice((2.0, 4.0, 3))
            else:
                f.__kwdefaults__ = {name: self.random.choice((0.5, -1.0))}

    def put(self) -> None:
        """Other variables around a closure."""
        self.random.choice(self.puts)(a=self.number(), j=self.function())

    # ---------------------------------------------------------------- calls

    def decorate(self) -> None:
        """One of the functions there are now, decorated or as it is."""
        name = self.random.choice(("f", "f", "g", "cell", "pair"))
        plain = self.names[name]
        if name == "pair":
            plain = self.random.choice(plain)
        self.log.append(f"  of {name}")
        if self.random.random() < (0.02 if self.target == "python" else 0.5):
            self.handles.append(pyrev.api.differentiable.as_differentiable(plain))
        else:
            self.handles.append(pyrev.differentiable(plain, target=self.target))

    def arguments(self) -> tuple[Any, ...]:
        x = 0.3 + np.array([self.random.random() for _ in range(3)])
        return (x.astype(np.float32) if self.random.random() < 0.2 else x,)

    def call(self) -> None:
        """One of what was decorated, whenever that was."""
        if self.handles:
            self.judge(self.random.choice(self.handles), self.arguments())

    def judge(self, f: Differentiable, args: tuple[Any, ...]) -> None:
        true = expected(f.python, *args)
        wrong = disagreement(f, true, *args)
        if wrong:
            raise AssertionError(f"{f!r}{args}: {wrong}")
        self.ends["right"] += 1

    def keep(self) -> None:
        """A pullback that is called when other things have changed."""
        if not self.handles:
            return
        f, args = self.random.choice(self.handles), self.arguments()
        _, slopes, tolerance = expected(f.python, *args)
        self.waiting.append((pyrev.vjp(f, *args, copy=True)[1], [slopes, tolerance]))
        self.collect()

    def collect(self) -> None:
        if len(self.waiting) > 1:
            pullback, (slopes, tolerance) = self.waiting.pop(0)
            try:
                found = pullback(1.0)
            except pyrev.ArgumentError as error:  # an array that it needs has changed
                assert "changed since" in str(error), error
                return
            wrong = unlike(found, slopes, tolerance)
            if wrong:
                raise AssertionError(f"an earlier pullback: {wrong}")
            self.ends["right"] += 1

    def at_once(self) -> None:
        """The same calls from several threads."""
        if not self.handles:
            return
        work = [
            (self.random.choice(self.handles), self.arguments()) for _ in range(THREADS)
        ]
        errors: list[BaseException] = []

        def run(f: Differentiable, args: tuple[Any, ...]) -> None:
            try:
                self.judge(f, args)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=one) for one in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in sorted(errors, key=lambda e: isinstance(e, UnsupportedError)):
            raise error

    def step(self) -> None:
        """One step, whose refusal must be one of a text that has changed."""
        act = self.random.choices(
            [self.call, self.decorate, self.at_once, self.keep, *CHANGES(self)],
            [8, 5, 2, 2, *[1] * len(CHANGES(self))],
        )[0]
        self.log.append(act.__name__)
        try:
            act()
        except UnsupportedError as error:
            codes = {f.code for f in error.findings}
            assert codes == {"P114"} and self.edited, f"refused: {error}"
            self.ends["refused"] += 1

    def close(self) -> None:
        for file in [f for f in linecache.cache if f.startswith(self.cell)]:
            del linecache.cache[file]


def CHANGES(world: World) -> list[Callable[[], None]]:
    return [
        world.edit,
        world.load,
        world.edit_and_load,
        world.run_cell,
        world.close_over,
        world.renumber,
        world.rebind,
        world.mutate,
        world.set_space,
        world.helper,
        world.code,
        world.main_code,
        world.defaults,
        world.keywords,
        world.put,
    ]


def attempt(seed: int, target: str = "python") -> tuple[Counter[str], str, list[str]]:
    """One sequence: how its calls ended, what was wrong, and what was done."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(random.Random(seed), Path(folder), target)
        try:
            world.decorate()
            for _ in range(STEPS):
                world.step()
            while len(world.waiting) > 1:
                world.collect()
        except Exception as error:
            return world.ends, f"{type(error).__name__}: {error}", world.log
        finally:
            world.close()
        return world.ends, "", world.log


def hunt(
    first: int, count: int, target: str = "python"
) -> tuple[Counter[str], list[tuple[int, str, list[str]]]]:
    """How the calls of `count` sequences ended, and the sequences that are wrong."""
    ends: Counter[str] = Counter()
    wrong = []
    for seed in range(first, first + count):
        found, why, log = attempt(seed, target)
        ends += found
        if why:
            wrong.append((seed, why, log))
    return ends, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", default="python", choices=("python", "numba"))
    options = parser.parse_args()
    ends, wrong = hunt(options.first, options.count, options.target)
    for seed, why, log in wrong:
        print(f"seed {seed}: {why}\n    {', '.join(log)}")
    print(f"{options.count} sequences: {dict(ends)}, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
