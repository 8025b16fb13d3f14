"""`None` before anything is lowered: tests of it are decided by what a call passes.

Python text in, Python text out::

    def f(x, w=None):                    def f(x):          # called without `w`
        if w is None:            ->          w = np.ones(len(x))
            w = np.ones(len(x))              return w @ x
        return w @ x

A parameter that is `None` in a call is none of the program's; the others are numbers
and arrays. A local name may be set to `None` as well, as long as the text says where it
is and where it is not.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence

import gast

from pyrev.parse.bindings import mapped, nodes_of, parameters

#: Which names are None, and which are something else; of others it is not known, and
#: those with None here may be None: they are not to be read.
Known = dict[str, bool | None]

_END = (gast.Return, gast.Raise, gast.Break, gast.Continue)


def without_nones(node: gast.AST, nones: Collection[str]) -> gast.AST:
    """The definition `node` for calls in which the parameters `nones` are None, and the
    others are something else.

    >>> import gast
    >>> text = '''
    ... def f(x, w=None, b=None):
    ...     if w is None:
    ...         w = 2.0
    ...     if b is not None and w > 1.0:
    ...         w = w + b
    ...     return w * x
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> print(gast.unparse(without_nones(definition, ["w", "b"])).strip())
    def f(x):
        w = 2.0
        return w * x
    >>> print(gast.unparse(without_nones(definition, ["w"])).strip())
    def f(x, b=None):
        w = 2.0
        if w > 1.0:
            w = w + b
        return w * x
    """
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return node
    tested = _tested(node)
    if not nones and not tested:
        return node
    made = copy.copy(node)
    made.args = _without(node.args, nones)
    known: Known = {p.id: p.id in nones for p in parameters(node)}
    made.body = _Walk(tested).block(body, known) or [_pass(node)]
    return made


def none_defaults(node: gast.AST) -> list[str]:
    """The parameters of a definition whose default is None."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    pairs = [*zip(reversed(positional), reversed(spec.defaults), strict=False)]
    pairs += zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return [p.id for p, default in pairs if is_none(default)]


def is_none(node: gast.AST | None) -> bool:
    """Is this the literal?"""
    return isinstance(node, gast.Constant) and node.value is None


def _without(spec: gast.arguments, names: Collection[str]) -> gast.arguments:
    """The parameters without some, whose defaults go, too."""
    made = copy.copy(spec)
    positional = [*spec.posonlyargs, *spec.args]
    plain = len(positional) - len(spec.defaults)
    defaults = [None] * plain + list(spec.defaults)
    left = [d for p, d in zip(positional, defaults, strict=True) if p.id not in names]
    made.posonlyargs = [p for p in spec.posonlyargs if p.id not in names]
    made.args = [p for p in spec.args if p.id not in names]
    made.defaults = [d for d in left if d is not None]
    only = [*zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]
    made.kwonlyargs = [p for p, _ in only if p.id not in names]
    made.kw_defaults = [d for p, d in only if p.id not in names]
    return made


class _Walk:
    """Goes through statements in their order, with what is known of each name."""

    def __init__(self, tested: set[str]) -> None:
        #: The names of which a test asks: others are not set to None for it.
        self.tested = tested

    def block(self, block: Sequence[gast.AST], known: Known) -> list[gast.AST]:
        """The statements for what is `known`, which is what holds behind them then."""
        out: list[gast.AST] = []
        for s in block:
            out += self.statement(s, known)
            if out and isinstance(out[-1], _END):
                break
        return out

    def statement(self, s: gast.AST, known: Known) -> list[gast.AST]:
        match s:
            case gast.If():
                return self.branch(s, known)
            case gast.For() | gast.While():
                return [self.loop(s, known)]
            case gast.FunctionDef() | gast.ClassDef():
                known.pop(s.name, None)
                return [s]
            case gast.Assign(targets=targets):
                made = self.expression(s, known)
                none = is_none(made.value)
                names = {t.id for t in targets if isinstance(t, gast.Name)}
                if none and len(names) == len(targets) and names <= self.tested:
                    known |= dict.fromkeys(names, True)
                    return []
                known |= dict.fromkeys(_stored(s), False)
                return [made]
            case _:
                made = self.expression(s, known)
                known |= dict.fromkeys(_stored(s), False)
                return [made]

    def branch(self, s: gast.If, known: Known) -> list[gast.AST]:
        test = self.test(s.test, known)
        if isinstance(test, bool):
            return self.block(s.body if test else s.orelse, known)
        one, other = dict(known), dict(known)
        made = copy.copy(s)
        made.test = test
        made.body = self.block(s.body, one) or [_pass(s)]
        made.orelse = self.block(s.orelse, other)
        ends = [bool(b) and isinstance(b[-1], _END) for b in (made.body, made.orelse)]
        if ends[0] is not ends[1]:
            both = other if ends[0] else one
        else:
            both = {n: v for n, v in one.items() if other.get(n) is v}
            nulls = {n for k in (one, other) for n, v in k.items() if v is not False}
            both |= {n: None for n in nulls if n not in both}
        known.clear()
        known |= both
        return [made]

    def loop(self, s: gast.AST, known: Known) -> gast.AST:
        emptied = {
            n
            for child in nodes_of(s)
            if isinstance(child, gast.Assign) and is_none(child.value)
            for n in _stored(child)
        }
        for n in _stored(s):
            if n in emptied or known.get(n, False) is not False:
                known[n] = None
            else:
                known.pop(n, None)
        made = copy.copy(s)
        if isinstance(s, gast.For):
            made.iter = self.expression(s.iter, known)
            target = dict.fromkeys(_stored(s.target), False)
        else:
            test = self.test(s.test, known)
            made.test = _truth(test, s.test) if isinstance(test, bool) else test
            target = {}
        made.body = self.block(s.body, {**known, **target}) or [_pass(s)]
        made.orelse = self.block(s.orelse, dict(known))
        return made

    # ---------------------------------------------------------------- expressions

    def test(self, e: gast.AST, known: Known) -> gast.AST | bool:
        """A truth value, or how a test comes out."""
        match e:
            case gast.Compare():
                decided = _decided(e, known)
                if decided is not None:
                    return decided
            case gast.Name(id=name) if known.get(name) is True:
                return False
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                found = self.test(operand, known)
                if isinstance(found, bool):
                    return not found
                made = copy.copy(e)
                made.operand = found
                return made
            case gast.BoolOp(op=op, values=values):
                ends = isinstance(op, gast.Or)
                left_over: list[gast.AST] = []
                for v in values:
                    found = self.test(v, known)
                    if not isinstance(found, bool):
                        left_over.append(found)
                    elif found is ends:
                        # What is before it has a value, and no other effect.
                        return ends
                if not left_over:
                    return not ends
                if len(left_over) == 1:
                    return left_over[0]
                made = copy.copy(e)
                made.values = left_over
                return made
        return self.expression(e, known)

    def expression(self, e: gast.AST, known: Known) -> gast.AST:
        """The same with literals for names that are None, and decided tests gone."""
        match e:
            case gast.Name(id=name, ctx=gast.Load()) if (
                known.get(name, False) is not False
            ):
                return _located(gast.Constant(None, None), e)
            case gast.IfExp():
                test = self.test(e.test, known)
                if isinstance(test, bool):
                    return self.expression(e.body if test else e.orelse, known)
            case gast.Compare():
                decided = _decided(e, known)
                if decided is not None:
                    return _truth(decided, e)
            case gast.Lambda():
                return e
        return mapped(e, lambda part: self.expression(part, known))


def _decided(e: gast.Compare, known: Known) -> bool | None:
    """How a comparison with None comes out, if that is known."""
    other = _asked(e)
    found: bool | None = None
    match other:
        case gast.Name(id=name):
            found = known.get(name)
        case gast.Constant(value=value):
            found = value is None
    if found is None:
        return None
    return found if isinstance(e.ops[0], (gast.Is, gast.Eq)) else not found


def _asked(e: gast.AST) -> gast.AST | None:
    """What is compared with None, if that is what a comparison does."""
    match e:
        case gast.Compare(left=left, ops=[op], comparators=[right]):
            if isinstance(op, (gast.Is, gast.IsNot, gast.Eq, gast.NotEq)):
                if is_none(right):
                    return left
                return right if is_none(left) else None
    return None


def _tested(node: gast.AST) -> set[str]:
    """The names of which a test in a definition asks if they are None."""
    asked = map(_asked, nodes_of(node))
    return {e.id for e in asked if isinstance(e, gast.Name)}


def _stored(node: gast.AST) -> set[str]:
    """The names that a statement, or a target, gives values to."""
    return {
        n.id
        for n in (node, *nodes_of(node))
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
    }


def _pass(at: gast.AST) -> gast.AST:
    return _located(gast.Pass(), at)


def _truth(value: bool, at: gast.AST) -> gast.AST:
    return _located(gast.Constant(value, None), at)


def _located(node: gast.AST, at: gast.AST) -> gast.AST:
    return gast.copy_location(node, at)
