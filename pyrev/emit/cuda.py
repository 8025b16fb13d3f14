"""The CUDA target: kernels in CUDA C, and the Python that launches them with CuPy.

    CODE = "..."            the kernels, each for one nest of the program
    def f(...)              memory, grids and kernels in order

A kernel keeps the loops of the program: its threads share out the outer ones with a
stride, the innermost along x. Every conversion is written out, so what C promotes never
decides; a product is added to a sum in one rounding only where the source adds to a
sum, which is the one liberty that is taken.

As on the CPU subscripts are not tested: `pyrev.bounds` has shown before the call that
they are inside. What fails while a kernel runs (an integer division by zero) is said in
`status`; later kernels of the call then do nothing, and the error is raised after them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import assert_never

import numpy as np

from pyrev.algebra import add_int
from pyrev.emit.faults import FAULTS, Faults
from pyrev.emit.helpers import HELPERS, THREADS
from pyrev.ir import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Loc,
    Program,
    Restart,
    Return,
    Saved,
    Stmt,
    Var,
    While,
    all_names,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    loop_indices,
    names,
    walk,
    walk_expr,
    with_blocks,
)
from pyrev.liveness import names_in
from pyrev.schedule.launches import (
    SMALL,
    Choose,
    Kernel,
    Launches,
    Plain,
    Repeat,
    Step,
    as_element,
    every,
    with_elements,
)
from pyrev.schedule.sums import sums_of
from pyrev.show import array_ranks, expr_text
from pyrev.types import (
    WEAK_INT,
    concrete,
    expr_dtype,
    is_float,
    promote,
)
from pyrev.widen import NARROW
from pyrev.writer import Text

#: What a dtype is in C.
C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
OPTIONS = ("--std=c++17", "--fmad=false")
#: The most blocks that share one sum out.
PARTS = 256

_BINARY = {"+": 12, "-": 12, "*": 13, "/": 13}
_COMPARE = {"<": 10, "<=": 10, ">": 10, ">=": 10, "==": 9, "!=": 9}
_BITS = {"&": 8, "^": 7, "|": 6}
#: Functions of C with the same name and meaning.
_MATH = frozenset(
    "sqrt cbrt exp expm1 log log1p log2 log10 erf erfc sin cos tan asin acos atan atan2"
    " hypot sinh cosh tanh asinh acosh atanh copysign floor ceil trunc rint fmod".split()
)
_HELPED = {
    "min": "py_min",
    "max": "py_max",
    "minimum": "np_minimum",
    "maximum": "np_maximum",
    "fmin": "np_fmin",
    "fmax": "np_fmax",
    "//": "floor_div",
    "%": "py_mod",
    "sign": "sign",
}
_C_WORDS = frozenset(
    """
    auto bool break case catch char class const continue default delete do double else
    enum extern false float for goto if inline int long namespace new operator private
    protected public register return short signed sizeof static struct switch template
    this throw true try typedef union unsigned using virtual void volatile while asm
    threadIdx blockIdx blockDim gridDim warpSize status pow fma fmaf fabs malloc free
    assert printf main isnan isinf isfinite NAN INFINITY atomicAdd nullptr
    thread_x thread_y thread_z threads_x threads_y threads_z make
    """.split()
) | _MATH | frozenset(HELPERS)


@dataclass(frozen=True, slots=True)
class Emitted:
    """The module, and one sentence for each sum that is added up in another order."""

    text: Text
    reassociated: tuple[str, ...]


def emit_cuda(
    program: Program,
    made: Launches,
    types: dict[str, str],
    *,
    doc: str = "",
    sources: Mapping[str, Sequence[str]] | None = None,
) -> Emitted:
    """The module that runs `made`, the launches of `program`, on CuPy arrays.

    The arrays given to it must be C-contiguous. Raises `NotOnDevice` for what has no
    form on a GPU.
    """
    module = _Module(program, made, types, sources or {})
    body = module.host()
    head = [f"# {line}" for line in doc.splitlines()]
    head += ["import functools", "", "import cupy as cp", "import numpy as np", ""]
    code = "\n".join(module.code()) if module.kernels else ""
    lines = [*head]
    if code:
        lines += ['CODE = r"""', *code.splitlines(), '"""']
        lines += [f"KERNELS = cp.RawModule(code=CODE, options={OPTIONS!r})"]
        lines += ["", "", *_LAUNCH]
    if module.faults:
        lines += ["", "", "ERRORS = {"]
        lines += [f"    {k}: ({e}, {m!r})," for k, (e, m) in module.errors()]
        lines += ["}"]
    lines += ["", "", *body]
    return Emitted(Text("\n".join(lines) + "\n", ()), tuple(module.reassociated))


_LAUNCH = '''\
@functools.cache
def kernel(name):
    return KERNELS.get_function(name)


def launch(name, counts, args):
    """Run a kernel with a thread for each of `counts`, the first along x."""
    if min(counts) <= 0:
        return
    sizes = (256,) if len(counts) == 1 else (32, 8) if len(counts) == 2 else (32, 4, 2)
    grid = [min(-(-n // size), 65535) for n, size in zip(counts, sizes)]
    kernel(name)(tuple(grid), sizes, args)'''.splitlines()

_ALONE = '''\


def alone(name, args):
    """Run a kernel with one thread."""
    kernel(name)((1,), (1,), args)'''

_REDUCE = '''\


def reduce(name, parts, owners, args):
    """Run a kernel with %d threads in each block, `parts` blocks for each owner."""
    if owners > 0:
        kernel(name)((parts, min(owners, 65535)), (%d,), args)'''


class _Text:
    """Lines of C, indented by their blocks."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def __call__(self, line: str = "") -> None:
        self.lines.append("    " * self.depth + line if line else "")

    def open(self, line: str) -> None:
        self(f"{line} {{" if line else "{")
        self.depth += 1

    def close(self, more: str = "") -> None:
        self.depth -= 1
        self("}" + more)


