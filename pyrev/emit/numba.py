"""The CPU target: Numba functions that run a scheduled program on all cores.

    def f(...)            called from Python: raises what the compiled code found wrong
    def _f(...)           the statements between the nests, and a call for each nest
    def _f_1(...)         one nest; a parallel loop calls, for each iteration,
    def _f_1_y(y, ...)    its body

Subscripts are not tested here: `analysis.bounds` has shown, before the call, that every
access stays inside its array and that affine subscripts are not negative. Nothing is
raised inside a parallel loop, where Numba would lose it: a body that divides an
integer by zero says so in `status` and returns. Sums over an innermost loop stand in
functions of their own, which alone may reassociate; they are listed in the result.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from pyrev.analysis.narrow_integers import NARROW
from pyrev.emit.carried import CARRIED, definitions
from pyrev.emit.faults import FAULTS, Faults, all_of
from pyrev.emit.share import share
from pyrev.emit.subscripts import Subscripts
from pyrev.ir.dtypes import (
    WEAK_FLOAT,
    WEAK_INT,
    concrete,
    expr_dtype,
    infer,
    is_float,
    promote,
)
from pyrev.ir.liveness import exposed, flow_of
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
    Loop,
    Program,
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
    like,
    loop_indices,
    map_block,
    mentioned,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.primitives import PRIMITIVES, UNKNOWN
from pyrev.ir.printer import Blank, Emitted, Text, comment, tag, write
from pyrev.ir.simplify import add_int, iterations, sub_int
from pyrev.ir.special import SPECIAL
from pyrev.ir.text import (
    alloc_tree,
    array_ranks,
    call,
    constant,
    expr_text,
    expr_tree,
    name,
    numpy_name,
    proof_text,
    store,
    subscript,
)
from pyrev.schedule.costs import SHIPPED, CpuCosts
from pyrev.schedule.sums import sums_of

#: A longer display of values is a list at first in CPython's bytecode, which Numba
#: reads only where none of the values branches.
DISPLAY = 30
#: More results of one function than this have one name.
FEW_SUMS = 4

_RESERVED = (
    *("np", "math", "njit", "prange", "range", "min", "max", "abs"),
    *("zeros", "empty", "copy"),
    *CARRIED,
)
#: The functions that are other ones for Numba: of `math` where Python's are NumPy's.
FOR_NUMBA = {
    p.python: p.numba for p in PRIMITIVES.values() if p.numba not in ("", p.python)
}
_FAST = ("contract", "nsz", "reassoc")


def emit_numba(
    program: Program,
    dtypes: Mapping[str, str],
    *,
    doc: str = "",
    sources: Mapping[str, Sequence[str]] | None = None,
    wraps: bool = False,
    natural: frozenset[Expr] = frozenset(),
    cpu: CpuCosts = SHIPPED.cpu,
) -> Emitted:
    """The module that runs `program`, for parameters of the given dtypes.

    `natural` are subscripts that are never negative, beside those of indices and sizes.
    With `wraps`, sums and products of integers that are data go around at 64 bits, as
    NumPy's do. Numba leaves it undefined, and LLVM removes tests that rely on it.
    """
    program = replace(program, body=_own_scalars(program.body, ()))
    module = _Module(program, infer(program, dtypes), cpu, wraps, natural)
    functions = module.functions(program)
    head: list[ast.stmt] = [comment(line) for line in doc.splitlines()]
    imports: list[ast.stmt] = [
        ast.ImportFrom("numba", [ast.alias("njit"), ast.alias("prange")], 0)
    ]
    if not module.drivers:
        imports = [ast.ImportFrom("numba", [ast.alias("njit")], 0)]
    held = definitions(module.held)
    for function in held:
        function.decorator_list = _decorators("SERIAL")
    tree = [*held, *(_Scalar().visit(f) for f in share(functions, cpu.shared_nests))]
    if any(
        isinstance(n, ast.Name) and n.id == "math" for f in tree for n in ast.walk(f)
    ):
        imports = [ast.Import([ast.alias("math")]), Blank(), *imports]
    at = 2 if isinstance(imports[0], ast.Import) else 0
    imports.insert(at, ast.Import([ast.alias("numpy", "np")]))
    body = [*head, *imports, Blank(), *module.constants(), *tree]
    text = write(ast.Module(body, []))
    return Emitted(Text(text.text + "\n", text.locs), tuple(module.reassociated))


class _Scalar(ast.NodeTransformer):
    """``math.sin`` for ``np.sin``: every argument here is a number."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name):
            known = FOR_NUMBA.get(f"{node.value.id}.{node.attr}")
            if known is not None:
                return name(known)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = FOR_NUMBA.get(node.id)
        return node if known is None else name(known)


@dataclass(frozen=True, slots=True)
class _Mode:
    """How to print a block: what the function returns, also when a test fails."""

    #: None in the entry function.
    outputs: tuple[str, ...] | None


