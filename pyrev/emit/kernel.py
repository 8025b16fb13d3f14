"""One kernel: its text in CUDA C, and the lines of the host that launch it.

It keeps the loops of the program: its threads share out the outer ones with a stride,
the first of them along x, where neighbours in memory lie. What one thread sums up stays
in a local; a product that is added there is added in one rounding, which is the one
liberty that is taken with the arithmetic.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, assert_never

from pyrev.emit.c import C_TYPES, C_WORDS, Expressions, inside, literal
from pyrev.emit.faults import FAULTS, Faults
from pyrev.emit.helpers import THREADS
from pyrev.emit.subscripts import Subscripts
from pyrev.ir.dtypes import concrete, expr_dtype, is_float, promote
from pyrev.ir.liveness import names_in, occurs
from pyrev.ir.nodes import (
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
    Restart,
    Return,
    Stmt,
    Tell,
    Var,
    While,
    all_names,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    loop_indices,
    names,
    risky,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.simplify import add_int, iterations
from pyrev.ir.text import expr_text, numpy_name
from pyrev.schedule.costs import GpuCosts
from pyrev.schedule.launches import Kernel, as_element, with_elements


def _ascii(name: str) -> str:
    """A name that C takes, too."""
    return "".join(ch if ch.isascii() else "u" for ch in name)


def _factor(text: str) -> str:
    """A number of iterations on the host, as a factor."""
    return f"max(0, {text})" if " " in text or text.startswith("-") else text


def _each(index: str, first: str, end: str, step: str) -> str:
    """The head of a loop of a thread."""
    return f"for (long long {index} = {first}; {index} < {end}; {index} += {step})"


class _Lines:
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


class Module(Protocol):
    """What a kernel asks of the module that it is part of."""

    name: str
    types: dict[str, str]
    resident: frozenset[str]
    taken: set[str]
    kernels: list[list[str]]
    helpers: dict[str, None]
    reassociated: dict[str, None]
    sources: Mapping[str, Sequence[str]]
    faults: Faults
    subscripts: Subscripts
    #: Do sums and products of int64 that are data go around at 64 bits?
    wraps: bool
    gpu: GpuCosts
    #: The forms of launches that the host needs, and what they are called.
    forms: set[str]
    called: dict[str, str]

    def number(self, e: Expr) -> str:
        """An expression of sizes and numbers, in Python."""

    def failure(self, error: str, message: str) -> int:
        """The number that stands for an error in `status`."""


class KernelText(Expressions):
    """One kernel: its text, and the call that launches it."""

    def __init__(self, module: Module, step: Kernel) -> None:
        super().__init__(module.types, module.helpers)
        self.module = module
        own = frozenset(assigned_scalars(step.whole)) - step.crossing
        resident = module.resident - own
        self.own = own | loop_indices(step.whole)
        self.step = replace(
            step,
            block=with_elements(step.block, resident),
            loops=tuple(_with(f, resident) for f in step.loops),
            over=tuple(_with(f, resident) for f in step.over),
        )
        self.sums = tuple(_element(t, resident) for t in step.sums)
        self.atomic = step.atomic
        self.arrays: dict[str, None] = {}
        self.extents: dict[tuple[str, int], str] = {}
        self.scalars: dict[str, None] = {}
        self.local, self.varying = _made(self.step.block)
        self.grown = {s.array for s in walk(self.step.block) if isinstance(s, Grow)}
        self.added = {Var(n) for n in loop_indices(self.step.whole)}
        self.written: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.declared: set[str] = set()
        self.accumulators: dict[Var | Load, Var] = {}
        self.leave = "return;"
        self.out = _Lines()
        self.last: Loc | None = None
        self.names = set(module.taken) | C_WORDS
        self.check_status = False
        self.resident = resident
        #: Arrays of the threads that the host makes.
        self.scratch: dict[str, None] = {}

    # ---------------------------------------------------------------- the launch

    def launched(self) -> list[str]:
        """The lines of the host that launch it; the kernel goes to the module."""
        module, step = self.module, self.step
        base = _ascii(module.name)
        name = fresh(f"{base}_{len(module.kernels) + 1}", module.taken)
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
        elif self.scratch:
            return self.in_rows(name, tuple(reversed(order)))
        else:
            self.strided(order, step.block)
        self.define(name)
        if not order:
            module.forms.add("alone")
            lines = [self.made_before(a, "") for a in self.scratch]
            return [*lines, f"{module.called['alone']}({name!r}, {self.arguments()})"]
        args = self.arguments()
        module.forms.add("launch")
        counts = [module.number(iterations(f)) for f in order[:2]]
        if order[2:]:
            counts.append(self.host_product(order[2:]))
        tail = "," if len(counts) == 1 else ""
        launch = module.called["launch"]
        return [f"{launch}({name!r}, ({', '.join(counts)}{tail}), {args})"]

    def in_rows(self, name: str, loops: Sequence[For]) -> list[str]:
        """A kernel whose threads have arrays of their own, which the host makes.

        There are at most so many threads. Element k of all threads stands together.
        """
        module = self.module
        module.forms.add("launch")
        counts = [self.count(f) for f in loops]
        self.helpers["thread_x"] = None
        self.shared_out(loops, counts, "number", "thread_x()", "threads_x()")
        self.body(self.step.block)
        self.out.close()
        self.define(name)
        rows = fresh("rows", module.taken)
        total = self.host_product(loops)
        most = module.gpu.array_threads
        lines = [f"{rows} = -(-min({total}, {most}) // {THREADS}) * {THREADS}"]
        lines += [self.made_before(a, rows) for a in self.scratch]
        launch = module.called["launch"]
        return [*lines, f"{launch}({name!r}, ({rows},), {self.arguments()})"]

    def made_before(self, array: str, rows: str) -> str:
        """The line of the host that makes an array for each of some threads."""
        made = self.local[array]
        sizes = [_factor(self.module.number(n)) for n in made.shape]
        size = " * ".join([*([rows] if rows else []), *sizes])
        kind = numpy_name(concrete(self.types[array]))
        return f"{array} = {self.module.called['cp']}.empty({size}, dtype={kind})"

    def define(self, name: str, extra: Sequence[str] = ()) -> None:
        """Put the kernel, with its parameters, into the module."""
        params = [self.parameter(a) for a in self.arrays]
        params += extra
        params += [f"long long {n}" for n in self.extents.values()]
        kinds = {n: C_TYPES[concrete(self.types[n])] for n in self.scalars}
        params += [f"{kind} {self.c(n)}" for n, kind in kinds.items()]
        if self.check_status:
            params.append("long long* status")
            self.module.forms.add("status")
        head = _wrapped(f'extern "C" __global__ void {name}(', params)
        lines = [*head, "{"]
        if self.step.why:
            why = self.step.why.encode("ascii", "replace").decode()
            lines += [f"    // {line}" for line in textwrap.wrap(why, 80)]
        if self.check_status and not self.step.over:
            lines.append("    if (*status) return;")
        self.module.kernels.append([*lines, *self.out.lines, "}"])

    def parameter(self, a: str) -> str:
        kind = C_TYPES[concrete(self.types[a])]
        const = "" if a in self.written else "const "
        return f"{const}{kind}* __restrict__ {self.c(a)}"

    def arguments(self, extra: Sequence[str] = ()) -> str:
        args = [*self.arrays, *extra]
        args += [f"{a}.shape[{k}]" for a, k in self.extents]
        for n in self.scalars:
            args.append(f"{numpy_name(concrete(self.types[n]))}({n})")
        if self.check_status:
            args.append(self.module.called["status"])
        return f"({', '.join(args)}{',' if len(args) == 1 else ''})"

    # ---------------------------------------------------------------- names

    def c(self, name: str) -> str:
        """What a name of the program is called in C."""
        return self.renamed.get(name, name)

    def rename_all(self, block: Block) -> None:
        for n in sorted(all_names(block)):
            if n in C_WORDS and n not in self.renamed:
                self.renamed[n] = fresh(f"{n}_", self.names)
            if not n.isascii() and n not in self.renamed:
                self.renamed[n] = fresh(_ascii(n), self.names)

    def scalar(self, n: str) -> str:
        if n not in self.own and n not in self.declared:
            self.scalars[n] = None
        return self.c(n)

    def array(self, a: str) -> str:
        if a not in self.local or a in self.scratch:
            self.arrays[a] = None
        return self.c(a)

    def extent(self, a: str, k: int) -> str:
        """``a.shape[k]`` in C."""
        made = self.local.get(a)
        if made is not None:
            size = made.shape[k]
            if not self.measured(made, k):
                assert isinstance(size, Const)
                return str(size.value)
            return f"{self.c(a)}_n{k}"
        if a in self.module.resident:
            return "1"
        if (a, k) not in self.extents:
            self.extents[a, k] = fresh(f"{self.c(a)}_n{k}", self.names)
        return self.extents[a, k]

    def natural(self, index: Expr) -> bool:
        # What the launches make of a program counts from zero.
        return index in self.added or self.module.subscripts.natural(index)

    def goes_around(self, op: str, args: Sequence[Expr]) -> bool:
        return self.module.wraps and self.module.subscripts.may_wrap(op, args)

    # ---------------------------------------------------------------- threads

    def strided(self, order: Sequence[For], block: Block) -> None:
        """The loops of a kernel, shared out by its threads."""
        out = self.out
        opened = 0
        folded = order[2:]
        if len(folded) > 1:
            # More loops than a grid has axes: z numbers the rest.
            counts = [self.count(f) for f in folded]
            self.helpers["thread_z"] = None
            self.shared_out(folded, counts, "number", "thread_z()", "threads_z()")
            opened += 1
        elif folded:
            self.strided_loop(folded[0], "z")
            opened += 1
        for axis, f in reversed(list(zip("xy", order[:2], strict=False))):
            self.strided_loop(f, axis)
            opened += 1
        self.body(block)
        for _ in range(opened):
            out.close()

    def strided_loop(self, f: For, axis: str) -> None:
        i = self.c(f.index)
        first, step = f"thread_{axis}()", f"threads_{axis}()"
        self.helpers[f"thread_{axis}"] = None
        if f.step == ONE:
            lo = "" if f.lo == ZERO else f"{inside(self.as_(f.lo, 'int64'), 12)} + "
            hi = inside(self.as_(f.hi, "int64"), 11)
            self.out.open(_each(i, f"{lo}{first}", hi, step))
            return
        number = fresh("number", self.names)
        count = inside(self.as_(iterations(f), "int64"), 11)
        self.out.open(_each(number, first, count, step))
        self.declare_index(f, number)

    def declare_index(self, f: For, number: str) -> None:
        text = number
        if f.step != ONE:
            inner = f"({number})" if " " in number else number
            text = f"{inner} * {inside(self.as_(f.step, 'int64'), 14)}"
        if f.lo != ZERO:
            text = f"{inside(self.as_(f.lo, 'int64'), 12)} + {text}"
        self.out(f"const long long {self.c(f.index)} = {text};")

    # ---------------------------------------------------------------- sums

    def reduction(self, name: str) -> list[str]:
        """A kernel whose blocks add up, and one that adds what the blocks made."""
        module, step, out = self.module, self.step, self.out
        module.forms.add("reduce")
        self.helpers |= {"block_sum": None, "thread_x": None}
        self.allocations()
        out.depth = 1
        owner = self.owners(step.loops)
        for target in self.sums:
            kind = self.types[_base(target)]
            local = Var(fresh(_ascii(f"sum_{_base(target)}"), self.names))
            self.types[local.name] = kind
            self.accumulators[target] = local
            out(f"{C_TYPES[concrete(kind)]} {local.name} = {_start(concrete(kind))};")
            self.declared.add(local.name)
        inner = ", ".join(f.index for f in step.over)
        for t in step.sums:
            what = f"{step.loc.place}: the sum of {expr_text(t)} over {inner}"
            module.reassociated[what] = None
        counts = [self.count(f) for f in step.over]
        self.shared_out(step.over, counts, "term", "thread_x()", "threads_x()")
        # All threads meet in the sum: none may leave before.
        label = fresh("added", self.names)
        self.leave = f"goto {label};"
        self.body(_retargeted(step.block, self.accumulators))
        out.close()
        if self.check_status:
            out(f"{label}:;")
        place = f"{owner} * gridDim.x + blockIdx.x" if owner else "blockIdx.x"
        parts: list[tuple[str, str]] = []
        for local in map(self.accumulators.__getitem__, self.sums):
            kind = concrete(self.types[local.name])
            parts.append((fresh(f"{local.name}_parts", self.names), kind))
            out(f"{local.name} = block_sum<{C_TYPES[kind]}>({local.name});")
            out(f"if (threadIdx.x == 0) {parts[-1][0]}[{place}] = {local.name};")
        if owner:
            out.close()
        extra = [f"{C_TYPES[kind]}* __restrict__ {p}" for p, kind in parts]
        self.define(name, extra)
        return self.reduced(name, [kind for _, kind in parts])

    def reduced(self, name: str, kinds: Sequence[str]) -> list[str]:
        """The host's part of a sum."""
        module, step = self.module, self.step
        parts, owned = fresh("parts", module.taken), fresh("owners", module.taken)
        own = [_ascii(_base(t)) for t in self.sums]
        buffers = [fresh(f"{n}_parts", module.taken) for n in own]
        blocks, over = module.gpu.sum_blocks, self.host_product(step.over)
        most = f"{blocks}, {over} // {4 * THREADS}"
        size, lines = parts, []
        if step.loops:
            lines.append(f"{owned} = {self.host_product(step.loops)}")
            most += f", {module.gpu.summing_blocks} // max(1, {owned})"
            size = f"{owned} * {parts}"
        lines.append(f"{parts} = max(1, min({most}))")
        for b, kind in zip(buffers, kinds, strict=True):
            made = f"{module.called['cp']}.empty({size}"
            lines.append(f"{b} = {made}, dtype={numpy_name(kind)})")
        many = owned if step.loops else "1"
        called, args = module.called["reduce"], self.arguments(buffers)
        lines.append(f"{called}({name!r}, {parts}, {many}, {args})")
        return [*lines, *self.combined(name, buffers, kinds, parts, many)]

    def combined(
        self,
        name: str,
        buffers: Sequence[str],
        kinds: Sequence[str],
        parts: str,
        owned: str,
    ) -> list[str]:
        """The second kernel of a sum: one block adds the parts of one owner."""
        module, step = self.module, self.step
        other = KernelText(module, Kernel((), step.loops, why="the sums of all blocks"))
        other.renamed = self.renamed
        out = other.out
        out.depth = 1
        owner = other.owners(step.loops)
        count, k = fresh("parts", other.names), fresh("k", other.names)
        extra: list[str] = []
        for target, kind, buffer in zip(self.sums, kinds, buffers, strict=True):
            c = C_TYPES[kind]
            total = fresh("total", other.names)
            extra.append(f"const {c}* __restrict__ {buffer}")
            out(f"{c} {total} = {_start(kind)};")
            place = f"{owner} * {count} + {k}" if owner else k
            out.open(_each(k, "threadIdx.x", count, str(THREADS)))
            out(f"{total} += {buffer}[{place}];")
            out.close()
            out(f"{total} = block_sum<{c}>({total});")
            other.helpers["added"] = None
            some = f"threadIdx.x == 0 && added({total})"
            out(f"if ({some}) {other.place(target)} += {total};")
        if owner:
            out.close()
        extra.append(f"long long {count}")
        second = fresh(f"{name}_sum", module.taken)
        other.define(second, extra)
        args = other.arguments([*buffers, parts])
        return [f"{module.called['reduce']}({second!r}, 1, {owned}, {args})"]

    def owners(self, loops: Sequence[For]) -> str:
        """A loop over the owners of a sum, a block for each: the name of its number."""
        if not loops:
            return ""
        counts = [self.count(f) for f in loops]
        return self.shared_out(loops, counts, "owner", "blockIdx.y", "gridDim.y")

    def shared_out(
        self,
        loops: Sequence[For],
        counts: Sequence[str],
        name: str,
        first: str,
        step: str,
    ) -> str:
        """A loop over all iterations of some loops: what their number is called."""
        alone = len(loops) == 1 and (loops[0].lo, loops[0].step) == (ZERO, ONE)
        number = self.c(loops[0].index) if alone else fresh(name, self.names)
        self.out.open(_each(number, first, " * ".join(counts), step))
        if not alone:
            self.numbered(loops, counts, number)
        return number

    def count(self, f: For) -> str:
        """How many iterations a loop has, in C, as a factor."""
        text = self.as_(iterations(f), "int64")
        if text[1] == 16:
            return text[0]
        self.helpers["py_max"] = None
        return f"py_max<long long>({text[0]}, 0)"

    def host_product(self, loops: Sequence[For]) -> str:
        """How many iterations some loops have together, on the host."""
        counts = [self.module.number(iterations(f)) for f in loops]
        return " * ".join(map(_factor, counts))

    def numbered(
        self, loops: Sequence[For], counts: Sequence[str], number: str
    ) -> None:
        """The indices of some loops, from the number of an iteration of all of them."""
        for k in range(len(loops) - 1, 0, -1):
            self.declare_index(loops[k], f"{number} % {counts[k]}")
            whole = f"{number} / {counts[k]}"
            if k == 1:
                number = whole
            else:
                number = fresh("number", self.names)
                self.out(f"const long long {number} = {whole};")
        self.declare_index(loops[0], number)

    # ---------------------------------------------------------------- statements

    def allocations(self) -> None:
        """Is there memory that the threads have to ask for?"""
        for s in self.local.values():
            if self.small(s):
                continue
            if not self.step.over and all(map(self.before, s.shape)):
                if s.array not in self.grown | self.varying:
                    self.scratch[s.array] = None
                    self.arrays[s.array] = None
                    self.written.add(s.array)
                    continue
            self.check_status = True
            self.helpers["make"] = None

    def before(self, size: Expr) -> bool:
        """Does the host know the size of an array of a thread?"""
        return not risky(size) and not any(
            isinstance(e, Load)
            or (isinstance(e, Var) and (e.name in self.own or e.name in self.resident))
            or (isinstance(e, Extent) and e.array in self.local)
            for e in walk_expr(size)
        )

    def body(self, block: Block) -> None:
        """The statements of one iteration, declarations first."""
        out = self.out
        # What the loops below measure must be known before it is made.
        for s in self.local.values():
            kind = C_TYPES[concrete(self.types[s.array])]
            if s.array in self.scratch:
                for k in range(len(s.shape)):
                    if self.measured(s, k):
                        extent = inside(self.as_(s.shape[k], "int64"), 3)
                        out(f"const long long {self.c(s.array)}_n{k} = {extent};")
                        self.names.add(f"{self.c(s.array)}_n{k}")
            elif self.small(s):
                size = math.prod(int(n.value) for n in s.shape if isinstance(n, Const))
                out(f"{kind} {self.c(s.array)}[{max(1, size)}];")
            else:
                out(f"{kind}* {self.c(s.array)} = nullptr;")
                for k in range(len(s.shape)):
                    if self.measured(s, k):
                        out(f"long long {self.c(s.array)}_n{k} = 0;")
                        self.names.add(f"{self.c(s.array)}_n{k}")
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
            if not self.small(s) and s.array not in self.scratch:
                out(f"free({self.c(s.array)});")

    def small(self, s: Alloc) -> bool:
        most = self.module.gpu.own_elements
        return _small(s, most) and s.array not in self.grown | self.varying

    def measured(self, s: Alloc, k: int) -> bool:
        """Is the extent of a thread's own array a variable?"""
        return (
            not isinstance(s.shape[k], Const)
            or s.array in self.varying
            or (k == 0 and s.array in self.grown)
        )

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
        self.out(f"// {loc.place}: {text}".rstrip())

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
            case Tell() | Return() | Restart():
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
            term = self.as_(value, concrete(kind))[0]
            add = "atomicAdd"
            if concrete(kind) == "int64":
                add = "add_atomically"
                self.helpers[add] = None
            self.out(f"{add}(&{place}, {term});")
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
        count = " * ".join(self.extent(s.array, k) for k in range(len(s.shape)))
        if not self.small(s) and s.array not in self.scratch:
            for k, n in enumerate(s.shape):
                if not self.measured(s, k):
                    continue
                text = self.as_(n, "int64")[0]
                if not isinstance(n, (Extent, Const)):
                    what = "negative dimensions are not allowed"
                    self.fail(f"{inside((text, 1), 11)} < 0", s, "ValueError", what)
                out(f"{a}_n{k} = {text};")
            out(f"free({a});")
            out(f"{a} = make<{kind}>({count}, status);")
            out(f"if (!{a}) {self.leave}")
        index = fresh("k", self.names)
        each = f"for (long long {index} = 0; {index} < {count}; ++{index})"
        if s.source is not None:
            value = f"({kind}){self.array(s.source)}[{index}]"
            out(f"{each} {a}[{self.own_place(s.array, index)}] = {value};")
        elif s.fill is not None:
            value = self.as_(s.fill, concrete(self.types[s.array]))[0]
            out(f"{each} {a}[{self.own_place(s.array, index)}] = {value};")

    def flat(self, a: str, index: Sequence[Expr]) -> str:
        return self.own_place(a, super().flat(a, index))

    def own_place(self, a: str, place: str) -> str:
        """Where the element at `place` of an array of all threads is."""
        if a not in self.scratch or not self.step.loops:
            return place
        factor = place if place.isidentifier() or place.isdigit() else f"({place})"
        return f"{factor} * threads_x() + thread_x()"

    def grow(self, array: str) -> None:
        """Room for as much again."""
        self.helpers["grown"] = None
        a, rank = self.c(array), len(self.local[array].shape)
        count = " * ".join(self.extent(array, k) for k in range(rank))
        self.out(f"{a} = grown({a}, {count}, status);")
        self.out(f"if (!{a}) {self.leave}")
        self.out(f"{a}_n0 *= 2;")

    def loop(self, s: For) -> None:
        out, i = self.out, self.c(s.index)
        # A range is what it was when the loop was entered.
        lo, hi = (self.fixed(e, s.body) for e in (s.lo, s.hi))
        match s.step:
            case Const(1) if not s.reverse:
                out.open(f"for (long long {i} = {lo}; {i} < {hi}; ++{i})")
            case Const(1):
                last = self.as_(add_int(s.hi, -1), "int64")[0]
                out.open(f"for (long long {i} = {last}; {i} >= {lo}; --{i})")
            case Const(-1) if not s.reverse:
                out.open(f"for (long long {i} = {lo}; {i} > {hi}; --{i})")
            case _:
                self.counted(s)
        self.block(s.body)
        out.close()

    def counted(self, f: For) -> None:
        """The head of a loop that numbers its iterations, and its index."""
        count, number = fresh("count", self.names), fresh("number", self.names)
        self.out(f"const long long {count} = {self.as_(iterations(f), 'int64')[0]};")
        head = f"{number} = 0; {number} < {count}; ++{number}"
        if f.reverse:
            head = f"{number} = {count} - 1; {number} >= 0; --{number}"
        self.out.open(f"for (long long {head})")
        self.declare_index(f, number)

    def fixed(self, bound: Expr, body: Block) -> str:
        """A bound of a loop, in a local of its own if the loop changes it."""
        text = inside(self.as_(bound, "int64"), 11)
        measured = {e.array for e in walk_expr(bound) if isinstance(e, Extent)}
        if not (names(bound) | measured) & written(body):
            return text
        local = fresh("bound", self.names)
        self.out(f"const long long {local} = {text};")
        return local

    def early(self, s: While) -> None:
        out = self.out
        if s.index:
            self.guards(s, (s.lo, s.hi, s.step))
            self.counted(For(s.index, s.lo, s.hi, s.step, (), loc=s.loc))
        else:
            out.open("while (true)")
        self.guards(s, (s.test,))
        out(f"if (!{inside(self.truth(s.test), 15)}) break;")
        self.block(s.body)
        out.close()

    # ---------------------------------------------------------------- tests

    def guards(self, s: Stmt, parts: Sequence[Expr]) -> None:
        for fault, (error, what) in FAULTS.items():
            for p in parts:
                test = self.module.faults.sound(p, fault)
                if test is not None:
                    self.fail(self.truth(Call("not", (test,)))[0], s, error, what)

    def fail(self, text: str, s: Stmt, error: str, what: str) -> None:
        code = self.module.failure(error, f"{s.loc.place}: {what}")
        self.check_status = True
        self.out.open(f"if ({text})")
        self.out(f"*status = {code};")
        self.out(self.leave)
        self.out.close()


