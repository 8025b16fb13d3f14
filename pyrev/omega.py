"""Whether integers satisfy a formula, where that is plain: the Omega test's easy part.

ISL answers any such question, and takes a millisecond to read one. Most that are asked
are a few inequalities, whose variables can be eliminated one after the other without
loss as long as one of each two coefficients is 1 (W. Pugh, 1991). Where that is not so,
or where a formula is not linear, only "no" is certain: what is left out would have
allowed less. Then ISL is asked.

Formulas are in ISL's notation as `poly` writes it, their names any integers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import gcd
from typing import Literal

#: Coefficients by name; the constant is that of the name "".
Linear = dict[str, int]
#: Coefficients by name, in order, without the constant.
Key = tuple[tuple[str, int], ...]

_SYSTEMS = 64  # conjunctions that are looked at for one question
_SIZE = 80  # inequalities of one
_KNOWN = 1 << 13  # texts whose meaning is kept


class Text(str):
    """A formula in ISL's notation that knows what it is made of.

    The last of the parts of an ``exists`` is the formula, the others are names.
    """

    op: Literal["and", "or", "not", "exists"]
    parts: tuple[str, ...]


def text(op: Literal["and", "or", "not", "exists"], parts: Sequence[str]) -> Text:
    """These formulas, joined."""
    if op == "not":
        made = Text(f"not ({parts[0]})")
    elif op == "exists":
        made = Text(f"exists ({', '.join(parts[:-1])} : {parts[-1]})")
    else:
        made = Text(f" {op} ".join([f"({p})" for p in parts]))
    made.op, made.parts = op, tuple(parts)
    return made


class Holds:
    """A linear form that is at least zero, or is zero; it is of the smallest numbers.

    >>> Holds({"a": 2, "": 5})
    a*1 + 2 >= 0
    """

    __slots__ = ("constant", "form", "key", "zero")

    def __init__(self, form: Linear, zero: bool = False) -> None:
        constant = form.get("", 0)
        names = [x for x in form if x]
        divisor = gcd(*[form[x] for x in names]) or 1
        if divisor > 1 and not (zero and constant % divisor):
            # An integer is at least 1/2 if it is at least 1.
            constant //= divisor
            form = {x: form[x] // divisor for x in names}
            form[""] = constant
        names.sort()
        self.key: Key = tuple([(x, form[x]) for x in names])
        self.form, self.constant, self.zero = form, constant, zero

    def __repr__(self) -> str:
        terms = [f"{x}*{k}" for x, k in self.key] + [str(self.constant)]
        return f"{' + '.join(terms)} {'=' if self.zero else '>='} 0"

    @property
    def always(self) -> bool | None:
        """Does it hold, or not, whatever the names are?"""
        if not self.key:
            return self.constant == 0 if self.zero else self.constant >= 0
        if self.zero and self.constant % gcd(*[k for _, k in self.key]):
            return False
        return None


class All:
    """A conjunction."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Formula, ...]) -> None:
        self.parts = parts


