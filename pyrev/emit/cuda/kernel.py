"""The text of one kernel in CUDA C: the statements that each of its threads runs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import assert_never

from pyrev.emit.c import C_TYPES, inside
from pyrev.emit.cuda.local_sums import start, summed
from pyrev.emit.cuda.named import Named, ascii_name
from pyrev.emit.cuda.scalars import counts, inline
from pyrev.emit.faults import FAULTS
from pyrev.ir.dtypes import concrete, expr_dtype, promote
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
    Given,
    Grow,
    If,
    Load,
    Restart,
    Return,
    Stmt,
    Tell,
    Var,
    While,
    assigned_scalars,
    exprs,
    fresh,
    names,
    walk_expr,
    written,
)
from pyrev.ir.simplify import add_int
from pyrev.ir.text import negation, numpy_name
from pyrev.ir.trip_counts import iterations
from pyrev.schedule.launches import NotOnDevice


class KernelText(Named):
    """One kernel: its statements, its parameters, and the arguments for them."""

    # ---------------------------------------------------------------- the kernel

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
        """An array as a parameter, constant where the kernel only reads it."""
        kind = C_TYPES[concrete(self.types[a])]
        const = "" if a in self.written else "const "
        return f"{const}{kind}* __restrict__ {self.c(a)}"

    def arguments(self, extra: Sequence[str] = ()) -> str:
        """The arguments of the host for the parameters."""
        args = [*self.arrays, *extra]
        args += [f"{a}.shape[{k}]" for a, k in self.extents]
        for n in self.scalars:
            args.append(f"{numpy_name(concrete(self.types[n]))}({n})")
        if self.check_status:
            args.append(self.module.called["status"])
        return f"({', '.join(args)}{',' if len(args) == 1 else ''})"

    # ---------------------------------------------------------------- statements

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
        body = summed(block, self)
        scalars = [n for n in assigned_scalars(body) if n not in self.declared]
        self.inline = inline(body, frozenset(scalars))
        self.declare(n for n in scalars if n not in self.inline)
        self.once = counts(body)
        self.block(body)
        for s in self.local.values():
            if not self.small(s) and s.array not in self.scratch:
                out(f"free({self.c(s.array)});")

    def declare(self, scalars: Iterable[str]) -> None:
        """Declare those of the scalars that are not yet."""
        for n in scalars:
            if n not in self.declared:
                self.out(f"{C_TYPES[concrete(self.types[n])]} {self.c(n)} = 0;")
                self.declared.add(n)

    def accumulator(self, target: Var | Load) -> Var:
        """A new local for what is added to a place, which nothing was added to yet."""
        place = target.name if isinstance(target, Var) else target.array
        local = Var(fresh(ascii_name(f"sum_{place}"), self.names))
        self.types[local.name] = self.types[place]
        self.accumulators[target] = local
        kind = concrete(self.types[place])
        self.out(f"{C_TYPES[kind]} {local.name} = {start(kind)};")
        self.declared.add(local.name)
        return local

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
        """One statement, after the tests that it needs."""
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
            case Check(test, error):
                if s.values:
                    what = "the message of an exception has numbers of the run"
                    raise NotOnDevice(what, s.loc)
                self.guards(s, (test,))
                failed = self.truth(negation(test))[0]
                self.fail(failed, error, s.arguments)
            case Grow(array):
                self.grow(array)
            case Tell() | Return() | Restart():
                raise AssertionError("no statement of a kernel")
            case _:
                assert_never(s)

    def place(self, target: Var | Load) -> str:
        """An element or a scalar that is written."""
        if isinstance(target, Load):
            self.written.add(target.array)
        return self.expr(target)[0][0]

    def add(self, target: Var | Load, value: Expr) -> None:
        """What adds to a place, atomically where other threads add there, too."""
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
        """An array of the thread: its memory, and what is in it at first."""
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
                    failed = f"{inside((text, 1), 11)} < 0"
                    self.fail(failed, "ValueError", (f"{s.loc.place}: {what}",))
                out(f"{a}_n{k} = {text};")
            out(f"free({a});")
            out(f"{a} = make<{kind}>({count}, status);")
            out(f"if (!{a}) {self.leave}")
        index = fresh("k", self.names)
        each = f"for (long long {index} = 0; {index} < {count}; ++{index})"
        if s.source is not None:
            place = self.own_place(s.source, index)
            value = f"({kind}){self.array(s.source)}[{place}]"
            out(f"{each} {a}[{self.own_place(s.array, index)}] = {value};")
        elif s.fill is not None:
            value = self.as_(s.fill, concrete(self.types[s.array]))[0]
            out(f"{each} {a}[{self.own_place(s.array, index)}] = {value};")

    def grow(self, array: str) -> None:
        """Room for as much again."""
        self.helpers["grown"] = None
        a, rank = self.c(array), len(self.local[array].shape)
        count = " * ".join(self.extent(array, k) for k in range(rank))
        self.out(f"{a} = grown({a}, {count}, status);")
        self.out(f"if (!{a}) {self.leave}")
        self.out(f"{a}_n0 *= 2;")

    # ---------------------------------------------------------------- loops

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

    def declare_index(self, f: For, number: str) -> None:
        """The index of a loop, from the number of an iteration."""
        text = number
        if f.step != ONE:
            inner = f"({number})" if " " in number else number
            text = f"{inner} * {inside(self.as_(f.step, 'int64'), 14)}"
        if f.lo != ZERO:
            text = f"{inside(self.as_(f.lo, 'int64'), 12)} + {text}"
        self.out(f"const long long {self.c(f.index)} = {text};")

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
        """A loop that ends when its test fails."""
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
        """Leave the kernel if evaluating `parts` would raise in CPython."""
        for fault, (error, what) in FAULTS.items():
            for p in parts:
                test = self.module.faults.tests(s, (p,), fault)
                if test is not None:
                    failed = self.truth(Call("not", (test,)))[0]
                    self.fail(failed, error, (f"{s.loc.place}: {what}",))

    def fail(self, text: str, error: str, given: tuple[Given, ...]) -> None:
        """Say in `status` what failed, and leave, where `text` holds."""
        code = self.module.failure(error, given)
        self.check_status = True
        self.out.open(f"if ({text})")
        self.out(f"*status = {code};")
        self.out(self.leave)
        self.out.close()


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