# -------------------------------------------------------------------- small questions


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
                case [Assign(Var(first), value), *_] if first == n and n not in names(
                    value
                ):
                    found.add(n)
                case [only] if blocks(only) and not any(
                    n in names(e) for e in exprs(only)
                ):
                    inner = [b for b in blocks(only) if occurs(b, n)]
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


def _summed(block: Block, kernel: KernelText) -> Block:
    """The block with sums of loops into one place kept in locals while they run."""
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, For):
            out += _with_locals(s, kernel)
        else:
            inner = tuple(_summed(b, kernel) for b in blocks(s))
            out.append(with_blocks(s, inner) if inner else s)
    return tuple(out)


def _with_locals(loop: For, kernel: KernelText) -> list[Stmt]:
    """A loop with a local for each place that all of it only adds to.

    A local starts as -0.0. If it still is, nothing was added, or nothing that makes a
    difference: then the place is left alone, which need not exist or is another
    thread's.
    """
    fails = kernel.module.faults
    inside = written((loop,))
    added: dict[Load, None] = {}
    for s in walk(loop.body):
        if isinstance(s, Add) and isinstance(s.target, Load):
            parts = [e for k in s.target.index for e in walk_expr(k)]
            moves = any(isinstance(e, Var) and e.name in inside for e in parts)
            if not moves and not any(isinstance(e, Load) for e in parts):
                added[s.target] = None
    places = [
        t
        for t in added
        if t.array not in kernel.atomic | kernel.local.keys()
        and all(map(kernel.natural, t.index))
        and _only_added(loop, t)
    ]
    if not places or any(
        isinstance(x, Check) or any(map(fails.fails, exprs(x))) for x in walk((loop,))
    ):
        return [replace(loop, body=_summed(loop.body, kernel))]
    pairs: dict[Var | Load, Var] = {}
    for t in places:
        local = Var(fresh(_ascii(f"sum_{t.array}"), kernel.names))
        kernel.types[local.name] = kernel.types[t.array]
        kernel.accumulators[t] = pairs[t] = local
    start = [Assign(v, _nothing(kernel.types[v.name])) for v in pairs.values()]
    ends: list[Stmt] = []
    for t, v in zip(places, pairs.values(), strict=True):
        ends.append(If(Call("added", (v,)), (Add(t, v, loc=loop.loc),), loc=loop.loc))
    return [*start, replace(loop, body=_retargeted(loop.body, pairs)), *ends]


