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
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import gast

from pyrev.parse.bindings import (
    default_nodes,
    is_none,
    literal_integer,
    mapped,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.found_calls import found_in, without_found
from pyrev.parse.rewriting.made_texts import stored_in
from pyrev.parse.rewriting.maybe_none import (
    may_be_set_to_none,
    unset_names,
    with_flags,
)


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

#: The attribute of a literal that stands for a name which `MayBe` None or a text.
MAY_BE = "pyrev_may_be"

_END = (gast.Return, gast.Raise, gast.Break, gast.Continue)

#: The methods of texts that give a text, and those that give a truth value.
_TEXTS = frozenset(
    ("casefold", "lower", "lstrip", "replace", "rstrip", "strip", "upper")
)
_TRUTHS = frozenset(("endswith", "startswith"))


def with_values(
    node: gast.AST,
    values: Mapping[str, str | None],
    gone: Collection[str] = (),
    inlined: bool = False,
) -> gast.AST:
    """The definition `node` for calls in which parameters have these `values`, and the
    others are neither None nor texts. Those that are `gone` are no parameters, either.
    Is it `inlined` where it is called?

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
    if not (values or gone or _tested(node) or _has_texts(node)):
        if not may_be_set_to_none(node):
            return node
    made, left = _decided_by(node, values)
    if left:
        absent = {n for n, v in values.items() if v is None}
        flagged = with_flags(node, left, absent, inlined)
        if flagged is None:
            made = without_found(made)
        else:
            unset = unset_names(flagged)
            left_over = {n: v for n, v in values.items() if n not in unset}
            made, _ = _decided_by(flagged, left_over)
    made.args = _without(node.args, {*values, *gone})
    return made


def _decided_by(
    node: gast.AST, values: Mapping[str, str | None]
) -> tuple[gast.AST, set[str]]:
    """A definition for these values of its parameters, and the names that may be None
    in it.
    """
    known: Known = {
        p.id: Is(values[p.id]) if p.id in values else OTHER for p in parameters(node)
    }
    walk = _Walk(_tested(node) | may_be_set_to_none(node), _fixed(node))
    made = copy.copy(node)
    made.body = walk.block(node.body, known) or [_pass(node)]
    return made, walk.open | may_be_set_to_none(made)


def known_defaults(node: gast.AST) -> dict[str, str | None]:
    """The parameters of a definition whose defaults are None or texts."""
    return {n: d.value for n, d in default_nodes(node).items() if is_known(d)}


def is_known(node: gast.AST | None) -> bool:
    """Is this the literal None, or a text?"""
    return isinstance(node, gast.Constant) and isinstance(node.value, (str, type(None)))


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

    def __init__(self, tested: set[str], fixed: set[str]) -> None:
        #: The names that may be None.
        self.tested = tested
        #: The names that are bound once: a function within reads what they are there.
        self.fixed = fixed
        #: The names that are read where they may be None.
        self.open: set[str] = set()

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
                return [self.definition(s, known)]
            case gast.Assign(targets=targets):
                made = self.expression(s, known)
                names = {t.id for t in targets if isinstance(t, gast.Name)}
                if len(names) == len(targets) and is_known(made.value):
                    value = made.value.value
                    if value is not None or names <= self.tested:
                        known |= dict.fromkeys(names, Is(value))
                        return []
                known |= dict.fromkeys(stored_in(s), OTHER)
                known |= dict.fromkeys(found_in(s), MayBe(None))
                return [made]
            case _:
                made = self.expression(s, known)
                known |= dict.fromkeys(stored_in(s), OTHER)
                return [made]

    def definition(self, s: gast.AST, known: Known) -> gast.AST:
        """A function within, for what is known of the names outside that it reads."""
        if not isinstance(s, gast.FunctionDef) or not (around := self.around(s, known)):
            return s
        made = copy.copy(s)
        within = _Walk(_tested(s), set(around))
        made.body = within.block(s.body, around) or [_pass(s)]
        return made

    def around(self, s: gast.AST, known: Known) -> Known:
        """What a function within may rely on whenever it is called."""
        own = {p.id for p in parameters(s)} | stored_in(s)
        found = {n: known.get(n) for n in self.fixed - own}
        return {n: v for n, v in found.items() if isinstance(v, (Is, Other))}

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
        emptied |= {n: None for c in nodes_of(s) for n in found_in(c)}
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
            case gast.Call() if (said := _called(e, _TRUTHS, known)) is not None:
                return bool(said)
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
                    if isinstance(found, MayBe):
                        if found.value is None:
                            self.open.add(name)
                        return _left_open(e, found)
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
                around = self.around(e, known)
                return mapped(e, lambda part: self.expression(part, around))
            case gast.Call() | gast.BinOp() | gast.Subscript() if isinstance(
                said := _value(e, known), Is
            ):
                return _located(gast.Constant(said.value, None), e)
        return mapped(e, lambda part: self.expression(part, known))


def _left_open(name: gast.Name, found: MayBe) -> gast.AST:
    """What stands for a name that is not to be read: nothing has a meaning for it."""
    made = _located(gast.Constant(b"", None), name)
    setattr(made, MAY_BE, (name.id, found.value))
    return made


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
        case gast.In() | gast.NotIn(), _:
            one, two = _text(left, known), _text(right, known)
            if one is None or two is None:
                return None
            return (one in two) is isinstance(op, gast.In)
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
        case gast.BinOp(left=left, op=gast.Add(), right=right):
            one, two = _text(left, known), _text(right, known)
            return None if one is None or two is None else Is(one + two)
        case gast.Subscript(value=of, slice=at):
            text, k = _text(of, known), literal_integer(at)
            if text is not None and k is not None and -len(text) <= k < len(text):
                return Is(text[k])
        case gast.Call():
            said = _called(e, _TEXTS, known)
            return Is(said) if isinstance(said, str) else None
    return None


def _text(e: gast.AST, known: Known) -> str | None:
    """The text that an operand is, if it is known to be one."""
    found = _value(e, known)
    return found.value if isinstance(found, Is) else None


def _called(e: gast.AST, methods: frozenset[str], known: Known) -> str | bool | None:
    """What one of these methods of a known text gives."""
    match e:
        case gast.Call(func=gast.Attribute(value=of, attr=m), args=args, keywords=[]):
            texts = [_text(one, known) for one in (of, *args)]
            if m in methods and None not in texts:
                try:
                    said: str | bool = getattr(texts[0], m)(*texts[1:])
                except TypeError:  # as it will be when the function runs
                    return None
                return said
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


def _fixed(node: gast.AST) -> set[str]:
    """The names that a definition binds once, functions within included."""
    bound = Counter(p.id for p in parameters(node))
    for n in nodes_of(node):
        match n:
            case gast.Name(id=name, ctx=gast.Store()):
                bound[name] += 1
            case gast.FunctionDef(name=name) | gast.ClassDef(name=name):
                bound[name] += 1
            case gast.Nonlocal(names=names) | gast.Global(names=names):
                bound.update(dict.fromkeys(names, 2))
    return {n for n, k in bound.items() if k == 1}


def _has_texts(node: gast.AST) -> bool:
    """Is a text given to a name, or None or a text compared?"""
    return any(
        (isinstance(n, gast.Assign) and is_known(n.value) and n.value.value is not None)
        or (isinstance(n, gast.Compare) and is_known(n.left))
        for n in nodes_of(node)
    )


def _pass(at: gast.AST) -> gast.AST:
    return _located(gast.Pass(), at)


def _truth(value: bool, at: gast.AST) -> gast.AST:
    return _located(gast.Constant(value, None), at)


def _located(node: gast.AST, at: gast.AST) -> gast.AST:
    return gast.copy_location(node, at)
