"""The CUDA target: kernels in CUDA C, and the Python that launches them with CuPy.

    CODE = "..."            the kernels, each for one nest of the program
    def f(...)              memory, grids and kernels in order

A kernel keeps the loops of the program: its threads share out the outer ones with a
stride, the innermost along x. Every conversion is written out, so what C promotes never
decides; a product is added to a sum in one rounding only where the source adds to a
sum, which is the one liberty that is taken.

As on the CPU subscripts are not tested: `analysis.bounds` has shown before the call
that they are inside. What fails while a kernel runs (an integer division by zero) is
said in `status`; later kernels of the call then do nothing, and the error is raised
after them.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from typing import assert_never

from pyrev.emit.carried import definitions
from pyrev.emit.cuda.launch import launched
from pyrev.emit.faults import Faults
from pyrev.emit.helpers import HELPERS, THREADS
from pyrev.emit.special_c import device_function
from pyrev.emit.subscripts import Subscripts
from pyrev.ir.dtypes import WEAK_INT, concrete, expr_dtype
from pyrev.ir.nodes import (
    Alloc,
    Assign,
    Check,
    Const,
    Expr,
    Given,
    Load,
    Program,
    Return,
    Stmt,
    Var,
    all_names,
    fresh,
    walk_expr,
)
from pyrev.ir.printer import Emitted, Text, write
from pyrev.ir.text import error_modules, expr_text, numpy_name, range_tree
from pyrev.schedule.costs import GpuCosts
from pyrev.schedule.launches import (
    Choose,
    Kernel,
    Launches,
    Plain,
    Repeat,
    Sort,
    Step,
    every,
)

#: Products and sums are rounded one by one, as on the CPU, but where the text says fma.
OPTIONS = ("--std=c++17", "--fmad=false")
#: The same where the user allows more.
FAST = ("--std=c++17", "--fmad=true")


def emit_cuda(
    program: Program,
    made: Launches,
    types: dict[str, str],
    *,
    doc: str = "",
    wraps: bool = False,
    natural: frozenset[Expr] = frozenset(),
    sources: Mapping[str, Sequence[str]] | None = None,
    gpu: GpuCosts,
    fast: bool = False,
) -> Emitted:
    """The module that runs `made`, the launches of `program`, on CuPy arrays.

    The arrays given to it must be C-contiguous. `types` are the dtypes of all names;
    `natural`, `wraps` and `fast` are those of `emit_numba`.
    Raises `NotOnDevice` for what has no form on a GPU.
    """
    module = _Module(program, made, types, sources or {}, wraps, natural, gpu)
    options = FAST if fast else OPTIONS
    function = module.function()
    parts = ["\n".join(f"# {line}" for line in doc.splitlines())]
    cp = module.cp
    imports = [f"import cupy as {cp}", "import numpy as np"]
    modules = error_modules(program.body)
    imports += [""] * bool(modules) + [f"import {m}" for m in modules]
    if module.kernels:
        imports[:0] = ["import functools", ""]
    parts[0] = "\n".join([parts[0], *imports]).lstrip("\n")
    if module.kernels:
        made_of = f"KERNELS = {cp}.RawModule(code=CODE, options={options!r})"
        parts.append(f'CODE = r"""\n{module.code()}\n"""\n{_python(made_of)}')
        parts.append(_KERNEL.replace("cp.", f"{cp}."))
    for form, body in _FORMS.items():
        if form in module.forms:
            body = body.replace(f"def {form}(", f"def {module.called[form]}(")
            parts.append(body.replace("cp.", f"{cp}."))
    if module.can_fail:
        lines = [
            f"{k}: ({error}, ({''.join(f'{g}, ' for g in given)}))"
            for (error, given), k in module.errors.items()
        ]
        parts.append(_python(f"{module.called['ERRORS']} = {{{', '.join(lines)}}}"))
    parts.append(_python("\n".join(function)))
    text = "\n\n\n".join(parts) + "\n"
    return Emitted(Text(text, ()), tuple(module.reassociated))


def _python(text: str) -> str:
    """Python text in lines of the usual length."""
    return write(ast.parse(text)).text


_KERNEL = """\
@functools.cache
def loaded(name, device):
    return KERNELS.get_function(name)


