"""Helpers that call themselves, directly or by way of others: text without an end made
text with one.

Python text in, Python text out, before anything is lowered. A call whose value is
returned as it is becomes the next round of a loop::

    def gcd(a, b):                       def gcd(a, b):
        if b == 0:                           while True:
            return a             ->              if b == 0:
        return gcd(b, a % b)                         return a
                                                 a, b = b, a % b

Others are put in place of their calls, level by level. Tests of integers that the call
names are decided, so that such a recursion ends where it does in CPython; where that is
known only when the program runs, the innermost level raises instead of calling again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    assigned_names,
    identifiers,
    mapped,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.raising import RAISE

#: Of so many statements all levels together are at most, and so many levels there are,
#: where the run decides how many are needed, and where the text does.
_UNKNOWN = (130, 8)
_KNOWN = (2000, 64)
#: One inside another, so many loops come of levels that call the next in a loop: what
#: each more costs to differentiate grows with those that are there.
_NESTED = 6
#: A reflection (`1.0 - x`) done twice is undone but for rounding: some levels to spare.
_REFLECTED = 4
#: So often a loop that was a recursion runs at most; CPython has 1000 levels.
_ROUNDS = 100_000

#: Is this the callee of a call that leads back, or that must not be made?
Asked = Callable[[gast.AST], bool]


@dataclass(frozen=True, slots=True)
class Cycle:
    """Definitions that call one another, and how deep that may go."""

    #: What tells each from all other functions.
    keys: tuple[object, ...]
    nodes: tuple[gast.AST, ...]
    #: How many calls of one another each has in its text.
    calls: tuple[int, ...]
    #: The most levels of a function among these that calls itself the same way again.
    least: int | None
    #: In how many loops each stands around a call of the next, all together.
    loops: int = 0

    def levels(self, known: bool) -> int:
        """How many levels there may be, where the text says how many are needed (it is
        `known`) or the run does.
        """
        budget, most = _KNOWN if known else _UNKNOWN
        if self.least is not None and not known:
            return self.least
        if self.loops and not known:
            most = min(most, _NESTED // self.loops)
        size = sum(map(_size, self.nodes))
        factor = self.factor
        levels, copies, last = 0, 0, 1
        while levels < most and (copies + last) * size <= budget:
            levels, copies, last = levels + 1, copies + last, last * factor
        return max(levels, 2)

    @property
    def factor(self) -> int:
        """How many calls of a function one of its own stands for in the text."""
        product = 1
        for n in self.calls:
            product *= max(n, 1)
        return product

    def said(self, name: str, levels: int) -> str:
        """What an error says where the innermost level calls again."""
        text = f"{name} calls itself more than {levels} levels deep"
        if self.factor > 1:
            text += f", and {self.factor} times in its text"
        return f"{text}: write the recursion as a loop"


def _size(node: gast.AST) -> int:
    """How many statements there are; a slice counts as two, for each is within bounds
    that take all slices around it to tell.
    """
    slices = sum(isinstance(n, gast.Slice) for n in nodes_of(node))
    return sum(isinstance(n, _STATEMENTS) for n in nodes_of(node)) + 2 * slices


def loops_around(node: gast.AST, own: Asked) -> int:
    """In how many loops, one inside another, a call that `own` tells stands at most."""

    def most(n: gast.AST, around: int) -> int:
        here = around if isinstance(n, gast.Call) and own(n.func) else 0
        around += isinstance(n, (gast.For, gast.While, gast.comprehension))
        return max([here, *(most(c, around) for c in gast.iter_child_nodes(n))])

    return most(node, 0)


_STATEMENTS = (
    *(gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Return, gast.If, gast.For),
    *(gast.While, gast.Assert, gast.Raise, gast.Expr, gast.IfExp, gast.Lambda),
)


# ------------------------------------------------------------- numbers that are known


def with_numbers(node: gast.AST, numbers: Mapping[str, int]) -> tuple[gast.AST, bool]:
    """The definition for calls in which parameters are these integers, which it does
    not assign; and whether a test was decided.

    >>> import gast
    >>> text = '''
    ... def power(x, n):
    ...     if n == 0:
    ...         return 1.0
    ...     return x * power(x, n - 1)
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> made, decided = with_numbers(definition, {"n": 3})
    >>> print(gast.unparse(made).strip(), decided)
    def power(x, n):
        return x * power(x, 2) True
    """
    own = assigned_names(node)
    known = {n: k for n, k in numbers.items() if n not in own}
    if not known or not isinstance(node, gast.FunctionDef):
        return node, False
    folding = _Folding(known)
    made = copy.copy(node)
    made.body = folding.block(node.body) or [gast.copy_location(gast.Pass(), node)]
    return made, folding.decided


class _Folding:
    def __init__(self, known: Mapping[str, int]) -> None:
        self.known = known
        self.decided = False

    def block(self, block: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in block:
            out += self.statement(s)
            if out and isinstance(out[-1], (gast.Return, gast.Raise)):
                break
        return out

    def statement(self, s: gast.AST) -> list[gast.AST]:
        if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
            return [s]
        if isinstance(s, gast.If):
            test = self.value(s.test)
            if test is not None:
                self.decided = True
                return self.block(s.body if test else s.orelse)
        if not isinstance(s, (gast.If, gast.For, gast.While)):
            return [self.expression(s)]
        made = copy.copy(s)
        if isinstance(s, gast.For):
            made.iter = self.expression(s.iter)
        else:
            made.test = self.expression(s.test)
        made.body = self.block(s.body) or [gast.copy_location(gast.Pass(), s)]
        made.orelse = self.block(s.orelse)
        return [made]

    def expression(self, e: gast.AST) -> gast.AST:
        if isinstance(e, gast.Lambda):
            return e
        if isinstance(e, gast.IfExp):
            test = self.value(e.test)
            if test is not None:
                self.decided = True
                return self.expression(e.body if test else e.orelse)
        if isinstance(e, gast.BinOp):
            value = self.value(e)
            if value is not None:
                return gast.copy_location(gast.Constant(value, None), e)
        return mapped(e, self.expression)

    def value(self, e: gast.AST) -> int | None:
        """What an expression of known integers is, a truth value included."""
        match e:
            case gast.Constant(value=int() as k):
                return k
            case gast.Name(id=name):
                return self.known.get(name)
            case gast.UnaryOp(op=op, operand=operand):
                inner = self.value(operand)
                if inner is None or isinstance(op, gast.Invert):
                    return None
                if isinstance(op, gast.Not):
                    return not inner
                return -inner if isinstance(op, gast.USub) else +inner
            case gast.BinOp(left=left, op=op, right=right) if type(op) in _INTEGER:
                one, two = self.value(left), self.value(right)
                if one is None or two is None:
                    return None
                if isinstance(op, (gast.FloorDiv, gast.Mod)) and two == 0:
                    return None
                found = int(_INTEGER[type(op)](one, two))
                return found if abs(found) < _SMALL else None
            case gast.Compare(left=left, ops=[op], comparators=[right]):
                one, two = self.value(left), self.value(right)
                if one is None or two is None or type(op) not in _TESTS:
                    return None
                return _TESTS[type(op)](one, two)
            case gast.BoolOp(op=op, values=values):
                found_ = [self.value(v) for v in values]
                ends = isinstance(op, gast.Or)
                # What is not known before one that decides might raise.
                if found_[0] is not None and bool(found_[0]) is ends:
                    return ends
                if all(v is not None and bool(v) is not ends for v in found_):
                    return not ends
                if all(v is not None for v in found_):
                    return ends
        return None


_SMALL = 2**31
_INTEGER: dict[type, Callable[[int, int], int]] = {
    gast.Add: lambda a, b: a + b,
    gast.Sub: lambda a, b: a - b,
    gast.Mult: lambda a, b: a * b,
    gast.FloorDiv: lambda a, b: a // b,
    gast.Mod: lambda a, b: a % b,
}
_TESTS: dict[type, Callable[[int, int], bool]] = {
    gast.Eq: lambda a, b: a == b,
    gast.NotEq: lambda a, b: a != b,
    gast.Lt: lambda a, b: a < b,
    gast.LtE: lambda a, b: a <= b,
    gast.Gt: lambda a, b: a > b,
    gast.GtE: lambda a, b: a >= b,
}


# --------------------------------------------------------- the innermost level raises


def stopped(node: gast.AST, ends: Asked, message: str) -> gast.AST:
    """The definition that raises `RecursionError` in place of a call that `ends` tells.

    Calls in loops' tests, comprehensions and functions inside are left as they are.

    >>> import gast
    >>> text = '''
    ... def f(x, n):
    ...     y = f(-x, n) if x < 0.0 else x
    ...     if n > 0:
    ...         y = y + f(y, n - 1)
    ...     return y
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> made = stopped(definition, lambda e: e.id == "f", "too deep")
    >>> print(gast.unparse(made).strip())
    def f(x, n):
        if x < 0.0:
            raise RecursionError('too deep')
        y = x
        if n > 0:
            raise RecursionError('too deep')
        return y
    """
    if not isinstance(node, gast.FunctionDef):
        return node
    made = copy.copy(node)
    made.body = _Stopping(ends, message).block(node.body)
    return made


def always_stops(node: gast.AST) -> bool:
    """Does a definition end in an error, and nothing else?"""
    if not isinstance(node, gast.FunctionDef):
        return False
    *_, last = node.body
    returns = any(isinstance(n, gast.Return) for n in nodes_of(node))
    return isinstance(last, gast.Raise) and not returns


class _Stopping:
    def __init__(self, ends: Asked, message: str) -> None:
        self.ends, self.message = ends, message

    def block(self, block: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in block:
            out += self.statement(s)
            if isinstance(out[-1], gast.Raise):
                break
        return out

    def statement(self, s: gast.AST) -> list[gast.AST]:
        match s:
            case gast.FunctionDef() | gast.ClassDef() | gast.Raise():
                return [s]
            case gast.If(test=head) | gast.For(iter=head) | gast.While(test=head):
                when, rest = self.when(head)
            case _:
                when, rest = self.when(s)
        if when is True:
            return [self.error(s)]
        guard: list[gast.AST] = []
        if when is not None:
            if isinstance(s, gast.While):
                return [s]
            assert isinstance(when, gast.AST)
            branch = gast.If(when, [self.error(s)], [])
            guard = [gast.copy_location(branch, s)]
        if not isinstance(s, (gast.If, gast.For, gast.While)):
            return [*guard, rest]
        made = copy.copy(s)
        setattr(made, "iter" if isinstance(s, gast.For) else "test", rest)
        made.body, made.orelse = self.block(s.body), self.block(s.orelse)
        return [*guard, made]

    def when(self, e: gast.AST) -> tuple[gast.AST | bool | None, gast.AST]:
        """When evaluating comes to a call that ends: always, never (None) or where a
        test holds; and the expression for when it does not.
        """
        if isinstance(e, (gast.Lambda, *_COMPREHENSIONS)):
            return None, e
        if isinstance(e, gast.Call) and self.ends(e.func):
            return True, e
        if isinstance(e, gast.IfExp):
            return self.choice(e)
        if isinstance(e, gast.BoolOp):
            return self.operands(e)
        found: list[gast.AST | bool] = []

        def part(inner: gast.AST) -> gast.AST:
            when, rest = self.when(inner)
            if when is not None:
                found.append(when)
            return rest

        made = mapped(e, part)
        if True in found:
            return True, e
        return _either(found, e), made

    def choice(self, e: gast.IfExp) -> tuple[gast.AST | bool | None, gast.AST]:
        test, asked = self.when(e.test)
        if test is not None:
            return test, e
        yes, no = self.when(e.body), self.when(e.orelse)
        when: list[gast.AST | bool] = []
        if yes[0] is not None:
            when.append(_both(asked, yes[0]))
        if no[0] is not None:
            when.append(_both(_not(asked), no[0]))
        if not when:
            return None, e
        if yes[0] is True and no[0] is True:
            return True, e
        made = copy.copy(e)
        made.test, made.body, made.orelse = asked, yes[1], no[1]
        rest: gast.AST = made
        if yes[0] is True:
            rest = no[1]
        elif no[0] is True:
            rest = yes[1]
        return _either(when, e), rest

    def operands(self, e: gast.BoolOp) -> tuple[gast.AST | bool | None, gast.AST]:
        """`a and f(x)` comes to `f` where `a` holds; it is `a` where it does not."""
        for k, value in enumerate(e.values):
            when, _ = self.when(value)
            if when is None:
                continue
            if k == 0 or when is not True:
                # One that comes to it in some cases counts as if it always did.
                return True, e
            before = copy.copy(e)
            before.values = e.values[:k]
            made = before if k > 1 else e.values[0]
            return (made if isinstance(e.op, gast.And) else _not(made)), made
        return None, e

    def error(self, at: gast.AST) -> gast.Raise:
        name = gast.Name("RecursionError", gast.Load(), None, None)
        text = gast.Constant(self.message, None)
        made = gast.Raise(gast.Call(name, [text], []), None)
        for n in nodes_of(made):
            gast.copy_location(n, at)
        return made


_COMPREHENSIONS = (gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp)


def _not(e: gast.AST) -> gast.AST:
    return gast.copy_location(gast.UnaryOp(gast.Not(), e), e)


def _both(test: gast.AST, when: gast.AST | bool) -> gast.AST:
    if isinstance(when, bool):
        return test
    return gast.copy_location(gast.BoolOp(gast.And(), [test, when]), test)


def _either(when: Sequence[gast.AST | bool], at: gast.AST) -> gast.AST | None:
    tests = [t for t in when if isinstance(t, gast.AST)]
    if len(tests) < 2:
        return tests[0] if tests else None
    return gast.copy_location(gast.BoolOp(gast.Or(), tests), at)


# ------------------------------------------------------------------- loops, symmetries


def as_loop(node: gast.AST, own: Asked, arrays: Collection[str]) -> gast.AST | None:
    """The definition with a loop for its calls of itself, None if they are not all of
    the form ``return f(...)``; the `arrays` among the parameters stay what they are.

    >>> import gast
    >>> text = '''
    ... def f(x, n, y):
    ...     if n == 0:
    ...         return y
    ...     return f(x, n - 1, x * y)
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> loop = as_loop(definition, lambda e: e.id == "f", [])
    >>> print(gast.unparse(loop).strip())  # doctest: +ELLIPSIS
    def f(x, n, y):
        level = 0
        while True:
            assert level < 100000, RecursionError(...)
            level += 1
            if n == 0:
                return y
            n, y = (n - 1, x * y)
            continue
    """
    if not isinstance(node, gast.FunctionDef):
        return None
    inner = (gast.FunctionDef, gast.Lambda, gast.ClassDef)
    if any(isinstance(n, inner) for n in nodes_of(node) if n is not node):
        return None
    names = [p.id for p in parameters(node)]
    rounds = _Rounds(own, names, set(arrays))
    body = rounds.block(node.body)
    every = sum(isinstance(n, gast.Call) and own(n.func) for n in nodes_of(node))
    ends = sum(isinstance(n, gast.Return) for n in nodes_of(node)) > rounds.made
    if rounds.made != every or not ends or not _leaves(node.body):
        return None
    if _reads_unbound(node.body, set(names), assigned_names(node)):
        return None
    level = fresh("level", set(identifiers(node)))
    text = f"{level} = 0\nwhile True:\n    assert {level} < {_ROUNDS}\n    {level} += 1"
    first, loop = gast.parse(text).body
    for n in (*nodes_of(first), *nodes_of(loop)):
        gast.copy_location(n, node.body[0])
    said = f"{node.name} calls itself more than {_ROUNDS} times"
    raised = _Stopping(own, said).error(node.body[0])
    loop.body[0].msg = raised.exc
    setattr(loop.body[0], RAISE, raised)
    loop.body += body
    made = copy.copy(node)
    made.body = [first, loop]
    return made


class _Rounds:
    def __init__(self, own: Asked, names: list[str], arrays: set[str]) -> None:
        self.own, self.names, self.arrays = own, names, arrays
        self.made = 0

    def block(self, block: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in block:
            match s:
                case gast.Return(value=gast.Call() as call) if self.own(call.func):
                    out += self.next(call, s)
                case gast.If():
                    made = copy.copy(s)
                    made.body, made.orelse = self.block(s.body), self.block(s.orelse)
                    out.append(made)
                case _:
                    out.append(s)
        return out

    def next(self, call: gast.Call, at: gast.Return) -> list[gast.AST]:
        """The parameters get the arguments, all at once."""
        given = dict(zip(self.names, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords}
        whole = len(call.args) + len(call.keywords) == len(self.names)
        if not whole or given.keys() != set(self.names):
            return [at]
        changed = {
            n: a
            for n, a in given.items()
            if not (isinstance(a, gast.Name) and a.id == n)
        }
        if changed.keys() & self.arrays:
            return [at]
        self.made += 1
        out: list[gast.AST] = []
        if changed:
            targets = [gast.Name(n, gast.Store(), None, None) for n in changed]
            values = list(changed.values())
            many = len(changed) > 1
            target = gast.Tuple(targets, gast.Store()) if many else targets[0]
            value = gast.Tuple(values, gast.Load()) if many else values[0]
            out.append(gast.Assign([target], value, None))
            for n in (out[0], *targets, target, *([value] if many else [])):
                gast.copy_location(n, at)
        return [*out, gast.copy_location(gast.Continue(), at)]


def _leaves(body: Sequence[gast.AST]) -> bool:
    """Does every path through the body come to a `return`, or raise?"""
    return any(
        isinstance(s, (gast.Return, gast.Raise))
        or (isinstance(s, gast.If) and _leaves(s.body) and _leaves(s.orelse))
        for s in body
    )


def _reads_unbound(
    body: Sequence[gast.AST], bound: set[str], own: Collection[str]
) -> bool:
    """May a name be read before this level binds it? `bound` grows."""
    for s in body:
        heads = [s]
        if isinstance(s, (gast.If, gast.While)):
            heads = [s.test]
        elif isinstance(s, gast.For):
            heads = [s.iter]
        comprehended: set[str] = set()
        loads: set[str] = set()
        stores: set[str] = set()
        for n in [n for h in heads for n in nodes_of(h)]:
            if isinstance(n, gast.comprehension):
                comprehended |= {
                    t.id for t in nodes_of(n.target) if isinstance(t, gast.Name)
                }
            elif isinstance(n, gast.Name):
                (stores if isinstance(n.ctx, gast.Store) else loads).add(n.id)
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            loads.add(s.target.id)
        if (loads & set(own)) - bound - comprehended:
            return True
        bound |= stores - comprehended
        if isinstance(s, gast.If):
            one, other = set(bound), set(bound)
            if _reads_unbound(s.body, one, own) or _reads_unbound(s.orelse, other, own):
                return True
            ended = _ended(s.body), _ended(s.orelse)
            bound |= other if ended[0] else one if ended[1] else one & other
        elif isinstance(s, (gast.For, gast.While)):
            inside = set(bound)
            if isinstance(s, gast.For):
                inside |= {t.id for t in nodes_of(s.target) if isinstance(t, gast.Name)}
            if _reads_unbound(s.body, inside, own):
                return True
            if _reads_unbound(s.orelse, set(bound), own):
                return True
    return False


def _ended(block: Sequence[gast.AST]) -> bool:
    jumps = (gast.Return, gast.Raise, gast.Break, gast.Continue)
    return bool(block) and isinstance(block[-1], jumps)


def repeats_after(node: gast.AST, own: Asked) -> int | None:
    """Behind how many levels a function is called with what it was called with first;
    None if that is not said.

    ``f(-x)`` repeats after two. A level more would be the first again, in CPython too.
    """
    calls = [n for n in nodes_of(node) if isinstance(n, gast.Call) and own(n.func)]
    if not isinstance(node, gast.FunctionDef) or len(calls) != 1:
        return None
    changes = (gast.Subscript, gast.Attribute)
    if any(
        (isinstance(n, changes) and isinstance(n.ctx, gast.Store))
        or isinstance(n, gast.Expr)
        and not isinstance(n.value, gast.Constant)
        for n in nodes_of(node)
    ):
        return None
    names = [p.id for p in parameters(node)]
    if set(names) & assigned_names(node) or calls[0].keywords:
        return None
    levels = 1
    for name, argument in zip(names, calls[0].args, strict=False):
        match argument:
            case gast.Name(id=same) if same == name:
                pass
            case gast.UnaryOp(op=gast.USub(), operand=gast.Name(id=same)) if (
                same == name
            ):
                levels = max(levels, 2)
            case gast.BinOp(
                left=gast.Constant(),
                op=gast.Sub() | gast.Div(),
                right=gast.Name(id=same),
            ) if same == name:
                levels = _REFLECTED
            case _:
                return None
    return max(levels, 2) if len(calls[0].args) == len(names) else None
