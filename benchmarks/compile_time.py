"""How the time to generate and compile grows with the program.

    python benchmarks/compile_time.py                  every family at one size
    python benchmarks/compile_time.py scalars          of one family
    python benchmarks/compile_time.py --curve scalars  25 to 800 statements of it
    python benchmarks/compile_time.py --text mixed     50 to 2000 of it, to the text

With `--text` nothing is compiled or run: these are the CPU seconds from the plain
function to the text of its adjoint, for the Python target and for Numba, each in
a process of its own. Else every row is a fresh process with an empty cache folder.
`total` is its wall-clock time from the start of the interpreter to the first gradient.
The phases are CPU seconds, so that other work on the machine shows less: parse, bounds,
derive (adjoint and what it keeps), schedule and emit (primal and adjoint, for the CPU),
compile (Numba, both, with the first run); `cpu` is their sum. The exponent is the slope
of log(seconds) over log(size) between the last two sizes: 1 is linear, 2 quadratic.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
PHASES = ("import", "parse", "bounds", "derive", "schedule", "emit", "compile")
LIMIT = 300.0  # seconds after which a row is given up

WORKER = """
import importlib, json, sys, time
start = time.process_time()
sys.path[:0] = {paths!r}
import numpy as np
import numba
import pyrev
import pyrev.analysis.bounds as bounds
import pyrev.driver.candidates as candidates
import pyrev.driver.targets.numba as target
from pyrev.driver.unit import Unit
from pyrev.api.differentiable import differentiable, vjp
spent = {{}}


def timed(name, f):
    def run(*args, **kw):
        begin = time.process_time()
        outer, timed.inner = timed.inner, 0.0
        try:
            return f(*args, **kw)
        finally:
            took = time.process_time() - begin
            spent[name] = spent.get(name, 0.0) + took - timed.inner
            timed.inner = outer + took
    return run


timed.inner = 0.0
candidates.derive = timed("derive", candidates.derive)
candidates.begun = timed("derive", candidates.begun)
target.schedule_for_cpu = timed("schedule", target.schedule_for_cpu)
target.emit_numba = timed("emit", target.emit_numba)
bounds.Bounds.__init__ = timed("bounds", bounds.Bounds.__init__)
Unit.call = timed("compile", Unit.call)
spent["import"] = time.process_time() - start
program = importlib.import_module({module!r})
begin = time.process_time()
f = differentiable(program.f)
spent["parse"] = time.process_time() - begin
arguments = eval(program.ARGUMENTS, {{"np": np}})
result, pullback = vjp(f, *arguments)
gradients = pullback(**{{k: 1.0 for k in program.OUTPUTS}}) if program.OUTPUTS else \
    pullback(1.0)
values = [np.asarray(g) for g in gradients.values()]
assert all(np.isfinite(v).all() for v in values) and any(v.any() for v in values)
print(json.dumps(spent))
"""


TEXT = """
import importlib, sys, time
sys.path[:0] = {paths!r}
import numpy as np
import numba
import pyrev
program = importlib.import_module({module!r})
arguments = eval(program.ARGUMENTS, {{"np": np}})
begin = time.process_time()
f = pyrev.differentiable(program.f, target={target!r})
if {target!r} == "python":
    f.adjoint.source
else:
    f.adjoint.source_for({target!r}, *arguments)
