"""`None` and texts before anything is lowered: tests of them are decided by a call.

Python text in, Python text out::

    def f(x, w=None, how="sum"):         def f(x):          # called without `w`
        if w is None:            ->          w = np.ones(len(x))
            w = np.ones(len(x))              return w @ x
        if how == "mean":
            w = w / len(x)
        return w @ x

A parameter that is `None` or a text in a call is none of the program's; the others are
numbers and arrays. A local name may be set to them as well, as long as the text says
where it is and where it is not.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import gast

from pyrev.parse.bindings import default_nodes, mapped, nodes_of, parameters
from pyrev.parse.rewriting.made_texts import stored_in


@dataclass(frozen=True, slots=True)
class Is:
    """A name stands for `None` or for a text."""

    value: str | None


@dataclass(frozen=True, slots=True)
class MayBe:
    """A name stands for this on some paths: it is not to be read."""

    value: str | None


class Other:
    """A name stands for something else."""


OTHER = Other()

#: What names stand for; of those that are missing it is not known.
Known = dict[str, Is | MayBe | Other]

_END = (gast.Return, gast.Raise, gast.Break, gast.Continue)


def with_values(
    node: gast.AST, values: Mapping[str, str | None], gone: Collection[str] = ()
) -> gast.AST:
    """The definition `node` for calls in which parameters have these `values`, and the
    others are neither None nor texts. Those that are `gone` are no parameters, either.

    >>> import gast
    >>> text = '''
    ... def f(x, w=None, b=None, how="sum"):
    ...     if w is None:
    ...         w = 2.0
    ...     if b is not None and w > 1.0:
    ...         w = w + b
    ...     if how in ("mean", "average"):
    ...         w = w / 2.0
    ...     return w * x
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> values = {"w": None, "b": None, "how": "sum"}
    >>> print(gast.unparse(with_values(definition, values)).strip())
    def f(x):
        w = 2.0
        return w * x
    >>> values = {"w": None, "how": "mean"}
    >>> print(gast.unparse(with_values(definition, values)).strip())
    def f(x, b=None):
        w = 2.0
        if w > 1.0:
            w = w + b
        w = w / 2.0
        return w * x
    """
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return node
    tested = _tested(node)
    if not values and not gone and not tested and not _has_texts(node):
        return node
    made = copy.copy(node)
    made.args = _without(node.args, {*values, *gone})
    known: Known = {
        p.id: Is(values[p.id]) if p.id in values else OTHER for p in parameters(node)
    }
    made.body = _Walk(tested).block(body, known) or [_pass(node)]
    return made


def known_defaults(node: gast.AST) -> dict[str, str | None]:
    """The parameters of a definition whose defaults are None or texts."""
    return {n: d.value for n, d in default_nodes(node).items() if is_known(d)}


def is_known(node: gast.AST | None) -> bool:
    """Is this the literal None, or a text?"""
    return isinstance(node, gast.Constant) and isinstance(node.value, (str, type(None)))


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
        #: The names of which a test asks if they are None: others are not set to it.
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
                names = {t.id for t in targets if isinstance(t, gast.Name)}
                if len(names) == len(targets) and is_known(made.value):
                    value = made.value.value
                    if value is not None or names <= self.tested:
                        known |= dict.fromkeys(names, Is(value))
                        return []
                known |= dict.fromkeys(stored_in(s), OTHER)
                return [made]
            case _:
                made = self.expression(s, known)
                known |= dict.fromkeys(stored_in(s), OTHER)
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
            both = {n: v for n, v in one.items() if other.get(n) == v}
            for n, v in [*one.items(), *other.items()]:
                if n not in both and not isinstance(v, Other):
                    both[n] = MayBe(v.value)
        known.clear()
        known |= both
        return [made]

    def loop(self, s: gast.AST, known: Known) -> gast.AST:
        emptied = {
            n: child.value.value
            for child in nodes_of(s)
            if isinstance(child, gast.Assign) and is_known(child.value)
            for n in stored_in(child)
        }
        for n in stored_in(s):
            before = known.get(n, OTHER)
            if n in emptied:
                known[n] = MayBe(emptied[n])
            elif not isinstance(before, Other):
                known[n] = MayBe(before.value)
            else:
                known.pop(n, None)
        made = copy.copy(s)
        if isinstance(s, gast.For):
            made.iter = self.expression(s.iter, known)
            target: Known = dict.fromkeys(stored_in(s.target), OTHER)
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
            case gast.Name(id=name) if isinstance(own := known.get(name), Is):
                return bool(own.value)
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
            case gast.Name(id=name, ctx=gast.Load()):
                found = known.get(name, OTHER)
                if not isinstance(found, Other):
                    return _located(gast.Constant(found.value, None), e)
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
    """How a comparison with None, or of texts, comes out, if that is known."""
    if len(e.ops) != 1:
        return None
    op, (left, right) = e.ops[0], (e.left, e.comparators[0])
    match op, right:
        case gast.In() | gast.NotIn(), gast.Tuple(elts=elts) | gast.List(elts=elts):
            found = [_equal(left, one, known) for one in elts]
            any_ = True if True in found else None if None in found else False
            return any_ if isinstance(op, gast.In) or any_ is None else not any_
        case gast.Is() | gast.Eq(), _:
            return _equal(left, right, known)
        case gast.IsNot() | gast.NotEq(), _:
            same = _equal(left, right, known)
            return None if same is None else not same
    return None


def _equal(left: gast.AST, right: gast.AST, known: Known) -> bool | None:
    """Are these equal, if they are None and texts, and it is known?"""
    one, two = _value(left, known), _value(right, known)
    if isinstance(one, Is) and isinstance(two, Is):
        return one.value == two.value
    for own, other in ((one, two), (two, one)):
        if isinstance(own, Is) and isinstance(other, Other):
            return False
    return None


def _value(e: gast.AST, known: Known) -> Is | Other | None:
    """What an operand is, as far as it is known."""
    match e:
        case gast.Name(id=name):
            found = known.get(name)
            return None if isinstance(found, MayBe) else found
        case gast.Constant(value=value):
            known_ = isinstance(value, (str, type(None)))
            return Is(value) if known_ else OTHER
    return None


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


def _has_texts(node: gast.AST) -> bool:
    """Is a text given to a name?"""
    return any(
        isinstance(n, gast.Assign) and is_known(n.value) and n.value.value is not None
        for n in nodes_of(node)
    )


def _pass(at: gast.AST) -> gast.AST:
    return _located(gast.Pass(), at)


def _truth(value: bool, at: gast.AST) -> gast.AST:
    return _located(gast.Constant(value, None), at)


def _located(node: gast.AST, at: gast.AST) -> gast.AST:
    return gast.copy_location(node, at)
