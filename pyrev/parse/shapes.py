"""Which rank and type each parameter has before any call, and what is a size.

Rank is the number of subscripts; a parameter used in an index, a bound or a shape is an
integer; the others are float64; annotations win. Everything here reads the IR alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pyrev.diagnostics import Findings
from pyrev.ir import (
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
    Param,
    Program,
    Return,
    Stmt,
    Var,
    blocks,
    exprs,
    map_block,
    substitute,
    walk,
    walk_expr,
    with_blocks,
)


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
    alike: Iterable[tuple[str, str]],
    fixed: Mapping[str, int],
) -> dict[str, int]:
    """The rank of every array: most subscripts, and equal for an array and its like.

    The pairs of `alike` are equal too, but need not be arrays.
    """
    found: dict[str, int] = {}
    for fact in facts:
        found[fact.array] = max(found.get(fact.array, 0), fact.rank)
    pairs = tuple(same)
    for _ in range(len(pairs) + 1):
        found |= {name: rank for name, rank in fixed.items() if rank or name in found}
        for a, b in pairs:
            rank = max(found.get(a, 1), found.get(b, 1))
            found[a] = found[b] = rank
    for a, b in alike:
        rank = max(found.get(a, 0), found.get(b, 0))
        if rank:
            found[a] = found[b] = rank
    return found | dict(fixed)


def check_ranks(
    facts: Iterable[RankFact], found: Mapping[str, int], findings: Findings
) -> None:
    """Report every place whose number of subscripts is not the array's."""
    for fact in facts:
        rank = found[fact.array]
        if rank == 0:
            findings.add(
                "P203",
                fact.at,
                f"`{fact.array}` is a number",
                "annotate it as an array, or leave the subscripts out",
            )
        elif fact.rank > rank or (fact.rank < rank and not fact.least):
            findings.add(
                "P202",
                fact.at,
                f"`{fact.array}` has {_axes(rank)}, and {fact.rank} here",
                "subscript each axis; views of rows are not supported yet",
            )


def _axes(rank: int) -> str:
    return f"{rank} subscript" + ("s" if rank != 1 else "") + " elsewhere"


def check_kinds(block: Block, found: Mapping[str, int], findings: Findings) -> None:
    """A name is either a number or an array, and a loop index only that."""
    indices = {s.index for s in walk(block) if isinstance(s, For)}
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
        if isinstance(s, (Assign, Add)) and s.target_name in indices:
            findings.add(
                "P205",
                s.target.loc,
                f"`{s.target_name}` is also the index of a loop",
                "use another name; sharing it is not supported yet",
            )
        if isinstance(s, For) and s.index in arrays:
            arrays.discard(s.index)
            findings.add(
                "P203",
                s.loc,
                f"`{s.index}` is a loop index here, and an array elsewhere",
                "give the index and the array different names",
            )


def check_bound(block: Block, names: Iterable[str], findings: Findings) -> None:
    """Report every read of a variable that has no value on some path to it."""
    _bound(block, frozenset(names), frozenset(), findings)


def _bound(
    block: Block, known: frozenset[str], indices: frozenset[str], findings: Findings
) -> tuple[frozenset[str], frozenset[str]]:
    """The names that have a value after `block`, and the indices of finished loops."""
    for s in block:
        for top in exprs(s):
            target = top if isinstance(s, Assign) and top is s.target else None
            for e in walk_expr(top):
                if not (e is target and isinstance(e, Var)):
                    _check_read(e, known, indices, findings)
        if isinstance(s, Alloc) and s.source is not None and s.source not in known:
            _report(s.source, s.loc, indices, findings)
        match s:
            case Assign(Var(name)) | Alloc(name):
                known |= {name}
            case If():
                then, after_then = _bound(s.then, known, indices, findings)
                other, after_other = _bound(s.orelse, known, indices, findings)
                known, indices = then & other, after_then | after_other
            case For():
                inner = known | {s.index}
                after, done = _bound(s.body, inner, indices - {s.index}, findings)
                indices = indices | done | {s.index}
                if _runs(s):
                    known = after
                known -= {s.index}
    return known, indices


def _runs(loop: For) -> bool:
    """Whether a loop with literal bounds has at least one iteration."""
    match loop.lo, loop.hi, loop.step:
        case Const(int() as lo), Const(int() as hi), Const(int() as step):
            return len(range(lo, hi, step)) > 0
    return False


def _check_read(
    e: Expr, known: frozenset[str], indices: frozenset[str], findings: Findings
) -> None:
    match e:
        case Var(name) | Load(name) | Extent(name) if name not in known:
            _report(name, e.loc, indices, findings)


def _report(name: str, at: Loc, indices: frozenset[str], findings: Findings) -> None:
    if name in indices:
        findings.add(
            "P205",
            at,
            f"the loop over `{name}` has ended here",
            "keep the value in another variable; reading an index after its loop is"
            " not supported yet",
        )
    else:
        findings.add(
            "P204",
            at,
            f"`{name}` is not assigned on every path to here",
            "assign it before the `if` or the loop",
        )


# ------------------------------------------------------------------ types

_CARRY = frozenset(
    ["+", "-", "*", "//", "%", "**", "neg", "min", "max", "minimum", "maximum", "abs"]
    + ["fmin", "fmax", "&", "|", "^", "<<", ">>", "~"]
)
_TRUTH = frozenset(
    ["<", "<=", ">", ">=", "==", "!=", "not", "and", "or", "bool"]
    + ["isnan", "isinf", "isfinite"]
)
_INTEGER = _TRUTH | {"int", "int64", "round"}
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
        if isinstance(s, Alloc) and s.dtype.startswith("float")
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
    for e in found.subscripts:
        match e:
            case Const(bool()):
                places.append((e, "NumPy takes a bool for a mask"))
            case Call(op) if op in _TRUTH:
                places.append((e, "NumPy takes a bool for a mask"))
            case Var(name) | Load(name) if name in logical:
                places.append((e, "NumPy takes a bool for a mask"))
    for e, because in places:
        findings.add(
            "P210", e.loc, because, "convert it with `int(...)`, or divide with `//`"
        )


# ------------------------------------------------------------------ sizes

_SIZE_OPS = frozenset(["+", "-", "*", "//", "%", "neg", "min", "max", "abs"])


def fold_sizes(block: Block, params: tuple[Param, ...]) -> Block:
    """Put sizes where they are used: ``n = a.shape[0]`` disappears, `Extent` stays.

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
    return map_block(_folded(block, found), _from_the_end)


def _from_the_end(e: Expr) -> Expr:
    """``a[-1]`` becomes ``a[a.shape[0] - 1]`` once the sign is known."""
    if not isinstance(e, Load):
        return e
    index = list(e.index)
    for k, i in enumerate(index):
        value = _literal(i)
        if value is not None and value < 0:
            extent = Extent(e.array, k, loc=i.loc)
            index[k] = Call("-", (extent, Const(-value)), loc=i.loc)
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
        case For(index):
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
        if isinstance(s, Alloc) and s.dtype.removeprefix("like:") in found:
            return replace(s, dtype="int64")
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


def retype(program: Program, types: Mapping[str, tuple[int, str]]) -> Program:
    """`program` for arguments of the given ranks and dtypes, by parameter name."""
    params = tuple(
        replace(p, rank=types[p.name][0], dtype=types[p.name][1])
        if p.name in types
        else p
        for p in program.params
    )
    return replace(program, params=params)
