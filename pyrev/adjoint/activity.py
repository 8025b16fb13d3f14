"""Which names carry a derivative: varied by an input asked for, and useful to an
output.

The analysis is by name, not by element or program point: it may call a name active that
is not (its adjoint is then zero), never the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from pyrev.adjoint.rules import RULES
from pyrev.ir.dtypes import WEAK_INT
from pyrev.ir.nodes import (
    Add,
    Alloc,
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
    Saved,
    Var,
    While,
    blocks,
    exprs,
    names,
    parts_of,
    walk,
    written,
)


def flows(expr: Expr) -> frozenset[str]:
    """The names whose derivative passes into `expr`: indices and tests are left out.

    >>> from pyrev.parse import parse_expr
    >>> sorted(flows(parse_expr("a[k[i]] * c + floor(d)")))
    ['a', 'c']
    """
    match expr:
        case Const() | Extent():
            return frozenset()
        case Var(name):
            return frozenset({name})
        case Load(array, _):
            return frozenset({array})
        case Saved(_, inner):
            return flows(inner)
        case Call(op, args):
            rule = RULES[op]
            return frozenset().union(
                *(flows(arg) for k, arg in enumerate(args) if rule.flows(k))
            )
        case _:
            assert_never(expr)


def edges(body: Block) -> Iterator[tuple[str, frozenset[str]]]:
    """(name written, names that flow into it) for every write of a block."""
    for stmt in walk(body):
        match stmt:
            case Assign(Var(name), value) | Add(Var(name), value):
                yield name, flows(value)
            case Assign(Load(name, _), value) | Add(Load(name, _), value):
                yield name, flows(value)
            case Alloc(name, _, fill, opaque=opaque):
                into = frozenset() if fill is None else flows(fill)
                if opaque is not None:
                    into = into.union(*map(flows, opaque.numbers))
                yield name, into.union(stmt.sources)


def written_arrays(program: Program) -> tuple[str, ...]:
    """The array parameters that the program writes, in parameter order."""
    targets = set()
    for stmt in walk(program.body):
        match stmt:
            case Assign(Load(name, _), _) | Add(Load(name, _), _):
                targets.add(name)
    return tuple(p.name for p in program.params if p.rank and p.name in targets)


def only_set(program: Program) -> frozenset[str]:
    """The parameters that are assigned to and never read, where no test decides.

    >>> from pyrev.parse import parse_text
    >>> f = parse_text('''
    ... def f(x, a, b, c, d, e):
    ...     for i in range(len(x)):
    ...         a[i] = 2 * x[i]
    ...         b[i] += x[i]
    ...         if x[i] > 0:
    ...             c[i] = x[i]
    ...         s = d[i]
    ...         d[i] = s * x[i]
    ...         e[i] = d[int(e[i])]
    ... ''')
    >>> sorted(only_set(f))
    ['a']
    """
    found = set(written_arrays(program))
    for stmt in walk(program.body):
        match stmt:
            case Assign(target, value):
                read = (value, *(target.index if isinstance(target, Load) else ()))
            case _:
                read = exprs(stmt)
        found -= frozenset().union(*map(names, read))
        if isinstance(stmt, Alloc):
            found.difference_update(stmt.sources)
        if isinstance(stmt, (If, While)):
            found -= frozenset().union(*map(written, blocks(stmt)))
    return frozenset(found)


def returned(program: Program) -> Return | None:
    """The program's return statement, if it returns anything."""
    last = program.body[-1] if program.body else None
    return last if isinstance(last, Return) and last.values else None


_INTEGERS = frozenset(
    [WEAK_INT, "bool", *(f"{k}{n}" for k in ("int", "uint") for n in (8, 16, 32, 64))]
)


def integer_names(program: Program) -> frozenset[str]:
    """Names that can't hold a float: integer parameters and integer local arrays."""
    found = {p.name for p in program.params if not p.is_float}
    for stmt in walk(program.body):
        if isinstance(stmt, Alloc):
            if all(
                part.name in found if isinstance(part, Var) else part in _INTEGERS
                for part in parts_of(stmt.dtype)
            ):
                found.add(stmt.array)
    # A scalar parameter may be given a float later, so only arrays stay integer for
    # good.
    reassigned = {
        s.target.name
        for s in walk(program.body)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var)
    }
    return frozenset(found - reassigned)


def activity(program: Program, wrt: tuple[str, ...]) -> frozenset[str]:
    """The names that depend on `wrt` and that an output depends on.

    Outputs are the returned values and the final values of written array parameters.

    >>> from pyrev.parse import parse_text
    >>> f = parse_text('''
    ... def f(a, b, out):
    ...     for i in range(len(a)):
    ...         t = a[i] * b[i]
    ...         unused = t * t
    ...         out[i] = t
    ... ''')
    >>> sorted(activity(f, ("a",)))
    ['a', 'out', 't']
    """
    barred = integer_names(program)
    links = [(n, into - barred) for n, into in edges(program.body) if n not in barred]
    varied = set(wrt) - barred
    useful = set(written_arrays(program)) - barred
    result = returned(program)
    if result is not None:
        useful |= frozenset().union(*map(flows, result.values)) - barred
    _close(varied, [(into, {name}) for name, into in links])
    _close(useful, [({name}, into) for name, into in links])
    return frozenset(varied & useful)


def _close(
    marked: set[str], arrows: list[tuple[set[str] | frozenset[str], ...]]
) -> None:
    """Follow `arrows` (any of the first set marks all of the second) to a fixed
    point.
    """
    changed = True
    while changed:
        changed = False
        for sources, targets in arrows:
            if sources & marked and not targets <= marked:
                marked |= targets
                changed = True