def kernel(name):
    return loaded(name, cp.cuda.runtime.getDevice())"""

#: What launches a kernel, by the form of its threads, and what sorts terms.
_FORMS = {
    "launch": '''\
def launch(name, counts, args):
    """Run a kernel with a thread for each of `counts`, the first along x."""
    if min(counts) > 0:
        block = {1: (256,), 2: (32, 8), 3: (32, 4, 2)}[len(counts)]
        grid = tuple(int(min(-(-n // k), 65535)) for n, k in zip(counts, block))
        kernel(name)(grid, block, args)''',
    "reduce": f'''\
def reduce(name, parts, owners, args):
    """Run a kernel with `parts` blocks for each owner, of {THREADS} threads each."""
    if owners > 0:
        kernel(name)((int(parts), int(min(owners, 65535))), ({THREADS},), args)''',
    "team": f'''\
def team(name, rows, args):
    """Run a kernel with a block of {THREADS} threads for each of `rows`."""
    if rows > 0:
        kernel(name)((int(min(rows, 2**31 - 1)),), ({THREADS},), args)''',
    "alone": '''\
def alone(name, args):
    """Run a kernel with one thread."""
    kernel(name)((1,), (1,), args)''',
    "by_element": '''\
def by_element(places, terms, count):
    """Terms in the order of the elements they are added to, and where each starts."""
    order = cp.argsort(places.reshape(-1))
    found = places.reshape(-1)[order]
    return terms.reshape(-1)[order], cp.searchsorted(found, cp.arange(count + 1))''',
}
_NO_MEMORY = "MemoryError", ("'no memory is left for an array of a kernel'",)


class _Module:
    """The kernels and the host function of one program."""

    def __init__(
        self,
        program: Program,
        made: Launches,
        types: dict[str, str],
        sources: Mapping[str, Sequence[str]],
        wraps: bool,
        natural: frozenset[Expr],
        gpu: GpuCosts,
    ) -> None:
        self.program, self.made, self.types = program, made, types
        self.name, self.sources = program.name, sources
        self.wraps, self.gpu = wraps, gpu
        self.resident = frozenset(made.resident)
        self.arrays = {p.name for p in program.params if p.rank}
        self.taken = set(all_names(program.body)) | {p.name for p in program.params}
        for s in every(made.steps):
            match s:
                case Kernel():
                    self.taken |= all_names(s.whole)
                case Plain(Alloc(array)):
                    self.arrays.add(array)
                case Sort(made_of):
                    self.taken |= {made_of.ordered, made_of.starts}
        self.taken |= {"np", "functools", "range", "max", "min", "abs"}
        own = ("cp", *_FORMS, "status", "failed", "error", "message", "ERRORS")
        #: What the names of the host's own things are: the user's come first.
        self.called = {n: fresh(n, self.taken) for n in own}
        self.cp = self.called["cp"]
        self.kernels: list[list[str]] = []
        self.helpers: dict[str, None] = {}
        self.forms: set[str] = set()
        #: By the error and the texts of what it is made of: its number.
        self.errors: dict[tuple[str, tuple[str, ...]], int] = {_NO_MEMORY: -1}
        self.reassociated: dict[str, None] = {}
        self.faults = Faults(types, program.body)
        self.subscripts = Subscripts(program, natural)

    @property
    def can_fail(self) -> bool:
        """Can a kernel find an error?"""
        return "status" in self.forms

    def failure(self, error: str, given: tuple[Given, ...]) -> int:
        """The number that stands for an error in `status`."""
        self.forms.add("status")
        key = error, tuple(map(repr, given))
        return self.errors.setdefault(key, len(self.errors))

    def code(self) -> str:
        """The text of the kernels, and before them of what they call."""
        text = [*map(device_function, definitions(self.helpers))]
        text += ["\n".join(k) for k in self.kernels]
        for n in ("INFINITY", "NAN"):
            if any(n in part for part in text):
                self.helpers[n] = None
        parts = [HELPERS[n].strip("\n") for n in HELPERS if n in self.helpers]
        return "\n\n".join([*parts, *text])

    # ---------------------------------------------------------------- the host

    def function(self) -> list[str]:
        """The function that Python calls: it launches kernels on its way."""
        body = self.steps(self.made.steps)
        if self.can_fail and not any(line.startswith("return") for line in body):
            body += self.raising()
        start: list[str] = []
        arrays = [p.name for p in self.program.params if p.rank]
        if arrays:
            start += [
                f"if not all(a.flags.c_contiguous for a in ({', '.join(arrays)},)):",
                "    raise ValueError('pass C-contiguous arrays')",
            ]
        if self.can_fail:
            status = self.called["status"]
            start.append(f"{status} = {self.cp}.zeros(1, dtype=np.int64)")
        params = [p.name for p in self.program.params]
        for n in self.made.resident:
            made = f"full(1, {n}" if n in params else "empty(1"
            kind = numpy_name(concrete(self.types[n]))
            start.append(f"{n} = {self.cp}.{made}, dtype={kind})")
        lines = [f"    {line}" for line in [*start, *body] or ["pass"]]
        return [f"def {self.name}({', '.join(params)}):", *lines]

    def steps(self, steps: Sequence[Step]) -> list[str]:
        out: list[str] = []
        for s in steps:
            match s:
                case Kernel():
                    out += launched(self, s)
                case Repeat(loop, inner):
                    out.append(f"for {loop.index} in {write(range_tree(loop)).text}:")
                    out += self.inside(inner)
                case Choose(test, then, orelse):
                    out.append(f"if {self.number(test)}:")
                    out += self.inside(then)
                    if orelse:
                        out.append("else:")
                        out += self.inside(orelse)
                case Plain(stmt):
                    out += self.plain(stmt)
                case Sort(terms):
                    self.forms.add("by_element")
                    args = f"{terms.places}, {terms.terms}, {terms.array}.size"
                    call = f"{self.called['by_element']}({args})"
                    out.append(f"{terms.ordered}, {terms.starts} = {call}")
                case _:
                    assert_never(s)
        return out

    def inside(self, steps: Sequence[Step]) -> list[str]:
        return [f"    {line}" for line in self.steps(steps)] or ["    pass"]

    def plain(self, s: Stmt) -> list[str]:
        match s:
            case Alloc():
                return [f"{s.array} = {self.alloc(s)}"]
            case Assign(Var(n), value):
                text = self.number(value)
                kind = self.types[n]
                weak = concrete(kind) != kind
                if kind == WEAK_INT or weak and not isinstance(value, Const):
                    return [f"{n} = {text}"]
                return [f"{n} = {numpy_name(concrete(kind))}({text})"]
            case Check(test, error):
                given = ", ".join(map(repr, s.arguments))
                if s.values:
                    given += f".format({', '.join(map(self.number, s.values))})"
                failed = f"    raise {error}({given})"
                return [f"if not ({self.number(test)}):", failed]
            case Return(values, single):
                return self.returned(values, single)
        raise AssertionError(s)

    def returned(self, values: Sequence[Expr], single: bool) -> list[str]:
        out: list[str] = []
        texts: list[str] = []
        for v in values:
            if isinstance(v, Var) and v.name in self.arrays:
                texts.append(v.name)
                continue
            if self.on_host(v):
                texts.append(self.number(v))
                continue
            if isinstance(v, Var):
                result = v.name
            else:
                result = fresh("result", self.taken)
                kind = self.types[result] = concrete(expr_dtype(v, self.types))
                self.resident |= {result}
                out.append(f"{result} = {self.cp}.empty(1, dtype={numpy_name(kind)})")
                body = (Assign(Var(result), v, loc=v.loc),)
                step = Kernel(body, crossing=frozenset({result}))
                out += launched(self, step)
            texts.append(f"{result}.reshape(())")
        if self.can_fail:
            out += self.raising()
        if single:
            return [*out, f"return {texts[0]}"]
        return [*out, f"return ({', '.join(texts)},)" if texts else "return ()"]

    def raising(self) -> list[str]:
        """Lines that raise what a kernel found."""
        failed, error, message, status, errors = (
            self.called[n] for n in ("failed", "error", "message", "status", "ERRORS")
        )
        return [
            f"{failed} = int({status}[0])",
            f"if {failed}:",
            f"    {error}, {message} = {errors}[{failed}]",
            f"    raise {error}(*{message})",
        ]

    def on_host(self, e: Expr) -> bool:
        return not any(
            isinstance(p, Load) or (isinstance(p, Var) and p.name in self.resident)
            for p in walk_expr(e)
        )

    def alloc(self, s: Alloc) -> str:
        kind = concrete(self.types[s.array])
        if s.source is not None:
            return f"{s.source}.astype({numpy_name(kind)})"
        sizes = [self.number(n) for n in s.shape]
        shape = sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
        function, value = "empty", ""
        match s.fill:
            case None:
                pass
            case Const(number) if number == 0 and math.copysign(1.0, number) > 0:
                function = "zeros"
            case fill:
                function, value = "full", f"{self.number(fill)}, "
        return f"{self.cp}.{function}({shape}, {value}dtype={numpy_name(kind)})"

    def number(self, e: Expr) -> str:
        """An expression of sizes and numbers, in Python."""
        return expr_text(e)
