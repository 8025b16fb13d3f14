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
from dataclasses import dataclass, field

import gast
import numpy as np

from pyrev.ir.nodes import Loc, fresh
from pyrev.parse.bindings import identifiers, nodes_of, parameters
from pyrev.parse.rewriting.complex_numbers.expressions import Expressions, as_read
from pyrev.parse.rewriting.complex_numbers.kinds import (
    Kind,
    Kinds,
    Place,
    holds_complex,
)
from pyrev.parse.rewriting.complex_numbers.parts import (
    Pair,
    Value,
    constant,
    is_simple,
    is_zero,
)
from pyrev.parse.rewriting.complex_numbers.values import (
    LOOP,
    OPERATORS,
    PAIR,
    PARTS,
    RESULT,
    USE,
)
from pyrev.parse.rewriting.made_texts import Lookup, assign, name_of, placed


@dataclass(frozen=True, slots=True)
class Separated:
    """A definition without complex numbers, the kind of what it returned, and the names
    of the parts of its parameters.
    """

    node: gast.AST
    result: Kind = False
    parts: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def without_complex(
    node: gast.AST,
    lookup: Lookup,
    loc: Callable[[gast.AST], Loc],
    given: Iterable[str] = (),
    inlined: bool = False,
) -> Separated:
    """The definition `node` without complex numbers, of which those parameters that are
    `given` are two. It has some, as `may_be_complex` says.

    If it is to be `inlined` it is called with what its parameters are by then.

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
    kinds = Kinds(node, lookup, given)
    separation = Separation(kinds, loc, {*identifiers(node)}, inlined=inlined)
    new = separation.extents.done(separation.definition(kinds.root))
    parts = {n: separation.parts_of(kinds.root, n) for n in given}
    return Separated(new, kinds.root.result, parts)


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
class Separation(Expressions):
    """Takes the complex numbers of one definition apart."""

    #: Is its text to stand where it is called?
    inlined: bool = False

    def definition(self, place: Place) -> gast.AST:
        """A definition whose complex names are two each."""
        around, self.place = self.place, place
        self.zeros.clear()
        new = copy.copy(place.node)
        if not isinstance(new.body, list):
            if self.touched(new.body):
                with self.no_statements(new.body):
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
        positional = [*spec.posonlyargs, *spec.args]
        first = len(positional) - len(spec.defaults)
        spec.defaults = [
            d
            for p, default in zip(positional[first:], spec.defaults, strict=True)
            for d in self._default(place, p, default)
        ]
        spec.kw_defaults = [
            d
            for p, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            for d in self._default(place, p, default)
        ]
        for kind in ("posonlyargs", "args", "kwonlyargs"):
            new: list[gast.AST] = []
            for p in getattr(spec, kind):
                given = self._is_given(place, p.id)
                parts = self.parts_of(place, p.id) if given else (p.id,)
                new += [self._parameter(p, n) for n in parts]
            setattr(spec, kind, new)
        return spec

    def _default(
        self, place: Place, p: gast.AST, default: gast.AST | None
    ) -> list[gast.AST | None]:
        """The defaults of what a parameter becomes. A call fills in those of the
        function that is differentiated.
        """
        given = self._is_given(place, p.id)
        if default is not None and self.kinds.has(default, place):
            if not given and (self.inlined or place.outer is not None):
                raise self.refuse(
                    place.node, "a default is complex", "give it in each call"
                )
            default = placed(gast.Constant(0.0, None), default)
        return [default, default] if given else [default]

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
        if not self.touched(s):
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
            case gast.AugAssign():
                return self._augmented(s)
            case gast.Return(value=gast.AST() as value):
                new = copy.copy(s)
                new.value = self._returned(value, self.place.result)
                return [new]
        return [self.fields(s)]

    def _for(self, s: gast.For) -> gast.AST:
        new = copy.copy(s)
        kind = self.kinds.elements(s.iter, self.place)
        if self.touched(s.iter) or self.touched(s.target):
            new.iter, new.target = self._iterated(s.iter, s.target, kind)
        self.zeros.clear()
        new.body, new.orelse = self.block(s.body), self.block(s.orelse)
        self.zeros.clear()
        return new

    def _iterated(
        self, e: gast.AST, target: gast.AST, kind: Kind
    ) -> tuple[gast.AST, gast.AST]:
        """What a loop runs over, and its target, in parts."""
        if not holds_complex(kind) and not self.touched(target):
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
                    raise self.refuse(e, "a loop over complex numbers", LOOP)
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
                    raise self.refuse(e, "a loop over complex numbers", LOOP)
                value = self.value(e)
                pair = self.whole(value) if isinstance(value, Pair) else None
                if pair is not None and is_simple(pair.re) and is_simple(pair.im):
                    func = gast.Name("zip", gast.Load(), None, None)
                    both = gast.Call(func, [pair.re, pair.im], [])
                    targets = [
                        name_of(n, target, gast.Store())
                        for n in self.parts_of(self.place, name)
                    ]
                    two = gast.Tuple(targets, gast.Store())
                    return placed(both, e), placed(two, target)
        raise self.refuse(e, "a loop over complex numbers", LOOP)

    def _while(self, s: gast.While) -> gast.AST:
        new = copy.copy(s)
        self.zeros.clear()
        before, self.out = self.out, []
        test = self.real(s.test) if self.touched(s.test) else s.test
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
                    for part in self._bound(self._targets(t, v))
                ]
                return [self._together(s, pairs)]
            case gast.Tuple(elts=ts), _:
                return self._unpacked(s, ts, value)
        kind = self.kinds.of(value, self.place)
        if isinstance(kind, tuple) and holds_complex(kind):
            raise self.refuse(
                value, "a tuple with a complex number gets a name", "unpack it"
            )
        made = self.value(value)
        if isinstance(target, gast.Subscript):
            if self.kinds.acts(target.slice, self.place):
                made = self.kept(made)
        return self._stored(s, target, made)

    def _stored(self, s: gast.AST, target: gast.AST, value: Value) -> list[gast.AST]:
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
        pairs = self._bound(pairs)
        if alone:
            return [self._one(s, target, v) for target, v in pairs]
        return [self._together(s, pairs)]

    def _bound(
        self, pairs: list[tuple[gast.AST, gast.AST]]
    ) -> list[tuple[gast.AST, gast.AST]]:
        """Targets and values; the imaginary part of a name has the axes of the real one
        if it needs them.
        """
        if len(pairs) == 2 and isinstance(pairs[0][0], gast.Name):
            (re, a), (im, b) = pairs
            return [(re, a), (im, self.extents.bound(re.id, a, b))]
        return pairs

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
                root = self.whole(root) if isinstance(root, Pair) else root
                return self.both(
                    root, lambda e: self.subscript(target, e, index, gast.Store())
                )
            case gast.Attribute(value=base, attr="real" | "imag" as attr) if (
                self.kinds.has(base, self.place)
            ):
                pair = self.pair(base)
                part = pair.re if attr == "real" else pair.im
                whole = gast.Constant(..., None)
                return placed(gast.Subscript(part, whole, gast.Store()), target)
        return self.fields(target)

    def _unpacked(
        self, s: gast.AST, targets: Sequence[gast.AST], value: gast.AST
    ) -> list[gast.AST]:
        """``a, b = call(...)``"""
        kind = self.kinds.of(value, self.place)
        if not isinstance(kind, tuple):
            if not kind and not any(self.touched(t) for t in targets):
                return [self._one(s, self.fields(s.targets[0]), self.real(value))]
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
        op = OPERATORS.get(type(s.op), "")
        if op in ("+", "-"):
            pair = self.lifted(value, False)
            # A part may be read after the other one has changed.
            if isinstance(target.re, gast.Name):
                apart = not _reads(pair.im, target.re.id) and is_simple(pair.im)
            else:
                apart = self._is_imaginary(pair.im)
            if not apart:
                pair = Pair(pair.re, self.named(pair.im))
            if isinstance(target.re, gast.Name):
                im = self.extents.bound(target.re.id, pair.re, pair.im)
                pair = Pair(pair.re, im)
            return [
                gast.copy_location(gast.AugAssign(t, s.op, v), s)
                for t, v in ((target.re, pair.re), (target.im, pair.im))
            ]
        if op not in ("*", "/", "**"):
            raise self.refuse(s, "this operator of complex numbers", USE)
        left = Pair(as_read(target.re), as_read(target.im))
        if isinstance(s.target, gast.Name) and _is_array(s, self.place, self.kinds):
            whole = gast.Constant(..., None)
            place = gast.Subscript(copy.deepcopy(s.target), whole, gast.Store())
            read = name_of(s.target.id, s.target)
            made = gast.Assign([place], gast.BinOp(read, s.op, s.value), None)
            return self.statement(placed(made, s))
        result = self.operation(op, left, value, s)
        if isinstance(s.target, gast.Name) and not self._is_fresh(s.target.id):
            raise self.refuse(
                s,
                f"`{s.target.id}` may be an array with another name",
                f"write `{s.target.id}[...] = {s.target.id} {op} ...` for an array,"
                f" `{s.target.id} = {s.target.id} {op} ...` for a number",
            )
        pairs = [(target.re, result.re), (target.im, result.im)]
        return [self._together(s, self._bound(pairs))]

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
                    if bound and not self._is_computed(value):
                        return False
                    if not bound and any(
                        isinstance(t, gast.Tuple)
                        and any(
                            isinstance(e, gast.Name) and e.id == name for e in t.elts
                        )
                        for t in targets
                    ):
                        return False
                    if self._is_computed(value):
                        continue
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

    def _is_computed(self, e: gast.AST) -> bool:
        """Does an expression give a number, or an array that is new?"""
        match e:
            case gast.Constant() | gast.BinOp() | gast.UnaryOp(op=gast.USub()):
                return True
            case gast.Call(func=gast.Attribute(attr=attr)) if attr in _NEW:
                return True
            case gast.Call(func=func):
                return self.kinds.outside(func, self.place) in _NEW_ONES
        return False

    def _returned(self, e: gast.AST, kind: Kind) -> gast.AST:
        """What is returned, with both parts of each complex number."""
        if not holds_complex(kind):
            return self.real(e)
        if not isinstance(kind, tuple):
            pair = self.whole(self.lifted(self.value(e), True))
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
                pair = self.whole(self.lifted(v, True))
                out += [pair.re, pair.im]
            else:
                assert not isinstance(v, Pair)
                out.append(v)
        return gast.copy_location(gast.Tuple(out, gast.Load()), e)


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


#: What gives a number, or an array that nobody has yet.
_NEW = frozenset(
    ["exp", "log", "sqrt", "sin", "cos", "zeros", "ones", "full", "copy"]
    + ["tan", "sinh", "cosh", "tanh", "square", "reciprocal", "negative"]
    + ["add", "subtract", "multiply", "divide", "power", "outer"]
    + ["zeros_like", "ones_like", "full_like", "conj", "conjugate"]
)
_NEW_ONES = [complex, *(getattr(np, n) for n in sorted(_NEW))]
#: Those that give arrays whatever they are given.
_ARRAYS = [getattr(np, n) for n in ("zeros", "ones", "empty", "full")]
_ARRAYS += [getattr(np, n) for n in ("zeros_like", "ones_like", "full_like")]


def _is_array(s: gast.AugAssign, place: Place, kinds: Kinds) -> bool:
    """Was the last thing that its target was bound to an array that is made?"""
    match _bound_before(place.node.body, s, None):
        case gast.Call(func=func):
            return kinds.outside(func, place) in _ARRAYS
    return False


def _bound_before(
    block: Sequence[gast.AST], s: gast.AugAssign, value: gast.AST | None
) -> gast.AST | None:
    """What the target of a statement was bound to last, on every path to it, where that
    is known to be this; `value` is that before the block.
    """
    name = s.target.id
    for other in block:
        if other is s:
            return value
        inside = [getattr(other, part, []) for part in ("body", "orelse")]
        if any(n is s for n in nodes_of(other)):
            if isinstance(other, (gast.For, gast.While)) and _binds(other, name):
                value = None
            for part in inside:
                if any(n is s for inner in part for n in nodes_of(inner)):
                    return _bound_before(part, s, value)
            return None
        match other:
            case gast.Assign(targets=[gast.Name(id=own)], value=made) if own == name:
                value = made
            case _ if _binds(other, name):
                value = None
    return None


def _binds(s: gast.AST, name: str) -> bool:
    """Is a name bound in a statement, other than by arithmetic in place?"""
    in_place = {id(n.target) for n in nodes_of(s) if isinstance(n, gast.AugAssign)}
    return any(
        isinstance(n, gast.Name)
        and n.id == name
        and isinstance(n.ctx, gast.Store)
        and id(n) not in in_place
        for n in nodes_of(s)
    )
