"""Complex numbers as pairs of real ones, before anything is read.

Python text in, Python text out::

    z = np.exp(1j * k)                   z_re = np.cos(0.0 + k)
    s += abs(z)                    ->    z_im = np.sin(0.0 + k)
                                         s += np.hypot(z_re, z_im)

A complex array is two arrays. What a helper is given and returns is taken apart in the
same way; where it is called, the parts of an argument stand in a call of `PAIR` until
it is known which parameter they are for.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from collections.abc import Iterator

import gast

from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.nodes import Loc, fresh
from pyrev.parse.bindings import functions_inside, identifiers, nodes_of, parameters
from pyrev.parse.complex_calls import read_call
from pyrev.parse.complex_kinds import (
    Kind,
    Kinds,
    Place,
    holds_complex,
    may_be_complex,
)
from pyrev.parse.complex_parts import (
    FIRST,
    FORMULAS,
    Pair,
    constant,
    is_index,
    is_simple,
    is_zero,
    made,
)
from pyrev.parse.made_texts import Lookup, assign, name_of, placed

#: What is called, in a made text, where an argument is complex.
PAIR = "@complex"
#: The attribute of a call and of a definition inside: what it returns, in parts.
RESULT = "pyrev_complex_result"
#: The attribute of a definition inside whose parameters are in parts: their names.
PARTS = "pyrev_complex_parameters"

_OPERATORS: dict[type, str] = {
    gast.Add: "+",
    gast.Sub: "-",
    gast.Mult: "*",
    gast.Div: "/",
    gast.MatMult: "@",
    gast.Pow: "**",
}
Value = Pair | gast.AST


@dataclass(frozen=True, slots=True)
class Separated:
    """A definition without complex numbers, and the kind of what it returned."""

    node: gast.AST
    result: Kind = False


def without_complex(
    node: gast.AST,
    lookup: Lookup,
    loc: Callable[[gast.AST], Loc],
    given: Iterable[str] = (),
) -> Separated:
    """The definition `node` without complex numbers, of which those parameters that are
    `given` are two; itself if it has none.

    >>> text = '''
    ... def f(k):
    ...     z = 2.0 + 3j * k
    ...     return abs(z)
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> known = {"abs": abs}
    >>> print(gast.unparse(without_complex(definition, known.get, id).node).strip())
    def f(k):
        z_re = 2.0 + (0.0 * k - 0.0)
        z_im = 0.0 + (0.0 + 3.0 * k)
        return @np.hypot(z_re, z_im)
    """
    given = tuple(given)
    if not given and not may_be_complex(node, lookup):
        return Separated(node)
    kinds = Kinds(node, lookup, given)
    separation = Separation(kinds, loc, {*identifiers(node)})
    new = separation.definition(kinds.root)
    return Separated(new, kinds.root.result)


def given_in_parts(
    node: gast.AST, call: gast.Call
) -> tuple[tuple[str, ...], gast.Call]:
    """The parameters of a definition that a call gives complex numbers, and the call
    with two arguments for each.
    """
    spec = node.args
    own: dict[str, tuple[str, str]] = getattr(node, PARTS, {})
    names = [p.id for p in [*spec.posonlyargs, *spec.args]]
    if own:  # which has two parameters for each by now
        first = {re: n for n, (re, _) in own.items()}
        second = {im for _, im in own.values()}
        names = [first.get(n, n) for n in names if n not in second]
    found: list[str] = []
    new = copy.copy(call)
    new.args = []
    for k, a in enumerate(call.args):
        if is_pair(a):
            found.append(names[k] if k < len(names) else "")
        new.args += a.args if is_pair(a) else [a]
    new.keywords = []
    for k in call.keywords:
        if not is_pair(k.value):
            new.keywords.append(k)
            continue
        found.append(k.arg)
        parts = own.get(k.arg) or (f"{k.arg}_re", f"{k.arg}_im")
        for part, value in zip(parts, k.value.args, strict=True):
            keyword = copy.copy(k)
            keyword.arg, keyword.value = part, value
            new.keywords.append(keyword)
    return tuple(found), new


def is_pair(e: gast.AST) -> bool:
    """Is it a complex argument of a call?"""
    return isinstance(e, gast.Call) and getattr(e.func, "id", "") == PAIR


@dataclass(slots=True)
class Separation:
    """Takes the complex numbers of one definition apart."""

    kinds: Kinds
    loc: Callable[[gast.AST], Loc]
    taken: set[str]
    #: The definition that is read, and the statements in front of the present one.
    place: Place = field(init=False)
    out: list[gast.AST] = field(default_factory=list)
    #: The names of the parts of names; those that are zero but for their signs.
    names: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)
    zeros: set[str] = field(default_factory=set)
    #: May statements be put in front of what is read?
    closed: gast.AST | None = None

    def __post_init__(self) -> None:
        self.place = self.kinds.root

    def refuse(self, at: gast.AST, because: str, helps: str) -> UnsupportedError:
        """The error for what complex numbers can't do."""
        return UnsupportedError([Finding("P106", self.loc(at), because, helps)])

    # ---------------------------------------------------------------- definitions

    def definition(self, place: Place) -> gast.AST:
        """A definition whose complex names are two each."""
        around, self.place = self.place, place
        self.zeros.clear()
        new = copy.copy(place.node)
        if not isinstance(new.body, list):
            if self._touched(new.body):
                with self._no_statements(new.body):
                    value = self.value(new.body)
                    if isinstance(value, Pair):
                        raise self.refuse(
                            new.body,
                            "a `lambda` gives a complex number",
                            "write it as a `def`",
                        )
                    new.body = value
            self.place = around
            return new
        new.args = self._parameters(place)
        new.body = [*self._first(place), *self.block(new.body)]
        setattr(new, RESULT, place.result)
        if place.outer is not None:
            own = [p.id for p in parameters(place.node)]
            pairs = {n: self.parts_of(place, n) for n in own if place.kinds.get(n)}
            setattr(new, PARTS, pairs)
        self.place = around
        return new

    def _parameters(self, place: Place) -> gast.AST:
        spec = copy.copy(place.node.args)
        defaults = {id(d) for d in (*spec.defaults, *spec.kw_defaults) if d is not None}
        if any(self.kinds.has(d, place) for d in spec.defaults if id(d) in defaults):
            raise self.refuse(
                place.node, "a default is complex", "give it in each call"
            )
        for kind in ("posonlyargs", "args", "kwonlyargs"):
            new: list[gast.AST] = []
            for p in getattr(spec, kind):
                given = self._is_given(place, p.id)
                parts = self.parts_of(place, p.id) if given else (p.id,)
                new += [self._parameter(p, n) for n in parts]
            setattr(spec, kind, new)
        return spec

    def _parameter(self, p: gast.AST, name: str) -> gast.AST:
        new = copy.copy(p)
        new.id = name
        if name != p.id:
            new.annotation = None
        return new

    def _is_given(self, place: Place, name: str) -> bool:
        """Does a parameter get two values?"""
        if place.outer is not None:
            return bool(place.kinds.get(name))
        return name in self.kinds.complex_parameters

    def _first(self, place: Place) -> list[gast.AST]:
        """What makes the parts of parameters that are real when they are given."""
        out: list[gast.AST] = []
        for p in parameters(place.node):
            if place.kinds.get(p.id) and not self._is_given(place, p.id):
                pair = self.lifted(name_of(p.id, place.node.body[0]), True)
                re, im = self.parts_of(place, p.id)
                out += [self._store(re, pair.re), self._store(im, pair.im)]
        return out

    def _store(self, name: str, value: gast.AST) -> gast.AST:
        made_ = assign([name_of(name, value, gast.Store())], value)
        return gast.copy_location(made_, value)

    def parts_of(self, place: Place, name: str) -> tuple[str, str]:
        """The names of the parts of a name."""
        key = id(place), name
        if key not in self.names:
            re = fresh(f"{name}_re", self.taken)
            self.names[key] = re, fresh(f"{name}_im", self.taken)
        return self.names[key]

    # ---------------------------------------------------------------- statements

    def block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        """Statements, each with what has to be evaluated in front of it."""
        out: list[gast.AST] = []
        for s in stmts:
            before, self.out = self.out, []
            done = self.statement(s)
            out += [*self.out, *done]
            self.out = before
        return out

    def statement(self, s: gast.AST) -> list[gast.AST]:
        """What stands for a statement."""
        match s:
            case gast.FunctionDef(name=name):
                own = self.place.inner[name]
                if own.node is not s:
                    raise self.refuse(
                        s, f"`{name}` is defined twice", "give the functions two names"
                    )
                return [self.definition(own)]
            case gast.For():
                return [self._for(s)]
            case gast.While():
                return [self._while(s)]
        if not self._touched(s):
            return [s]
        match s:
            case gast.If():
                new = copy.copy(s)
                new.test = self.real(s.test)
                zeros = {*self.zeros}
                new.body = self.block(s.body)
                new.orelse = self.block(s.orelse)
                self.zeros &= zeros
                return [new]
            case gast.Assign(targets=targets, value=value):
                return self._assign(s, targets, value)
            case gast.AnnAssign(target=target, value=gast.AST() as value):
                if self.kinds.has(value, self.place):
                    return self._assign(s, [target], value)
            case gast.AugAssign():
                return self._augmented(s)
            case gast.Return(value=gast.AST() as value):
                new = copy.copy(s)
                new.value = self._returned(value, self.place.result)
                return [new]
        return [self._fields(s)]

    def _fields(self, s: gast.AST) -> gast.AST:
        """A statement of another kind, whose expressions are real."""
        new = copy.copy(s)
        for part, value in gast.iter_fields(s):
            if isinstance(value, gast.AST) and not isinstance(value, gast.stmt):
                setattr(new, part, self.real(value))
            elif isinstance(value, list) and any(self._touched(v) for v in value):
                raise self.refuse(s, "a complex number", _USE)
        return new

    def _for(self, s: gast.For) -> gast.AST:
        new = copy.copy(s)
        kind = self.kinds.elements(s.iter, self.place)
        if self._touched(s.iter) or self._touched(s.target):
            new.iter, new.target = self._iterated(s.iter, s.target, kind)
        self.zeros.clear()
        new.body, new.orelse = self.block(s.body), self.block(s.orelse)
        self.zeros.clear()
        return new

    def _iterated(
        self, e: gast.AST, target: gast.AST, kind: Kind
    ) -> tuple[gast.AST, gast.AST]:
        """What a loop runs over, and its target, in parts."""
        if not holds_complex(kind) and not self._touched(target):
            return self.real(e), target
        match e, target:
            case gast.Call(func=func, args=args, keywords=[]), gast.Tuple(elts=elts):
                function = self.kinds.outside(func, self.place)
                whole = len(args) == len(elts)
                if function is zip and whole:
                    pairs = [*zip(args, elts, strict=True)]
                elif function is enumerate and len(args) == 1 and len(elts) == 2:
                    pairs = [(args[0], elts[1])]
                else:
                    raise self.refuse(e, "a loop over complex numbers", _LOOP)
                made_ = [
                    self._iterated(a, t, self.kinds.elements(a, self.place))
                    for a, t in pairs
                ]
                new, whole_target = copy.copy(e), copy.copy(target)
                new.args = [m[0] for m in made_]
                own = [m[1] for m in made_]
                whole_target.elts = own if function is zip else [elts[0], *own]
                return new, whole_target
            case _, gast.Name(id=name) if not isinstance(e, (gast.Tuple, gast.List)):
                if isinstance(kind, tuple):
                    raise self.refuse(e, "a loop over complex numbers", _LOOP)
                value = self.value(e)
                pair = value if isinstance(value, Pair) else None
                if pair is not None and is_simple(pair.re) and is_simple(pair.im):
                    func = gast.Name("zip", gast.Load(), None, None)
                    both = gast.Call(func, [pair.re, pair.im], [])
                    targets = [
                        name_of(n, target, gast.Store())
                        for n in self.parts_of(self.place, name)
                    ]
                    two = gast.Tuple(targets, gast.Store())
                    return placed(both, e), placed(two, target)
        raise self.refuse(e, "a loop over complex numbers", _LOOP)

    def _while(self, s: gast.While) -> gast.AST:
        new = copy.copy(s)
        self.zeros.clear()
        before, self.out = self.out, []
        test = self.real(s.test) if self._touched(s.test) else s.test
        first, self.out = self.out, before
        body = self.block(s.body)
        new.orelse = self.block(s.orelse)
        self.zeros.clear()
        if first:
            if s.orelse:
                raise self.refuse(
                    s.test,
                    "the test of a `while` with `else` is of complex numbers",
                    "test a real number that is computed before it",
                )
            leave = gast.If(gast.UnaryOp(gast.Not(), test), [gast.Break()], [])
            body = [*first, placed(leave, s.test), *body]
            test = placed(gast.Constant(True, None), s.test)
        new.test, new.body = test, body
        return new

    # ---------------------------------------------------------------- assignments

    def _assign(
        self, s: gast.AST, targets: Sequence[gast.AST], value: gast.AST
    ) -> list[gast.AST]:
        if len(targets) == 1:
            return self._assigned(s, targets[0], value)
        if not any(self.kinds.has(e, self.place) for e in (*targets, value)):
            new = copy.copy(s)
            new.value = self.real(value)
            new.targets = [self.real(t) for t in targets]
            return [new]
        raise self.refuse(
            s, "one statement gives a complex number two names", "write two statements"
        )

    def _assigned(
        self, s: gast.AST, target: gast.AST, value: gast.AST
    ) -> list[gast.AST]:
        match target, value:
            case (gast.Tuple(elts=ts), gast.Tuple(elts=vs)) if len(ts) == len(vs):
                values = self.operands(vs)
                pairs = [
                    part
                    for t, v in zip(ts, values, strict=True)
                    for part in self._targets(t, v)
                ]
                return [self._together(s, pairs)]
            case gast.Tuple(elts=ts), _:
                return self._unpacked(s, ts, value)
        kind = self.kinds.of(value, self.place)
        if isinstance(kind, tuple) and holds_complex(kind):
            raise self.refuse(
                value, "a tuple with a complex number gets a name", "unpack it"
            )
        return self._stored(s, target, self.value(value))

    def _stored(
        self, s: gast.AST, target: gast.AST, value: Value
    ) -> list[gast.AST]:
        pairs = self._targets(target, value)
        if len(pairs) == 1:
            return [self._one(s, *pairs[0])]
        (re, a), (im, b) = pairs
        for part, v in pairs:
            if isinstance(part, gast.Name):
                zero = is_zero(v, self.zeros)
                (self.zeros.add if zero else self.zeros.discard)(part.id)
        # What is stored first must not be what the other part is made of.
        if isinstance(re, gast.Name):
            alone = not _reads(b, re.id)
        else:
            alone = self._is_imaginary(b)
        if alone:
            return [self._one(s, re, a), self._one(s, im, b)]
        return [self._together(s, pairs)]

    def _one(self, s: gast.AST, target: gast.AST, value: gast.AST) -> gast.AST:
        return gast.copy_location(assign([target], value), s)

    def _together(
        self, s: gast.AST, pairs: Sequence[tuple[gast.AST, gast.AST]]
    ) -> gast.AST:
        if len(pairs) == 1:
            return self._one(s, *pairs[0])
        left = gast.Tuple([t for t, _ in pairs], gast.Store())
        right = gast.Tuple([v for _, v in pairs], gast.Load())
        return placed(self._one(s, left, right), s)

    def _targets(
        self, target: gast.AST, value: Value
    ) -> list[tuple[gast.AST, gast.AST]]:
        """The targets of a value, each with its part."""
        if isinstance(target, gast.Tuple):
            raise self.refuse(target, "a nested target of complex numbers", "unpack it")
        parts = self._target(target)
        if isinstance(parts, Pair):
            pair = self.lifted(value, isinstance(target, gast.Name))
            return [(parts.re, pair.re), (parts.im, pair.im)]
        if isinstance(value, Pair):
            raise self.refuse(
                target,
                f"`{gast.unparse(target).strip()}` is real, and what is stored is"
                " complex",
                "make the array with `dtype=np.complex128`, or store `.real`",
            )
        return [(parts, value)]

    def _target(self, target: gast.AST) -> Value:
        """A target, or the targets of both parts of a complex one."""
        match target:
            case gast.Name(id=name):
                kind = self.place.kinds.get(name, False)
                if not holds_complex(kind):
                    return target
                re, im = self.parts_of(self.place, name)
                self.zeros -= {re, im}
                return Pair(
                    name_of(re, target, gast.Store()), name_of(im, target, gast.Store())
                )
            case gast.Subscript(value=base, slice=index):
                index = self.index(index)
                root = self.value(base)
                return self._both(
                    root, lambda e: self._subscript(target, e, index, gast.Store())
                )
            case gast.Attribute(value=base, attr="real" | "imag" as attr) if (
                self.kinds.has(base, self.place)
            ):
                pair = self.pair(base)
                part = pair.re if attr == "real" else pair.im
                whole = gast.Constant(..., None)
                return placed(gast.Subscript(part, whole, gast.Store()), target)
        return self._fields(target)

    def _unpacked(
        self, s: gast.AST, targets: Sequence[gast.AST], value: gast.AST
    ) -> list[gast.AST]:
        """``a, b = call(...)``"""
        kind = self.kinds.of(value, self.place)
        if not isinstance(kind, tuple):
            if not kind and not any(self._touched(t) for t in targets):
                return [self._one(s, self._fields(s.targets[0]), self.real(value))]
            raise self.refuse(
                value, "a row of complex numbers is unpacked", "read its elements"
            )
        if len(kind) != len(targets) or not isinstance(value, gast.Call):
            raise self.refuse(
                value, "a tuple of complex numbers is unpacked", "write it out"
            )
        new: list[gast.AST] = []
        later: list[tuple[gast.AST, Value]] = []
        for t, k in zip(targets, kind, strict=True):
            if isinstance(k, tuple):
                raise self.refuse(t, "nested tuples of complex numbers", "unpack them")
            own = self._target(t)
            if k and isinstance(own, Pair):
                new += [own.re, own.im]
                continue
            if not k and not isinstance(own, Pair):
                new.append(own)
                continue
            names = [fresh("part", self.taken) for _ in range(2 if k else 1)]
            new += [name_of(n, t, gast.Store()) for n in names]
            got = [name_of(n, t) for n in names]
            later.append((t, Pair(*got) if k else got[0]))
        call = self.call_of_helper(value, kind)
        left = placed(gast.Tuple(new, gast.Store()), s)
        done = [self._one(s, left, call)]
        for t, v in later:
            done += self._stored(s, t, v)
        return done

    def _augmented(self, s: gast.AugAssign) -> list[gast.AST]:
        """``z += w``"""
        target = self._target(s.target)
        value = self.value(s.value)
        if not isinstance(target, Pair):
            if isinstance(value, Pair):
                self._targets(s.target, value)
            new = copy.copy(s)
            new.target, new.value = target, value
            return [new]
        for part in (target.re, target.im):
            if isinstance(part, gast.Name):
                self.zeros.discard(part.id)
        op = _OPERATORS.get(type(s.op), "")
        if op in ("+", "-"):
            pair = self.lifted(value, False)
            # A part may be read after the other one has changed.
            if isinstance(target.re, gast.Name):
                apart = not _reads(pair.im, target.re.id) and is_simple(pair.im)
            else:
                apart = self._is_imaginary(pair.im)
            if not apart:
                pair = Pair(pair.re, self.named(pair.im))
            return [
                gast.copy_location(gast.AugAssign(t, s.op, v), s)
                for t, v in ((target.re, pair.re), (target.im, pair.im))
            ]
        if op not in ("*", "/", "**"):
            raise self.refuse(s, "this operator of complex numbers", _USE)
        left = Pair(_read(target.re), _read(target.im))
        result = self.operation(op, left, value, s)
        if isinstance(s.target, gast.Name) and not self._is_fresh(s.target.id):
            raise self.refuse(
                s,
                f"`{s.target.id}` may be an array with another name",
                f"write `{s.target.id}[...] = {s.target.id} {op} ...` for an array,"
                f" `{s.target.id} = {s.target.id} {op} ...` for a number",
            )
        pairs = [(target.re, result.re), (target.im, result.im)]
        return [self._together(s, pairs)]

    def _is_imaginary(self, e: gast.AST) -> bool:
        """Is a part a number that is written out, or one of imaginary parts alone?"""
        if constant(e) is not None:
            return True
        names = {im for _, im in self.names.values()}
        return is_simple(e) and _root(e) in names

    def _is_fresh(self, name: str) -> bool:
        """Has no array of a name another name, if it is an array at all?"""
        place = self.place
        if name in {p.id for p in parameters(place.node)}:
            return False
        for n in nodes_of(place.node):
            match n:
                case gast.FunctionDef() | gast.Lambda() if n is not place.node:
                    if any(
                        isinstance(m, gast.Name) and m.id == name for m in nodes_of(n)
                    ):
                        return False
                case gast.Assign(targets=targets, value=value):
                    bound = any(
                        isinstance(t, gast.Name) and t.id == name for t in targets
                    )
                    if bound and not _is_computed(value):
                        return False
                    if not bound and any(
                        isinstance(t, gast.Tuple)
                        and any(isinstance(e, gast.Name) and e.id == name for e in t.elts)
                        for t in targets
                    ):
                        return False
                    if _root(value) == name or (
                        isinstance(value, (gast.Tuple, gast.List, gast.IfExp))
                        and _reads(value, name)
                    ):
                        return False
                case gast.For(target=target):
                    if any(
                        isinstance(m, gast.Name) and m.id == name
                        for m in nodes_of(target)
                    ):
                        return False
        return True

    # ---------------------------------------------------------------- values

    def _touched(self, e: object) -> bool:
        """Is there anything in a node that has to do with complex numbers?"""
        if not isinstance(e, gast.AST):
            return False
        for n in nodes_of(e):
            match n:
                case gast.Attribute(attr="real" | "imag" | "conj" | "conjugate"):
                    return True
                case gast.FunctionDef():
                    return True
                case gast.Return() if holds_complex(self.place.result):
                    return True
                case gast.Name(ctx=gast.Store()):
                    holder = self.place.holder(n.id)
                    if holder is not None and holder.kinds.get(n.id):
                        return True
                case gast.expr() if self.kinds.has(n, self.place):
                    return True
                case gast.Call() if self.kinds.is_about_complex(n, self.place):
                    return True
        return False

    def real(self, e: gast.AST) -> gast.AST:
        """An expression that has to be real."""
        value = self.value(e)
        if isinstance(value, Pair):
            text = gast.unparse(e).strip()
            raise self.refuse(
                e, f"`{text}` is a complex number where a real one is needed", _USE
            )
        return value

    def pair(self, e: gast.AST) -> Pair:
        """Both parts of an expression."""
        return self.lifted(self.value(e), False)

    def lifted(self, value: Value, alone: bool) -> Pair:
        """A value as a complex one; `alone`, it gets a name, and the imaginary part
        has as many axes as the real one.
        """
        if isinstance(value, Pair):
            return value
        known = constant(value)
        if known is not None:
            zero = placed(gast.Constant(0.0, None), value)
            return Pair(placed(made_number(float(known)), value), zero)
        if not alone:
            return Pair(value, placed(gast.Constant(0.0, None), value))
        if not is_simple(value):
            value = self.named(value)
        return Pair(value, made("np.abs(a) * 0.0", {"a": value}, value))

    def simple(self, pair: Pair) -> Pair:
        """A pair whose parts may stand several times."""
        return Pair(self.once(pair.re), self.once(pair.im))

    def once(self, e: gast.AST) -> gast.AST:
        """An expression that may stand several times."""
        return e if is_simple(e) else self.named(e)

    def named(self, e: gast.AST, base: str = "part") -> gast.AST:
        """The name of a value that is evaluated in front of the statement."""
        if self.closed is not None:
            raise self.refuse(
                self.closed,
                "complex numbers are computed in a `lambda`, a comprehension or a"
                " generator",
                "write a `def`, or the loop",
            )
        name = fresh(base, self.taken)
        if is_zero(e, self.zeros):
            self.zeros.add(name)
        made_ = assign([name_of(name, e, gast.Store())], e)
        self.out.append(gast.copy_location(made_, e))
        return name_of(name, e)

    def two(self, call: gast.AST) -> Pair:
        """The names of the parts of what a call returns."""
        names = [fresh(n, self.taken) for n in ("part_re", "part_im")]
        targets = [name_of(n, call, gast.Store()) for n in names]
        left = placed(gast.Tuple(targets, gast.Store()), call)
        self.out.append(gast.copy_location(assign([left], call), call))
        return Pair(*(name_of(n, call) for n in names))

    def operands(self, nodes: Sequence[gast.AST]) -> list[Value]:
        """Values in the order of evaluation: what another function may change after
        it was read is named first.
        """
        found: list[Value] = []
        for k, e in enumerate(nodes):
            value = self.value(e)
            if any(self.kinds.calls_helper(n, self.place) for n in nodes[k + 1 :]):
                if isinstance(value, Pair):
                    value = Pair(self._kept(value.re), self._kept(value.im))
                else:
                    value = self._kept(value)
            found.append(value)
        return found

    def _kept(self, e: gast.AST) -> gast.AST:
        fixed = isinstance(e, gast.Name) or constant(e) is not None
        return e if fixed else self.named(e)

    def value(self, e: gast.AST) -> Value:
        """An expression, in parts if it is complex."""
        if not self._touched(e):
            return e
        match e:
            case gast.Constant(value=complex() as value):
                return Pair(
                    placed(made_number(value.real), e),
                    placed(made_number(value.imag), e),
                )
            case gast.Name():
                return self._name(e)
            case gast.BinOp(left=a, op=op, right=b):
                left, right = self.operands([a, b])
                if isinstance(left, Pair) or isinstance(right, Pair):
                    word = _OPERATORS.get(type(op))
                    if word is None:
                        raise self.refuse(e, "this operator of complex numbers", _USE)
                    return self.operation(word, left, right, e)
                new = copy.copy(e)
                new.left, new.right = left, right
                return new
            case gast.UnaryOp(op=op, operand=a):
                return self._unary(e, op, self.value(a))
            case gast.Compare():
                return self._compare(e)
            case gast.BoolOp():
                return self._boolean(e)
            case gast.IfExp():
                return self._choice(e)
            case gast.Subscript(value=base, slice=index):
                if isinstance(self.kinds.of(base, self.place), tuple):
                    raise self.refuse(e, "an element of a tuple", "unpack the tuple")
                whole, own = self.value(base), self.index(index)
                if isinstance(whole, Pair):
                    whole = self.simple(whole)
                return self._both(
                    whole, lambda x: self._subscript(e, x, own, gast.Load())
                )
            case gast.Attribute():
                return self._attribute(e)
            case gast.Call():
                return read_call(self, e)
            case gast.Tuple(elts=elts):
                return self._sequence(e, self.operands(elts))
            case gast.List():
                return self.listed(e)
            case gast.Lambda() | gast.ListComp() | gast.GeneratorExp():
                return self._inside(e)
        return self._fields(e)

    def _name(self, e: gast.Name) -> Value:
        holder = self.place.holder(e.id)
        if holder is None:
            return self._captured(e, self.kinds.lookup(e.id))
        kind = holder.kinds.get(e.id, False)
        if isinstance(kind, tuple) and holds_complex(kind):
            raise self.refuse(e, f"`{e.id}` is a tuple of complex numbers", "unpack it")
        if not kind:
            return e
        re, im = self.parts_of(holder, e.id)
        return Pair(name_of(re, e), name_of(im, e))

    def _captured(self, e: gast.AST, found: object) -> Pair:
        """A complex number from outside: if it changes, the text is read again."""
        if type(found) is complex:
            parts = made_number(found.real), made_number(found.imag)
            return Pair(*(placed(p, e) for p in parts))
        text = gast.unparse(e).strip()
        raise self.refuse(
            e,
            f"`{text}` is complex, and from outside of the function",
            "give its parts names outside, or write the number out",
        )

    def _sequence(self, e: gast.AST, values: Sequence[Value]) -> gast.AST:
        if any(isinstance(v, Pair) for v in values):
            raise self.refuse(e, "a tuple of complex numbers", "use an array, or names")
        new = copy.copy(e)
        new.elts = [*values]
        return new

    def listed(self, e: gast.List) -> Value:
        """A list that is written out, which an array is made of."""
        values = self.operands(e.elts)
        if not any(isinstance(v, Pair) for v in values):
            new = copy.copy(e)
            new.elts = values
            return new
        pairs = [self.zeros_beside(v) for v in values]
        re, im = copy.copy(e), copy.copy(e)
        re.elts, im.elts = [p.re for p in pairs], [p.im for p in pairs]
        return Pair(re, im)

    def zeros_beside(self, value: Value) -> Pair:
        """A value as a pair; a list of real ones with a list of zeros."""
        if isinstance(value, (gast.List, gast.Tuple)):
            pairs = [self.zeros_beside(v) for v in value.elts]
            re, im = copy.copy(value), copy.copy(value)
            re.elts, im.elts = [p.re for p in pairs], [p.im for p in pairs]
            return Pair(re, im)
        return self.lifted(value, True)

    def _inside(self, e: gast.AST) -> gast.AST:
        """A function or a loop in an expression: no statements can stand in it."""
        place = self.place
        if isinstance(e, gast.Lambda):
            self.place = Place(e, place, frozenset(p.id for p in parameters(e)))
        try:
            with self._no_statements(e):
                new = copy.copy(e)
                for part in ("body", "elt"):
                    inner = getattr(e, part, None)
                    if inner is not None:
                        setattr(new, part, self.real(inner))
                if any(self._touched(g) for g in getattr(e, "generators", ())):
                    raise self.refuse(e, "a loop over complex numbers", _LOOP)
        finally:
            self.place = place
        return new

    @contextmanager
    def _no_statements(self, e: gast.AST) -> Iterator[None]:
        before, self.closed = self.closed, e
        try:
            yield
        finally:
            self.closed = before

    def index(self, e: gast.AST) -> gast.AST:
        """A subscript, which may stand twice."""
        match e:
            case gast.Tuple(elts=elts):
                new = copy.copy(e)
                new.elts = [self.index(x) for x in elts]
                return new
            case gast.Slice(lower=a, upper=b, step=c):
                new = copy.copy(e)
                ends = [None if x is None else self.index(x) for x in (a, b, c)]
                new.lower, new.upper, new.step = ends
                return new
        new = self.real(e)
        return new if is_index(new) else self.named(new, "index")

    def _subscript(
        self, e: gast.AST, base: gast.AST, index: gast.AST, ctx: gast.AST
    ) -> gast.AST:
        new = gast.Subscript(_read(base), copy.deepcopy(index), ctx)
        return gast.copy_location(new, e)

    def _both(self, value: Value, f: Callable[[gast.AST], gast.AST]) -> Value:
        """The same of each part."""
        if isinstance(value, Pair):
            return Pair(f(value.re), f(value.im))
        return f(value)

    # ---------------------------------------------------------------- arithmetic

    def operation(self, op: str, a: Value, b: Value, at: gast.AST) -> Pair:
        """An operator of complex numbers, or of one and a real one."""
        if op == "**":
            return self.power(self.lifted(a, False), b, at)
        if op == "/" and not isinstance(b, Pair):
            x, divisor = self.simple(self.lifted(a, False)), self.once(b)
            return self.formula("/ real", x, Pair(divisor, divisor), at)
        real = op == "@" and not (isinstance(a, Pair) and isinstance(b, Pair))
        if real:
            x = self.simple(a) if isinstance(a, Pair) else Pair(self.once(a), a)
            y = self.simple(b) if isinstance(b, Pair) else Pair(self.once(b), b)
            right = isinstance(b, Pair)
            return Pair(
                made("a @ c", {"a": x.re, "c": y.re}, at),
                made(
                    "a @ c",
                    {"a": x.re if right else x.im, "c": y.im if right else y.re},
                    at,
                ),
            )
        return self.formula(op, self.lifted(a, False), self.lifted(b, False), at)

    def formula(self, word: str, a: Pair, b: Pair | None, at: gast.AST) -> Pair:
        """Both parts of an operation."""
        if word == "exp" and is_zero(a.re, self.zeros):
            word = "unit"
        if word not in ("+", "-", "neg", "conj"):
            a = self.simple(a)
            b = None if b is None else self.simple(b)
        parts = {"a": a.re, "b": a.im}
        if b is not None:
            parts |= {"c": b.re, "d": b.im}
        for name, text in FIRST.get(word, ()):
            parts[name] = self.named(made(text, parts, at))
        re, im = FORMULAS[word]
        return Pair(made(re, parts, at), made(im, parts, at))

    def power(self, base: Pair, exponent: Value, at: gast.AST) -> Pair:
        """``z ** n`` for a small integer `n` that is written out."""
        known = None if isinstance(exponent, Pair) else constant(exponent)
        if known is None or known != int(known) or abs(known) > _MOST:
            raise self.refuse(
                at,
                "a power of a complex number, or to one, that is not a small integer"
                " which is written out",
                "write `np.exp(w * np.log(z))`, or `np.sqrt(z)`",
            )
        n = int(known)
        if n == 0:
            raise self.refuse(at, "a complex number to the power of 0", "write 1.0")
        base = self.simple(base)
        result: Pair | None = None
        square, k = base, abs(n)
        while k:
            if k % 2:
                result = (
                    square
                    if result is None
                    else self.simple(self.formula("*", result, square, at))
                )
            k //= 2
            if k:
                square = self.simple(self.formula("*", square, square, at))
        assert result is not None
        if n < 0:
            one = self.lifted(placed(gast.Constant(1.0, None), at), False)
            return self.formula("/", one, result, at)
        return result

    def _unary(self, e: gast.AST, op: gast.AST, value: Value) -> Value:
        if not isinstance(value, Pair):
            new = copy.copy(e)
            new.operand = value
            return new
        match op:
            case gast.USub():
                return self.formula("neg", value, None, e)
            case gast.UAdd():
                return value
        raise self.refuse(e, "a complex number as a truth value", "write `z != 0`")

    def _compare(self, e: gast.Compare) -> gast.AST:
        if len(e.ops) > 1:
            with self._no_statements(e):
                new = copy.copy(e)
                new.left = self.real(e.left)
                new.comparators = [self.real(c) for c in e.comparators]
                return new
        a, b = self.operands([e.left, e.comparators[0]])
        if not isinstance(a, Pair) and not isinstance(b, Pair):
            new = copy.copy(e)
            new.left, new.comparators = a, [b]
            return new
        x, y = self.lifted(a, False), self.lifted(b, False)
        match e.ops[0]:
            case gast.Eq():
                op: type[gast.AST] = gast.BitAnd
            case gast.NotEq():
                op = gast.BitOr
            case _:
                raise self.refuse(
                    e, "complex numbers have no order", "compare `abs(z)` or `z.real`"
                )
        tests = [
            gast.Compare(p, [e.ops[0]], [q]) for p, q in ((x.re, y.re), (x.im, y.im))
        ]
        return placed(gast.BinOp(tests[0], op(), tests[1]), e)

    def _boolean(self, e: gast.BoolOp) -> gast.AST:
        """``a and b``: what comes later is evaluated only where it is needed."""
        new = copy.copy(e)
        new.values = [self.real(e.values[0])]
        for other in e.values[1:]:
            value, before = self._apart(other)
            if isinstance(value, Pair):
                raise self.refuse(other, "a complex number as a truth value", _USE)
            if not before:
                new.values.append(value)
                continue
            so_far = copy.copy(new)
            first = so_far if len(new.values) > 1 else new.values[0]
            test = self.named(first, "test")
            go_on = test
            if isinstance(e.op, gast.Or):
                go_on = placed(gast.UnaryOp(gast.Not(), test), e)
            again = assign([name_of(test.id, e, gast.Store())], value)
            self.out.append(placed(gast.If(go_on, [*before, again], []), e))
            new.values = [test]
        return new if len(new.values) > 1 else new.values[0]

    def _apart(self, e: gast.AST) -> tuple[Value, list[gast.AST]]:
        """A value, and what is evaluated for it alone."""
        before, self.out = self.out, []
        value = self.value(e)
        own, self.out = self.out, before
        return value, own

    def _choice(self, e: gast.IfExp) -> Value:
        """``a if test else b``"""
        test = self.real(e.test)
        whole = self.kinds.has(e, self.place)
        (yes, first), (no, second) = self._apart(e.body), self._apart(e.orelse)
        if not first and not second and not whole:
            new = copy.copy(e)
            new.test, new.body, new.orelse = test, yes, no
            return new
        if not whole:
            name = fresh("chosen", self.taken)
            names: tuple[str, ...] = (name,)
            ways = [(first, [yes]), (second, [no])]
        else:
            names = fresh("chosen_re", self.taken), fresh("chosen_im", self.taken)
            ways = []
            for value, own in ((yes, first), (no, second)):
                around, self.out = self.out, own
                pair = self.lifted(value, True)
                self.out = around
                ways.append((own, [pair.re, pair.im]))
        blocks = [
            [*own, *(self._store(n, v) for n, v in zip(names, parts, strict=True))]
            for own, parts in ways
        ]
        if self.closed is not None:
            self.named(e)  # refused
        self.out.append(placed(gast.If(test, *blocks), e))
        got = [name_of(n, e) for n in names]
        return Pair(*got) if whole else got[0]

    def _attribute(self, e: gast.Attribute) -> Value:
        if self.kinds.is_outside(e, self.place):
            return self._captured(e, None) if self.kinds.has(e, self.place) else e
        value = self.value(e.value)
        if not isinstance(value, Pair):
            return self.part_of_real(e, value, e.attr)
        if e.attr in ("real", "imag"):
            return value.re if e.attr == "real" else value.im
        if e.attr in ("shape", "size", "ndim"):
            return self._of_part(e, self.once(value.re))
        if e.attr == "T":
            value = self.simple(value)
            return Pair(self._of_part(e, value.re), self._of_part(e, value.im))
        raise self.refuse(e, f"`.{e.attr}` of a complex number", _USE)

    def _of_part(self, e: gast.Attribute, part: gast.AST) -> gast.AST:
        new = copy.copy(e)
        new.value = part
        return new

    def part_of_real(self, e: gast.AST, value: gast.AST, attr: str) -> gast.AST:
        """``x.real`` of a real number is itself."""
        if attr == "real":
            return value
        if attr == "imag":
            raise self.refuse(
                e,
                f"`{gast.unparse(e).strip()}` is the imaginary part of a real number",
                "write `0.0`, or `np.zeros_like(x)` for that of an array",
            )
        new = copy.copy(e)
        new.value = value
        return new

    # ---------------------------------------------------------------- helpers

    def call_of_helper(self, e: gast.Call, kind: Kind) -> gast.AST:
        """The call of another function, with pairs for complex arguments."""
        values = self.operands([*e.args, *(k.value for k in e.keywords)])
        called = self.kinds.inside(e.func, self.place)
        positional: list[str] = []
        if called is not None:
            spec = called.node.args
            positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
        names = [
            *(positional[k] if k < len(positional) else "" for k in range(len(e.args))),
            *(k.arg for k in e.keywords),
        ]
        given = []
        for name, v in zip(names, values, strict=True):
            if called is not None and called.kinds.get(name):
                v = self.lifted(v, True)
            given.append(_together(v) if isinstance(v, Pair) else v)
        new = copy.copy(e)
        new.args = given[: len(e.args)]
        new.keywords = []
        for k, v in zip(e.keywords, given[len(e.args) :], strict=True):
            keyword = copy.copy(k)
            keyword.value = v
            new.keywords.append(keyword)
        setattr(new, RESULT, kind)
        return new

    def _returned(self, e: gast.AST, kind: Kind) -> gast.AST:
        """What is returned, with both parts of each complex number."""
        if not holds_complex(kind):
            return self.real(e)
        if not isinstance(kind, tuple):
            pair = self.lifted(self.value(e), True)
            whole = gast.Tuple([pair.re, pair.im], gast.Load())
            return gast.copy_location(whole, e)
        if isinstance(e, gast.Call):
            return self.call_of_helper(e, kind)
        if not isinstance(e, gast.Tuple) or len(e.elts) != len(kind):
            raise self.refuse(e, "a tuple of complex numbers", "write it out")
        out: list[gast.AST] = []
        for v, k in zip(self.operands(e.elts), kind, strict=True):
            if isinstance(k, tuple):
                raise self.refuse(e, "nested tuples of complex numbers", "unpack them")
            if k:
                pair = self.lifted(v, True)
                out += [pair.re, pair.im]
            else:
                assert not isinstance(v, Pair)
                out.append(v)
        return gast.copy_location(gast.Tuple(out, gast.Load()), e)


_USE = "use its parts, `z.real` and `z.imag`, or `abs(z)`"
_LOOP = "loop over the indices: `for i in range(z.size)`"
#: The largest power that is multiplied out.
_MOST = 16


def made_number(value: float) -> gast.AST:
    """A float that is written out."""
    if str(value).startswith("-"):
        return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
    return gast.Constant(value, None)


def _together(pair: Pair) -> gast.AST:
    call = gast.Call(name_of(PAIR, pair.re), [pair.re, pair.im], [])
    return gast.copy_location(call, pair.re)


def _read(e: gast.AST) -> gast.AST:
    """The same element, read."""
    if not isinstance(getattr(e, "ctx", None), gast.Store):
        return copy.deepcopy(e)
    new = copy.deepcopy(e)
    new.ctx = gast.Load()
    return new


def _reads(e: gast.AST, name: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == name for n in nodes_of(e))


def _root(e: gast.AST) -> str:
    """The name whose array an expression may be, or be a part of."""
    while True:
        match e:
            case gast.Name(id=name):
                return str(name)
            case gast.Subscript(value=base) | gast.Attribute(value=base):
                e = base
            case gast.Call(func=gast.Attribute(value=base), args=args):
                e = args[0] if _root(base) in ("np", "numpy") and args else base
            case gast.Call(args=[first, *_]):
                e = first
            case _:
                return ""


def _is_computed(e: gast.AST) -> bool:
    """Does an expression give a number, or an array that is new?"""
    match e:
        case gast.Constant() | gast.BinOp() | gast.UnaryOp(op=gast.USub()):
            return True
        case gast.Call(func=gast.Attribute(attr=attr)):
            return attr in _NEW
        case gast.Call(func=gast.Name(id="complex")):
            return True
    return False


_NEW = frozenset(["exp", "log", "sqrt", "sin", "cos", "zeros", "ones", "full", "copy"])