print(time.process_time() - begin)
"""


class Source:
    """The text of one program of a family: a function `f` and how to call it."""

    def __init__(
        self,
        params: str,
        body: Sequence[str],
        arguments: str,
        outputs: Sequence[str] = (),
        before: str = "",
    ) -> None:
        lines = "\n".join(f"    {line}" for line in body)
        self.text = (
            f"import math\n\nARGUMENTS = {arguments!r}\nOUTPUTS = {tuple(outputs)!r}\n"
            f"{before}\n\ndef f({params}):\n{lines}\n"
        )


def scalars(n: int) -> Source:
    """`n` assignments of new scalars, each from two earlier ones."""
    body = ["t0 = x * y"]
    for k in range(1, n):
        first, second = f"t{k - 1}", f"t{k // 2}"
        last = f"math.sin({first}) * y" if k % 3 else f"{first} * {second} + x"
        body.append(f"t{k} = {last} - 0.25 * {second}")
    return Source("x, y", [*body, f"return t{n - 1}"], "(0.3, 0.4)")


def reused(n: int) -> Source:
    """`n` assignments of three scalars in turn."""
    body = ["a = x", "b = y", "c = x * y"]
    for k in range(n):
        p, q, r = ("abc"[(k + j) % 3] for j in range(3))
        body.append(f"{p} = math.sin({q}) * {r} + 0.5 * {p}")
    return Source("x, y", [*body, "return a + b + c"], "(0.3, 0.4)")


def elements(n: int) -> Source:
    """`n` assignments of array elements with literal subscripts."""
    body = ["a[0] = x[0] * x[1]"]
    body += [
        f"a[{k}] = math.sin(a[{k - 1}]) * x[{k % 7}] + a[{k // 2}]" for k in range(1, n)
    ]
    return Source("x, a", body, f"(np.linspace(0.1, 0.9, 7), np.zeros({n}))", ["a"])


def overwritten(n: int) -> Source:
    """`n` updates of the elements of one small array, in place."""
    body = [f"a[{k % 5}] = math.sin(a[{(k + 1) % 5}]) * x[{k % 7}]" for k in range(n)]
    return Source("x, a", body, "(np.linspace(0.1, 0.9, 7), np.ones(5))", ["a"])


def loops(n: int) -> Source:
    """`n` loops in sequence, each from one array to another, by turns."""
    body = []
    for k in range(n):
        p, q = ("a", "b") if k % 2 else ("b", "a")
        body += ["for i in range(1, x.shape[0]):"]
        body += [f"    {p}[i] = {q}[i - 1] * x[i] + {p}[i] * {(k + 1) / n}"]
    arguments = "(np.linspace(0.1, 0.9, 50), np.ones(50), np.ones(50))"
    return Source("x, a, b", body, arguments, ["a", "b"])


def sums(n: int) -> Source:
    """`n` loops in sequence, each adding to one number."""
    body = ["s = 0.0"]
    for k in range(n):
        body += ["for i in range(x.shape[0]):"]
        body += [f"    s += math.sin(x[i] * {(k + 1) / n})"]
    return Source("x", [*body, "return s"], "(np.linspace(0.1, 0.9, 50),)")


def body(n: int) -> Source:
    """One loop around `n` assignments of scalars."""
    lines = ["for i in range(x.shape[0]):", "    t0 = x[i] * w[0]"]
    for k in range(1, n):
        first, second = f"t{k - 1}", f"t{k // 2}"
        last = f"math.sin({first}) * w[{k % 7}]" if k % 3 else f"{first} * {second}"
        lines.append(f"    t{k} = {last} - 0.25 * {second}")
    lines.append(f"    out[i] = t{n - 1}")
    arguments = "(np.linspace(0.1, 0.9, 50), np.linspace(0.5, 1.0, 7), np.zeros(50))"
    return Source("x, w, out", lines, arguments, ["out"])


def stencils(n: int) -> Source:
    """One loop around `n` increments of neighbouring elements."""
    lines = ["for i in range(8, x.shape[0] - 8):"]
    lines += [
        f"    out[i] += x[i + {k % 17 - 8}] * x[i - {k % 5}] * w[{k % 7}]"
        for k in range(n)
    ]
    arguments = "(np.linspace(0.1, 0.9, 50), np.linspace(0.5, 1.0, 7), np.zeros(50))"
    return Source("x, w, out", lines, arguments, ["out"])


def tests(n: int) -> Source:
    """`n` tests in sequence that change a scalar."""
    lines = ["s = x"]
    for k in range(n):
        lines += [f"if s > {0.3 + 0.001 * k}:", "    s = s * 0.75 * y"]
        lines += ["else:", "    s = s + math.sin(s) * y"]
    return Source("x, y", [*lines, "return s"], "(0.3, 1.1)")


def helpers(n: int) -> Source:
    """A helper of five statements, called `n` times."""
    before = (
        "\n\ndef helper(u, v):\n    p = math.sin(u) * v\n    q = p * p + u\n"
        "    r = math.exp(-q) * v\n    t = r * q - p\n    return t + 0.5 * u\n"
    )
    lines = ["t = x"] + ["t = helper(t, y)"] * n
    return Source("x, y", [*lines, "return t"], "(0.3, 0.4)", before=before)


def deep(n: int) -> Source:
    """A nest of `n` loops, some triangular, around a product."""
    lines = []
    for k in range(n):
        end = f"i{k - 1} + 1" if k % 3 == 1 else "2"
        lines.append("    " * k + f"for i{k} in range({end}):")
    total = " + ".join(f"i{k}" for k in range(n))
    inner = f"out[i0] += x[{total}] * x[i{n - 1}] * x[i{n // 2}]"
    lines.append("    " * n + inner)
    arguments = f"(np.linspace(0.1, 0.9, {2 * n + 2}), np.zeros(2))"
    return Source("x, out", lines, arguments, ["out"])


def nested(n: int) -> Source:
    """A nest of `n` loops with a statement before and after each."""
    lines = []
    for k in range(n):
        lines += ["    " * k + f"for i{k} in range(2):"]
        lines += ["    " * (k + 1) + f"t{k} = x[i{k}] * {f't{k - 1}' if k else '0.5'}"]
    lines.append("    " * n + f"out[i0] += t{n - 1} * math.sin(x[i{n - 1}])")
    for k in reversed(range(n)):
        lines.append("    " * (k + 1) + f"out[i0] += t{k}")
    return Source("x, out", lines, "(np.array([0.4, 0.7]), np.zeros(2))", ["out"])


def windows(n: int) -> Source:
    """`n` statements about windows of vectors, whose ends a parameter decides."""
    lines = []
    for k in range(n):
        lines.append(f"y[m + {k % 3}:-2] += x[{k % 3 + 2}:-m] * {0.5 + 0.01 * k:.2f}")
    return Source("x, y, m", lines, "(np.ones(40), np.ones(40), 1)", ["y"])


def branches(n: int) -> Source:
    """`n` tests inside each other."""
    lines = ["s = x"]
    for k in range(n):
        lines += ["    " * k + f"if s > {0.1 - k}:", "    " * (k + 1) + "s = s * y"]
    return Source("x, y", [*lines, "return s"], "(0.3, 1.1)")


def terms(n: int) -> Source:
    """One sum of `n` products."""
    total = " + ".join(f"x[{k % 50}] * x[{(3 * k + 1) % 50}]" for k in range(n))
    return Source("x", [f"return {total}"], "(np.linspace(0.1, 0.9, 50),)")


def calls(n: int) -> Source:
    """`n` calls inside each other."""
    text = "math.sin(" * n + "x" + " * y)" * n
    return Source("x, y", [f"return {text}"], "(0.3, 1.1)")


def scalar_parameters(n: int) -> Source:
    """`n` scalar parameters."""
    params = ", ".join(f"x{k}" for k in range(n))
    lines = ["s = 0.0", *(f"s += x{k} * x{(k + 1) % n}" for k in range(n)), "return s"]
    return Source(params, lines, f"tuple(np.linspace(0.1, 0.9, {n}).tolist())")


def array_parameters(n: int) -> Source:
    """`n` arrays, each read in a loop of its own."""
    params = ", ".join(f"x{k}" for k in range(n))
    lines = ["s = 0.0"]
    for k in range(n):
        lines += [f"for i in range(x{k}.shape[0]):", f"    s += x{k}[i] * x{k}[i]"]
    arguments = f"tuple(np.linspace(0.1, 0.9, 5) for _ in range({n}))"
    return Source(params, [*lines, "return s"], arguments)


def local_arrays(n: int) -> Source:
    """`n` local arrays, each made from the one before."""
    lines = ["n = x.shape[0]", "a0 = np.zeros(n)", "for i in range(n):"]
    lines += ["    a0[i] = x[i] * x[i]"]
    for k in range(1, n):
        lines += [f"a{k} = np.zeros(n)", "for i in range(1, n):"]
        lines += [f"    a{k}[i] = a{k - 1}[i - 1] * x[i] + a{k - 1}[i]"]
    lines += ["s = 0.0", "for i in range(n):", f"    s += a{n - 1}[i]", "return s"]
    arguments = "(np.linspace(0.1, 0.9, 50),)"
    return Source("x", lines, arguments, before="\nimport numpy as np\n")


def mixed(n: int) -> Source:
    """`n` statements once helpers are inlined: scalars, nests of loops, calls."""
    before = (
        "\n\ndef helper(u, v):\n    p = math.sin(u) * v\n    q = p * p + u\n"
        "    r = math.exp(-q) * v\n    return r * q - p + 0.5 * u\n"
    )
    lines = ["s = x[0]"]
    for k in range(n // 10):
        one, other = ("a", "b") if k % 2 else ("b", "a")
        lines += [f"p{k} = math.sin(s) * x[{k % 7}]", f"q{k} = p{k} * p{k} + 0.5 * s"]
        lines += ["for i in range(a.shape[0]):", "    for j in range(x.shape[0]):"]
        lines += [f"        {one}[i, j] += {other}[i, j] * x[j] * q{k}"]
        lines += [f"s = helper(q{k}, x[{k % 5}])"]
    shapes = "np.ones((3, 7)), np.ones((3, 7))"
    arguments = f"(np.linspace(0.1, 0.9, 7), {shapes})"
    return Source("x, a, b", [*lines, "return s"], arguments, before=before)


_TRIANGLE = ["for i in range(1414):", "    for j in range(i + 1):"]
_POINTS = "np.linspace(0.1, 0.9, 1414)"


def triangle_sum(n: int) -> Source:
    """A triangular nest of a million iterations that adds to one number."""
    lines = ["s = 0.0", *_TRIANGLE, "        s += x[i] * x[j] * x[j]", "return s"]
    return Source("x", lines, f"({_POINTS},)")


def triangle_rows(n: int) -> Source:
    """The same, adding to an array by row."""
    lines = [*_TRIANGLE, "        out[i] += x[i] * x[j] * x[j]"]
    return Source("x, out", lines, f"({_POINTS}, np.zeros(1414))", ["out"])


def triangle_columns(n: int) -> Source:
    """The same, adding to an array by column."""
    lines = [*_TRIANGLE, "        out[j] += x[i] * x[j] * x[i - j]"]
    return Source("x, out", lines, f"({_POINTS}, np.zeros(1414))", ["out"])


def triangle_matrix(n: int) -> Source:
    """The same, setting the elements of a matrix."""
    lines = [*_TRIANGLE, "        out[i, j] = x[i] * x[j] * x[j]"]
    return Source("x, out", lines, f"({_POINTS}, np.zeros((1414, 1414)))", ["out"])


def triangle_in_place(n: int) -> Source:
    """The same, overwriting what it reads: every value is taped."""
    lines = [*_TRIANGLE, "        x[i] = 0.5 * x[i] + 0.001 * x[i] * x[j]"]
    return Source("x", lines, f"({_POINTS},)", ["x"])


CURVE = (25, 50, 100, 200, 400, 800)
SHORT = (6, 12, 25, 50, 100)
LONG = (50, 100, 200, 500, 1000, 2000)  # to the text alone

#: Per family the sizes of its curve, and the size at which it is measured alone.
FAMILIES: dict[str, tuple[Callable[[int], Source], tuple[int, ...], int]] = {
    "scalars": (scalars, CURVE, 400),
    "reused": (reused, CURVE, 400),
    "elements": (elements, CURVE, 400),
    "overwritten": (overwritten, CURVE, 400),
    "tests": (tests, (25, 50, 100, 200), 100),
    "helpers": (helpers, SHORT, 50),
    "loops": (loops, (25, 50, 100, 200), 100),
    "sums": (sums, (25, 50, 100, 200), 100),
    "body": (body, (25, 50, 100, 200, 400), 100),
    "stencils": (stencils, SHORT, 50),
    "windows": (windows, SHORT, 50),
    "deep": (deep, (2, 4, 6, 8, 10, 12), 12),
    "nested": (nested, (2, 4, 6, 8, 10, 12), 12),
    "branches": (branches, (5, 10, 15, 19), 19),
    "terms": (terms, (125, 250, 500, 1000), 1000),
    "calls": (calls, (25, 50, 100, 190), 190),
    "scalar_parameters": (scalar_parameters, (25, 50, 100, 200), 100),
    "array_parameters": (array_parameters, (25, 50, 100), 100),
    "mixed": (mixed, (25, 50, 100, 200), 100),
    "local_arrays": (local_arrays, (6, 12, 25, 50), 50),
    "triangle_sum": (triangle_sum, (1,), 1),
    "triangle_rows": (triangle_rows, (1,), 1),
    "triangle_columns": (triangle_columns, (1,), 1),
    "triangle_matrix": (triangle_matrix, (1,), 1),
    "triangle_in_place": (triangle_in_place, (1,), 1),
}


def measure(source: Source) -> dict[str, float] | str:
    """The seconds of each phase of a cold run, and the `total`; or why there are
    none.
    """
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "generated_program.py").write_text(source.text)
        paths = [directory, str(HERE.parent)]
        worker = WORKER.format(paths=paths, module="generated_program")
        start = time.perf_counter()
        try:
            done = subprocess.run(
                [sys.executable, "-c", worker],
                env={**os.environ, "PYREV_CACHE_DIR": str(folder / "cache")},
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return f"more than {LIMIT:.0f} s"
        total = time.perf_counter() - start
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["failed"])[-1][:100]
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return {**found, "cpu": sum(found.values()), "total": total}


def row(label: str, found: dict[str, float] | str) -> str:
    if isinstance(found, str):
        return f"{label:24s} {found}"
    cells = "".join(f"{found.get(p, 0.0):9.2f}" for p in (*PHASES, "cpu", "total"))
    return f"{label:24s}{cells}"


def exponents(one: int, a: dict[str, float], two: int, b: dict[str, float]) -> str:
    """The slopes between two sizes, where there is enough time to tell."""
    cells = []
    for phase in (*PHASES, "cpu"):
        p, q = a.get(phase, 0.0), b.get(phase, 0.0)
        if phase == "import" or p < 0.02 or q < 0.1:
            cells.append(f"{'':9s}")
        else:
            cells.append(f"{math.log(q / p) / math.log(two / one):9.2f}")
    return f"{'  exponent':24s}{''.join(cells)}"


def text_seconds(source: Source, target: str) -> float | None:
    """The CPU seconds to the text of an adjoint; None where there is none in time."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "generated_program.py").write_text(source.text)
        paths = [directory, str(HERE.parent)]
        worker = TEXT.format(paths=paths, module="generated_program", target=target)
        try:
            done = subprocess.run(
                [sys.executable, "-c", worker],
                env={**os.environ, "PYREV_CACHE_DIR": str(folder / "cache")},
                check=True,
                stdout=subprocess.PIPE,
                text=True,
                timeout=LIMIT,
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return None
        return float(done.stdout)


def texts(name: str) -> None:
    """Print the curve of a family to the texts alone, with the exponent of each step:
    and that from the first size of half a second or more to the last.
    """
    make = FAMILIES[name][0]
    for target in ("python", "numba"):
        row: list[tuple[int, float]] = []
        for n in LONG:
            seconds = text_seconds(make(n), target)
            if seconds is None:
                print(f"{name:16} {target:6} {n:6d}  none in {LIMIT:.0f} s", flush=True)
                break
            step = _slope(row[-1], (n, seconds)) if row else ""
            row.append((n, seconds))
            print(f"{name:16} {target:6} {n:6d} {seconds:8.2f} s {step}", flush=True)
        first = next((p for p in row if p[1] >= 0.5), row[0] if row else (1, 1.0))
        if row and first != row[-1]:
            print(f"{name:16} {target:6} exponent {_slope(first, row[-1])}", flush=True)


def _slope(one: tuple[int, float], two: tuple[int, float]) -> str:
    return f"{math.log(two[1] / one[1]) / math.log(two[0] / one[0]):5.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--curve", action="store_true", help="every size, not one")
    parser.add_argument("--text", action="store_true", help="to the texts alone")
    parser.add_argument("families", nargs="*", metavar="family", help="default: all")
    given = parser.parse_args()
    names = given.families or list(FAMILIES)
    if given.text:
        for name in names:
            texts(name)
        return
    print(f"{'':24s}{''.join(f'{p:>9s}' for p in (*PHASES, 'cpu', 'total'))}")
    for name in names:
        make, sizes, alone = FAMILIES[name]
        last: tuple[int, dict[str, float]] | None = None
        before: tuple[int, dict[str, float]] | None = None
        for n in sizes if given.curve else (alone,):
            found = measure(make(n))
            label = name if len(sizes) == 1 else f"{name} {n}"
            print(row(label, found), flush=True)
            if isinstance(found, str):
                break
            before, last = last, (n, found)
        if before is not None and last is not None:
            print(exponents(*before, *last), flush=True)


if __name__ == "__main__":
    main()