class _Module:
    """The kernels and the host function of one program."""

    def __init__(
        self,
        program: Program,
        made: Launches,
        types: dict[str, str],
        sources: Mapping[str, Sequence[str]],
    ) -> None:
        self.program, self.made, self.types = program, made, types
        self.sources = sources
        self.resident = frozenset(made.resident)
        self.ranks = {p.name: p.rank for p in program.params if p.rank}
        self.ranks |= array_ranks(program.body)
        for s in every(made.steps):
            if isinstance(s, Kernel):
                self.ranks |= array_ranks(s.whole)
            if isinstance(s, Plain) and isinstance(s.stmt, Alloc):
                self.ranks[s.stmt.array] = len(s.stmt.shape)
        self.ranks |= dict.fromkeys(made.resident, 1)
        self.taken = set(all_names(program.body)) | {p.name for p in program.params}
        for s in every(made.steps):
            if isinstance(s, Kernel):
                self.taken |= all_names(s.whole)
        self.taken |= {"np", "cp", "functools", "kernel", "launch", "reduce", "status"}
        self.taken |= {"CODE", "KERNELS", "ERRORS", "range", "max", "min", "abs"}
        self.kernels: list[list[str]] = []
        self.helpers: dict[str, None] = {}
        self.errors_: dict[tuple[str, str], int] = {}
        self.reassociated: dict[str, None] = {}
        self.fails = Faults(types)
        self.faults = False
        self.reduces = self.alone = False
        self.serials: list[str] = []
        host = [s for s in every(made.steps) if isinstance(s, Plain)]
        self.host_arrays = set(self.ranks) & (
            {p.name for p in program.params}
            | {s.stmt.array for s in host if isinstance(s.stmt, Alloc)}
            | self.resident
        )
        self.mentioned = [
            s for s in every(made.steps) if isinstance(s, Kernel)
        ]

    # ---------------------------------------------------------------- the host

    def errors(self) -> list[tuple[int, tuple[str, str]]]:
        out = [(k, pair) for pair, k in self.errors_.items()]
        out.append((-1, ("MemoryError", "no memory is left for an array of a kernel")))
        return out

    def code(self) -> list[str]:
        lines: list[str] = []
        for name in HELPERS:
            if name in self.helpers:
                lines += HELPERS[name].strip("\n").splitlines()
                lines.append("")
        for k, text in enumerate(self.kernels):
            lines += [*([""] if k else []), *text]
        return lines

    def host(self) -> list[str]:
        """The function that Python calls, kernels on the way."""
        body = self.steps(self.made.steps)
        params = ", ".join(p.name for p in self.program.params)
        out = [f"def {self.program.name}({params}):"]
        arrays = [p.name for p in self.program.params if p.rank]
        if arrays:
            given = ", ".join(arrays) + ("," if len(arrays) == 1 else "")
            out += [
                f"    if not all(a.flags.c_contiguous for a in ({given})):",
                '        raise ValueError("pass C-contiguous arrays")',
            ]
        if self.faults:
            out.append("    status = cp.zeros(1, dtype=np.int64)")
        for n in self.made.resident:
            kind = _numpy(self.types[n])
            given = n in {p.name for p in self.program.params}
            made = f"cp.full(1, {n}" if given else "cp.empty(1"
            out.append(f"    {n} = {made}, dtype={kind})")
        ends = bool(self.made.steps) and _returns(self.made.steps[-1])
        out += [f"    {line}" if line else "" for line in body]
        if self.faults and not ends:
            out += [f"    {line}" for line in _RAISE]
        if len(out) == 1:
            out.append("    pass")
        helpers = [_REDUCE % (THREADS, THREADS)] if self.reduces else []
        helpers += [_ALONE] if self.alone else []
        for text in helpers:
            out = [*text.strip("\n").splitlines(), "", "", *out]
        return out

    def steps(self, steps: Sequence[Step]) -> list[str]:
        out: list[str] = []
        for s in steps:
            match s:
                case Kernel():
                    out += _Kernel(self, s).launched()
                case Repeat(loop, inner):
                    out.append(f"for {loop.index} in {_range(loop)}:")
                    out += self.inside(inner)
                case Choose(test, then, orelse):
                    out.append(f"if {self.number(test)}:")
                    out += self.inside(then)
                    if orelse:
                        out.append("else:")
                        out += self.inside(orelse)
                case Plain(stmt):
                    out += self.plain(stmt)
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
                if concrete(kind) != kind and not isinstance(value, Const):
                    return [f"{n} = {text}"]
                if kind == WEAK_INT:
                    return [f"{n} = {text}"]
                return [f"{n} = {_numpy(kind)}({text})"]
            case Check(test, error, message):
                what = f"{PurePath(s.loc.file).name}:{s.loc.line}: {message}"
                return [f"if not ({self.number(test)}):", f"    raise {error}({what!r})"]
            case Return(values, single):
                return self.returned(values, single)
        raise AssertionError(s)

    def returned(self, values: Sequence[Expr], single: bool) -> list[str]:
        out: list[str] = []
        texts: list[str] = []
        for v in values:
            if isinstance(v, Var) and v.name in self.resident:
                texts.append(f"{v.name}.reshape(())")
            elif isinstance(v, Var) and v.name in self.ranks:
                texts.append(v.name)
            elif self.on_host(v):
                texts.append(self.number(v))
            else:
                result = fresh("result", self.taken)
                kind = expr_dtype(v, self.types)
                self.types[result] = concrete(kind)
                self.ranks[result] = 1
                self.resident |= {result}
                self.host_arrays.add(result)
                out.append(f"{result} = cp.empty(1, dtype={_numpy(kind)})")
                body = (Assign(Var(result), v, loc=v.loc),)
                step = Kernel(body, crossing=frozenset({result}))
                out += _Kernel(self, step).launched()
                texts.append(f"{result}.reshape(())")
        if self.faults:
            out += _RAISE
        if single:
            return [*out, f"return {texts[0]}"]
        tail = "," if len(texts) == 1 else ""
        return [*out, f"return ({', '.join(texts)}{tail})" if texts else "return ()"]

    def on_host(self, e: Expr) -> bool:
        return not any(
            isinstance(p, Load) or (isinstance(p, Var) and p.name in self.resident)
            for p in walk_expr(e)
        )

    def alloc(self, s: Alloc) -> str:
        kind = concrete(self.types[s.array])
        if s.source is not None:
            return f"{s.source}.astype({_numpy(kind)})"
        sizes = [self.number(n) for n in s.shape]
        shape = sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
        match s.fill:
            case None:
                return f"cp.empty({shape}, dtype={_numpy(kind)})"
            case Const(value) if value == 0 and math.copysign(1.0, value) > 0:
                return f"cp.zeros({shape}, dtype={_numpy(kind)})"
            case fill:
                value = self.number(fill)
                return f"cp.full({shape}, {value}, dtype={_numpy(kind)})"

    def number(self, e: Expr) -> str:
        """An expression of sizes and numbers, in Python."""
        return expr_text(e)

    def fault(self, error: str, message: str) -> int:
        self.faults = True
        return self.errors_.setdefault((error, message), len(self.errors_) + 1)