class Any:
    """A disjunction."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Formula, ...]) -> None:
        self.parts = parts


class Open:
    """What is not linear, or too much: it may hold or not."""

    __slots__ = ()


#: A formula without negations, and without quantifiers: its names are all free.
Formula = Holds | All | Any | Open
OPEN = Open()
ALWAYS = All(())
NEVER = Any(())


@lru_cache(_KNOWN)
def satisfiable(formulas: tuple[str, ...]) -> bool | None:
    """Are there integers that satisfy all of these? None where that is not plain.

    >>> satisfiable(("0 <= a and a < n", "b = a + 1", "b >= n + 1"))
    False
    >>> satisfiable(("0 <= a and a < n", "b = a + 1", "b >= n"))
    True
    >>> satisfiable(("a * b = 1", "a < 0", "a > 1"))
    False
    >>> satisfiable(("3 * a + 5 * b = 1",)), satisfiable(("a * b = 1",))
    (None, None)
    """
    try:
        parts = [_positive(f) for f in formulas]
        return _Search().satisfiable({}, [], [], parts, True)
    except _Gone:
        return None


class _Gone(Exception):
    """This is too much, or cannot be read."""


# ------------------------------------------------------------------ from texts


@lru_cache(_KNOWN)
def _positive(formula: str) -> Formula:
    """What a text says."""
    if not isinstance(formula, Text):
        found, defined = _Reader(formula).whole()
        return _all([found, *defined])
    if formula.op == "and":
        return _all([_positive(p) for p in formula.parts])
    if formula.op == "or":
        return _any([_positive(p) for p in formula.parts])
    if formula.op == "not":
        return _negative(formula.parts[0])
    return _exists(formula.parts[:-1], _positive(formula.parts[-1]), formula)


@lru_cache(_KNOWN)
def _negative(formula: str) -> Formula:
    """What the negation of a text says."""
    if not isinstance(formula, Text):
        # There are quotients and remainders there, too.
        found, defined = _Reader(formula).whole()
        return _all([_negation(found), *defined])
    if formula.op == "and":
        return _any([_negative(p) for p in formula.parts])
    if formula.op == "or":
        return _all([_negative(p) for p in formula.parts])
    if formula.op == "not":
        return _positive(formula.parts[0])
    return _none(formula.parts[:-1], _positive(formula.parts[-1]))


def _all(parts: Iterable[Formula]) -> Formula:
    found: list[Formula] = []
    for part in parts:
        if isinstance(part, All):
            found += part.parts
        elif part is NEVER:
            return NEVER
        elif not isinstance(part, Holds) or (always := part.always) is None:
            found.append(part)
        elif not always:
            return NEVER
    return found[0] if len(found) == 1 else All(tuple(found)) if found else ALWAYS


def _any(parts: Iterable[Formula]) -> Formula:
    found: list[Formula] = []
    for part in parts:
        if isinstance(part, Any):
            found += part.parts
        elif part is ALWAYS:
            return ALWAYS
        elif not isinstance(part, Holds) or (always := part.always) is None:
            found.append(part)
        elif always:
            return ALWAYS
    return found[0] if len(found) == 1 else Any(tuple(found)) if found else NEVER


def _negation(f: Formula) -> Formula:
    if isinstance(f, All):
        return _any([_negation(p) for p in f.parts])
    if isinstance(f, Any):
        return _all([_negation(p) for p in f.parts])
    if isinstance(f, Holds):
        less = Holds(_sum({"": -1}, 1, f.form, -1))
        if not f.zero:
            return _all([less])
        return _any([less, Holds(_sum({"": -1}, 1, f.form, 1))])
    return f


def _exists(names: Sequence[str], f: Formula, formula: str) -> Formula:
    """`f` for some integers of these names, under names that nothing else has."""
    mark = hashlib.blake2b(formula.encode(), digest_size=12).hexdigest()
    bound = sorted(_bound(names, f))
    return _renamed(f, {name: f"{name} {mark}" for name in bound})


def _bound(names: Iterable[str], f: Formula) -> frozenset[str]:
    """These names and those that no text has: they belong to what they stand in."""
    if isinstance(f, Holds):
        return frozenset(names).union([x for x, _ in f.key if " " in x])
    if isinstance(f, Open):
        return frozenset(names)
    return frozenset(names).union(*[_bound((), p) for p in f.parts])


def _renamed(f: Formula, new: dict[str, str]) -> Formula:
    if isinstance(f, Holds):
        return Holds({new.get(x, x): c for x, c in f.form.items()}, f.zero)
    if isinstance(f, All):
        return All(tuple([_renamed(p, new) for p in f.parts]))
    if isinstance(f, Any):
        return Any(tuple([_renamed(p, new) for p in f.parts]))
    return f


def _none(names: Sequence[str], f: Formula) -> Formula:
    """That `f` is true of no integers of these names."""
    systems = _systems([f])
    if systems is None:
        return OPEN
    bound = _bound(names, f)
    parts: list[Formula] = []
    for system in systems:
        without = _projected(system, bound)
        if without is None:
            return OPEN
        parts.append(_negation(_all(without)))
    return _all(parts)


def _systems(parts: Iterable[Formula]) -> list[list[Holds]] | None:
    """The conjunctions of which one has to hold; None if that is open."""
    found: list[list[Holds]] = [[]]
    for part in parts:
        if isinstance(part, Holds):
            for system in found:
                system.append(part)
            continue
        if isinstance(part, Open):
            return None
        if isinstance(part, All):
            inner = _systems(part.parts)
        else:
            several = [_systems([p]) for p in part.parts]
            if any(s is None for s in several):
                return None
            inner = [s for choice in several for s in choice or ()]
        if inner is None:
            return None
        found = [[*s, *t] for s in found for t in inner]
        if len(found) > _SYSTEMS:
            return None
    return found


# ------------------------------------------------------------------ reading

_TOKENS = re.compile(r"\w+|<=|>=|!=|[^\s\w]")
_COMPARED = frozenset(("=", "!=", "<", "<=", ">", ">="))
_BINDING = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(_COMPARED, 4),
    **dict.fromkeys("+-", 5),
    **dict.fromkeys(("*", "/", "mod"), 6),
}


class _Reader:
    """A formula from its text."""

    def __init__(self, formula: str) -> None:
        self.formula = formula
        self.tokens = [*_TOKENS.findall(formula), ""]
        self.at = 0
        #: What the names that stand for quotients and remainders are.
        self.defined: list[Formula] = []

    def whole(self) -> tuple[Formula, list[Formula]]:
        found = self.any(1)
        if self.tokens[self.at] or isinstance(found, dict):
            raise _Gone
        return found, self.defined

    def any(self, least: int) -> Formula | Linear:
        """What binds at least so strongly, from here on."""
        found = self.first()
        tokens = self.tokens
        while (strength := _BINDING.get(tokens[self.at], 0)) >= least:
            token = tokens[self.at]
            if strength <= 2:
                parts = [found]
                while tokens[self.at] == token:
                    self.at += 1
                    parts.append(self.any(strength + 1))
                several = [p for p in parts if not isinstance(p, dict)]
                if len(several) < len(parts):
                    raise _Gone
                found = (_any if strength == 1 else _all)(several)
            elif strength == 4:
                found = self.compared(found)
            else:
                self.at += 1
                found = self.joined(token, found, self.any(strength + 1))
        return found

    def compared(self, left: Formula | Linear) -> Formula:
        parts: list[Formula] = []
        while (op := self.tokens[self.at]) in _COMPARED:
            self.at += 1
            right = self.any(5)
            if isinstance(left, dict) and isinstance(right, dict):
                parts.append(_comparison(op, left, right))
            elif left is OPEN or right is OPEN:
                parts.append(OPEN)
            else:
                raise _Gone
            left = right
        return _all(parts)

    def first(self) -> Formula | Linear:
        token = self.tokens[self.at]
        self.at += 1
        if token == "(":
            found = self.any(1)
            self.expect(")")
            return found
        if token == "-":
            return self.joined("-", {}, self.any(6))
        if token == "not":
            found = self.any(3)
            if isinstance(found, dict):
                raise _Gone
            return _negation(found)
        if token == "true":
            return ALWAYS
        if token == "false":
            return NEVER
        if token == "floor":
            self.expect("(")
            found = self.any(5)
            self.expect(")")
            return found
        if token.isdecimal():
            return {"": int(token)}
        if token.isidentifier() and token != "exists":
            return {token: 1}
        raise _Gone

    def expect(self, token: str) -> None:
        if self.tokens[self.at] != token:
            raise _Gone
        self.at += 1

    def joined(
        self, op: str, a: Formula | Linear, b: Formula | Linear
    ) -> Open | Linear:
        """Two terms, joined by an operation; ``/`` stands in ``floor`` only."""
        if not (isinstance(a, dict) and isinstance(b, dict)):
            if a is OPEN or b is OPEN:
                return OPEN
            raise _Gone
        if op in ("+", "-"):
            return _sum(a, 1, b, 1 if op == "+" else -1)
        one, two = _number(a), _number(b)
        if op == "*":
            if one is not None:
                return _sum({}, 1, b, one)
            return OPEN if two is None else _sum({}, 1, a, two)
        if two is None or two <= 0:
            return OPEN
        # There are always a quotient and a remainder: saying so excludes nothing.
        name = f"{sorted(a.items())} {two}"
        q, r = f"{name} /", f"{name} %"
        self.defined += (
            Holds(_sum(_sum(a, 1, {q: two}, -1), 1, {r: 1}, -1), True),
            Holds({r: 1}),
            Holds({r: -1, "": two - 1}),
        )
        return {q: 1} if op == "/" else {r: 1}


def _sum(a: Linear, j: int, b: Linear, k: int) -> Linear:
    """``j * a + k * b``"""
    found = {x: j * c for x, c in a.items()} if j != 1 else dict(a)
    for x, c in b.items():
        if new := found.get(x, 0) + k * c:
            found[x] = new
        else:
            found.pop(x, None)
    return found


def _number(a: Linear) -> int | None:
    """The value of a form without names."""
    return a.get("", 0) if not a.keys() - {""} else None


def _comparison(op: str, a: Linear, b: Linear) -> Formula:
    if op == "=":
        return _all([Holds(_sum(a, 1, b, -1), True)])
    if op == "!=":
        return _negation(Holds(_sum(a, 1, b, -1), True))
    if op in (">", ">="):
        a, b = b, a
    form = _sum(b, 1, a, -1)
    return _all([Holds(_sum(form, 1, {"": 1}, -1) if op in ("<", ">") else form)])


# ------------------------------------------------------------------ deciding


def _add(least: dict[Key, int], form: Holds) -> bool:
    """With a form beside others. May it hold together with its opposite?"""
    key, constant = form.key, form.constant
    if not key:
        return constant == 0 if form.zero else constant >= 0
    opposite = tuple([(x, -c) for x, c in key])
    other = least.get(opposite)
    if other is not None and other + constant < 0:
        return False
    known = least.get(key)
    if form.zero:
        if known is not None and known < constant:
            return False
        least[key], least[opposite] = constant, -constant
    elif known is None or constant < known:
        least[key] = constant
    return True


class _Search:
    """Looks for a conjunction that can hold."""

    def __init__(self) -> None:
        self.left = _SYSTEMS

    def satisfiable(
        self,
        least: dict[Key, int],
        known: list[Holds],
        choices: list[Any],
        parts: Iterable[Formula],
        sure: bool,
    ) -> bool | None:
        """May all that is known hold, with one of each choice and all the parts?"""
        least, known, choices = dict(least), list(known), list(choices)
        todo = list(parts)
        while todo:
            part = todo.pop()
            if isinstance(part, Holds):
                if not _add(least, part):
                    return False
                known.append(part)
            elif isinstance(part, All):
                todo += part.parts
            elif isinstance(part, Any):
                choices.append(part)
            else:
                sure = False
            if not todo:
                left = []
                for choice in choices:
                    may = [p for p in choice.parts if _may(least, p)]
                    if len(may) > 1:
                        left.append(Any(tuple(may)))
                    elif not may:
                        return False
                    else:
                        todo += may
                choices = left
        self.left -= 1
        if self.left < 0:
            raise _Gone
        found = _consistent(known)
        if found is False:
            return False
        if not choices:
            return found if sure else None
        choices.sort(key=lambda c: len(c.parts))
        unsure = False
        for part in choices[0].parts:
            found = self.satisfiable(least, known, choices[1:], [part], sure)
            if found:
                return True
            unsure |= found is None
        return None if unsure else False


def _may(least: dict[Key, int], f: Formula) -> bool:
    """May it hold beside these, at a first glance?"""
    if isinstance(f, Holds):
        opposite = least.get(tuple([(x, -c) for x, c in f.key]))
        if opposite is not None and opposite + f.constant < 0:
            return False
        return not (f.zero and least.get(f.key, f.constant) < f.constant)
    if isinstance(f, All):
        return all(_may(least, p) for p in f.parts)
    return f is not NEVER


class _System:
    """Inequalities, by their coefficients without the constant."""

    def __init__(self, exact: bool) -> None:
        self.least: dict[Key, int] = {}
        self.exact = exact

    def eliminate(self, name: str) -> _System | None:
        """Without `name`; None if nothing satisfies them."""
        made = _System(self.exact)
        lower: list[Linear] = []
        upper: list[Linear] = []
        for key, constant in self.least.items():
            form = dict(key)
            if c := form.get(name, 0):
                form[""] = constant
                (lower if c > 0 else upper).append(form)
            else:
                made.least[key] = constant
        for a in lower:
            for b in upper:
                j, k = -b[name], a[name]
                made.exact &= j == 1 or k == 1
                if not _add(made.least, Holds(_sum(_sum({}, 1, a, j), 1, b, k))):
                    return None
        if len(made.least) > _SIZE:
            raise _Gone
        return made

    def cheapest(self, names: frozenset[str] | None = None) -> str:
        """The name to eliminate: best without loss and with few inequalities made."""
        lower: dict[str, int] = {}
        upper: dict[str, int] = {}
        coarse: dict[str, int] = {}
        for key in self.least:
            for x, c in key:
                count = lower if c > 0 else upper
                count[x] = count.get(x, 0) + 1
                if c not in (1, -1):
                    coarse[x] = coarse.get(x, 0) | (1 if c > 0 else 2)
        best, least = "", (True, 1 << 30)
        for x in {**lower, **upper}:
            if names is None or x in names:
                cost = coarse.get(x, 0) == 3, lower.get(x, 0) * upper.get(x, 0)
                if cost < least or not best:
                    best, least = x, cost
        return best


def _solved(
    system: Iterable[Holds], names: frozenset[str] | None = None
) -> tuple[list[Holds], list[Holds], bool] | None:
    """Without the names that an equation gives: equations left, inequalities, exact?

    Only of `names`, if they are given. None if an equation has no solution.
    """
    equations: list[Holds] = []
    rest: list[Holds] = []
    for part in system:
        (equations if part.zero else rest).append(part)
    left: list[Holds] = []
    exact = True
    while equations:
        equation = equations.pop()
        if (always := equation.always) is not None:
            if not always:
                return None
            continue
        name = next(
            (
                x
                for x, c in equation.key
                if c in (1, -1) and (names is None or x in names)
            ),
            "",
        )
        form = equation.form
        if not name:
            left.append(equation)
            exact &= names is not None and not names.intersection(form)
            continue
        sign = -form[name]
        for several in (equations, rest, left):
            for k, other in enumerate(several):
                if c := other.form.get(name, 0):
                    several[k] = Holds(_sum(other.form, 1, form, sign * c), other.zero)
    return left, rest, exact


def _consistent(system: Iterable[Holds]) -> bool | None:
    """Can all of these hold? None if that is not sure."""
    solved = _solved(system)
    if solved is None:
        return False
    equations, rest, exact = solved
    made: _System | None = _System(exact)
    assert made is not None
    for form in (*rest, *equations):
        if not _add(made.least, form):
            return False
    while made.least:
        made = made.eliminate(made.cheapest())
        if made is None:
            return False
    return True if made.exact else None


def _projected(system: Iterable[Holds], names: frozenset[str]) -> list[Holds] | None:
    """What holds of the other names if there are such `names`; None if unsure."""
    never = [Holds({"": -1})]
    solved = _solved(system, names)
    if solved is None:
        return never
    equations, rest, exact = solved
    made: _System | None = _System(exact)
    assert made is not None
    for form in rest:
        if not _add(made.least, form):
            return never
    while name := made.cheapest(names):
        made = made.eliminate(name)
        if made is None:
            return never
    if not made.exact:
        return None
    return [*equations, *(Holds({**dict(k), "": c}) for k, c in made.least.items())]
