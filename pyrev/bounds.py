"""Does every access of a call stay inside its array? Known before anything is written.

Three answers, cheapest first, for each subscript:

proved     ISL shows that no iteration leaves the array, whatever the sizes;
hoisted    the subscript, its loops and its guards are affine: one test of the sizes;
inspected  data decides: the part of the function that computes such subscripts runs
           first, on copies of what it writes, and reports the first that is outside.

A subscript of unknown sign that is affine must not be negative: sheared loops and row
slices rely on it. One that is data may be, as in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from pyrev.dependence import Region
from pyrev.diagnostics import ArgumentError
from pyrev.ir import (
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loc,
    Program,
    Return,
    Stmt,
    Var,
    all_names,
    blocks,
    exprs,
    fresh,
    map_block,
    map_expr,
    map_stmt_exprs,
    mentioned,
    names,
    walk,
    with_blocks,
    written,
)
from pyrev.poly import TRUE_TEXT, Unknown, conj, disj, exists, integer, is_empty
from pyrev.rename import guarded_leaves, rename
from pyrev.show import block_text, expr_text


@dataclass(frozen=True, slots=True)
class Subscript:
    """One subscript of one access: where it stands and what it may not leave."""

    at: int
    load: Load
    axis: int
    path: tuple[Expr, ...]  # tests inside the statement's expression
    loc: Loc
    affine: bool

    def message(self) -> str:
        where = f"{PurePath(self.loc.file).name}:{self.loc.line}: "
        return (
            f"{where}in `{expr_text(self.load)}`, subscript"
            f" `{expr_text(self.load.index[self.axis])}` leaves axis {self.axis} of"
            f" `{self.load.array}`"
        )


@dataclass(frozen=True, slots=True)
class _Context:
    """The iterations in which something happens, as an ISL formula, and if exactly
    so.
    """

    env: Mapping[str, str]
    variables: tuple[str, ...]
    formula: str
    exact: bool


class Bounds:
    """The checks of one program: `check` raises before anything is written."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.region = Region(program.body, frozenset())
        self.space = self.region.space
        self.hoisted: list[tuple[Expr, Subscript, bool]] = []
        self.inspected: list[Subscript] = []
        self.single = _assigned_once(program.body)
        self.known = {p.name for p in program.params} - set(_remade(program.body))
        self.shapes = _fixed_shapes(program.body, self.known)
        free = {name: f"s{k}" for k, name in enumerate(self.single)}
        start = _Context(free, tuple(free.values()), TRUE_TEXT, True)
        self._block(map_block(program.body, self._sized), start, 0)

    # ---------------------------------------------------------------- analysis

    def _block(self, block: Block, here: _Context, depth: int) -> None:
        for stmt in block:
            for expr in exprs(stmt):
                for path, e in guarded_leaves(expr, ()):
                    if isinstance(e, Load):
                        self._load(stmt, e, path, here)
            match stmt:
                case For():
                    self._block(stmt.body, self._inside(stmt, here, depth), depth + 1)
                case If(test, then, orelse):
                    self._block(then, self._under(test, here), depth)
                    self._block(orelse, self._under(Call("not", (test,)), here), depth)

    def _inside(self, loop: For, here: _Context, depth: int) -> _Context:
        name = f"v{depth}"
        text = self.region.in_range(loop, name, here.env, here.formula)
        bounds = (loop.lo, loop.hi)
        exact = here.exact and integer(loop.step) is not None
        for bound in bounds:
            known = self.space.cases(bound, here.env, here.formula) is not None
            exact = exact and known and not names(bound) & set(self.single)
        return _Context(
            {**here.env, loop.index: name},
            (*here.variables, name),
            conj((here.formula, text)),
            exact,
        )

    def _under(self, test: Expr, here: _Context) -> _Context:
        formula, exact = here.formula, here.exact
        for part in _conjuncts(test):
            found = self.space.formula(part, here.env, formula)
            if found is None:
                exact = False
            else:
                formula = conj((formula, found))
                exact = exact and not names(part) & set(self.single)
        return replace(here, formula=formula, exact=exact)

    def _load(
        self, stmt: Stmt, load: Load, path: tuple[Expr, ...], here: _Context
    ) -> None:
        for test in path:
            here = self._under(test, here)
        for axis, index in enumerate(load.index):
            extra: dict[str, str] = {}
            plain = self._abstract(index, here, extra)
            env = {**here.env, **extra}
            cases = self.space.cases(plain, env, here.formula)
            size = self.space.cases(self._size(load.array, axis), env, here.formula)
            affine = not extra and not names(index) & set(self.single)
            one = Subscript(stmt.id, load, axis, path, load.loc, affine)
            if one.loc.line == 0:
                one = replace(one, loc=stmt.loc)
            if cases is None or size is None:
                self.inspected.append(one)
                continue
            variables = (*here.variables, *extra.values())
            n = size[0].term
            low = disj(conj((c.when, f"{c.term} < 0")) for c in cases)
            high = disj(conj((c.when, f"{c.term} >= {n}")) for c in cases)
            bad = [
                (text, negative)
                for text, negative in ((low, True), (high, False))
                if not is_empty(self.space, variables, conj((here.formula, text)))
            ]
            if not bad:
                continue
            if not (here.exact and affine):
                self.inspected.append(one)
                continue
            tests = []
            try:
                for text, negative in bad:
                    formula = conj((here.formula, text))
                    test = exists(self.space, variables, formula)
                    if not set(mentioned(test)) <= self.known:
                        raise Unknown("sizes of arrays that the function makes")
                    if test != Const(False):
                        tests.append((test, one, negative))
            except Unknown:
                self.inspected.append(one)
            else:
                self.hoisted += tests

    def _sized(self, e: Expr) -> Expr:
        """Loops over a local array run over the parameters that its shape came from."""
        match e:
            case Extent(array, axis):
                return self._size(array, axis)
            case _:
                return e

    def _size(self, array: str, axis: int) -> Expr:
        """An extent; that of a local array in terms of parameters, where it is
        fixed.
        """
        shape = self.shapes.get(array)
        return Extent(array, axis) if shape is None else shape[axis]

    def _abstract(self, e: Expr, here: _Context, extra: dict[str, str]) -> Expr:
        """`e` with what ISL can't express replaced by unknowns, as deep as possible."""
        if self.space.cases(e, {**here.env, **extra}, here.formula) is not None:
            return e
        match e:
            case Call("+" | "-" | "min" | "max" | "neg" as op, args):
                return Call(op, tuple(self._abstract(a, here, extra) for a in args))
            case Call("where", (test, a, b)):
                known = self.space.formula(test, {**here.env, **extra}, here.formula)
                if known is not None:
                    one, two = (self._abstract(x, here, extra) for x in (a, b))
                    return Call("where", (test, one, two))
            case Call("int" | "int64", (a,)):
                return self._abstract(a, here, extra)
            case Call("//" | "%", (a, Const(int(k)))) if k > 0:
                return Call(e.op, (self._abstract(a, here, extra), Const(k)))
        unknown = f"?{len(extra)}"
        extra[unknown] = f"u{len(extra)}"
        return Var(unknown)

    # ---------------------------------------------------------------- checking

    def test_text(self) -> str:
        """A Python function of the parameters: the number of the first hoisted
        failure.
        """
        params = ", ".join(p.name for p in self.program.params)
        lines = [f"def hoisted({params}):"]
        for k, (test, _, _) in enumerate(self.hoisted):
            lines += _when(test, f"return {k}")
        return "\n".join([*lines, "    return -1"])

    def guard_text(
        self, name: str, params: Sequence[str], same: Sequence[tuple[str, str]]
    ) -> str:
        """Python text that makes function `name` of `params` test its sizes first.

        `same` are pairs of parameters that must have one shape.
        """
        tests = [(t, one.message()) for t, one, _ in self.hoisted]
        lines = ["", "", f"_{name}_unchecked = {name}", "", ""]
        lines += [f"def {name}({', '.join(params)}):"]
        for a, b in same:
            lines += [
                f"    if {a}.shape != {b}.shape:",
                f"        raise ValueError('`{a}` must have the shape of `{b}`')",
            ]
        for test, message in tests:
            lines += _when(test, f"raise IndexError({message!r})")
        lines += [f"    return _{name}_unchecked({', '.join(params)})", ""]
        return "\n".join(lines)

    def hoisted_check(self) -> Callable[[Mapping[str, Any]], None]:
        """The function that raises if a hoisted test finds an access outside."""
        namespace: dict[str, Any] = {}
        exec(self.test_text(), namespace)
        run = namespace["hoisted"]

        def check(values: Mapping[str, Any]) -> None:
            k = run(**values)
            if k < 0:
                return
            _, one, negative = self.hoisted[k]
            if negative:
                raise ArgumentError(
                    f"{one.message()} below 0; a negative index that is not a literal"
                    " is not supported yet: add the extent, or start the loop later"
                )
            extent = values[one.load.array].shape[one.axis]
            raise IndexError(f"{one.message()}, which has {extent} elements")

        return check

    def raise_inspected(self, k: int) -> None:
        """Raise for inspected subscript `k`."""
        one = self.inspected[k]
        if one.affine:
            raise IndexError(f"{one.message()} (or is negative)")
        raise IndexError(one.message())

    def inspector(self) -> Program | None:
        """The program that returns 1 + the number of an inspected subscript outside,
        or 0.
        """
        if not self.inspected:
            return None
        return _Inspector(self.program, self.inspected).build()