_RAISE = [
    "failed = int(status[0])",
    "if failed:",
    "    error, message = ERRORS[failed]",
    "    raise error(message)",
]


class _Kernel:
    """One kernel: its text, and the call that launches it."""

    def __init__(self, module: _Module, step: Kernel) -> None:
        self.module = module
        self.types = module.types
        own = frozenset(assigned_scalars(step.whole)) - step.crossing
        resident = module.resident - own
        self.own = own | loop_indices(step.whole)
        self.step = replace(
            step,
            block=with_elements(step.block, resident),
            loops=tuple(_with(f, resident) for f in step.loops),
            over=tuple(_with(f, resident) for f in step.over),
        )
        self.sums = tuple(as_element(t, resident) for t in step.sums)
        atomic = step.atomic
        self.atomic = atomic
        self.arrays: dict[str, None] = {}
        self.extents: dict[tuple[str, int], str] = {}
        self.scalars: dict[str, None] = {}
        self.parts: dict[str, str] = {}
        self.local = {s.array: s for s in walk(self.step.block) if isinstance(s, Alloc)}
        self.grown = {s.array for s in walk(self.step.block) if isinstance(s, Grow)}
        self.written: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.declared: set[str] = set()
        self.accumulators: dict[Var | Load, Var] = {}
        self.leave = "return;"
        self.out = _Text()
        self.last: Loc | None = None
        self.names = set(module.taken) | _C_WORDS
        self.check_status = False

    # ---------------------------------------------------------------- the launch

    def launched(self) -> list[str]:
        """The lines of the host that launch it; the kernel goes to the module."""
        module, step = self.module, self.step
        name = fresh(f"{module.program.name}_{len(module.kernels) + 1}", module.taken)
        for f in (*step.loops, *step.over):
            self.rename_all((replace(f, body=()),))
        self.rename_all(step.block)
        if step.over:
            return self.reduction(name)
        self.allocations()
        order = _threads(step.loops, step.block)
        self.out.depth = 1
        if not order:
            self.body(step.block)
        else:
            self.strided(order, step.block)
        self.define(name)
        args = self.arguments()
        if not order:
            module.alone = True
            return [f"alone({name!r}, {args})"]
        counts = [module.number(_count(f)) for f in order[:2]]
        rest = [module.number(_count(f)) for f in order[2:]]
        if rest:
            counts.append(" * ".join(f"({r})" if " " in r else r for r in rest))
        tail = "," if len(counts) == 1 else ""
        return [f"launch({name!r}, ({', '.join(counts)}{tail}), {args})"]

    def define(self, name: str, extra: Sequence[str] = ()) -> None:
        """Put the kernel, with its parameters, into the module."""
        params = [self.parameter(a) for a in self.arrays]
        params += extra
        params += [f"long long {n}" for n in self.extents.values()]
        params += [f"{C_TYPES[concrete(self.types[n])]} {self.c(n)}" for n in self.scalars]
        if self.check_status:
            params.append("long long* status")
        head = _wrapped(f'extern "C" __global__ void {name}(', params)
        lines = [*head, "{"]
        if self.step.why:
            lines += [f"    // {line}" for line in _folded(self.step.why)]
        if self.check_status:
            lines.append("    if (*status) return;")
        self.module.kernels.append([*lines, *self.out.lines, "}"])

    def parameter(self, a: str) -> str:
        kind = C_TYPES[concrete(self.types[a])]
        const = "" if a in self.written else "const "
        return f"{const}{kind}* __restrict__ {self.c(a)}"

    def arguments(self, extra: Sequence[str] = ()) -> str:
        args = [*self.arrays, *extra]
        args += [self.host_extent(a, k) for a, k in self.extents]
        for n in self.scalars:
            kind = concrete(self.types[n])
            args.append(f"{_numpy(kind)}({n})")
        if self.check_status:
            args.append("status")
        return f"({', '.join(args)}{',' if len(args) == 1 else ''})"

    def host_extent(self, a: str, k: int) -> str:
        return f"{a}.shape[{k}]"

    # ---------------------------------------------------------------- names

    def c(self, name: str) -> str:
        """What a name of the program is called in C."""
        return self.renamed.get(name, name)

    def rename_all(self, block: Block) -> None:
        for n in sorted(all_names(block)):
            if n in _C_WORDS and n not in self.renamed:
                self.renamed[n] = fresh(f"{n}_", self.names)
            if not n.isascii() and n not in self.renamed:
                plain = "".join(ch if ch.isascii() else "u" for ch in n)
                self.renamed[n] = fresh(plain, self.names)

    def array(self, a: str) -> str:
        if a not in self.local:
            self.arrays[a] = None
        return self.c(a)

    def extent(self, a: str, k: int) -> str:
        """``a.shape[k]`` in C."""
        made = self.local.get(a)
        if made is not None:
            size = made.shape[k]
            if isinstance(size, Const) and not (k == 0 and a in self.grown):
                return str(size.value)
            return f"{self.c(a)}_n{k}"
        if a in self.module.resident:
            return "1"
        if (a, k) not in self.extents:
            self.extents[a, k] = fresh(f"{self.c(a)}_n{k}", self.names)
        return self.extents[a, k]

    # ---------------------------------------------------------------- threads

    def strided(self, order: Sequence[For], block: Block) -> None:
        """The loops of a kernel, shared out by its threads."""
        out = self.out
        opened = 0
        folded = order[2:]
        if len(folded) > 1:
            # More loops than a grid has axes: z numbers the rest.
            counts = [self.as_(_count(f), "int64") for f in folded]
            total = " * ".join(_in(c, 14) for c in counts)
            number = fresh("number", self.names)
            self.module.helpers["thread_z"] = None
            out.open(
                f"for (long long {number} = thread_z(); {number} < {total};"
                f" {number} += threads_z())"
            )
            opened += 1
            place = number
            for k, f in enumerate(reversed(folded)):
                count = _in(counts[len(folded) - 1 - k], 14)
                position = place if k == len(folded) - 1 else f"{place} % {count}"
                self.declare_index(f, position)
                if k < len(folded) - 1:
                    after = fresh("number", self.names)
                    out(f"const long long {after} = {place} / {count};")
                    place = after
        elif folded:
            self.strided_loop(folded[0], "z")
            opened += 1
        for axis, f in reversed(list(zip("xy", order[:2], strict=False))):
            self.strided_loop(f, axis)
            opened += 1
        self.leave = "return;"
        self.body(block)
        for _ in range(opened):
            out.close()

    def strided_loop(self, f: For, axis: str) -> None:
        i = self.c(f.index)
        first, step = f"thread_{axis}()", f"threads_{axis}()"
        self.module.helpers[f"thread_{axis}"] = None
        if f.step == ONE:
            lo = "" if f.lo == ZERO else f"{_in(self.as_(f.lo, 'int64'), 12)} + "
            hi = _in(self.as_(f.hi, "int64"), 11)
            self.out.open(
                f"for (long long {i} = {lo}{first}; {i} < {hi}; {i} += {step})"
            )
            return
        number = fresh("number", self.names)
        count = _in(self.as_(_count(f), "int64"), 11)
        self.out.open(
            f"for (long long {number} = {first}; {number} < {count}; {number} += {step})"
        )
        self.declare_index(f, number)

    def declare_index(self, f: For, number: str) -> None:
        text = number
        if f.step != ONE:
            inner = f"({number})" if " " in number else number
            text = f"{inner} * {_in(self.as_(f.step, 'int64'), 14)}"
        if f.lo != ZERO:
            text = f"{_in(self.as_(f.lo, 'int64'), 12)} + {text}"
        self.out(f"const long long {self.c(f.index)} = {text};")

    # ---------------------------------------------------------------- sums

    def reduction(self, name: str) -> list[str]:
        """A kernel whose blocks add up, and one that adds what the blocks made."""
        module, step, out = self.module, self.step, self.out
        module.reduces = True
        module.helpers["block_sum"] = None
        self.allocations()
        out.depth = 1
        counts = [self.as_(_count(f), "int64") for f in step.over]
        total = " * ".join(_in(c, 14) for c in counts)
        owners = [self.as_(_count(f), "int64") for f in step.loops]
        number = fresh("owner", self.names) if owners else "0"
        if owners:
            whole = " * ".join(_in(c, 14) for c in owners)
            out.open(
                f"for (long long {number} = blockIdx.y; {number} < {whole};"
                f" {number} += gridDim.y)"
            )
            self.numbered(step.loops, owners, number)
        kinds: list[str] = []
        for k, target in enumerate(self.sums):
            kind = concrete(expr_dtype(target, self.types))
            kinds.append(kind)
            base = target.name if isinstance(target, Var) else target.array
            local = fresh(f"sum_{base}", self.names)
            self.types[local] = kind
            self.accumulators[target] = Var(local)
            out(f"{C_TYPES[kind]} {local} = 0;")
            self.declared.add(local)
        term = fresh("term", self.names)
        threads = f"(long long)gridDim.x * {THREADS}"
        out.open(
            f"for (long long {term} = blockIdx.x * {THREADS}LL + threadIdx.x;"
            f" {term} < {total}; {term} += {threads})"
        )
        self.numbered(step.over, counts, term)
        body = _retargeted(step.block, self.accumulators)
        where = _where(step.loc)
        for t in self.step.sums:
            inner = ", ".join(f.index for f in step.over)
            module.reassociated[f"{where}: the sum of {expr_text(t)} over {inner}"] = None
        self.leave = "return;"
        self.body(body)
        out.close()
        extra: list[str] = []
        partial: list[str] = []
        for target, kind in zip(self.sums, kinds, strict=True):
            local = self.accumulators[target].name
            parts = fresh(f"{local}_parts", self.names)
            partial.append(parts)
            extra.append(f"{C_TYPES[kind]}* __restrict__ {parts}")
            out(f"{local} = block_sum<{C_TYPES[kind]}>({local});")
            out(
                f"if (threadIdx.x == 0) {parts}[{number} * gridDim.x + blockIdx.x] ="
                f" {local};"
            )
        if owners:
            out.close()
        self.define(name, extra)
        count = " * ".join(_factor(module.number(_count(f))) for f in step.loops) or "1"
        trips = " * ".join(_factor(module.number(_count(f))) for f in step.over)
        parts_ = fresh("parts", module.taken)
        owned = fresh("owners", module.taken)
        buffers = [fresh(p, module.taken) for p in partial]
        lines = [
            f"{owned} = {count}",
            f"{parts_} = max(1, min({PARTS}, ({trips}) // {4 * THREADS},"
            f" {1 << 14} // max(1, {owned})))",
        ]
        for b, kind in zip(buffers, kinds, strict=True):
            lines.append(f"{b} = cp.empty(max(0, {owned}) * {parts_}, dtype={_numpy(kind)})")
        lines.append(f"reduce({name!r}, {parts_}, {owned}, {self.arguments(buffers)})")
        return [*lines, *self.combined(name, buffers, kinds, parts_, owned)]

    def numbered(self, loops: Sequence[For], counts: Sequence[str], number: str) -> None:
        """The indices of some loops, from the number of an iteration of all of them."""
        place = number
        for k in range(len(loops) - 1, -1, -1):
            count = _in(counts[k], 14)
            self.declare_index(loops[k], f"{place} % {count}" if k else place)
            if k:
                after = fresh("number", self.names)
                self.out(f"const long long {after} = {place} / {count};")
                place = after

    def combined(
        self, name: str, buffers: Sequence[str], kinds: Sequence[str], parts: str,
        owned: str,
    ) -> list[str]:
        """The second kernel of a sum: one block adds the parts of one owner."""
        module, step = self.module, self.step
        other = _Kernel(module, Kernel((), step.loops, why="the sums of all blocks"))
        other.renamed = self.renamed
        other.types = self.types
        out = other.out
        out.depth = 1
        owners = [other.as_(_count(f), "int64") for f in step.loops]
        number = fresh("owner", other.names) if owners else "0"
        if owners:
            whole = " * ".join(_in(c, 14) for c in owners)
            out.open(
                f"for (long long {number} = blockIdx.y; {number} < {whole};"
                f" {number} += gridDim.y)"
            )
            other.numbered(step.loops, owners, number)
        count = fresh("parts", other.names)
        extra: list[str] = []
        for target, kind, buffer in zip(self.sums, kinds, buffers, strict=True):
            c = C_TYPES[kind]
            total = fresh("total", other.names)
            k = fresh("k", other.names)
            extra.append(f"const {c}* __restrict__ {buffer}")
            out(f"{c} {total} = 0;")
            out(
                f"for (long long {k} = threadIdx.x; {k} < {count}; {k} += {THREADS})"
                f" {total} += {buffer}[{number} * {count} + {k}];"
            )
            out(f"{total} = block_sum<{c}>({total});")
            other.written.add(target.array if isinstance(target, Load) else target.name)
            place = other.expr(target)[0][0]
            out(f"if (threadIdx.x == 0) {place} += {total};")
        if owners:
            out.close()
        extra.append(f"long long {count}")
        second = fresh(f"{name}_sum", module.taken)
        other.define(second, extra)
        args = other.arguments([*buffers, parts])
        return [f"reduce({second!r}, 1, {owned}, {args})"]

    # ---------------------------------------------------------------- statements

    def allocations(self) -> None:
        """Is there memory that the threads have to ask for?"""
        for s in self.local.values():
            if not self.small(s):
                self.module.faults = True
                self.check_status = True
                self.module.helpers["make"] = None

    def body(self, block: Block) -> None:
        """The statements of one iteration, declarations first."""
        out = self.out
        # What the loops below measure must be known before it is made.
        for s in self.local.values():
            kind = C_TYPES[concrete(self.types[s.array])]
            if self.small(s):
                size = math.prod(int(n.value) for n in s.shape if isinstance(n, Const))
                out(f"{kind} {self.c(s.array)}[{max(1, size)}];")
            else:
                out(f"{kind}* {self.c(s.array)} = nullptr;")
                for k, n in enumerate(s.shape):
                    if self.measured(s, k):
                        out(f"long long {self.c(s.array)}_n{k} = 0;")
        self.names |= {
            f"{self.c(a)}_n{k}" for a, s in self.local.items() for k in range(len(s.shape))
        }
        body = _summed(block, self)
        scalars = [n for n in assigned_scalars(body) if n not in self.declared]
        inline = _inline(body, frozenset(scalars))
        for n in scalars:
            if n not in inline:
                out(f"{C_TYPES[concrete(self.types[n])]} {self.c(n)} = 0;")
                self.declared.add(n)
        self.inline = inline
        self.once = _counts(body)
        self.block(body)
        for s in self.local.values():
            if not self.small(s):
                out(f"free({self.c(s.array)});")

    def small(self, s: Alloc) -> bool:
        return _small(s) and s.array not in self.grown

    def measured(self, s: Alloc, k: int) -> bool:
        """Is the extent of a thread's own array a variable?"""
        return not isinstance(s.shape[k], Const) or (k == 0 and s.array in self.grown)

    def block(self, block: Block) -> None:
        for s in block:
            self.stmt(s)

    def said(self, s: Stmt) -> None:
        """The user's line that a statement comes from, once."""
        loc = s.loc
        lines = self.module.sources.get(loc.file)
        if not lines or not 0 < loc.line <= len(lines):
            return
        if self.last is not None and (self.last.file, self.last.line) == (
            loc.file,
            loc.line,
        ):
            return
        self.last = loc
        text = lines[loc.line - 1].strip().replace("\\", "\\ ").replace('"""', "'''")
        text = text.encode("ascii", "replace").decode()
        self.out(f"// {_where(loc)}: {text}".rstrip())

    def stmt(self, s: Stmt) -> None:
        out = self.out
        match s:
            case Assign(target, value):
                self.said(s)
                self.guards(s, (value, target))
                kind = concrete(expr_dtype(target, self.types))
                text = self.as_(value, kind)
                if isinstance(target, Var) and target.name in self.inline:
                    if target.name not in self.declared:
                        self.declared.add(target.name)
                        const = "const " if self.once[target.name] == 1 else ""
                        place = f"{const}{C_TYPES[kind]} {self.c(target.name)}"
                        out(f"{place} = {text[0]};")
                        return
                out(f"{self.place(target)} = {text[0]};")
            case Add(target, value):
                self.said(s)
                self.guards(s, (value, target))
                self.add(target, value)
            case Alloc():
                self.guards(s, exprs(s))
                self.alloc(s)
            case For():
                self.guards(s, (s.lo, s.hi, s.step))
                self.loop(s)
            case While():
                self.early(s)
            case If(test, then, orelse):
                self.guards(s, (test,))
                out.open(f"if ({self.truth(test)[0]})")
                self.block(then)
                if orelse:
                    out.close(" else {")
                    out.depth += 1
                    self.block(orelse)
                out.close()
            case Check(test, error, message):
                self.guards(s, (test,))
                self.fail(self.truth(Call("not", (test,)))[0], s, error, message)
            case Grow(array):
                self.grow(array)
            case Return() | Restart():
                raise AssertionError("no statement of a kernel")
            case _:
                assert_never(s)

    def place(self, target: Var | Load) -> str:
        if isinstance(target, Load):
            self.written.add(target.array)
        return self.expr(target)[0][0]

    def add(self, target: Var | Load, value: Expr) -> None:
        kind = expr_dtype(target, self.types)
        wide = concrete(promote(kind, expr_dtype(value, self.types)))
        place = self.place(target)
        if isinstance(target, Load) and target.array in self.atomic:
            text = self.as_(value, concrete(kind))[0]
            add = "atomicAdd"
            if concrete(kind) == "int64":
                add = "add_atomically"
                self.module.helpers[add] = None
            self.out(f"{add}(&{place}, {text});")
            return
        match value:
            case Call("neg", (positive,)):
                text = self.as_(positive, wide)
                self.out(f"{place} -= {text[0]};")
            case Call("*", (a, b)) if (
                isinstance(target, Var)
                and target in self.accumulators.values()
                and wide == concrete(kind)
                and wide in ("float32", "float64")
                and concrete(expr_dtype(value, self.types)) == wide
            ):
                # Contracted: one rounding for the product and its sum.
                fma = "fmaf" if wide == "float32" else "fma"
                first, second = self.as_(a, wide)[0], self.as_(b, wide)[0]
                self.out(f"{place} = {fma}({first}, {second}, {place});")
            case _:
                self.out(f"{place} += {self.as_(value, wide)[0]};")

    def alloc(self, s: Alloc) -> None:
        out, a = self.out, self.c(s.array)
        kind = C_TYPES[concrete(self.types[s.array])]
        count = " * ".join(_in(self.extent_(s.array, k), 14) for k in range(len(s.shape)))
        if not self.small(s):
            for k, n in enumerate(s.shape):
                if not self.measured(s, k):
                    continue
                text = self.as_(n, "int64")[0]
                if not isinstance(n, (Extent, Const)):
                    what = "negative dimensions are not allowed"
                    self.fail(f"{_in((text, 1), 11)} < 0", s, "ValueError", what)
                out(f"{a}_n{k} = {text};")
            out(f"free({a});")
            out(f"{a} = make<{kind}>({count}, status);")
            out(f"if (!{a}) {self.leave}")
        index = fresh("k", self.names)
        each = f"for (long long {index} = 0; {index} < {count}; ++{index})"
        if s.source is not None:
            value = f"({kind}){self.array(s.source)}[{index}]"
            out(f"{each} {a}[{index}] = {value};")
        elif s.fill is not None:
            out(f"{each} {a}[{index}] = {self.as_(s.fill, concrete(self.types[s.array]))[0]};")

    def grow(self, array: str) -> None:
        """Room for as much again."""
        self.module.helpers["grown"] = None
        a, rank = self.c(array), len(self.local[array].shape)
        count = " * ".join(self.extent(array, k) for k in range(rank))
        self.out(f"{a} = grown({a}, {count}, status);")
        self.out(f"if (!{a}) {self.leave}")
        self.out(f"{a}_n0 *= 2;")

    def extent_(self, a: str, k: int) -> tuple[str, int]:
        return self.extent(a, k), 16

    def loop(self, s: For) -> None:
        out, i = self.out, self.c(s.index)
        lo, hi = (_in(self.as_(e, "int64"), 11) for e in (s.lo, s.hi))
        match s.step:
            case Const(1) if not s.reverse:
                out.open(f"for (long long {i} = {lo}; {i} < {hi}; ++{i})")
            case Const(1):
                last = self.as_(add_int(s.hi, -1), "int64")[0]
                out.open(f"for (long long {i} = {last}; {i} >= {lo}; --{i})")
            case Const(-1) if not s.reverse:
                out.open(f"for (long long {i} = {lo}; {i} > {hi}; --{i})")
            case _:
                count = fresh("count", self.names)
                number = fresh("number", self.names)
                out(f"const long long {count} = {self.as_(_count(s), 'int64')[0]};")
                if s.reverse:
                    head = f"{number} = {count} - 1; {number} >= 0; --{number}"
                else:
                    head = f"{number} = 0; {number} < {count}; ++{number}"
                out.open(f"for (long long {head})")
                self.declare_index(replace(s, reverse=False), number)
        self.block(s.body)
        out.close()

    def early(self, s: While) -> None:
        out = self.out
        if s.index:
            self.guards(s, (s.lo, s.hi, s.step))
            before = For(s.index, s.lo, s.hi, s.step, (), loc=s.loc)
            count = fresh("count", self.names)
            number = fresh("number", self.names)
            out(f"const long long {count} = {self.as_(_count(before), 'int64')[0]};")
            head = f"{number} = 0; {number} < {count}; ++{number}"
            out.open(f"for (long long {head})")
            self.declare_index(before, number)
        else:
            out.open("while (true)")
        self.guards(s, (s.test,))
        out(f"if (!{_in(self.truth(s.test), 15)}) break;")
        self.block(s.body)
        out.close()

    # ---------------------------------------------------------------- tests

    def guards(self, s: Stmt, parts: Sequence[Expr]) -> None:
        for fault, (error, what) in FAULTS.items():
            for p in parts:
                test = self.module.fails.sound(p, fault)
                if test is not None:
                    self.fail(self.truth(Call("not", (test,)))[0], s, error, what)

    def fail(self, text: str, s: Stmt, error: str, what: str) -> None:
        code = self.module.fault(error, f"{_where(s.loc)}: {what}")
        self.check_status = True
        self.out.open(f"if ({text})")
        self.out(f"*status = {code};")
        self.out(self.leave)
        self.out.close()

    # ---------------------------------------------------------------- expressions

    def truth(self, e: Expr) -> tuple[str, int]:
        text, kind = self.expr(e)
        if kind == "bool":
            return text
        return f"{_in(text, 10)} != 0", 9

    def as_(self, e: Expr, want: str) -> tuple[str, int]:
        """`e` as a value of the NumPy dtype `want`, and how tightly it binds."""
        if isinstance(e, Const) and not isinstance(e.value, bool) and want != "bool":
            return _literal(e.value, want)
        text, kind = self.expr(e)
        if concrete(kind) == want:
            return text
        if want == "bool":
            return f"{_in(text, 10)} != 0", 9
        return f"({C_TYPES[want]}){_in(text, 15)}", 15

    def expr(self, e: Expr) -> tuple[tuple[str, int], str]:
        """The text of `e`, how tightly it binds, and its dtype."""
        dtype = expr_dtype(e, self.types)
        match e:
            case Const(value):
                if isinstance(value, bool):
                    return ("true" if value else "false", 16), "bool"
                return _literal(value, concrete(dtype)), dtype
            case Var(n):
                if n not in self.own and n not in self.declared:
                    self.scalars[n] = None
                return (self.c(n), 16), dtype
            case Extent(a, k):
                return (self.extent(a, k), 16), dtype
            case Load(a, index):
                return (f"{self.array(a)}[{self.flat(a, index)}]", 16), dtype
            case Call(op, args):
                return self.call(op, args, dtype), dtype
            case Saved():
                raise AssertionError("a saved value is left over")
        assert_never(e)

    def flat(self, a: str, index: Sequence[Expr]) -> str:
        """The place of an element among those of its array."""
        if a in self.module.resident:
            return "0"
        place = self.as_(index[0], "int64")
        for k, e in enumerate(index[1:], 1):
            own = self.as_(e, "int64")
            place = f"{_in(place, 13)} * {self.extent(a, k)} + {_in(own, 12)}", 12
        return place[0]

    def helper(self, name: str, kind: str, args: Sequence[Expr]) -> tuple[str, int]:
        self.module.helpers[name] = None
        texts = ", ".join(self.as_(a, kind)[0] for a in args)
        if name in ("floor_div", "py_mod") and kind in ("float32", "float64"):
            return f"{name}({texts})", 16
        return f"{name}<{C_TYPES[kind]}>({texts})", 16

    def call(self, op: str, args: tuple[Expr, ...], dtype: str) -> tuple[str, int]:
        kind = concrete(dtype)
        match op, args:
            case ("+" | "-" | "*" | "/"), (a, b):
                level = _BINARY[op]
                left, right = self.as_(a, kind), self.as_(b, kind)
                tight = level + (op in "-/")
                text = f"{_in(left, level)} {op} {_in(right, tight)}"
                return self.narrow((text, level), kind)
            case "neg", (x,):
                return self.narrow((f"-{_in(self.as_(x, kind), 16)}", 15), kind)
            case ("min" | "max" | "minimum" | "maximum" | "fmin" | "fmax"), _:
                return self.helper(_HELPED[op], kind, args)
            case ("//" | "%"), _:
                return self.narrow(self.helper(_HELPED[op], kind, args), kind)
            case "sign", _:
                return self.helper("sign", kind, args)
            case "abs", (x,):
                if is_float(dtype):
                    return f"fabs({self.as_(x, kind)[0]})", 16
                if kind.startswith("uint") or kind == "bool":
                    return self.as_(x, kind)
                return self.helper("magnitude", kind, args)
            case "**", (base, exponent):
                return self.power(base, exponent, dtype)
            case "where", (test, a, b):
                left, right = self.as_(a, kind), self.as_(b, kind)
                return f"{_in(self.truth(test), 4)} ? {_in(left, 4)} : {_in(right, 3)}", 3
            case _, (a, b) if op in _COMPARE:
                met = concrete(
                    promote(expr_dtype(a, self.types), expr_dtype(b, self.types))
                )
                level = _COMPARE[op]
                left, right = self.as_(a, met), self.as_(b, met)
                return f"{_in(left, level + 1)} {op} {_in(right, level + 1)}", level
            case ("and" | "or"), (a, b):
                if kind == "bool":
                    word, level = ("&&", 5) if op == "and" else ("||", 4)
                    left, right = self.truth(a), self.truth(b)
                    return f"{_in(left, 5)} {word} {_in(right, 5 + (op == 'and'))}", level
                left, right = self.as_(a, kind), self.as_(b, kind)
                first, second = (right, left) if op == "and" else (left, right)
                test = _in(self.truth(a), 4)
                return f"{test} ? {_in(first, 4)} : {_in(second, 3)}", 3
            case "not", (x,):
                return f"!{_in(self.truth(x), 16)}", 15
            case "bool", (x,):
                return self.truth(x)
            case "~", (x,):
                if kind == "bool":
                    return f"!{_in(self.truth(x), 16)}", 15
                return self.narrow((f"~{_in(self.as_(x, kind), 16)}", 15), kind)
            case ("&" | "|" | "^"), (a, b):
                level = _BITS[op]
                left, right = self.as_(a, kind), self.as_(b, kind)
                text = f"{_in(left, level + 1)} {op} {_in(right, level + 1)}"
                if kind == "bool":
                    return f"(bool)({text})", 15
                return self.narrow((text, level), kind)
            case ("<<" | ">>"), (a, b):
                name = "shift_left" if op == "<<" else "shift_right"
                self.module.helpers[name] = None
                first, second = self.as_(a, kind)[0], self.as_(b, "int64")[0]
                return f"{name}<{C_TYPES[kind]}>({first}, {second})", 16
            case "round", (x,):
                if is_float(expr_dtype(x, self.types)):
                    return f"(long long)rint({self.expr(x)[0][0]})", 15
                return self.as_(x, "int64")
            case "int", (x,):
                return self.as_(x, "int64")
            case "float", (x,):
                return self.as_(x, "float64")
            case _, (x,) if op in C_TYPES:
                return self.as_(x, op)
            case ("isnan" | "isinf" | "isfinite"), (x,):
                text, own = self.expr(x)
                if not is_float(own):
                    return ("true" if op == "isfinite" else "false"), 16
                return f"(bool){op}({text[0]})", 15
            case "degrees", (x,):
                factor = _literal(180.0 / math.pi, kind)
                return f"{_in(self.as_(x, kind), 13)} * {factor[0]}", 13
            case "radians", (x,):
                factor = _literal(math.pi / 180.0, kind)
                return f"{_in(self.as_(x, kind), 13)} * {factor[0]}", 13
            case _ if op in _MATH:
                if not is_float(dtype):  # the floor of an integer is that integer
                    return self.as_(args[0], kind)
                return f"{op}({', '.join(self.as_(a, kind)[0] for a in args)})", 16
        raise AssertionError(f"no C for {op}")

    def narrow(self, text: tuple[str, int], kind: str) -> tuple[str, int]:
        """C computes narrow integers in an int: back to their own bits."""
        if kind in NARROW and kind not in ("int32", "uint32"):
            return f"({C_TYPES[kind]}){_in(text, 15)}", 15
        return text

    def power(self, base: Expr, exponent: Expr, dtype: str) -> tuple[str, int]:
        kind = concrete(dtype)
        match exponent:
            case Const(int(n)) if abs(n) <= 64:
                self.module.helpers["power"] = None
                text = f"power<{C_TYPES[kind]}>({self.as_(base, kind)[0]}, {abs(n)})"
                if n >= 0:
                    return text, 16
                return f"{_literal(1.0, kind)[0]} / {text}", 13
        if is_float(dtype):
            return f"pow({self.as_(base, kind)[0]}, {self.as_(exponent, kind)[0]})", 16
        self.module.helpers["power"] = None
        n = self.as_(exponent, "int64")[0]
        return f"power<{C_TYPES[kind]}>({self.as_(base, kind)[0]}, {n})", 16


