"""Which rank and type each parameter has before any call, and what is a size.

Rank is the number of subscripts; a parameter used in an index, a bound or a shape is an
integer; the others are float64; annotations win. Everything here reads the IR alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType

from pyrev.ir.diagnostics import Findings
from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT, concrete, infer, kind, promote
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Dtype,
    Expr,
    Extent,
    For,
    If,
    Load,
    Loc,
    Param,
    Program,
    Promoted,
    Return,
    Stmt,
    Var,
    While,
    blocks,
    exprs,
    fresh,
    map_block,
    parts_of,
    resembled,
    substitute,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.primitives import CASTS, LOGICAL
from pyrev.ir.renaming import guarded_leaves
from pyrev.parse.bool_arithmetic import with_truths
from pyrev.parse.views import Kinds, dtype_of, kinds, union


@dataclass(frozen=True, slots=True)
class RankFact:
    """`array` has `rank` axes (`least`: or more), says the text at `at`."""

    array: str
    rank: int
    at: Loc
    least: bool = False


def ranks(
    facts: Iterable[RankFact],
    same: Iterable[tuple[str, str]],
    alike: Iterable[tuple[str, str | int]],
    fixed: Mapping[str, int],
    rows: Iterable[tuple[str, str, int, int]] = (),
    known: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """The rank of every array: most subscripts, and equal for an array and its like.

    The pairs of `alike` are equal too, but need not be arrays; a number there is a rank
    that a name has at least. An entry
    ``(r, a, k, most)`` of `rows` says that `r` is `a` with k subscripts, be it a number
    or a view, and that `a` has no more than `most` axes. What is
    `known` already is true of this walk too.
    """
    found: dict[str, int] = dict(known)
    for fact in facts:
        found[fact.array] = max(found.get(fact.array, 0), fact.rank)
    pairs = tuple(same)
    for _ in range(len(pairs) + 1):
        found |= {name: rank for name, rank in fixed.items() if rank or name in found}
        for a, b in pairs:
            rank = max(found.get(a, 1), found.get(b, 1))
            found[a] = found[b] = rank
    for a, other in alike:
        rank = max(
            found.get(a, 0), other if isinstance(other, int) else found.get(other, 0)
        )
        if rank:
            found[a] = rank
            if isinstance(other, str):
                found[other] = rank
    for name, array, count, most in rows:
        if found.get(name, 0) and name != array:
            rank = min(found[name] + count, most)
            found[array] = max(found.get(array, 0), rank)
    return found | dict(fixed)


def check_ranks(
    facts: Iterable[RankFact], found: Mapping[str, int], findings: Findings
) -> None:
    """Report every place that uses more axes of an array than it has."""
    facts = tuple(facts)
    made: dict[str, int] = {}
    for fact in facts:
        if not fact.least:
            made.setdefault(fact.array, fact.rank)
    own = {f.array: made.get(f.array, found[f.array]) for f in facts}
    blamed = {f.array for f in facts if f.rank > own[f.array]}
    for fact in facts:
        rank = found[fact.array]
        if rank == 0:
            findings.add(
                "P203",
                fact.at,
                f"`{fact.array}` is a number",
                "annotate it as an array, or leave the subscripts out",
            )
        elif fact.rank > own[fact.array]:
            findings.add(
                "P202",
                fact.at,
                f"`{fact.array}` has {_axes(own[fact.array])}, and {fact.rank} here",
                "use no more axes than it is made with",
            )
        elif fact.rank < rank and not fact.least and fact.array not in blamed:
            findings.add(
                "P202",
                fact.at,
                f"`{fact.array}` has {_axes(fact.rank)} here, and {rank} elsewhere",
                "make it with as many axes as the arrays that it takes turns with",
            )


def _axes(rank: int) -> str:
    return f"{rank} axis" if rank == 1 else f"{rank} axes"


def check_kinds(block: Block, found: Mapping[str, int], findings: Findings) -> None:
    """A name is either a number or an array."""
    arrays = {name for name, rank in found.items() if rank > 0}
    # A line that is refused already may have made the wrong kind of thing.
    refused = {(f.at.file, f.at.line) for f in findings.found}
    for s in walk(block):
        for top in exprs(s) if not isinstance(s, Return) else ():
            for e in walk_expr(top):
                if isinstance(e, Var) and e.name in arrays:
                    arrays.discard(e.name)
                    if (e.loc.file, e.loc.line) not in refused:
                        findings.add(
                            "P203",
                            e.loc,
                            f"`{e.name}` is a number here, and an array elsewhere",
                            "give the number and the array different names",
                        )
        if isinstance(s, (For, While)) and s.index in arrays:
            arrays.discard(s.index)
            findings.add(
                "P203",
                s.loc,
                f"`{s.index}` is a loop index here, and an array elsewhere",
                "give the index and the array different names",
            )


def check_bound(
    block: Block, names: Iterable[str], taken: set[str], findings: Findings
) -> Block:
    """`block` with a `Check` before every read of a scalar that may have no value.

    A name that has none on any path, and an array that has none on some, is reported.
    """
    reads = _Bound(frozenset(names), findings)
    reads.block(block, frozenset(names))
    if findings.found or not reads.unsure:
        return block
    flags = {n: Var(fresh(f"{n}_known", taken)) for n in reads.unsure}
    head: list[Stmt] = []
    for n, flag in flags.items():
        at = reads.unsure[n]
        head += [Assign(Var(n), Const(0), loc=at), Assign(flag, Const(False), loc=at)]

    def check(n: str, path: Path, at: Loc) -> Stmt:
        message = f"cannot access local variable '{n}' where it has no value"
        test: Expr = flags[n]
        if path:  # the arm of a conditional expression, which may not be evaluated
            taken = reduce(lambda a, b: Call("and", (a, b)), path)
            test = Call("or", (Call("not", (taken,)), test))
        return Check(test, "UnboundLocalError", message, loc=at)

    def visit(stmts: Block) -> Block:
        out: list[Stmt] = []
        for s in stmts:
            asked = [check(n, path, s.loc) for n, path in reads.at.get(id(s), ())]
            new = with_blocks(s, tuple(map(visit, blocks(s))))
            if isinstance(new, While):
                new = replace(new, body=(*new.body, *asked))
            out += [*asked, new]
            if isinstance(s, Assign) and s.target_name in flags:
                out.append(Assign(flags[s.target_name], Const(True), loc=s.loc))
        return tuple(out)

    return (*head, *visit(block))


#: The tests that must hold for a part of an expression to be evaluated.
Path = tuple[Expr, ...]


class _Bound:
    """Which names have a value where, statement by statement."""

    def __init__(self, names: frozenset[str], findings: Findings) -> None:
        self.findings = findings
        self.ever = set(names)
        self.unsure: dict[str, Loc] = {}
        self.at: dict[int, list[tuple[str, Path]]] = {}

    def block(self, block: Block, known: frozenset[str]) -> frozenset[str]:
        """The names that have a value after `block`."""
        false: set[str] = set()
        for s in block:
            for top in exprs(s):
                target = top if isinstance(s, Assign) and top is s.target else None
                for path, e in guarded_leaves(top, ()):
                    if not (e is target and isinstance(e, Var)):
                        self.read(e, s, known, path)
            for source in s.sources if isinstance(s, Alloc) else ():
                if source not in known:
                    self.report(source, s.loc)
            match s:
                case Assign(Var(name)) | Alloc(name):
                    known |= {name}
                    self.ever.add(name)
                case If():
                    then = self.block(s.then, known)
                    known = then & self.block(s.orelse, known)
                case For():
                    self.ever.add(s.index)
                    after = self.block(s.body, known | {s.index})
                    known = (after if _runs(s) else known) - {s.index}
                case While():
                    after = self.block(s.body, known | {s.index})
                    if not s.index and _negated(s.test) <= false:
                        known = after
                    known -= {s.index}
            false -= set(written((s,)))
            match s:
                case Assign(Var(name), Const(False)):
                    false.add(name)
        return known

    def read(self, e: Expr, s: Stmt, known: frozenset[str], path: Path) -> None:
        match e:
            case Var(name) if name not in known and name in self.ever:
                self.unsure.setdefault(name, e.loc)
                found = self.at.setdefault(id(s), [])
                # An earlier test with fewer conditions says this one, too.
                if not any(n == name and path[: len(p)] == p for n, p in found):
                    found.append((name, path))
            case Var(name) | Load(name) | Extent(name) if name not in known:
                self.report(name, e.loc)

    def report(self, name: str, at: Loc) -> None:
        self.findings.add(
            "P204",
            at,
            f"`{name}` is not assigned on every path to here",
            "assign it before the `if` or the loop",
        )


def _negated(test: Expr) -> frozenset[str]:
    """The flags that must be False for `test` to hold, if it says nothing else."""
    match test:
        case Call("not", (Var(name),)):
            return frozenset({name})
        case Call("and", (a, b)):
            return _negated(a) | _negated(b)
        case _:
            return frozenset({"?"})


def _runs(loop: For) -> bool:
    """Whether a loop with literal bounds has at least one iteration."""
    match loop.lo, loop.hi, loop.step:
        case Const(int() as lo), Const(int() as hi), Const(int() as step):
            return len(range(lo, hi, step)) > 0
    return False


# ------------------------------------------------------------------ types

_CARRY = frozenset(
    ["+", "-", "*", "//", "%", "**", "neg", "min", "max", "minimum", "maximum", "abs"]
    + ["fmin", "fmax", "&", "|", "^", "<<", ">>", "~"]
)
_INTEGER = (
    LOGICAL | {"int", "round"} | {op for op in CASTS if op.startswith(("int", "uint"))}
)
_BITS = frozenset(["&", "|", "^", "<<", ">>", "~"])


@dataclass(frozen=True, slots=True)
class Integers:
    """What must be an integer: scalars and arrays by name, and what is a float."""

    names: frozenset[str]
    uses: tuple[Var | Load, ...]
    floats: tuple[Expr, ...]
    subscripts: tuple[Expr, ...]


def integers(block: Block) -> Integers:
    """The values that end up in an index, a bound or a shape, followed backwards."""
    found: set[str] = set()
    uses: list[Var | Load] = []
    floats: list[Expr] = []
    subscripts: list[Expr] = []

    def need(e: Expr, strict: bool = True) -> None:
        match e:
            case Var(name) | Load(name):
                found.add(name)
                uses.append(e)
            case Call("where", (_, a, b)):
                need(a, strict)
                need(b, strict)
            case Call(op, args) if op in _CARRY:
                for arg in args:
                    need(arg, strict)
            case Const(float()) if strict:
                floats.append(e)
            case Call(op) if strict and op not in _INTEGER:
                floats.append(e)

    for s in walk(block):
        match s:
            case For(_, lo, hi, step):
                for e in (lo, hi, step):
                    need(e)
            case While():
                for e in (s.lo, s.hi, s.step):
                    need(e)
            case Alloc(_, shape):
                for e in shape:
                    need(e)
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    for index in e.index:
                        need(index)
                        subscripts.append(index)
                elif isinstance(e, Call) and e.op in _BITS:
                    for arg in e.args:
                        need(arg)
    done: set[int] = set()
    changed = True
    while changed:
        changed = False
        for k, s in enumerate(walk(block)):
            if k in done or not isinstance(s, (Assign, Add)):
                continue
            if s.target_name in found:
                done.add(k)
                # An element of an integer array may be cast from anything.
                need(s.value, strict=isinstance(s.target, Var))
                changed = True
    return Integers(frozenset(found), tuple(uses), tuple(floats), tuple(subscripts))


def check_integers(
    program: Block,
    params: Iterable[Param],
    known: Iterable[str],
    found: Integers,
    findings: Findings,
) -> None:
    """Report indices, bounds and sizes that are floats for certain.

    `known` are the parameters whose types do not come from `integers` itself.
    """
    floating = {p.name for p in params if p.is_float and p.name in set(known)}
    floating |= {
        s.array
        for s in walk(program)
        if isinstance(s, Alloc) and s.dtype in ("float32", "float64")
    }
    places = [(e, "this is a float") for e in found.floats]
    for use in found.uses:
        name = use.name if isinstance(use, Var) else use.array
        if name in floating:
            places.append((use, f"`{name}` holds floats"))
    logical = {p.name for p in params if p.dtype == "bool"}
    logical |= {
        s.array for s in walk(program) if isinstance(s, Alloc) and s.dtype == "bool"
    }
    logical = _truths(program, logical)
    for e in found.subscripts:
        if _is_truth(e, logical):
            places.append((e, "NumPy takes a bool for a mask"))
    for s in walk(program):
        if isinstance(s, Alloc):
            truths = (e for e in s.shape if _is_truth(e, logical))
            places += ((e, "a truth value is no size") for e in truths)
    for e, because in places:
        findings.add(
            "P210", e.loc, because, "convert it with `int(...)`, or divide with `//`"
        )


def _truths(program: Block, logical: set[str]) -> set[str]:
    """`logical` with the scalars that any assignment makes a truth value."""
    values = [
        (s.target.name, s.value)
        for s in walk(program)
        if isinstance(s, Assign) and isinstance(s.target, Var)
    ]
    while more := {n for n, e in values if _is_truth(e, logical)} - logical:
        logical = logical | more
    return logical


def _is_truth(e: Expr, logical: Set[str]) -> bool:
    """Is `e` a bool on some path, if the scalars and arrays `logical` hold such?"""
    match e:
        case Const(bool()):
            return True
        case Var(name) | Load(name):
            return name in logical
        case Call("where", (_, a, b)):
            return _is_truth(a, logical) or _is_truth(b, logical)
        case Call("&" | "|" | "^" | "min" | "max", args):
            return all(_is_truth(a, logical) for a in args)
        case Call(op):
            return op in LOGICAL
    return False


def settle_dtypes(
    block: Block, params: Sequence[Param], alike: Iterable[tuple[str, Dtype, Loc]] = ()
) -> tuple[Block, tuple[tuple[str, Dtype, Loc], ...]]:
    """`block` (and `alike`) with the dtypes of new arrays in terms of parameters.

    A scalar has no dtype to ask for where nothing but the dtype needs it.
    """
    given = {p.name for p in params}
    floats = {p.name for p in params if p.is_float}
    made = {s.array: s for s in walk(block) if isinstance(s, Alloc)}
    found: dict[str, Kinds] = {}

    def origin(parts: Kinds) -> Kinds:
        return union(
            found.get(p.name, ())
            if isinstance(p, Var) and p.name not in given
            else (p,)
            for p in parts
        )

    def shortest(parts: Kinds) -> Dtype:
        """The dtype, without the Python numbers that a float beside them absorbs."""
        if any(isinstance(p, Var) and p.name in floats for p in parts):
            parts = tuple(p for p in parts if p not in (WEAK_INT, WEAK_FLOAT, "bool"))
        return dtype_of(parts)

    while True:
        before = dict(found)
        for s in walk(block):
            match s:
                case Assign(Var(name), value) | Add(Var(name), value):
                    if name not in given:
                        groups = (found.get(name, ()), origin(kinds(value)))
                        found[name] = union(groups)
                case For(index) | While(index=index):
                    found[index] = union((found.get(index, ()), (WEAK_INT,)))
                case Alloc(name, dtype=dtype):
                    found[name] = origin(parts_of(dtype))
        if found == before:
            break

    def settled(s: Stmt) -> Stmt:
        if not isinstance(s, Alloc) or isinstance(s.dtype, str):
            return with_blocks(s, tuple(tuple(map(settled, b)) for b in blocks(s)))
        match s.dtype.parts:
            case (Var(only),):
                shaped = any(isinstance(e, Extent) and e.array == only for e in s.shape)
                if only in given or (shaped and only in made) or s.fill == Var(only):
                    return s
        return replace(s, dtype=shortest(origin(s.dtype.parts)))

    pairs = [
        (n, d if isinstance(d, str) else shortest(origin(d.parts)), at)
        for n, d, at in alike
    ]
    return tuple(map(settled, block)), tuple(pairs)


# ------------------------------------------------------------------ sizes

_SIZE_OPS = frozenset(["+", "-", "*", "//", "%", "neg", "min", "max", "abs"])


def fold_sizes(
    block: Block, params: tuple[Param, ...]
) -> tuple[Block, dict[str, Expr]]:
    """Put sizes where they are used: ``n = a.shape[0]`` disappears, `Extent` stays.

    Also what each of the scalars stood for.

    A scalar is replaced when its only assignment is an expression of literals, extents
    of arrays that outlive it and integer parameters that never change. Every read comes
    after the assignment (`check_bound`), so it reads this very value.
    """
    writes: dict[str, int] = {}
    for s in walk(block):
        for name in _scalars_written(s):
            writes[name] = writes.get(name, 0) + 1
    steady = {p.name for p in params if p.rank > 0}
    steady |= {s.array for s in block if isinstance(s, Alloc)}
    sizes: dict[str, Expr] = {
        p.name: Var(p.name)
        for p in params
        if p.rank == 0 and p.dtype.startswith("int") and p.name not in writes
    }
    taken = {p.name for p in params}
    found: dict[str, Expr] = {}
    while True:
        for s in walk(block):
            match s:
                case Assign(Var(name), value) if (
                    writes[name] == 1
                    and name not in taken
                    and name not in found
                    and _is_size(value, sizes | found, steady)
                ):
                    found[name] = substitute(value, found)
                    break
        else:
            break
    return map_block(_folded(block, found), _from_the_end), found


def _from_the_end(e: Expr) -> Expr:
    """``a[-1]`` becomes ``a[a.shape[0] - 1]`` once the sign is known.

    No other: ``a[-2]`` is outside an array of one element, ``a[a.shape[0] - 2]`` is
    not.
    """
    if not isinstance(e, Load):
        return e
    index = list(e.index)
    for k, i in enumerate(index):
        if _literal(i) == -1:
            extent = Extent(e.array, k, loc=i.loc)
            index[k] = Call("-", (extent, Const(1)), loc=i.loc)
    return replace(e, index=tuple(index))


def _literal(e: Expr) -> int | None:
    """The value of an integer expression of literals."""
    match e:
        case Const(value) if type(value) is int:
            return value
        case Call("neg", (a,)):
            x = _literal(a)
            return None if x is None else -x
        case Call("+" | "-" | "*" as op, (a, b)):
            x, y = _literal(a), _literal(b)
            if x is None or y is None:
                return None
            return x + y if op == "+" else x - y if op == "-" else x * y
    return None


def _scalars_written(s: Stmt) -> tuple[str, ...]:
    match s:
        case Assign(Var(name)) | Add(Var(name)):
            return (name,)
        case For(index=index) | While(index=index) if index:
            return (index,)
    return ()


def _is_size(e: Expr, known: Mapping[str, Expr], steady: set[str]) -> bool:
    match e:
        case Const(value):
            return type(value) is int
        case Var(name):
            return name in known
        case Extent(array):
            return array in steady
        case Call(op, args):
            return op in _SIZE_OPS and all(_is_size(a, known, steady) for a in args)
    return False


def _folded(block: Block, found: Mapping[str, Expr]) -> Block:
    """`block` less the assignments to `found`, whose values stand at their uses."""

    def put(e: Expr) -> Expr:
        if isinstance(e, Var) and e.name in found:
            return replace(found[e.name], loc=e.loc)
        return e

    def typed(s: Stmt) -> Stmt:
        if isinstance(s, Alloc) and any(n in found for n in resembled(s.dtype)):
            parts = tuple(
                WEAK_INT if isinstance(p, Var) and p.name in found else p
                for p in parts_of(s.dtype)
            )
            whole = set(parts) == {WEAK_INT}
            return replace(s, dtype="int64" if whole else Promoted(parts))
        return s

    def drop(stmts: Block) -> Block:
        return tuple(
            typed(with_blocks(s, tuple(map(drop, blocks(s)))))
            for s in stmts
            if not (
                isinstance(s, Assign)
                and isinstance(s.target, Var)
                and s.target.name in found
            )
        )

    return map_block(drop(block), put)


def number(block: Block, first: int = 0) -> Block:
    """Give the statements their ids: 0, 1, 2... in textual order."""
    count = first

    def visit(stmts: Block) -> Block:
        nonlocal count
        done: list[Stmt] = []
        for s in stmts:
            s = replace(s, id=count)
            count += 1
            done.append(with_blocks(s, tuple(visit(b) for b in blocks(s))))
        return tuple(done)

    return visit(block)


def retype(
    program: Program,
    types: Mapping[str, tuple[int, str]],
    strong: Set[str] = frozenset(),
) -> Program:
    """`program` for arguments of the given ranks and dtypes, by parameter name.

    Numbers are Python's, which adapt to the array beside them, but for NumPy's, which
    are in `strong`.
    """
    params = tuple(
        replace(p, rank=types[p.name][0], dtype=types[p.name][1])
        if p.name in types
        else p
        for p in program.params
    )
    typed = checked_dtypes(replace(program, params=params), strong)
    typed = with_truths(typed)
    return _adapted(typed, strong)


def with_meanings(program: Program, final: bool) -> Program:
    """A program by what the dtypes of its parameters make of its operators; if they are
    `final`, no array would change its own.
    """
    program = with_truths(program)
    return checked_dtypes(program) if final else program


def adapting(program: Program) -> bool:
    """Has an array the dtype of a number and something else?"""
    arrays = _arrays(program)
    return any(_with_numbers(s, arrays) for s in walk(program.body))


def _arrays(program: Program) -> set[str]:
    made = {s.array for s in walk(program.body) if isinstance(s, Alloc)}
    return made | {p.name for p in program.params if p.rank}


def _with_numbers(s: Stmt, arrays: Set[str]) -> bool:
    return isinstance(s, Alloc) and not arrays >= set(resembled(s.dtype))


def _adapted(program: Program, strong: Set[str]) -> Program:
    """`program` with the kinds of numbers in place of their names in dtypes of arrays:
    compiled code does not tell a Python number from one of NumPy's.
    """
    if not adapting(program):
        return program
    arrays, dtypes = _arrays(program), infer(program, _weakened(program, strong))

    def adapted(s: Stmt) -> Stmt:
        s = with_blocks(s, tuple(tuple(map(adapted, b)) for b in blocks(s)))
        if not (isinstance(s, Alloc) and _with_numbers(s, arrays)):
            return s
        parts = tuple(
            dtypes[p.name] if isinstance(p, Var) and p.name not in arrays else p
            for p in parts_of(s.dtype)
        )
        found = [p for p in parts if isinstance(p, str)]
        if len(found) == len(parts):
            return replace(s, dtype=concrete(reduce(promote, found)))
        return replace(s, dtype=Promoted(parts))

    return replace(program, body=tuple(map(adapted, program.body)))


def _weakened(program: Program, strong: Set[str]) -> dict[str, str]:
    """The kinds of the numbers among the parameters."""
    weak = {"float64": WEAK_FLOAT, "int64": WEAK_INT}
    numbers = [p for p in program.params if not p.rank and p.name not in strong]
    return {p.name: weak.get(p.dtype, p.dtype) for p in numbers}


def checked_dtypes(program: Program, strong: Set[str] = frozenset()) -> Program:
    """`program`, if no array would change its dtype when its name is bound again.

    A number that is a parameter is one of Python's, which adapts to the array beside
    it, or one of NumPy's, which does not: those are in `strong`.
    """
    if not program.alike:
        return program
    findings, arrays = Findings(), _arrays(program)
    dtypes = infer(program, _weakened(program, strong))
    for name, dtype, at in program.alike:
        # An array that nobody reads is not in the program any more.
        found = [kind(p, dtypes) for p in parts_of(dtype)]
        known = [k for k in found if k is not None]
        if name not in dtypes or not known:
            continue
        new = reduce(promote, known)
        # Beside floats of 64 bits Python's and NumPy's give the same.
        wide = "float32" not in dtypes.values()
        if name not in arrays and new != dtypes[name]:
            if wide and concrete(new) == dtypes[name]:
                continue
            because = f"`{name}` is a number of dtype {concrete(dtypes[name])} here"
            findings.add("P107", at, because, "pass one of Python's floats")
        elif name in arrays and concrete(new) != dtypes[name]:
            new = concrete(new)
            findings.add(
                "P206",
                at,
                f"this array held {dtypes[name]}, and {new} from here on",
                "give the new array a name of its own, or convert it",
            )
    findings.check()
    return program