class _Inspector:
    """Builds the program that computes and tests data-dependent subscripts."""

    def __init__(self, program: Program, subscripts: list[Subscript]) -> None:
        self.program = program
        self.unsafe: dict[int, list[tuple[int, Subscript]]] = {}
        for k, one in enumerate(subscripts):
            self.unsafe.setdefault(one.at, []).append((k, one))
        self.taken = set(all_names(program.body)) | {p.name for p in program.params}
        self.bad = fresh("bad", self.taken)

    def build(self) -> Program:
        keep = self._slice()
        body: list[Stmt] = [Assign(Var(self.bad), ZERO)]
        body += self._copy(self.program.body, keep)
        body.append(Return((Var(self.bad),), single=True))
        arrays = [p for p in self.program.params if p.rank]
        changed = written(tuple(body))
        new = {p.name: fresh(p.name, self.taken) for p in arrays if p.name in changed}
        copies = [
            Alloc(
                new[p.name],
                tuple(Extent(p.name, k) for k in range(p.rank)),
                None,
                f"like:{p.name}",
                source=p.name,
            )
            for p in arrays
            if p.name in new
        ]
        renamed = tuple(rename(s, new, extents=False) for s in body)
        name = fresh(f"{self.program.name}_indices", self.taken)
        return replace(self.program, name=name, body=(*copies, *renamed))

    def _slice(self) -> set[int]:
        """The statements that decide where unsafe subscripts point, and the control."""
        around: dict[int, tuple[Stmt, ...]] = {}
        by_name: dict[str, list[Stmt]] = {}

        def scan(block: Block, outer: tuple[Stmt, ...]) -> None:
            for s in block:
                around[s.id] = outer
                match s:
                    case Assign() | Add():
                        by_name.setdefault(s.target_name, []).append(s)
                    case Alloc(array):
                        by_name.setdefault(array, []).append(s)
                for b in blocks(s):
                    scan(b, (*outer, s))

        scan(self.program.body, ())
        keep: set[int] = set()
        todo: list[str] = []
        for at, found in self.unsafe.items():
            for outer in around[at]:
                todo += self._enter(outer, keep)
            for _, one in found:
                for e in (*one.load.index, *one.path, Extent(one.load.array, 0)):
                    todo += mentioned(e)
        done: set[str] = set()
        while todo:
            name = todo.pop()
            if name in done:
                continue
            done.add(name)
            for s in by_name.get(name, ()):
                for control in (*around[s.id], s):
                    todo += self._enter(control, keep)
        return keep

    def _enter(self, stmt: Stmt, keep: set[int]) -> list[str]:
        if stmt.id in keep:
            return []
        keep.add(stmt.id)
        found = [n for e in exprs(stmt) for n in mentioned(e)]
        if isinstance(stmt, Alloc) and stmt.source is not None:
            found.append(stmt.source)
        return found

    def _copy(self, block: Block, keep: set[int]) -> list[Stmt]:
        out: list[Stmt] = []
        for stmt in block:
            for k, one in self.unsafe.get(stmt.id, ()):
                out.append(self._test(k, one))
            if stmt.id in keep:
                inner = tuple(tuple(self._copy(b, keep)) for b in blocks(stmt))
                kept = self._safe_stmt(with_blocks(stmt, tuple(() for _ in inner)))
                out.append(with_blocks(kept, inner))
        return out

    def _test(self, k: int, one: Subscript) -> Stmt:
        index = self._safe(one.load.index[one.axis], one.at)
        size = Extent(one.load.array, one.axis)
        lowest: Expr = ZERO if one.affine else Call("neg", (size,))
        outside = Call("or", (Call("<", (index, lowest)), Call(">=", (index, size))))
        first = Call("==", (Var(self.bad), ZERO))
        stmt: Stmt = If(
            Call("and", (first, outside)), (Assign(Var(self.bad), Const(k + 1)),)
        )
        for test in reversed(one.path):
            stmt = If(self._safe(test, one.at), (stmt,))
        return stmt

    def _safe_stmt(self, stmt: Stmt) -> Stmt:
        return map_stmt_exprs(stmt, lambda e: self._clamped(e, stmt.id))

    def _safe(self, expr: Expr, at: int) -> Expr:
        return map_expr(expr, lambda e: self._clamped(e, at))

    def _clamped(self, e: Expr, at: int) -> Expr:
        """An unsafe read, kept inside its array: what it returns then no longer
        matters.

        Subscripts under it have been made safe before, so it is found by array and
        axis.
        """
        if not isinstance(e, Load):
            return e
        axes = {
            one.axis
            for _, one in self.unsafe.get(at, ())
            if one.load.array == e.array and len(one.load.index) == len(e.index)
        }
        if not axes:
            return e
        index = list(e.index)
        for axis in sorted(axes):
            size = Extent(e.array, axis)
            k = index[axis]
            wrapped = Call("where", (Call("<", (k, ZERO)), Call("+", (k, size)), k))
            top = Call("-", (size, Const(1)))
            index[axis] = Call("max", (Call("min", (wrapped, top)), ZERO))
        return replace(e, index=tuple(index))


