"""Jumps as flags: `break`, `continue` and early `return` become `if`s and loop tests.

Python text in, Python text out, before anything is lowered. What follows a jump moves
into the branch that goes on; where two jumps meet, a flag guards it. A loop that may be
left early carries the names of the flags that end it (`leave`), and the reverse sweep
never sees a jump.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import children, identifiers, returns, statements, tail_form
from pyrev.parse.rewriting.raising import always_raises

#: The attribute of a loop that holds the names of the flags that end it.
LEAVE = "pyrev_leave"
#: The attribute of a target that takes one of the values of an early `return`: is that
#: the only one?
RETURNED = "pyrev_returned"
#: Which of what the definition returns that is.
PLACE = "pyrev_place"
#: That of one that has no such value yet.
EMPTY = "pyrev_empty"
BREAK, CONTINUE, RETURN = "break", "continue", "return"


@dataclass(eq=False, slots=True)
class _Flag:
    """A truth value that the rewriting introduces; `read` if anything tests it."""

    name: str
    read: bool = False


@dataclass(frozen=True, slots=True)
class _Set:
    """``flag = value``, dropped again if nothing reads the flag."""

    flag: _Flag
    value: bool
    at: gast.AST


@dataclass(slots=True)
class _Loop:
    """The flags of one loop: it was left; this iteration is over."""

    stop: _Flag
    skip: _Flag


@dataclass(slots=True)
class _Block:
    """A rewritten block: which jumps may end it, and whether one of them must."""

    stmts: list[object] = field(default_factory=list)
    jumps: frozenset[str] = frozenset()
    always: bool = False


def structured(node: gast.AST, taken: set[str]) -> gast.AST:
    """The definition `node` without jumps; itself if it has none.

    `taken` are names that no flag may take; the flags are added to it.
    """
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return node
    early = returns_early(body)
    if not early and not any(_jumps(s) for s in body):
        return node
    return _Rewriter(taken | identifiers(node), early).definition(node)


def returns_early(body: Sequence[gast.AST]) -> bool:
    """Is there a `return` that neither ends the body nor the paths of its `if`s?"""
    *rest, last = body
    if isinstance(last, gast.Return) and not any(map(returns, rest)):
        return False
    return any(map(returns, body)) and tail_form(list(body)) is None


def _jumps(node: gast.AST) -> bool:
    """Does a loop with a `break`, a `continue` or an `else` stand in `node`?"""
    if isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
        return False
    if isinstance(node, (gast.Break, gast.Continue)):
        return True
    if isinstance(node, (gast.For, gast.While)) and node.orelse:
        return True
    return any(map(_jumps, statements(node)))


class _Rewriter:
    def __init__(self, taken: set[str], early: bool) -> None:
        self.taken, self.early = set(taken), early
        self.done = _Flag(fresh("done", self.taken))
        self.results: list[str] = []
        self.returned: list[gast.Return] = []

    def definition(self, node: gast.AST) -> gast.AST:
        body = _reached(node.body)
        if not self.early:
            made = self.block(body, None)
            new = self.resolved(made.stmts, node)
        else:
            self.returned = _own_returns(body)
            new = self.returning(body, node)
        rewritten = copy.copy(node)
        rewritten.body = new
        return rewritten

    def returning(self, body: list[gast.AST], node: gast.AST) -> list[gast.AST]:
        """A body with early returns: every path assigns the results, one returns."""
        values = [_values(r) for r in self.returned]
        counts = {None if v is None else len(v[0]) for v in values}
        falls = not _ends(body)
        mixed = len(counts) > 1 or len({v[1] for v in values if v is not None}) > 1
        if mixed or (falls and counts != {None}):
            # `statements` reports each `return` where it stands.
            return list(body)
        first = values[0]
        common: list[gast.AST | None] = []
        if first is not None:
            for k in range(len(first[0])):
                texts = {gast.unparse(v[0][k]) for v in values if v is not None}
                # After a `return` nothing runs: its value is the same at the end.
                same = len(texts) == 1
                common.append(first[0][k] if same else None)
                single = len(first[0]) == 1
                name = "result" if single else f"result_{k}"
                self.results.append("" if same else fresh(name, self.taken))
        made = self.block(body, None)
        head: list[gast.AST] = []
        if self.done.read:
            head.append(_assign(self.done.name, gast.Constant(False, None), node))
            for k, name in enumerate(self.results):
                if name:
                    truth = all(_is_truth(v[0][k]) for v in values if v is not None)
                    zero = gast.Constant(False if truth else 0, None)
                    first_ = _assign(name, zero, node)
                    setattr(first_.targets[0], EMPTY, True)
                    head.append(first_)
        stmts = [*head, *self.resolved(made.stmts, node)]
        if first is not None:
            last = self.returned[-1]
            parts = [
                given if given is not None else _name(name, last)
                for given, name in zip(common, self.results, strict=True)
            ]
            value = parts[0]
            if not first[1]:
                value = _at(gast.Tuple(parts, gast.Load()), last)
            stmts.append(_at(gast.Return(value), last))
        return stmts

    # ---------------------------------------------------------------- blocks

    def block(self, stmts: Sequence[gast.AST], loop: _Loop | None) -> _Block:
        made = _Block()
        for k, s in enumerate(stmts):
            rest = stmts[k + 1 :]
            match s:
                case gast.Break() if loop is not None:
                    made.stmts.append(_Set(loop.stop, True, s))
                    return self.ended(made, BREAK)
                case gast.Continue() if loop is not None:
                    made.stmts.append(_Set(loop.skip, True, s))
                    return self.ended(made, CONTINUE)
                case gast.Return() if self.early:
                    made.stmts += self.results_of(s)
                    made.stmts.append(_Set(self.done, True, s))
                    return self.ended(made, RETURN)
                case gast.If():
                    if self.branch(s, rest, loop, made):
                        return made
                case gast.For() | gast.While():
                    outward = self.loop(s, made, loop)
                    if outward:
                        made.jumps |= outward
                        self.guarded(rest, outward, loop, made, s)
                        return made
                case _:
                    made.stmts.append(s)
        return made

    def ended(self, made: _Block, jump: str) -> _Block:
        made.jumps |= {jump}
        made.always = True
        return made

    def branch(
        self, s: gast.If, rest: Sequence[gast.AST], loop: _Loop | None, made: _Block
    ) -> bool:
        """An `if`; True if what follows it has been dealt with."""
        then, other = self.block(s.body, loop), self.block(s.orelse, loop)
        jumps = then.jumps | other.jumps
        made.jumps |= jumps
        if not jumps:
            made.stmts.append(self.rebuilt(s, then.stmts, other.stmts))
            return False
        if then.always and other.always:
            made.stmts.append(self.rebuilt(s, then.stmts, other.stmts))
            made.always = True
            return True
        if then.always and not other.jumps:
            after = self.block(rest, loop)
            made.stmts.append(self.rebuilt(s, then.stmts, other.stmts + after.stmts))
            made.jumps |= after.jumps
            made.always = after.always
            return True
        if other.always and not then.jumps:
            after = self.block(rest, loop)
            made.stmts.append(self.rebuilt(s, then.stmts + after.stmts, other.stmts))
            made.jumps |= after.jumps
            made.always = after.always
            return True
        made.stmts.append(self.rebuilt(s, then.stmts, other.stmts))
        self.guarded(rest, jumps, loop, made, s)
        return True

    def guarded(
        self,
        rest: Sequence[gast.AST],
        jumps: frozenset[str],
        loop: _Loop | None,
        made: _Block,
        at: gast.AST,
    ) -> None:
        """What follows a statement that may have jumped, under a test of the flags."""
        if not rest:
            return
        flags = self.flags(jumps, loop)
        after = self.block(rest, loop)
        for flag in flags:
            flag.read = True
        test = unless([f.name for f in flags], at)
        place = rest[0]
        stub = _at(gast.If(test, [], []), place)
        made.stmts.append(self.rebuilt(stub, after.stmts, []))
        made.jumps |= after.jumps

    def flags(self, jumps: frozenset[str], loop: _Loop | None) -> list[_Flag]:
        found: list[_Flag] = []
        if loop is not None and BREAK in jumps:
            found.append(loop.stop)
        if loop is not None and CONTINUE in jumps:
            found.append(loop.skip)
        if RETURN in jumps:
            found.append(self.done)
        return found

    def rebuilt(self, s: gast.If, then: list[object], other: list[object]) -> object:
        new = copy.copy(s)
        new.body, new.orelse = then, other
        return new

    def loop(self, s: gast.AST, made: _Block, around: _Loop | None) -> frozenset[str]:
        """A loop, its flags before it and its `else` after it; the jumps out of it.

        A jump in the `else` is one of the loop `around`.
        """
        own = _Loop(
            _Flag(fresh("stop", self.taken)),
            _Flag(fresh("skip", self.taken)),
        )
        inner = self.block(s.body, own)
        outward = inner.jumps & {RETURN}
        new = copy.copy(s)
        leave: list[str] = []
        if BREAK in inner.jumps:
            own.stop.read = True
            leave.append(own.stop.name)
            made.stmts.append(_Set(own.stop, False, s))
        if outward:
            self.done.read = True
            leave.append(self.done.name)
        body: list[object] = []
        if CONTINUE in inner.jumps:
            body.append(_Set(own.skip, False, s))
        new.body = body + inner.stmts
        new.orelse = []
        setattr(new, LEAVE, tuple(leave))
        made.stmts.append(new)
        if s.orelse:
            after = self.block(s.orelse, around)
            if leave:
                flags = [own.stop] if BREAK in inner.jumps else []
                flags += [self.done] if outward else []
                test = unless([f.name for f in flags], s)
                stub = _at(gast.If(test, [], []), s.orelse[0])
                made.stmts.append(self.rebuilt(stub, after.stmts, []))
            else:
                made.stmts += after.stmts
            outward |= after.jumps
        return frozenset(outward)

    def results_of(self, s: gast.Return) -> list[gast.AST]:
        """The assignments of one `return`'s values."""
        found = _values(s)
        if found is None or not self.results:
            return []
        pairs = [
            (name, value)
            for name, value in zip(self.results, found[0], strict=True)
            if name
        ]
        if not pairs:
            return []
        names = [_store(n, s) for n, _ in pairs]
        for name in names:
            setattr(name, RETURNED, len(pairs) == 1 == len(self.results))
            setattr(name, PLACE, self.results.index(name.id))
        if len(pairs) == 1:
            return [_at(gast.Assign(names, pairs[0][1], None), s)]
        targets = _at(gast.Tuple(names, gast.Store()), s)
        values = _at(gast.Tuple([v for _, v in pairs], gast.Load()), s)
        return [_at(gast.Assign([targets], values, None), s)]

    # ---------------------------------------------------------------- the end

    def resolved(self, stmts: Sequence[object], at: gast.AST) -> list[gast.AST]:
        """The statements with the flags that something reads, and no others."""
        out: list[gast.AST] = []
        for s in stmts:
            match s:
                case _Set(flag, value, place):
                    if flag.read:
                        out.append(
                            _assign(flag.name, gast.Constant(value, None), place)
                        )
                case gast.If():
                    s.body = self.resolved(s.body, s) or [_at(gast.Pass(), s)]
                    s.orelse = self.resolved(s.orelse, s)
                    out.append(s)
                case gast.For() | gast.While():
                    s.body = self.resolved(s.body, s) or [_at(gast.Pass(), s)]
                    out.append(s)
                case _:
                    assert isinstance(s, gast.AST)
                    out.append(s)
        return out