def _only_added(loop: For, place: Load) -> bool:
    """Is adding to `place` all that the loop does with its array?"""
    for s in walk((loop,)):
        parts = exprs(s)
        if isinstance(s, Add) and s.target == place:
            parts = (s.value,)
        elif isinstance(s, Alloc) and place.array in (s.array, s.source):
            return False
        inside = (e for p in parts for e in walk_expr(p))
        if any(isinstance(e, Load) and e.array == place.array for e in inside):
            return False
    return True


def _start(kind: str) -> str:
    return literal(-0.0 if is_float(kind) else 0, kind)[0]


def _nothing(dtype: str) -> Expr:
    """What changes no sum."""
    return Const(-0.0 if is_float(dtype) else 0)


def _element(target: Var | Load, resident: frozenset[str]) -> Var | Load:
    made = as_element(target, resident)
    assert isinstance(made, (Var, Load))
    return made


def _base(target: Var | Load) -> str:
    return target.name if isinstance(target, Var) else target.array


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


def _with(f: For, resident: frozenset[str]) -> For:
    parts = [as_element(e, resident) for e in (f.lo, f.hi, f.step)]
    return replace(f, lo=parts[0], hi=parts[1], step=parts[2], body=())


def _made(block: Block) -> tuple[dict[str, Alloc], frozenset[str]]:
    """The arrays that a block makes, and those that it makes in several shapes."""
    found: dict[str, Alloc] = {}
    varying: set[str] = set()
    for s in walk(block):
        if isinstance(s, Alloc):
            if found.setdefault(s.array, s).shape != s.shape:
                varying.add(s.array)
    return found, frozenset(varying)


def _small(s: Alloc, most: int) -> bool:
    """May a thread keep the array in registers or its own memory?"""
    sizes = [n.value for n in s.shape if isinstance(n, Const)]
    return len(sizes) == len(s.shape) and math.prod(map(int, sizes)) <= most