# -------------------------------------------------------------------- small questions


def _numpy(dtype: str) -> str:
    kind = concrete(dtype)
    return "np.bool_" if kind == "bool" else f"np.{kind}"


def _in(text: tuple[str, int], least: int) -> str:
    """The text, in parentheses if it binds less than it has to."""
    return text[0] if text[1] >= least else f"({text[0]})"


def _literal(value: float, want: str) -> tuple[str, int]:
    if want in ("float32", "float64"):
        number = float(value)
        if math.isnan(number):
            return "NAN", 16
        if math.isinf(number):
            return ("INFINITY", 16) if number > 0 else ("-INFINITY", 15)
        text = str(np.float32(number)) if want == "float32" else repr(number)
        if "inf" in text:
            return ("INFINITY", 16) if number > 0 else ("-INFINITY", 15)
        if "." not in text and "e" not in text:
            text += ".0"
        text += "f" if want == "float32" else ""
        return text, 16 if math.copysign(1.0, number) > 0 else 15
    number = int(value)
    if number == -(2**63):
        return "(-9223372036854775807LL - 1)", 16
    text = str(number) if abs(number) < 2**31 else f"{number}LL"
    return text, 16 if number >= 0 else 15


def _where(loc: Loc) -> str:
    return f"{PurePath(loc.file).name}:{loc.line}"


