"""Names that are None on some paths: a flag beside each says whether it has a value.

Python text in, Python text out, before anything is lowered::

    best = None                           best_known = False
    for i in range(n):                    for i in range(n):
        if best is None or x[i] < best:       if not best_known or x[i] < best:
            best = x[i]             ->            best = x[i]
                                                  best_known = True
    if best is not None:                  if best_known:
        s += best                             s += best

Where such a name is read it has a value by the tests around, or a check raises what
CPython raises; where neither can be said, the text is left as it is. Which names are
None together is followed, so that a test of one of them tells of the others.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import (
    children,
    identifiers,
    is_none,
    literal_integer,
    mapped,
    nodes_of,
    parameters,
)
from pyrev.parse.rewriting.found_calls import found_in
from pyrev.parse.rewriting.made_texts import (
    assign,
    name_of,
    placed,
    read_in,
    root_of,
    stored_in,
)
from pyrev.parse.rewriting.none_first import with_none_first

#: The attribute of a target that has no value yet, or none any more.
UNSET = "pyrev_unset"
#: That of a flag that stands for ``name == None``: numbers alone are compared so.
EQUALS = "pyrev_equals_none"

#: One way in which names may stand: those that are None, and `_unbound` ones.
State = frozenset[str]
States = frozenset[State]
#: What may be: more of it is not followed.
_MOST = 64


def with_flags(
    node: gast.AST, names: Collection[str], absent: Collection[str], inlined: bool
) -> gast.AST | None:
    """The definition with flags for these `names`, of which the parameters that are
    `absent` are None in the call; None if what is read cannot be shown to be there.

    What returns None where it is `inlined` may be what its caller asks for; elsewhere
    a check raises.

    >>> text = '''
    ... def f(x):
    ...     best = None
    ...     for v in x:
    ...         if best is None or v < best:
    ...             best = v
    ...     return best * 2.0
    ... '''
    >>> definition = with_flags(gast.parse(text).body[0], ["best"], [], False)
    >>> print(gast.unparse(definition).strip())
    def f(x):
        best = 0
        best_known = False
        for v in x:
            if not best_known or v < best:
                best = v
                best_known = True
        if not best_known:
            raise TypeError('`best` is None')
        return best * 2.0
    """
    # What a name is given where it is not None is none that may be, either.
    made = _with_flags(node, {*names}, absent, inlined)
    return made or _with_flags(node, _copied({*names}, node), absent, inlined)


def _with_flags(
    node: gast.AST, names: set[str], absent: Collection[str], inlined: bool
) -> gast.AST | None:
    if any(_hides(n, names) for n in nodes_of(node) if n is not node):
        return None
    taken = {*identifiers(node)}
    flags = _Flags({n: fresh(f"{n}_known", taken) for n in sorted(names)}, inlined)
    given = {p.id for p in parameters(node)}
    begin = {_unbound(n) for n in names - given} | {n for n in names if n in absent}
    head: list[gast.AST] = []
    for n in sorted(names & given):
        at = node.body[0]
        head += flags.unset(n, at) if n in absent else [flags.noted(n, True, at)]
    try:
        stmts = with_none_first(node.body, names)
        body, _ = flags.block(stmts, frozenset({frozenset(begin)}))
    except _Unproven:
        return None
    made = copy.copy(node)
    made.body = [*head, *body]
    return _without_idle(made, {*flags.names.values()})


def may_be_set_to_none(node: gast.AST) -> set[str]:
    """The names that a definition gives None, or maybe None."""
    given = {
        t.id
        for s in nodes_of(node)
        for t, v in _pairs(s)
        if any(map(is_none, _ways(v)))
    }
    return given | {n for s in nodes_of(node) for n in found_in(s)}


def unset_names(node: gast.AST) -> set[str]:
    """The names that have no value somewhere in a definition with flags."""
    return {n.id for n in nodes_of(node) if hasattr(n, UNSET)}


class _Unproven(Exception):
    """Here a name may be None, as far as can be said."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """The exception that is raised where a name is None."""

    kind: str
    said: str


@dataclass(slots=True)
class _Loop:
    """How names may stand where a loop is left, and where its next turn begins."""

    left: States = frozenset()
    again: States = frozenset()


@dataclass(slots=True)
class _Flags:
    """Goes through statements in their order, with how names may stand."""

    #: The flag of each name.
    names: dict[str, str]
    inlined: bool
    loops: list[_Loop] = field(default_factory=list)
    #: The names that have to be there for the present statement; may a check of them
    #: stand in front of it?
    checks: dict[str, _Raised] = field(default_factory=dict)
    checkable: bool = True

    def block(
        self, stmts: Sequence[gast.AST], states: States
    ) -> tuple[list[gast.AST], States]:
        """Statements, and how names may stand behind them: in no way where nothing
        comes there.
        """
        out: list[gast.AST] = []
        for s in stmts:
            if not states:
                break
            if len(states) > _MOST:
                raise _Unproven
            around = self.checks, self.checkable
            self.checks, self.checkable = {}, not any(map(_may_write, _header(s)))
            made, states = self.statement(s, states)
            out += [self.check(n, raised, s) for n, raised in self.checks.items()]
            out += made
            self.checks, self.checkable = around
        return out, states

    def statement(self, s: gast.AST, states: States) -> tuple[list[gast.AST], States]:
        given = self.given_on(s, states)
        if given is not None:
            # What is called with None may be another text.
            two = [copy.copy(s) for _ in range(2)]
            none = gast.Constant(None, None)
            test = gast.Compare(given, [gast.IsNot()], [none])
            made = placed(gast.If(test, two[:1], two[1:]), s)
            return self.branch(made, states)
        match s:
            case gast.If():
                return self.branch(s, states)
            case gast.For() | gast.While():
                return self.loop(s, states)
            case gast.Break():
                self.loops[-1].left |= states
                return [s], frozenset()
            case gast.Continue():
                self.loops[-1].again |= states
                return [s], frozenset()
            case gast.Return(value=value) if value and not self.inlined:
                made = copy.copy(s)
                made.value = self.returned(value, states)
                return [made], frozenset()
            case gast.Return() | gast.Raise():
                return [self.parts(s, states)], frozenset()
            case gast.Assert():
                return self.asserted(s, states)
            case gast.Assign():
                return self.assign(s, states)
            case gast.AugAssign(target=target):
                made = copy.copy(s)
                if isinstance(target, gast.Name):
                    read = name_of(target.id, target)
                    found = self.expression(read, states, raised=_OPERAND)
                    if isinstance(found, gast.Constant):
                        raise _Unproven
                else:
                    made.target = self.expression(target, states)
                made.value = self.expression(s.value, states, raised=_OPERAND)
                return [made], self.passed(states)
            case gast.Expr() | gast.Pass() | gast.AnnAssign():
                pass
            case gast.FunctionDef():
                return [s], states  # which reads none of the names
            case _:
                raise _Unproven
        return [self.parts(s, states)], self.passed(states)

    def parts(self, s: gast.AST, states: States) -> gast.AST:
        """A statement with what is in it."""
        return mapped(s, lambda part: self.expression(part, states))

    def passed(self, states: States) -> States:
        """How names may stand where the checks of the statement have passed."""
        return frozenset(s for s in states if s.isdisjoint(self.checks))

    # ---------------------------------------------------------------- assignments

    def assign(self, s: gast.Assign, states: States) -> tuple[list[gast.AST], States]:
        if found := found_in(s):
            return self.found(s, found, states)
        match s:
            case gast.Assign(targets=[gast.Name()], value=gast.IfExp() as choice):
                if self.may_be_none(choice, states):
                    ways = [_with_value(s, w) for w in (choice.body, choice.orelse)]
                    made = gast.If(choice.test, [ways[0]], [ways[1]])
                    return self.branch(_located(made, choice), states)
            case gast.Assign(targets=[gast.Tuple(elts=targets)]) if any(
                self.may_be_none(v, states) for _, v in _pairs(s)
            ):
                return self.apart(s, targets, states)
        if self.may_be_none(s.value, states):
            if not all(isinstance(t, gast.Name) for t in s.targets):
                raise _Unproven
            out: list[gast.AST] = []
            for target in s.targets:
                made, states = self.given_maybe(target, s.value, states)
                out += made
            return out, states
        made = copy.copy(s)
        made.value = self.expression(s.value, states)
        made.targets = [self.target(t, states) for t in s.targets]
        new = sorted(stored_in(s) & self.names.keys())
        notes = [self.noted(n, True, s) for n in new]
        return [made, *notes], _bound(self.passed(states), new, ())

    def found(
        self, s: gast.Assign, names: list[str], states: States
    ) -> tuple[list[gast.AST], States]:
        """``flag, name = call`` for a call that gives a truth value in front."""
        value = self.expression(s.value, states)
        every = [self.names[names[0]], *names]
        targets = [name_of(n, ctx=gast.Store()) for n in every]
        made = [assign([gast.Tuple(targets, gast.Store())], value)]
        for n in names[1:]:
            flag = name_of(self.names[n], ctx=gast.Store())
            made.append(assign([flag], name_of(self.names[names[0]])))
        after = self.passed(states)
        there, gone = _bound(after, names, ()), _bound(after, (), names)
        return [placed(m, s) for m in made], there | gone

    def apart(
        self, s: gast.Assign, targets: Sequence[gast.AST], states: States
    ) -> tuple[list[gast.AST], States]:
        """Several targets, of which some may be given None: these follow the others."""
        pairs = [*_pairs(s)]
        bound = [t.id for t, _ in pairs]
        if len(pairs) < len(targets) or len({*bound}) < len(bound):
            raise _Unproven
        later = [self.may_be_none(v, states) for _, v in pairs]
        for (_, v), is_later in zip(pairs, later, strict=True):
            if is_later and not read_in(v).isdisjoint(bound):
                raise _Unproven
        now = [
            pair for pair, is_later in zip(pairs, later, strict=True) if not is_later
        ]
        made: list[gast.AST] = []
        if len(now) == 1:
            made = [_located(gast.Assign([now[0][0]], now[0][1], None), s)]
        elif now:
            whole = [gast.Tuple([p[k] for p in now], ctx()) for k, ctx in _CONTEXTS]
            left, right = (_located(e, s) for e in whole)
            made = [_located(gast.Assign([left], right, None), s)]
        for (target, value), is_later in zip(pairs, later, strict=True):
            if is_later:
                made.append(_located(gast.Assign([target], value, None), s))
        return self.block(made, states)

    def given_maybe(
        self, target: gast.Name, value: gast.AST, states: States
    ) -> tuple[list[gast.AST], States]:
        """``target = None``, or another name that may be None."""
        name = target.id
        if name not in self.names:
            raise _Unproven
        unset = self.unset(name, target)
        if isinstance(value, gast.IfExp):
            raise _Unproven
        if not isinstance(value, gast.Name) or self.is_none(value.id, states) is True:
            return unset, _bound(states, (), (name,))
        if value.id == name:
            return [], states
        without = frozenset(s for s in states if value.id in s)
        having = _bound(states - without, (name,), ())
        copied = _located(gast.Assign([target], value, None), value)
        test = self.flag(value.id, value)
        made = _located(
            gast.If(test, [copied, self.noted(name, True, target)], []), value
        )
        return [*unset, made], having | _bound(without, (), (name,))

    def target(self, t: gast.AST, states: States) -> gast.AST:
        """A target, with the subscripts in it."""
        if isinstance(t, gast.Name):
            return t
        if isinstance(t, (gast.Tuple, gast.List)):
            return mapped(t, lambda part: self.target(part, states))
        return self.expression(t, states)

    def may_be_none(self, e: gast.AST, states: States) -> bool:
        """Is a value None, or a name or a choice that may be?"""
        return any(
            is_none(way)
            or (
                isinstance(way, gast.Name)
                and way.id in self.names
                and self.is_none(way.id, states) is not False
            )
            for way in _ways(e)
        )

    # ---------------------------------------------------------------- control

    def branch(self, s: gast.If, states: States) -> tuple[list[gast.AST], States]:
        test, one, other = self.test(s.test, states)
        one, other = self.passed(one), self.passed(other)
        then, behind = self.block(s.body, one)
        orelse, after = self.block(s.orelse, other)
        if isinstance(test, gast.Constant):
            return (then, behind) if test.value else (orelse, after)
        made = copy.copy(s)
        made.test, made.body, made.orelse = test, then or [_pass(s)], orelse
        return [made], behind | after

    def loop(self, s: gast.AST, states: States) -> tuple[list[gast.AST], States]:
        made = copy.copy(s)
        if isinstance(s, gast.For):
            if not stored_in(s.target).isdisjoint(self.names):
                raise _Unproven
            made.iter = self.expression(s.iter, states)
            states = self.passed(states)
        while True:
            inside = behind = states
            if isinstance(s, gast.While):
                made.test, inside, behind = self.test(s.test, states, eager=False)
                if isinstance(made.test, gast.Constant) and made.test.value:
                    behind = frozenset()
            self.loops.append(_Loop())
            made.body, end = self.block(s.body, inside)
            own = self.loops.pop()
            if _runs(s):
                behind = end | own.again
            more = states | end | own.again
            if more == states:
                break
            states = more
        made.body = made.body or [_pass(s)]
        made.orelse, behind = self.block(s.orelse, behind)
        return [made], behind | own.left

    def asserted(self, s: gast.Assert, states: States) -> tuple[list[gast.AST], States]:
        made = copy.copy(s)
        made.test, one, _ = self.test(s.test, states)
        if s.msg is not None:
            made.msg = self.expression(s.msg, states, eager=False)
        elif made.test is not s.test:
            text = gast.unparse(s.test).strip()
            made.msg = _located(gast.Constant(text, None), s)
        return [made], self.passed(one)

    # ---------------------------------------------------------------- expressions

    def expression(
        self,
        e: gast.AST,
        states: States,
        eager: bool = True,
        raised: _Raised | None = None,
    ) -> gast.AST:
        """A value. It is computed whenever the statement runs, if `eager`; there None
        has this `raised`, if it does.
        """
        within = None
        match e:
            case gast.Name(id=name, ctx=gast.Load()) if name in self.names:
                return self.read(e, states, raised if eager else None)
            case gast.BoolOp():
                return self.test(e, states, eager, True)[0]
            case gast.UnaryOp(op=gast.Not()) | gast.Compare():
                return self.test(e, states, eager)[0]
            case gast.IfExp():
                made = copy.copy(e)
                made.test, one, other = self.test(e.test, states, eager)
                made.body = self.expression(e.body, one, False)
                made.orelse = self.expression(e.orelse, other, False)
                return made
            case gast.BinOp(left=gast.Constant(value=str())):
                pass
            case gast.BinOp() | gast.UnaryOp():
                within = _OPERAND
            case gast.Call(args=args) if args and not _is_optional(e, args[0]):
                made = copy.copy(e)
                made.args = [
                    self.expression(
                        a, states, eager, None if _is_optional(e, a) else _OPERAND
                    )
                    for a in args
                ]
                made.keywords = [
                    mapped(k, lambda part: self.expression(part, states, eager))
                    for k in e.keywords
                ]
                return made
            case gast.Attribute(attr=attr):
                said = f"'NoneType' object has no attribute '{attr}'"
                within = _Raised("AttributeError", said)
            case gast.Subscript(value=of):
                made = copy.copy(e)
                made.value = self.expression(of, states, eager, _SUBSCRIPT)
                made.slice = self.expression(e.slice, states, eager)
                return made
            case gast.ListComp() | gast.GeneratorExp():
                eager = False
        return mapped(e, lambda part: self.expression(part, states, eager, within))

    def returned(self, e: gast.AST, states: States) -> gast.AST:
        """What the function returns, numbers and arrays."""
        if isinstance(e, gast.Tuple):
            return mapped(e, lambda part: self.returned(part, states))
        said = f"`{gast.unparse(e).strip()}` is None: numbers and arrays are returned"
        return self.expression(e, states, raised=_Raised("TypeError", said))

    def read(self, e: gast.Name, states: States, raised: _Raised | None) -> gast.AST:
        """A name that has to have a value here."""
        none = self.is_none(e.id, self.passed(states))
        if none is True:
            return _located(gast.Constant(None, None), e)
        if none is None:
            if raised is None or not self.checkable:
                raise _Unproven
            self.checks[e.id] = raised
        return e

    def given_on(self, s: gast.AST, states: States) -> gast.Name | None:
        """A name that may be None and that a call in a statement is given, if that is
        computed whenever the statement runs.
        """
        if not isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)):
            return None
        for call in _calls(s.value):
            for part in [*call.args, *(k.value for k in call.keywords)]:
                if isinstance(part, gast.Name) and part.id in self.names:
                    optional = _is_optional(call, part)
                    if optional and self.is_none(part.id, states) is None:
                        return part
        return None

    def is_none(self, name: str, states: States) -> bool | None:
        """Is a name None, in all ways in which names may stand?"""
        if any(_unbound(name) in s for s in states):
            raise _Unproven
        found = {name in s for s in states}
        return None if len(found) > 1 else True in found

    def test(
        self, e: gast.AST, states: States, eager: bool = True, valued: bool = False
    ) -> tuple[gast.AST, States, States]:
        """A test, and how names may stand where it holds and where it does not. It is
        `valued` where more counts than its truth.
        """
        match e:
            case gast.Compare(left=left, ops=[op], comparators=[right]):
                asked = _asked_of(e)
                if asked is not None and asked.id in self.names:
                    return self.asked(e, asked, states)
                within = _OPERAND if isinstance(op, _ORDER) else None
                made = copy.copy(e)
                made.left = self.expression(left, states, eager, within)
                made.comparators = [self.expression(right, states, eager, within)]
                return made, states, states
            case gast.Name(id=name) if name in self.names and not valued:
                none = self.is_none(name, states)
                if none is None:
                    both = [self.flag(name, e), e]
                    having = frozenset(s for s in states if name not in s)
                    return _located(gast.BoolOp(gast.And(), both), e), having, states
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                found, one, other = self.test(operand, states, eager)
                return _negated(found, e), other, one
            case gast.BoolOp():
                return self.several(e, states, eager, valued)
            case gast.Compare():
                eager = False
                made = mapped(e, lambda part: self.expression(part, states, eager))
                return made, states, states
        return self.expression(e, states, eager), states, states

    def asked(
        self, e: gast.Compare, name: gast.Name, states: States
    ) -> tuple[gast.AST, States, States]:
        """A comparison of a name with None."""
        none = self.is_none(name.id, states)
        positive = isinstance(e.ops[0], (gast.Is, gast.Eq))
        without = frozenset(s for s in states if name.id in s)
        having = states - without
        if none is not None:
            made = _located(gast.Constant(none is positive, None), e)
        else:
            made = self.flag(name.id, name)
            if isinstance(e.ops[0], (gast.Eq, gast.NotEq)):
                setattr(made, EQUALS, name.id)
            made = _negated(made, e) if positive else made
        return (made, without, having) if positive else (made, having, without)

    def several(
        self, e: gast.BoolOp, states: States, eager: bool, valued: bool
    ) -> tuple[gast.AST, States, States]:
        """``a and b``, ``a or b``: what comes later is computed if that counts."""
        ends = isinstance(e.op, gast.Or)
        left: list[gast.AST] = []
        over: States = frozenset()
        for k, v in enumerate(e.values):
            found, one, other = self.test(v, states, eager and not k, valued)
            stops, states = (one, other) if ends else (other, one)
            over |= stops
            decided = isinstance(found, gast.Constant) and found is not v
            if not decided or bool(found.value) is ends or valued:
                left.append(found)
            if not states:
                break
        if not left:
            made: gast.AST = _located(gast.Constant(not ends, None), e)
        elif len(left) == 1:
            made = left[0]
        else:
            made = copy.copy(e)
            made.values = left
        return (made, over, states) if ends else (made, states, over)

    # ---------------------------------------------------------------- what is made

    def flag(self, name: str, at: gast.AST) -> gast.AST:
        """The flag of a name, read."""
        return name_of(self.names[name], at)

    def noted(self, name: str, known: bool, at: gast.AST) -> gast.AST:
        """The assignment of a flag."""
        target = name_of(self.names[name], at, gast.Store())
        value = _located(gast.Constant(known, None), at)
        return _located(gast.Assign([target], value, None), at)

    def unset(self, name: str, at: gast.AST) -> list[gast.AST]:
        """What stands for ``name = None``."""
        target = name_of(name, at, gast.Store())
        setattr(target, UNSET, True)
        zero = _located(gast.Constant(0, None), at)
        made = _located(gast.Assign([target], zero, None), at)
        return [made, self.noted(name, False, at)]

    def check(self, name: str, raised: _Raised, at: gast.AST) -> gast.AST:
        """What raises where a name is None and would have to be something else."""
        said = raised.said.format(name)
        made = gast.Call(name_of(raised.kind), [gast.Constant(said, None)], [])
        test = gast.UnaryOp(gast.Not(), self.flag(name, at))
        return placed(gast.If(test, [gast.Raise(made, None)], []), at)


#: Where None is an operand, and where it has subscripts.
_OPERAND = _Raised("TypeError", "`{}` is None")
_SUBSCRIPT = _Raised("TypeError", "'NoneType' object is not subscriptable")
_ORDER = (gast.Lt, gast.LtE, gast.Gt, gast.GtE)
#: The functions that change nothing, and the modules whose functions do not.
_PURE = frozenset(["abs", "float", "int", "len", "max", "min", "range", "round", "sum"])
_MODULES = frozenset(["math", "np", "numpy"])
#: Functions of NumPy all of whose arguments are numbers and arrays.
_OPERATORS = frozenset(
    ("arctan2", "cross", "dot", "hypot", "matmul", "maximum", "minimum", "outer")
)
#: What computes all that is in it.
_PLAIN = (
    *(gast.Tuple, gast.List, gast.BinOp, gast.UnaryOp, gast.Call, gast.keyword),
    *(gast.Subscript, gast.Attribute),
)
_CONTEXTS = ((0, gast.Store), (1, gast.Load))


def _copied(names: set[str], node: gast.AST) -> set[str]:
    """These names, and those that they are given to."""
    pairs = [pair for s in nodes_of(node) for pair in _pairs(s)]
    while True:
        more = {
            t.id
            for t, v in pairs
            if any(isinstance(w, gast.Name) and w.id in names for w in _ways(v))
        }
        if more <= names:
            return names
        names = names | more


def _hides(node: gast.AST, names: Collection[str]) -> bool:
    """Is this a function inside, or what binds names, that has one of these?"""
    if not isinstance(node, (gast.FunctionDef, gast.Lambda, gast.comprehension)):
        return isinstance(node, (gast.NamedExpr, gast.Nonlocal, gast.Global))
    own = identifiers(node.target if isinstance(node, gast.comprehension) else node)
    return not own.isdisjoint(names)


def _pairs(s: gast.AST) -> Iterator[tuple[gast.Name, gast.AST]]:
    """The names that a statement binds, each with its own value."""
    match s:
        case gast.Assign(targets=[gast.Tuple(elts=left)], value=gast.Tuple(elts=right)):
            if len(left) == len(right):
                for target, value in zip(left, right, strict=True):
                    if isinstance(target, gast.Name):
                        yield target, value
        case gast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, gast.Name):
                    yield target, value


def _ways(e: gast.AST) -> Iterator[gast.AST]:
    """What a value may be: the ways of a choice, or it itself."""
    if isinstance(e, gast.IfExp):
        yield from _ways(e.body)
        yield from _ways(e.orelse)
    else:
        yield e


def _asked_of(e: gast.Compare) -> gast.Name | None:
    """The name that is compared with None, if that is what a comparison does."""
    (op,), (right,) = e.ops, e.comparators
    if isinstance(op, (gast.Is, gast.IsNot, gast.Eq, gast.NotEq)):
        for one, other in ((e.left, right), (right, e.left)):
            if is_none(other) and isinstance(one, gast.Name):
                return one
    return None


def _header(s: gast.AST) -> Iterator[gast.AST]:
    """What a statement computes before the statements in it."""
    match s:
        case gast.If(test=head) | gast.While(test=head) | gast.For(iter=head):
            yield from nodes_of(head)
        case _:
            yield from nodes_of(s)


def _may_write(node: gast.AST) -> bool:
    """May this change what the caller sees?"""
    match node:
        case gast.Call(func=gast.Name(id=name)):
            return name not in _PURE
        case gast.Call(func=func):
            return root_of(func) not in _MODULES
    return False


def _is_optional(call: gast.Call, argument: gast.AST) -> bool:
    """May None mean something for a call? Not as the operand of a function of
    Python's or of NumPy's.
    """
    func = call.func
    if isinstance(func, gast.Name):
        return func.id not in _PURE
    module, word = root_of(func), getattr(func, "attr", "")
    if module == "math" or (module in _MODULES and word in _OPERATORS):
        return argument not in call.args
    return module not in _MODULES or argument not in call.args[:1]


def _calls(e: gast.AST | None) -> Iterator[gast.Call]:
    """The calls in an expression that are made whenever it is computed."""
    if isinstance(e, gast.Call):
        yield e
    if isinstance(e, _PLAIN):
        for part in children(e):
            yield from _calls(part)


def _runs(s: gast.AST) -> bool:
    """Is this a loop over a range of literals that has something in it?"""
    match s:
        case gast.For(iter=gast.Call(func=gast.Name(id="range"), args=args)):
            bounds = [literal_integer(a) for a in args]
            known = [b for b in bounds if b is not None]
            return 0 < len(known) == len(bounds) < 4 and len(range(*known)) > 0
    return False


def _bound(states: States, given: Iterable[str], none: Iterable[str]) -> States:
    """How names may stand where some are given values, and others None."""
    given, none = {*given}, {*none}
    gone = given | {_unbound(n) for n in given | none}
    return frozenset((s - gone) | none for s in states)


def _unbound(name: str) -> str:
    """What stands in a state for a name that nothing was given to."""
    return f"{name}?"


def _without_idle(node: gast.AST, flags: set[str]) -> gast.AST:
    """The definition without the flags that nothing asks for."""
    while True:
        stores = {
            id(s): s.targets[0].id
            for s in nodes_of(node)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        }
        idle = flags - read_in(node)
        if not idle.intersection(stores.values()):
            return node
        gone = {k for k, name in stores.items() if name in idle}
        node = _Without(gone).visit(copy.copy(node))


class _Without(gast.NodeTransformer):  # type: ignore[misc]
    """Takes statements out."""

    def __init__(self, gone: set[int]) -> None:
        self.gone = gone

    def generic_visit(self, node: gast.AST) -> gast.AST:
        for block in ("body", "orelse"):
            old = getattr(node, block, None)
            if isinstance(old, list):
                kept = [copy.copy(s) for s in old if id(s) not in self.gone]
                new = [self.visit(s) for s in kept]
                if not new and block == "body":
                    new = [_pass(node)]
                setattr(node, block, new)
        return node


def _with_value(s: gast.Assign, value: gast.AST) -> gast.AST:
    made = copy.copy(s)
    made.value = value
    return made


def _negated(test: gast.AST, at: gast.AST) -> gast.AST:
    if isinstance(test, gast.Constant):
        return _located(gast.Constant(not test.value, None), at)
    return _located(gast.UnaryOp(gast.Not(), test), at)


def _pass(at: gast.AST) -> gast.AST:
    return _located(gast.Pass(), at)


def _located(node: gast.AST, at: gast.AST) -> gast.AST:
    return gast.copy_location(node, at)