class _Module:
    """The functions of one module, as they come about: callees first."""

    def __init__(
        self,
        program: Program,
        types: dict[str, str],
        cpu: CpuCosts,
        wraps: bool = False,
        natural: frozenset[Expr] = frozenset(),
    ) -> None:
        self.program = program
        self.types = types
        self.faults = Faults(types)
        self.wraps, self.cpu = wraps, cpu
        self.ranks = {p.name: p.rank for p in program.params if p.rank}
        self.ranks |= array_ranks(program.body)
        self.taken = set(all_names(program.body)) | {p.name for p in program.params}
        self.state = fresh("status", self.taken)
        #: The functions that make arrays, but those whose names are the user's.
        self.memory = frozenset(("zeros", "empty", "copy")) - self.taken
        self.taken |= {*_RESERVED, program.name, f"_{program.name}"}
        self.made: list[ast.stmt] = []
        self.places: list[tuple[str, str]] = []
        self.reassociated: dict[str, None] = {}
        self.drivers = False
        self.nests = 0
        self.first: list[Alloc] = []
        self.allocates = False
        self.subscripts = Subscripts(program, natural)
        #: The parameter by which a function says that it failed, if any of them can.
        self.status = [self.state] if self.can_fail(program.body) else []
        self.carried: frozenset[str] = frozenset()
        #: The functions of pyrev's own that the module calls.
        self.held: set[str] = set()
        #: The arrays that the function being made was given, and what it is made of.
        self.given: frozenset[str] = frozenset(p.name for p in program.params)
        self.blank: dict[str, None] = {}
        self.around: Block = ()
        self.result = fresh("result", self.taken)
        self.once = _occurrences(program.body)

    # ---------------------------------------------------------------- functions

    def functions(self, program: Program) -> list[ast.stmt]:
        """Every function of the module, the one that Python calls last."""
        params = [p.name for p in program.params]
        first = self.hoisted()
        self.given |= {s.array for s in first}
        run = self.entry(f"_{program.name}")
        mode = _Mode(None)
        outer = [
            tag(_from_memory(self.alloc(s, mode), self.memory), s.loc) for s in first
        ]
        self.allocates = bool(first)
        if self.status:
            made = call("np.zeros", ast.Constant(1), dtype=name("np.int64"))
            outer.append(_assign(self.state, made))
        if self.places:
            failed = subscript(name(self.state), [ast.Constant(0)])
            error = subscript(name("ERRORS"), [failed])
            kind = subscript(error, [ast.Constant(0)])
            raised = ast.Raise(
                ast.Call(kind, [subscript(error, [ast.Constant(1)])], []),
                ast.Constant(None),
            )
            run = ast.Try([run], [], [], [ast.If(failed, [raised], [])])
        outer.append(run)
        outer.append(ast.Return(name(self.result)))
        self.define(program.name, params, outer, "", program.loc)
        return self.made

    def entry(self, entry: str) -> ast.stmt:
        """Define the entry function and all below it; the call of it is returned."""
        params = [p.name for p in self.program.params] + [s.array for s in self.first]
        rest = tuple(s for s in self.program.body if s not in self.first)
        body = self.top(rest, ())
        start: list[ast.stmt] = [
            _assign(n, self.zero(self.types[n]))
            for n in assigned_scalars(self.program.body)
            if n in self.carried and n not in params
        ]
        for n in self.blank:
            none = ast.Tuple([ast.Constant(0)] * self.ranks[n], ast.Load())
            kind = name(numpy_name(concrete(self.types[n])))
            start.append(_assign(n, call("np.empty", none, dtype=kind)))
        lines = [*start, *body]
        self.define(entry, [*params, *self.status], lines, "ENTRY", self.program.loc)
        return _assign(self.result, call(entry, *map(name, [*params, *self.status])))

    def hoisted(self) -> list[Alloc]:
        """The arrays that can be made before anything runs: NumPy makes them.

        Its memory comes in huge pages and is zeroed where it is first touched, by all
        threads; Numba's is not, which costs more than many a kernel that fills it.
        """
        changed = written(self.program.body)
        params = {p.name for p in self.program.params}
        allocs = [s for s in walk(self.program.body) if isinstance(s, Alloc)]
        known = {p for p in params if p not in {s.array for s in allocs}}
        for s in self.program.body:
            if not isinstance(s, Alloc) or [a.array for a in allocs].count(s.array) > 1:
                continue
            if s.fill is not None and not isinstance(s.fill, Const):
                continue
            if s.source is not None and (s.source in changed or s.source not in params):
                continue
            parts = [e for n in s.shape for e in walk_expr(n)]
            if any(isinstance(e, Load) for e in parts):
                continue
            if any(map(self.faults.fails, s.shape)):
                continue
            needs = {n for e in parts for n in mentioned(e)}
            scalars = {n for e in parts if isinstance(e, Var) for n in mentioned(e)}
            if needs <= known and not scalars & changed:
                self.first.append(s)
                known.add(s.array)
        return self.first

    def constants(self) -> list[ast.stmt]:
        """The decorators' options, and the errors that `status` counts."""
        memory = "zeros, empty, copy = np.zeros, np.empty, np.copy  # or from a pool"
        fast = ", ".join(f'"{flag}"' for flag in _FAST)
        text = [memory] if self.allocates else []
        text.append('ENTRY = {"error_model": "numpy", "nogil": True, "cache": True}')
        if len(self.made) > 2 or self.held:
            # Python calls none of these: wrappers for it would only take time.
            text += [
                'SERIAL = {"error_model": "numpy", "nogil": True}',
                'SERIAL |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}',
            ]
        if self.drivers:
            text.append('PARALLEL = {**SERIAL, "parallel": True}')
        if self.reassociated:
            text.append(f'SUM = {{**SERIAL, "fastmath": {{{fast}}}}}')
        out = [*ast.parse("\n".join(text)).body]
        if self.places:
            errors: list[ast.expr] = [ast.Constant(None)]
            for kind, what in self.places:
                pair: list[ast.expr] = [name(kind), ast.Constant(what)]
                errors.append(ast.Tuple(pair, ast.Load()))
            out.append(_assign("ERRORS", ast.Tuple(errors, ast.Load())))
        return out

    def define(
        self,
        function: str,
        params: Sequence[str],
        body: list[ast.stmt],
        how: str,
        at: Loc,
    ) -> None:
        args = ast.arguments([], [ast.arg(p) for p in params], None, [], [], None, [])
        tree = ast.FunctionDef(function, args, body, _decorators(how), None, None)
        self.made.append(tag(tree, at))

    def numbered(self) -> str:
        """The name of the next nest's function."""
        self.nests += 1
        return fresh(f"_{self.program.name}_{self.nests}", self.taken)

    # ---------------------------------------------------------------- entry level

    def top(self, block: Block, after: Block) -> list[ast.stmt]:
        """The statements of the entry function; each nest becomes a call."""
        out: list[ast.stmt] = []
        mode = _Mode(None)
        done = 0
        for part in self.parts(block):
            done += len(part)
            rest = block[done:] + after
            if len(part) > 1:
                out.append(self.apart(part, rest))
                continue
            (s,) = part
            match s:
                case For() | While():
                    out.append(self.nest(s, rest))
                    out.extend(self.stopped(s, mode))
                case If(test, then, orelse):
                    out.extend(self.guards(s, (test,), mode))
                    inner = self.top(then, rest), self.top(orelse, rest)
                    out.append(ast.If(self.tree(test, mode), *inner))
                case _:
                    out.extend(self.plain((s,), mode))
                    self.given |= {s.array} if isinstance(s, Alloc) else frozenset()
        return out

    def parts(self, block: Block) -> Iterator[Block]:
        """The statements of `block`, long runs of accesses of elements in pieces.

        LLVM takes more than quadratic time in the accesses of one straight line.
        """
        run: list[Stmt] = []
        most = self.cpu.straight_accesses

        def pieces() -> Iterator[Block]:
            if sum(map(_elements, run)) <= most:
                yield from ((s,) for s in run)
                return
            piece: list[Stmt] = []
            count = 0
            for s in run:
                if piece and count + _elements(s) > most:
                    yield tuple(piece)
                    piece, count = [], 0
                piece.append(s)
                count += _elements(s)
            yield tuple(piece)

        for s in block:
            plain = all(isinstance(x, (Assign, Add, If)) for x in walk((s,)))
            if plain and not self.can_fail((s,)):
                run.append(s)
                continue
            yield from pieces()
            run.clear()
            yield (s,)
        yield from pieces()

    def stopped(self, s: Stmt, mode: _Mode) -> list[ast.stmt]:
        """After a call in which something may have failed: go no further."""
        if not self.can_fail((s,)):
            return []
        failed = subscript(name(self.state), [ast.Constant(0)])
        if mode.outputs is None:
            leave: ast.stmt = ast.Raise(call("RuntimeError", ast.Constant("stopped")))
        else:
            leave = _return(mode.outputs)
        return [ast.If(failed, [leave], [])]

    def nest(self, loop: Loop, after: Block) -> ast.stmt:
        """The call of the function that a nest at entry level becomes."""
        if isinstance(loop, For) and loop.parallel:
            return self.driver(loop)
        return self.apart((loop,), after)

    def apart(self, block: Block, after: Block) -> ast.stmt:
        """The call of a function of its own for some statements at entry level."""
        scalars = [n for n in assigned_scalars(block) if exposed(after, n)[0]]
        self.carried |= frozenset(scalars)
        outputs = (*scalars, *(a for a in _made(block) if _needed(after, a)))
        function = self.numbered()
        unsure = [n for n in outputs if not exposed(block, n)[1]]
        # An array that some path makes is there, without elements, on all paths.
        blank = [n for n in unsure if n in self.ranks and n not in self.given]
        self.blank.update(dict.fromkeys(blank))
        self.given |= frozenset(blank)
        inputs = self.inputs(block, unsure)
        around, self.given = self.given, frozenset(inputs)
        outside, self.around = self.around, block
        # A scalar that a nest may read is set, whatever the path to it.
        self.carried |= {n for n in inputs if n not in self.ranks}
        body = self.loops(block, _Mode(outputs))
        self.given, self.around = around | frozenset(outputs), outside
        if outputs:
            body.append(_return(outputs))
        at = block[0].loc
        self.define(function, [*inputs, *self.status], body, "SERIAL", at)
        tree = call(function, *map(name, [*inputs, *self.status]))
        note = block[0].note if len(block) == 1 else ""
        return tag(_receive(outputs, tree), at, note)

    def inputs(self, block: Block, outputs: Sequence[str] = ()) -> list[str]:
        """What a block needs from outside, in order of appearance."""
        made = Counter(s.array for s in walk(block) if isinstance(s, Alloc))
        there = Counter(s.array for s in walk(self.around) if isinstance(s, Alloc))
        found = dict.fromkeys(_in_order(block))

        def wanted(n: str) -> bool:
            asked = n in outputs or exposed(block, n)[0]
            if n not in self.ranks or not made[n]:
                return n in self.ranks or asked
            # What only this block makes, on some path, is not there before it.
            return asked and (n in self.given or there[n] > made[n])

        return [n for n in found if wanted(n)]

    def driver(self, loop: For) -> ast.stmt:
        """The call of a parallel loop: a function of its own, and one for its body.

        Directly nested loops that are parallel too run as one if their bounds allow it.
        """
        self.drivers = True
        loops = [loop]
        while True:
            match loops[-1].body:
                case (For() as inner,) if inner.parallel and not (
                    {f.index for f in loops}
                    & frozenset().union(*map(names, (inner.lo, inner.hi, inner.step)))
                ):
                    loops.append(inner)
                case body:
                    break
        body = _on_one_core(body)
        function = self.numbered()
        row = fresh(f"{function}_{'_'.join(f.index for f in loops)}", self.taken)
        inputs = self.inputs(body)
        lines = self.loops(body, _Mode(()))
        self.define(row, [*inputs, *self.status], lines, "SERIAL", loop.loc)

        mode = _Mode(())
        start: list[ast.stmt] = []
        for f in loops:
            start.extend(self.guards(f, (f.lo, f.hi, f.step), mode))
        counts: list[Expr] = [_count(f) for f in loops]
        if len(loops) > 1:
            for k, f in enumerate(loops):
                n = fresh(f"count_{f.index}", self.taken)
                self.types[n] = WEAK_INT
                start.append(_assign(n, self.tree(counts[k], mode)))
                counts[k] = Var(n)
        task = loop.index
        simple = len(loops) == 1 and (loop.lo, loop.step) == (ZERO, ONE)
        if not simple:
            task = fresh("task", self.taken)
            self.types[task] = WEAK_INT
        total = counts[0]
        for count in counts[1:]:
            total = Call("*", (total, count))
        # `prange` may count in unsigned integers, which meet signed ones as floats.
        place: Expr = Call("int64", (Var(task),))
        inside: list[ast.stmt] = []
        values: dict[str, Expr] = {loop.index: place}
        if not simple:
            number = fresh("number", self.taken)
            self.types[number] = WEAK_INT
            inside.append(_assign(number, expr_tree(place)))
            for k, f in enumerate(loops):
                position: Expr = Var(number)
                for count in counts[k + 1 :]:
                    position = Call("//", (position, count))
                if k:
                    position = Call("%", (position, counts[k]))
                if f.step != ONE:
                    position = Call("*", (position, f.step))
                if f.lo != ZERO:
                    position = Call("+", (f.lo, position))
                values[f.index] = position
        args = [self.tree(values[n], mode) if n in values else name(n) for n in inputs]
        inside.append(ast.Expr(call(row, *args, *map(name, self.status))))
        if any(isinstance(e, Call) and e.op == "where" for e in walk_expr(total)):
            # Numba makes no parallel loop of a range with a branch in it.
            whole = fresh("count", self.taken)
            self.types[whole] = WEAK_INT
            start.append(_assign(whole, self.tree(total, mode)))
            total = Var(whole)
        bounds = call("prange", self.tree(total, mode))
        tree = ast.For(store(name(task)), bounds, inside, [], None)
        start.append(tag(tree, loop.loc, proof_text(loop.parallel)))
        needs = dict.fromkeys(n for n in inputs if n not in values)
        for f in loops:
            for e in (f.lo, f.hi, f.step):
                needs.update(dict.fromkeys(mentioned(e)))
        self.define(function, [*needs, *self.status], start, "PARALLEL", loop.loc)
        return tag(
            ast.Expr(call(function, *map(name, [*needs, *self.status]))), loop.loc
        )

    # ---------------------------------------------------------------- blocks

    def loops(self, block: Block, mode: _Mode) -> list[ast.stmt]:
        """A block with parallel loops in it, and the statements between."""
        out: list[ast.stmt] = []
        run: list[Stmt] = []

        def flush() -> None:
            if run:
                out.extend(self.plain(tuple(run), mode))
                run.clear()

        for s in block:
            if not any(isinstance(x, Alloc) or _parallel(x) for x in walk((s,))):
                run.append(s)
                continue
            flush()
            match s:
                case For() if s.parallel:
                    out.append(self.driver(s))
                    out.extend(self.stopped(s, mode))
                case While():
                    out.extend(self.early(s, self.loops(s.body, mode), mode))
                case For(lo=lo, hi=hi, step=step, body=body):
                    out.extend(self.guards(s, (lo, hi, step), mode))
                    out.append(self.loop(s, self.loops(body, mode), mode))
                case If(test, then, orelse):
                    out.extend(self.guards(s, (test,), mode))
                    inner = self.loops(then, mode), self.loops(orelse, mode)
                    out.append(ast.If(self.tree(test, mode), *inner))
                case _:
                    out.extend(self.plain((s,), mode))
        flush()
        return out

    def plain(self, block: Block, mode: _Mode) -> list[ast.stmt]:
        """Statements one by one, each after the tests that it needs in this mode."""
        out: list[ast.stmt] = []
        for s in block:
            match s:
                case Assign(target, value) | Add(target, value):
                    out.extend(self.guards(s, (value, target), mode))
                    out.append(tag(self.store(s, mode), s.loc))
                case Alloc():
                    out.extend(self.guards(s, exprs(s), mode))
                    out.extend(self.sizes(s, mode))
                    out.append(tag(self.alloc(s, mode), s.loc))
                case For(lo=lo, hi=hi, step=step):
                    out.extend(self.guards(s, (lo, hi, step), mode))
                    out.extend(self.accumulated(s, mode))
                case While():
                    out.extend(self.early(s, self.plain(s.body, mode), mode))
                case Check(test, error, message):
                    out.extend(self.guards(s, (test,), mode))
                    out.append(self.unless(test, error, message, s.loc, mode))
                case Grow(array):
                    room = call("np.empty_like", name(array))
                    both = ast.Tuple([name(array), room], ast.Load())
                    out.append(_assign(array, call("np.concatenate", both)))
                case If(test, then, orelse):
                    out.extend(self.guards(s, (test,), mode))
                    inner = self.plain(then, mode), self.plain(orelse, mode)
                    out.append(tag(ast.If(self.tree(test, mode), *inner), s.loc))
                case Return(values, single):
                    out.extend(self.guards(s, values, mode))
                    trees = [self.tree(v, mode) for v in values]
                    if len(trees) > DISPLAY:
                        out.extend(self.named(s, trees))
                    out.append(tag(_result(trees, single), s.loc))
                case Tell() | Restart():
                    raise AssertionError("no statement of compiled code")
                case _:
                    assert_never(s)
        return out

    def named(self, s: Return, trees: list[ast.expr]) -> Iterator[ast.stmt]:
        """Give names to the `trees` that branch, in their places."""
        for k, tree in enumerate(trees):
            if any(isinstance(t, (ast.IfExp, ast.BoolOp)) for t in ast.walk(tree)):
                value = fresh("value", self.taken)
                yield tag(_assign(value, tree), s.loc)
                trees[k] = name(value)

    def loop(self, f: For, body: list[ast.stmt], mode: _Mode) -> ast.stmt:
        tree = ast.For(store(name(f.index)), self.span(f, mode), body, [], None)
        return tag(tree, f.loc, f.note)

    def early(self, s: While, body: list[ast.stmt], mode: _Mode) -> list[ast.stmt]:
        """A loop that ends when its test fails."""
        test = self.tree(s.test, mode)
        guards = self.guards(s, (s.test,), mode)
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        if not s.index:
            if not guards:
                return [tag(ast.While(test, body, []), s.loc, s.note)]
            always = ast.Constant(True)
            return [tag(ast.While(always, [*guards, leave, *body], []), s.loc, s.note)]
        over = For(s.index, s.lo, s.hi, s.step, (), loc=s.loc, note=s.note)
        before = self.guards(s, (s.lo, s.hi, s.step), mode)
        return [*before, self.loop(over, [*guards, leave, *body], mode)]

    def span(self, f: For, mode: _Mode) -> ast.expr:
        """``range(...)``: Numba has no `reversed`, its values are written backwards."""
        lo, hi, step = f.lo, f.hi, f.step
        if f.reverse and f.step in (ONE, Const(-1)):
            back = 1 if f.step == ONE else -1
            lo, hi, step = add_int(f.hi, -back), add_int(f.lo, -back), Const(-back)
        elif f.reverse:
            last = Call("-", (_count(f), ONE))
            lo = Call("+", (f.lo, Call("*", (last, f.step))))
            hi = Call("-", (f.lo, f.step))
            step = Call("neg", (f.step,))
            if isinstance(f.step, Const):
                step = Const(-f.step.value)
        elif isinstance(f.step, Const) and not (
            self.subscripts.is_affine(f.lo) and self.subscripts.is_affine(f.hi)
        ):
            # Bounds that are data may be so far apart that Numba's count goes around.
            hi = Call("max" if f.step.value > 0 else "min", (hi, lo))
        args = [self.tree(e, mode) for e in (lo, hi, step)]
        if step == ONE:
            args.pop()
            if lo == ZERO:
                args.pop(0)
        return call("range", *args)

    # ---------------------------------------------------------------- sums

    def accumulated(self, f: For, mode: _Mode) -> list[ast.stmt]:
        """A loop, with each sum into one place kept in a local while it runs."""
        if f.apart and not self.can_fail(f.body) and self.keeps(f, f.body):
            return [self.row(f, mode)]
        innermost = not any(map(blocks, f.body))
        targets = sums_of(f) if innermost or not self.can_fail(f.body) else []
        if not targets:
            return [self.loop(f, self.plain(f.body, mode), mode)]
        pairs = {}
        for target in targets:
            base = target.name if isinstance(target, Var) else target.array
            local = fresh(f"sum_{base}", self.taken)
            self.types[local] = self.types[base]
            pairs[target] = Var(local)
        body = tuple(
            replace(s, target=pairs[s.target])
            if isinstance(s, Add) and s.target in pairs
            else s
            for s in f.body
        )
        inner = replace(f, body=body)
        lines: list[ast.stmt] = []
        if self.may_reassociate(f, inner, targets, mode):
            locals_ = [pairs[t].name for t in targets]
            line, results = self.summed(f, inner, locals_, mode)
            lines.append(line)
            for t, result in zip(targets, results, strict=True):
                lines.append(tag(self.store(Add(t, result), mode), f.loc))
        elif all(isinstance(t, Var) for t in targets):
            return [self.loop(f, self.plain(f.body, mode), mode)]
        else:
            for t in targets:
                lines.append(_assign(pairs[t].name, self.tree(t, mode)))
            lines.append(self.loop(inner, self.plain(inner.body, mode), mode))
            for t in targets:
                lines.append(tag(self.store(Assign(t, pairs[t]), mode), f.loc))
        # The place of an empty sum need not exist.
        if _trip(f):
            return lines
        return [ast.If(self.tree(_nonempty(f), mode), lines, [])]

    def row(self, f: For, mode: _Mode) -> ast.stmt:
        """The call of the function that runs over one row."""
        function = fresh(f"_{self.program.name}_row", self.taken)
        inputs = self.inputs((f,))
        lines: list[ast.stmt] = [self.loop(f, self.plain(f.body, mode), mode)]
        self.define(function, inputs, lines, "SERIAL", f.loc)
        return tag(ast.Expr(call(function, *map(name, inputs))), f.loc)

    def may_reassociate(
        self, f: For, inner: For, targets: Sequence[Var | Load], mode: _Mode
    ) -> bool:
        trip = _trip(f)
        if trip is not None and trip <= self.cpu.unrolled_iterations:
            return False
        if not all(is_float(expr_dtype(t, self.types)) for t in targets):
            return False
        if any(self.faults.fails(e) for s in inner.body for e in exprs(s)):
            return False
        # What an iteration hands on is no sum, and the next loop may go on from it.
        rest = [s for s in f.body if not (isinstance(s, Add) and s.target in targets)]
        scalars = [s for s in rest if _is_scalar(s)]
        return len(scalars) == len(rest) and self.keeps(f, scalars)

    def keeps(self, f: For, block: Sequence[Stmt]) -> bool:
        """Are the scalars of `block` made and used up in one iteration of `f`?"""
        handed, inside = flow_of(f.body)[0], _occurrences((f,))
        return not any(
            n in handed or self.once[n] != inside[n]
            for n in assigned_scalars(tuple(block))
        )

    def summed(
        self, f: For, inner: For, locals_: Sequence[str], mode: _Mode
    ) -> tuple[ast.stmt, Sequence[Expr]]:
        """A call of a function that sums over one loop, in any order, and the sums."""
        function = fresh(f"_{self.program.name}_sum", self.taken)
        inputs = [n for n in self.inputs((inner,)) if n not in locals_]
        start = [_assign(n, self.zero(self.types[n])) for n in locals_]
        body = self.loop(inner, self.plain(inner.body, mode), mode)
        lines = [*start, body, _return(tuple(locals_))]
        self.define(function, inputs, lines, "SUM", f.loc)
        where = f.loc.place
        for s in f.body:
            if isinstance(s, Add):
                text = expr_text(s.target)
                self.reassociated[f"{where}: the sum of {text} over {f.index}"] = None
        made = call(function, *map(name, inputs))
        kinds = {self.types[n] for n in locals_}
        if len(locals_) <= FEW_SUMS or len(kinds) > 1:
            return _receive(tuple(locals_), made), [Var(n) for n in locals_]
        sums = fresh("sums", self.taken)
        (self.types[sums],) = kinds
        return _assign(sums, made), [
            Load(sums, (Const(k),)) for k in range(len(locals_))
        ]

    # ---------------------------------------------------------------- leaves

    def store(self, s: Assign | Add, mode: _Mode) -> ast.stmt:
        kind = expr_dtype(s.target, self.types)
        if isinstance(s, Add) and isinstance(s.target, Var) and kind in NARROW:
            # Numba's own sum would have 64 bits.
            s = Assign(s.target, Call("+", (s.target, s.value)), loc=s.loc)
        target = store(self.tree(s.target, mode))
        value, dtype = self.typed(s.value, mode)
        if isinstance(s, Assign):
            if isinstance(s.target, Var):
                value = _cast(value, dtype, concrete(kind))
            return ast.Assign([target], expr_tree(value), None)
        wide = promote(kind, dtype)
        if wide == "float32" or isinstance(s.target, Var):
            value = _cast(value, dtype, concrete(wide))
        match value:
            case Call("neg", (positive,)):
                return ast.AugAssign(target, ast.Sub(), expr_tree(positive))  # type: ignore[arg-type]
        return ast.AugAssign(target, ast.Add(), expr_tree(value))  # type: ignore[arg-type]

    def alloc(self, s: Alloc, mode: _Mode) -> ast.stmt:
        dtype = concrete(self.types[s.array])
        shape = tuple(self.typed(n, mode)[0] for n in s.shape)
        fill = s.fill
        if fill is not None and not (isinstance(fill, Const) and fill.value in (0, 1)):
            fill = _cast(*self.typed(fill, mode), dtype)
        copied = s.source is not None and concrete(self.types[s.source]) == dtype
        kind = like(s.source) if s.source and copied else dtype
        plain = replace(s, shape=shape, fill=fill, dtype=kind)
        return _assign(s.array, alloc_tree(plain, self.ranks))

    def zero(self, dtype: str) -> ast.expr:
        kind = concrete(dtype)
        if kind == "float64":
            return ast.Constant(0.0)
        if kind == "bool":
            return ast.Constant(False)
        return ast.Constant(0) if kind == "int64" else call(f"np.{kind}", constant(0))

    # ---------------------------------------------------------------- expressions

    def tree(self, e: Expr, mode: _Mode) -> ast.expr:
        return expr_tree(self.typed(e, mode)[0])

    def typed(self, e: Expr, mode: _Mode) -> tuple[Expr, str]:
        """The expression with every conversion written out, and its dtype.

        Numba's own promotion differs from NumPy's: a float32 beside a Python number, or
        beside an integer, would become a float64.
        """
        if isinstance(e, Var) and e.name in self.ranks:
            return e, self.types[e.name]
        dtype = expr_dtype(e, self.types)
        match e:
            case Const() | Var() | Extent():
                return e, dtype
            case Load(array, index):
                return Load(array, tuple(self.position(i, mode) for i in index)), dtype
            case Call(op, args):
                return self.typed_call(op, args, dtype, mode), dtype
            case _:
                raise AssertionError("a saved value is left over")

    def position(self, index: Expr, mode: _Mode) -> Expr:
        """A subscript; one that is known not to be negative says so to the compiler."""
        value, _ = self.typed(index, mode)
        if isinstance(index, Const) or not self.subscripts.natural(index):
            return value
        return Call("uint64", (value,))

    def typed_call(
        self, op: str, args: tuple[Expr, ...], dtype: str, mode: _Mode
    ) -> Expr:
        pairs = [self.typed(a, mode) for a in args]
        kinds = [k for _, k in pairs]
        plain = tuple(a for a, _ in pairs)
        if op in ("stop_gradient", "probe", "by_rule"):
            return plain[0]
        if op == "float":
            return Call("float64", plain)
        if op == "~" and dtype == "bool":
            return Call("not", plain)
        if op == "where":
            test, a, b = pairs
            want = concrete(dtype)
            return Call(op, (test[0], _cast(*a, want), _cast(*b, want)))
        if op in ("<", "<=", ">", ">=", "==", "!="):
            return Call(op, _meet(pairs, promote(*kinds)))
        if op == "**":
            return self.power(pairs, dtype)
        if op in ("and", "or") and all(k == "bool" for k in kinds):
            return Call(op, plain)
        if op in ("not", "int", "bool", "round", "isnan", "isinf", "isfinite"):
            return Call(op, plain)
        if op in NARROW or op in ("int64", "uint64", "float32", "float64"):
            return Call(op, plain)
        if self.wraps and concrete(dtype) == "int64":
            if self.subscripts.may_wrap(op, args):
                bits = (Call("uint64", (Call("int64", (a,)),)) for a, _ in pairs)
                return Call("int64", (Call(op, tuple(bits)),))
        # `analysis.integer_ranges` looks at counts made of sizes and numbers.
        if op in ("<<", ">>") and not self.subscripts.is_affine(args[1]):
            return _shifted(op, plain, dtype)
        if op == "sign" and dtype.startswith("uint"):
            # Numba's own gives the value back.
            return Call(dtype, (Call(">", (plain[0], ZERO)),))
        known = PRIMITIVES.get(op, UNKNOWN)
        if dtype == "float32" and known.vector:
            op = known.vector
            self.held.add(op)
        out = Call(op, _meet(pairs, dtype))
        if known.numba in SPECIAL:
            self.held.add(known.numba)
            return Call("float32", (out,)) if dtype == "float32" else out
        return Call(dtype, (out,)) if dtype in NARROW else out

    def power(self, pairs: list[tuple[Expr, str]], dtype: str) -> Expr:
        (base, kind), (exponent, other) = pairs
        match exponent:
            case Const(int(n)) if is_float(dtype):
                base = _cast(base, kind, concrete(dtype))
                if n >= 0:
                    return Call("**", (base, exponent))
                # Numba's own `x ** -n` raises at zero.
                one = _cast(Const(1.0), WEAK_FLOAT, concrete(dtype))
                return Call("/", (one, Call("**", (base, Const(-n)))))
        if is_float(dtype):
            want = concrete(dtype)
            return Call("**", (_cast(base, kind, want), _cast(exponent, other, want)))
        out = Call("**", (base, exponent))
        return Call(dtype, (out,)) if dtype in NARROW else out

    # ---------------------------------------------------------------- tests

    def guards(self, s: Stmt, parts: Sequence[Expr], mode: _Mode) -> list[ast.stmt]:
        """Leave the function if evaluating `parts` would raise in CPython."""
        out: list[ast.stmt] = []
        for fault, (error, what) in FAULTS.items():
            test = all_of(self.faults.sound(p, fault) for p in parts)
            if test is not None:
                out.append(self.unless(test, error, what, s.loc, mode))
        return out

    def can_fail(self, block: Block) -> bool:
        """Is there anything to be tested while the code runs?"""
        return any(self.faults.fails(e) for s in walk(block) for e in exprs(s)) or any(
            isinstance(s, Check) or (isinstance(s, Alloc) and bool(_loose(s)))
            for s in walk(block)
        )

    def sizes(self, s: Alloc, mode: _Mode) -> list[ast.stmt]:
        test = all_of(Call("<=", (ZERO, n)) for n in _loose(s))
        if test is None:
            return []
        what = "negative dimensions are not allowed"
        return [self.unless(test, "ValueError", what, s.loc, mode)]

    def unless(
        self, test: Expr, error: str, what: str, at: Loc, mode: _Mode
    ) -> ast.stmt:
        message = f"{at.place}: {what}"
        tree = ast.UnaryOp(ast.Not(), self.tree(test, mode))
        if mode.outputs is None:
            raised = ast.Raise(call(error, ast.Constant(message)), None)
            return tag(ast.If(tree, [raised], []), at)
        if (error, message) not in self.places:
            self.places.append((error, message))
        code = 1 + self.places.index((error, message))
        place = store(subscript(name(self.state), [ast.Constant(0)]))
        failed: list[ast.stmt] = [
            ast.Assign([place], ast.Constant(code), None),
            _return(mode.outputs),
        ]
        return tag(ast.If(tree, failed, []), at)


