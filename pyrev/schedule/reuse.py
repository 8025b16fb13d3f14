"""One evaluation for what a straight line of statements evaluates twice.

The reverse sweep often needs the very function value that the forward sweep, or an
earlier line of the same iteration, has computed: `t = sin(x) * y` is pulled back with
the `sin(x)` that it was made of. Here such a value gets a name where it is first
computed. This is the last thing done to a program: a name shared by statements ties
them to one loop, which would hinder everything done to loops before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    If,
    Load,
    Program,
    Return,
    Stmt,
    Var,
    all_names,
    assignments,
    blocks,
    exprs,
    fresh,
    map_block,
    map_whole,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.primitives import PRIMITIVES

#: What costs more than to keep its value, many times over.
DEAR = frozenset(op for op, p in PRIMITIVES.items() if p.dear)


def reuse(program: Program, taken: frozenset[str]) -> Program:
    """`program` without second evaluations of dear functions in one straight line.

    Law: the same operations give the same bits; nothing is evaluated that was not.
    """
    reuser = _Reuser(program, set(taken))
    body = reuser.block(program.body)
    if reuser.instead:
        body = map_block(body, reuser.renamed)
    return replace(program, body=body)


@dataclass(slots=True)
class _Group:
    """The occurrences of one expression while nothing that it reads is overwritten."""

    value: Call
    first: int
    #: Statements of the block from `first` on whose own expressions hold it.
    own: list[int] = field(default_factory=list)
    #: Those that hold it in blocks inside them, none of which overwrites what it reads.
    inside: list[int] = field(default_factory=list)
    count: int = 0


class _Reuser:
    def __init__(self, program: Program, taken: set[str]) -> None:
        self.taken = taken | set(all_names(program.body))
        self.times = assignments(program.body)
        self.mentions: Counter[str] = Counter()
        for stmt in walk(program.body):
            self.mentions.update(_mentions(stmt))
        #: Names that are another name of the same value.
        self.instead: dict[str, str] = {}

    def block(self, block: Block) -> Block:
        groups = [g for g in self.groups(block) if g.count > 1]
        named: list[tuple[_Group, str]] = []
        before: dict[int, list[Assign]] = {}
        for group in groups:
            text = _name_in(block, group)
            if text is None:
                text = fresh(_name(group.value), self.taken)
                loc = block[group.first].loc
                before.setdefault(group.first, []).append(
                    Assign(Var(text), group.value, loc=loc)
                )
            named.append((group, text))
        own: dict[int, dict[Expr, Expr]] = {}
        inside: dict[int, dict[Expr, Expr]] = {}
        for group, text in named:
            for k in group.own:
                own.setdefault(k, {})[group.value] = Var(text)
            for k in group.inside:
                inside.setdefault(k, {})[group.value] = Var(text)
        out: list[Stmt] = []
        ends = _Reads(block) if named else None
        for k, stmt in enumerate(block):
            # The smaller first: a larger one is made of them.
            for one in sorted(before.get(k, ()), key=_size):
                out.append(_replaced(one, _others(one, own[k])))
            if k in inside:
                stmt = with_blocks(
                    stmt, tuple(_all_named(b, inside[k]) for b in blocks(stmt))
                )
            if k in own:
                stmt = _replaced(stmt, _others(stmt, own[k]))
                match stmt:
                    case Assign(Var(text), Var(first)) if self.second(
                        text, k, ends
                    ) and first not in written(block[k + 1 :]):
                        self.instead[text] = first
                        continue
            out.append(with_blocks(stmt, tuple(self.block(b) for b in blocks(stmt))))
        return tuple(out)

    def groups(self, block: Block) -> list[_Group]:
        """All expressions of the block's straight line, those that occur once too."""
        found: list[_Group] = []
        live: dict[Expr, _Group] = {}
        readers: dict[str, list[Call]] = {}
        for k, stmt in enumerate(block):
            lost = written((stmt,))
            for value, always in _dear(stmt, live):
                group = live.get(value)
                if group is not None:
                    group.count += 1
                    if group.own[-1:] != [k]:
                        group.own.append(k)
                elif always:
                    group = live[value] = _Group(value, k, [k], count=1)
                    found.append(group)
                    for text in _names_in(value):
                        readers.setdefault(text, []).append(value)
            if isinstance(stmt, If):
                for one in walk(tuple(s for b in blocks(stmt) for s in b)):
                    for value, _ in _dear(one, live):
                        group = live.get(value)
                        if group is None or lost & set(_names_in(value)):
                            continue
                        group.count += 1
                        if group.inside[-1:] != [k]:
                            group.inside.append(k)
            for text in lost:
                for value in readers.pop(text, ()):
                    live.pop(value, None)
        return found

    def second(self, text: str, k: int, reads: _Reads | None) -> bool:
        """Is a name set once, by statement `k` of a block, and read only behind it?"""
        return (
            reads is not None
            and self.times[text] == 1
            and reads.count[text] == self.mentions[text]
            and reads.first.get(text, k + 1) > k
        )

    def renamed(self, e: Expr) -> Expr:
        if isinstance(e, Var) and e.name in self.instead:
            return Var(self.instead[e.name], loc=e.loc)
        return e