# ------------------------------------------------------------------ small questions


def _own_returns(body: Sequence[gast.AST]) -> list[gast.Return]:
    found: list[gast.Return] = []
    stack = list(reversed(body))
    while stack:
        s = stack.pop()
        if isinstance(s, gast.Return):
            found.append(s)
        elif not isinstance(s, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
            stack.extend(reversed(children(s)))
    return found


def _values(s: gast.Return) -> tuple[list[gast.AST], bool] | None:
    """The returned expressions, and whether there is one outside a tuple."""
    match s.value:
        case None | gast.Constant(value=None):
            return None
        case gast.Tuple(elts=elements) if elements:
            return list(elements), False
        case value:
            return [value], True


def _ends(body: Sequence[gast.AST]) -> bool:
    """Does every path through the body come to a `return`, or raise?"""
    for s in body:
        match s:
            case gast.Return():
                return True
            case gast.Assert() if always_raises(s):
                return True
            case gast.If() if _ends(s.body) and _ends(s.orelse):
                return True
            case gast.While(test=gast.Constant(value=value)) if value and not _breaks(
                s.body
            ):
                return True
    return False


def _reached(body: list[gast.AST]) -> list[gast.AST]:
    """The statements without those behind a loop that only a `return` leaves."""
    for k, s in enumerate(body):
        if isinstance(s, gast.While) and _ends([s]):
            return body[: k + 1]
    return body


def _breaks(body: Sequence[gast.AST]) -> bool:
    for s in body:
        if isinstance(s, gast.Break):
            return True
        if isinstance(s, gast.If) and (_breaks(s.body) or _breaks(s.orelse)):
            return True
    return False


def _is_truth(node: gast.AST) -> bool:
    match node:
        case gast.Constant(value=bool()) | gast.Compare():
            return True
        case gast.UnaryOp(op=gast.Not()):
            return True
        case gast.BoolOp(values=values):
            return all(map(_is_truth, values))
    return False


def unless(flags: Sequence[str], at: gast.AST) -> gast.AST:
    """The test that none of these flags is set, which stands where `at` does."""
    tests = [_at(gast.UnaryOp(gast.Not(), _name(f, at)), at) for f in flags]
    return tests[0] if len(tests) == 1 else _at(gast.BoolOp(gast.And(), tests), at)


def _at(node: gast.AST, place: gast.AST) -> gast.AST:
    return gast.copy_location(node, place)


def _name(name: str, at: gast.AST) -> gast.AST:
    return _at(gast.Name(name, gast.Load(), None, None), at)


def _store(name: str, at: gast.AST) -> gast.AST:
    return _at(gast.Name(name, gast.Store(), None, None), at)


def _assign(name: str, value: gast.AST, at: gast.AST) -> gast.AST:
    if getattr(value, "lineno", None) is None:
        value = _at(value, at)
    return _at(gast.Assign([_store(name, at)], value, None), at)