# -------------------------------------------------------------------- small questions


def _decorators(how: str) -> list[ast.expr]:
    """``@njit(**how)``, or nothing."""
    if not how:
        return []
    return [ast.Call(name("njit"), [], [ast.keyword(None, name(how))])]


def _from_memory(made: ast.stmt, names: frozenset[str]) -> ast.stmt:
    """``a = np.zeros(...)`` by the module's own name, which a pool may replace."""
    assert isinstance(made, ast.Assign) and isinstance(made.value, ast.Call)
    function = ast.unparse(made.value.func)
    plain = function.rpartition(".")[2]
    if plain not in names:
        return made
    if function in ("np.zeros", "np.empty"):
        made.value.func = name(function.removeprefix("np."))
    elif function.endswith(".copy"):
        made.value = call("copy", name(function.removesuffix(".copy")))
    return made


def _loose(s: Alloc) -> list[Expr]:
    """The sizes of a new array that may be negative."""
    return [n for n in s.shape if not isinstance(n, (Const, Extent))]


def _cast(e: Expr, have: str, want: str) -> Expr:
    """`e`, of kind `have`, as a value of the NumPy dtype `want`."""
    if have == want or concrete(have) == want:
        return e
    match e:
        case Const(bool()):
            return Call(want, (e,))
        case Const(value) if want == "float64":
            return Const(float(value), loc=e.loc)
        case Const(int(value)) if want == "float32":
            return Call(want, (Const(float(value), loc=e.loc),))
    return Call("bool" if want == "bool" else want, (e,))