def _with(f: For, resident: frozenset[str]) -> For:
    parts = [as_element(e, resident) for e in (f.lo, f.hi, f.step)]
    return replace(f, lo=parts[0], hi=parts[1], step=parts[2], body=())


def _small(s: Alloc) -> bool:
    """May a thread keep the array in registers or its own memory?"""
    sizes = [n.value for n in s.shape if isinstance(n, Const)]
    return len(sizes) == len(s.shape) and math.prod(map(int, sizes)) <= SMALL


def _count(f: For) -> Expr:
    """How many iterations a loop has; not positive if none."""
    match f.step:
        case Const(int(1)):
            return f.hi if f.lo == ZERO else Call("-", (f.hi, f.lo))
        case Const(int(k)) if k > 0:
            return Call("//", (Call("-", (add_int(f.hi, k - 1), f.lo)), f.step))
        case Const(int(k)):
            gap = Call("-", (add_int(f.lo, -k - 1), f.hi))
            return Call("//", (gap, Const(-k)))
        case _:
            whole = Call("-", (f.hi, f.lo))
            return Call("neg", (Call("//", (Call("neg", (whole,)), f.step)),))


def _range(f: For) -> str:
    parts = [expr_text(e) for e in (f.lo, f.hi, f.step)]
    if f.step == ONE:
        parts.pop()
        if f.lo == ZERO:
            parts.pop(0)
    text = f"range({', '.join(parts)})"
    return f"reversed({text})" if f.reverse else text