def _name_in(block: Block, group: _Group) -> str | None:
    """The name that the first statement itself gives the value, if it lasts."""
    last = max((*group.own, *group.inside))
    match block[group.first]:
        case Assign(Var(text), value) if value == group.value:
            if text not in written(block[group.first + 1 : last + 1]):
                return text
    return None


class _Reads:
    """Where the statements of a block first read each scalar, and how often they do."""

    def __init__(self, block: Block) -> None:
        self.first: dict[str, int] = {}
        self.count: Counter[str] = Counter()
        for k, stmt in enumerate(block):
            for one in walk((stmt,)):
                for text in _mentions(one):
                    self.first.setdefault(text, k)
                    self.count[text] += 1


def _mentions(stmt: Stmt) -> Iterator[str]:
    """The scalars that a statement itself reads, once for each time."""
    target = stmt.target if isinstance(stmt, (Assign, Add)) else None
    for top in exprs(stmt):
        if top is target and isinstance(top, Var):
            continue
        for e in walk_expr(top):
            if isinstance(e, Var):
                yield e.name


def _names_in(value: Expr) -> tuple[str, ...]:
    """The names that an expression reads."""
    return tuple(
        e.name if isinstance(e, Var) else e.array
        for e in walk_expr(value)
        if isinstance(e, (Var, Load, Extent))
    )


def _dear(stmt: Stmt, live: Mapping[Expr, object]) -> Iterator[tuple[Call, bool]]:
    """Dear expressions of a statement itself, outermost first, and if it is sure.

    What stands inside one that is live already is no evaluation of its own.
    """
    own = isinstance(stmt, (Assign, Add, If, Return))
    pending = [(e, True) for e in reversed(exprs(stmt) if own else ())]
    while pending:
        e, always = pending.pop()
        match e:
            case Call("where" | "and" | "or", (first, *rest)):
                pending += [(a, False) for a in reversed(rest)]
                pending.append((first, always))
            case Call(op, args):
                if op in DEAR and not _cheap(op, args):
                    known = e in live
                    yield e, always
                    if known:
                        continue
                pending += [(a, always) for a in reversed(args)]
            case Load(_, index):
                pending += [(a, always) for a in reversed(index)]


def _cheap(op: str, args: tuple[Expr, ...]) -> bool:
    """``x**2`` is a product; a function of numbers is one when it is compiled."""
    match op, args:
        case "**", (_, Const(value)) if float(value).is_integer():
            return True
    return all(isinstance(a, Const) for a in args)


def _replaced(stmt: Stmt, names: Mapping[Expr, Expr]) -> Stmt:
    """With names for the values in its own expressions, the largest first."""
    if isinstance(stmt, If):
        return replace(stmt, test=_named(stmt.test, names))
    return map_whole(stmt, lambda e: _named(e, names))


def _others(stmt: Stmt, names: Mapping[Expr, Expr]) -> Mapping[Expr, Expr]:
    """`names` without the one that the statement gives."""
    match stmt:
        case Assign(Var() as own, value) if names.get(value) == own:
            return {e: n for e, n in names.items() if n != own}
    return names


def _all_named(block: Block, names: Mapping[Expr, Expr]) -> Block:
    return tuple(map_whole(s, lambda e: _named(e, names)) for s in block)


def _named(e: Expr, names: Mapping[Expr, Expr]) -> Expr:
    if e in names:
        return names[e]
    match e:
        case Call(_, args):
            return replace(e, args=tuple(_named(a, names) for a in args))
        case Load(_, index):
            return replace(e, index=tuple(_named(a, names) for a in index))
    return e


def _size(stmt: Assign) -> int:
    return sum(1 for top in exprs(stmt) for _ in walk_expr(top))


def _name(value: Call) -> str:
    """``sin_x`` for ``sin(x)``, ``power`` or ``exp`` where that would be long."""
    op = "power" if value.op == "**" else value.op
    match value.args:
        case (Var(text),):
            return f"{op}_{text}"
        case (Load(array),):
            return f"{op}_{array.partition('_tape')[0]}"
    return f"{op}_value"