_ALL = Const(-1)  # every bit


def _meet(pairs: list[tuple[Expr, str]], dtype: str) -> tuple[Expr, ...]:
    """The operands of an operation whose result has this dtype."""
    want = concrete(dtype)
    if want == "float32":
        return tuple(_cast(a, k, want) for a, k in pairs)
    if want == "float64":
        # An integer beside a float64 is converted anyway.
        mixed = not any(concrete(k) == want for _, k in pairs)
        return tuple(_cast(a, k, want) if mixed or k == "bool" else a for a, k in pairs)
    return tuple(_cast(a, k, want) if k == "bool" else a for a, k in pairs)


def _shifted(op: str, operands: tuple[Expr, ...], dtype: str) -> Expr:
    """A shift by any number of bits, as NumPy has it: all of them are shifted out."""
    value, count = operands
    bits = Const(int(concrete(dtype).lstrip("uint")))
    inside = Call("and", (Call("<=", (ZERO, count)), Call("<", (count, bits))))
    gone = ZERO if op == "<<" else Call("where", (Call("<", (value, ZERO)), _ALL, ZERO))
    out = Call("where", (inside, Call(op, operands), gone))
    return Call(concrete(dtype), (out,))


def _assign(target: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([store(name(target))], value, None)


def _return(outputs: Sequence[str]) -> ast.stmt:
    return _result([name(n) for n in outputs], len(outputs) == 1)


def _result(values: list[ast.expr], single: bool) -> ast.stmt:
    if single:
        return ast.Return(values[0])
    return ast.Return(ast.Tuple(values, ast.Load()) if values else None)


def _receive(outputs: Sequence[str], tree: ast.expr) -> ast.stmt:
    if not outputs:
        return ast.Expr(tree)
    targets = [store(name(n)) for n in outputs]
    one = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
    return ast.Assign([one], tree, None)


def _on_one_core(block: Block) -> Block:
    """The block without parallel loops: not every threading layer can nest them."""
    return tuple(
        with_blocks(
            replace(s, parallel=None) if isinstance(s, For) else s,
            tuple(map(_on_one_core, blocks(s))),
        )
        for s in block
    )


def _parallel(s: Stmt) -> bool:
    return isinstance(s, For) and bool(s.parallel)


def _own_scalars(block: Block, after: Block) -> Block:
    """The block, its loops parallel only where their scalars are their own.

    The body of a parallel loop becomes a function: what it does to a scalar that is
    read in the next iteration, or in `after`, would be lost.
    """
    out: list[Stmt] = []
    for k, s in enumerate(block):
        rest = block[k + 1 :] + after
        match s:
            case While(body=body):
                s = replace(s, body=_own_scalars(body, (s, *rest)))
            case For(body=body):
                s = replace(s, body=_own_scalars(body, (s, *rest)))
                if any(
                    exposed(body, n)[0] or exposed(rest, n)[0]
                    for n in assigned_scalars(body)
                ):
                    s = replace(s, parallel=None)
            case If(_, then, orelse):
                inner = _own_scalars(then, rest), _own_scalars(orelse, rest)
                s = replace(s, then=inner[0], orelse=inner[1])
        out.append(s)
    return tuple(out)


def _in_order(block: Block) -> list[str]:
    """Every name of a block but its loop indices, in order of appearance."""
    out: list[str] = []
    indices = loop_indices(block)
    for s in walk(block):
        if isinstance(s, Alloc) and s.source is not None:
            out.append(s.source)
        if isinstance(s, Grow):
            out.append(s.array)
        for e in exprs(s):
            out.extend(n for n in mentioned(e) if n not in indices)
    return out


def _elements(stmt: Stmt) -> int:
    """How many elements of arrays the text of a statement names."""
    return sum(
        isinstance(e, Load)
        for s in walk((stmt,))
        for top in exprs(s)
        for e in walk_expr(top)
    )


def _made(block: Block) -> tuple[str, ...]:
    """The arrays that a block makes or makes larger, in order."""
    made = [s.array for s in walk(block) if isinstance(s, (Alloc, Grow))]
    return tuple(dict.fromkeys(made))


def _needed(block: Block, array: str) -> bool:
    """Does `block` read or measure an array that is there before it?"""

    def read(e: Expr) -> Expr:
        measured = isinstance(e, Extent) and e.array == array
        return Load(array, ()) if measured else e

    return exposed(map_block(block, read), array)[0]


def _occurrences(block: Block) -> dict[str, int]:
    out: dict[str, int] = {}
    for s in walk(block):
        for e in exprs(s):
            for n in mentioned(e):
                out[n] = out.get(n, 0) + 1
    return out


def _is_scalar(s: Stmt) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Var)


def _trip(f: For) -> int | None:
    match f.lo, f.hi, f.step:
        case Const(int(a)), Const(int(b)), Const(int(c)):
            return len(range(a, b, c))
    match sub_int(f.hi, f.lo):
        case Const(int(n)) if f.step == ONE:
            return n
    return None


def _nonempty(f: For) -> Expr:
    match f.step:
        case Const(value) if value > 0:
            return Call("<", (f.lo, f.hi))
        case Const():
            return Call(">", (f.lo, f.hi))
        case _:
            return Call("<", (ZERO, _count(f)))


def _count(f: For) -> Expr:
    """How many iterations a loop has, and none if the bounds say fewer."""
    gap = iterations(f)
    if isinstance(gap, Const):
        return Const(max(0, int(gap.value)))
    return gap if isinstance(gap, Extent) else Call("max", (ZERO, gap))