def _factor(text: str) -> str:
    return f"max(0, {text})" if " " in text or text.startswith("-") else text


def _returns(s: Step) -> bool:
    return isinstance(s, Plain) and isinstance(s.stmt, Return)


def _threads(loops: Sequence[For], block: Block) -> tuple[For, ...]:
    """The loops of a kernel in the order x, y, z: neighbours in memory along x."""
    if len(loops) < 2:
        return tuple(loops)
    votes = {f.index: 0 for f in loops}
    for s in walk(block):
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load) and e.index:
                    writes = isinstance(s, (Assign, Add)) and e is top
                    for n in names(e.index[-1]) & votes.keys():
                        votes[n] += 2 if writes else 1
    order = list(reversed(loops))
    best = max(order, key=lambda f: votes[f.index])
    order.remove(best)
    return (best, *order)


def _counts(block: Block) -> dict[str, int]:
    """How often each scalar is assigned or added to."""
    found: dict[str, int] = {}
    for s in walk(block):
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
            found[s.target.name] = found.get(s.target.name, 0) + 1
    return found


def _inline(block: Block, scalars: frozenset[str]) -> frozenset[str]:
    """The scalars that can be declared where they are first assigned.

    All that mentions one stands in one block, behind an assignment in that block.
    """
    found: set[str] = set()

    def visit(stmts: Block, mine: frozenset[str]) -> None:
        for n in mine:
            holders = [s for s in stmts if n in names_in(s)]
            match holders:
                case [Assign(Var(first), value), *_] if (
                    first == n and n not in names(value)
                ):
                    found.add(n)
                case [only] if blocks(only) and not any(
                    n in names(e) for e in exprs(only)
                ):
                    inner = [b for b in blocks(only) if any(n in names_in(s) for s in b)]
                    if len(inner) == 1:
                        visit(inner[0], frozenset({n}))

    visit(block, scalars)
    return frozenset(found)