def _assigned_once(block: Block) -> tuple[str, ...]:
    """Scalars with a single assignment: guard and use of one see the same value."""
    count: dict[str, int] = {}
    for s in walk(block):
        match s:
            case Assign(Var(name), _):
                count[name] = count.get(name, 0) + 1
            case Add(Var(name), _):
                count[name] = count.get(name, 0) + 2
            case For(index):
                count[index] = count.get(index, 0) + 2
    return tuple(name for name, k in count.items() if k == 1)


def _fixed_shapes(block: Block, known: set[str]) -> dict[str, tuple[Expr, ...]]:
    """The local arrays that are made in one place, of sizes that are arguments."""
    found: dict[str, tuple[Expr, ...]] = {}

    def sized(e: Expr) -> Expr:
        match e:
            case Extent(array, axis) if array in found:
                return found[array][axis]
            case _:
                return e

    made = [s for s in walk(block) if isinstance(s, Alloc)]
    for s in made:
        shape = tuple(map_expr(n, sized) for n in s.shape)
        alone = sum(a.array == s.array for a in made) == 1
        if alone and all(set(mentioned(n)) <= known for n in shape):
            found[s.array] = shape
    return found


def _when(test: Expr, action: str) -> list[str]:
    """The lines of ``if test: action`` in a function body."""
    stub = If(test, (Return((ZERO,), single=True),))
    *head, last = block_text((stub,), 1).splitlines()
    return [*head, last.replace("return 0", action)]


def _remade(block: Block) -> Iterator[str]:
    """Names whose value, or whose extents, are not those of a parameter."""
    for s in walk(block):
        match s:
            case Assign(Var(name), _) | Add(Var(name), _) | Alloc(name) | For(name):
                yield name


def _conjuncts(test: Expr) -> Iterator[Expr]:
    match test:
        case Call("and", args):
            for a in args:
                yield from _conjuncts(a)
        case Call("not", (Call("or", args),)):
            for a in args:
                yield from _conjuncts(Call("not", (a,)))
        case _:
            yield test