def _retargeted(block: Block, locals_: Mapping[Var | Load, Var]) -> Block:
    """The block with what is added to these places added to locals."""
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, Add) and s.target in locals_:
            s = replace(s, target=locals_[s.target])
        elif blocks(s):
            s = with_blocks(s, tuple(_retargeted(b, locals_) for b in blocks(s)))
        out.append(s)
    return tuple(out)


def _summed(block: Block, kernel: _Kernel) -> Block:
    """The block with sums of loops into one place kept in locals while they run."""
    out: list[Stmt] = []
    for s in block:
        inner = tuple(_summed(b, kernel) for b in blocks(s))
        s = with_blocks(s, inner) if inner else s
        if not isinstance(s, For):
            out.append(s)
            continue
        places = [
            t
            for t in sums_of(s)
            if isinstance(t, Load) and t.array not in kernel.atomic
        ]
        fails = kernel.module.fails
        if not places or any(
            isinstance(x, Check) or any(map(fails.fails, exprs(x))) for x in walk((s,))
        ):
            out.append(s)
            continue
        pairs: dict[Var | Load, Var] = {}
        for t in places:
            local = Var(fresh(f"sum_{t.array}", kernel.names))
            kernel.types[local.name] = kernel.types[t.array]
            kernel.accumulators[t] = pairs[t] = local
        body = tuple(
            replace(x, target=pairs[x.target])
            if isinstance(x, Add) and x.target in pairs
            else x
            for x in s.body
        )
        start = [Assign(v, Const(0.0 if _floats(v, kernel) else 0)) for v in pairs.values()]
        ends = [Add(t, v, loc=s.loc) for t, v in pairs.items()]
        # The place of an empty sum need not exist.
        some: Expr = Call("<", (s.lo, s.hi))
        if not (isinstance(s.step, Const) and s.step.value > 0):
            some = Call("<", (ZERO, _count(s)))
        out += [*start, replace(s, body=body), If(some, tuple(ends), loc=s.loc)]
    return tuple(out)


def _floats(v: Var, kernel: _Kernel) -> bool:
    return is_float(kernel.types[v.name])


def _wrapped(head: str, params: Sequence[str]) -> list[str]:
    """A head with its parameters, in lines of at most 88 columns."""
    lines, line = [], head
    for k, p in enumerate(params):
        piece = p + (", " if k < len(params) - 1 else ")")
        if len(line) + len(piece.rstrip()) > 88 and line.strip():
            lines.append(line.rstrip())
            line = "    "
        line += piece
    if not params:
        line += ")"
    return [*lines, line.rstrip()]


def _folded(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 80)

