"""Where a chosen element is, in the place of which tests chose it.

The least element of a window is an element of it: ``least = x[i]`` where a test says
so. To reverse that by the tests takes all their outcomes; by the position of what was
chosen it takes a subscript, and the cotangent goes to one element. (The switches of
pooling layers: Zeiler and Fergus 2014, section 2.1.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyrev.adjoint.activity import activity
from pyrev.ir.liveness import home, names_in, occurs
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Expr,
    For,
    If,
    Load,
    Program,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    exprs,
    fresh,
    names,
    walk,
    walk_expr,
    with_blocks,
    with_value,
    written,
)
from pyrev.parse.shapes import number


def positioned(
    program: Program,
    wrt: tuple[str, ...],
    kept: frozenset[str],
    avoid: frozenset[str],
) -> Program:
    """`program` with subscripts for each scalar that is always an element of one array,
    which tests in a loop choose.

    Law: the same values for all arguments. The scalars in `kept`, and those in `wrt`,
    stay what they are.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x):
    ...     least = x[0]
    ...     for i in range(1, x.shape[0]):
    ...         if x[i] < least:
    ...             least = x[i]
    ...     return least
    ... ''')
    >>> print(program_text(positioned(f, ("x",), frozenset(), frozenset())))
    def f(x):
        least_at = 0
        for i in range(1, x.shape[0]):
            if x[i] < x[least_at]:
                least_at = i
        return x[least_at]
    """
    if program.callbacks:
        return program
    fixed = {*kept, *wrt, *(p.name for p in program.params)}
    taken = {*all_names(program.body), *(p.name for p in program.params), *avoid}
    body, made = program.body, False
    computed = _computed(body)
    for name in sorted(activity(program, wrt) - fixed):
        found = None if name in computed else _chosen(body, name)
        if found is not None:
            body, made = _by_position(body, found, taken), True
            computed = _computed(body)
    return replace(program, body=number(body)) if made else program


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A scalar that is always an element of an array, and the subscripts of it that
    are the same wherever it is chosen; None for the others.
    """

    name: str
    array: str
    steady: tuple[Expr | None, ...]


def _chosen(body: Block, name: str) -> _Chosen | None:
    """What a scalar is an element of, if tests in a loop decide of which."""
    block, _ = home(body, name)
    block = block[next(k for k, s in enumerate(block) if name in names_in(s)) :]
    elements = list(_elements(block, name))
    if None in elements or not _by_tests(block, name):
        return None
    found = [e for e in elements if e is not None]
    array, changed = found[0].array, written(block)
    if array in changed or any(e.array != array for e in found):
        return None
    if any(name in names(k) for e in found for k in e.index):
        return None
    steady = tuple(
        ks[0] if ks.count(ks[0]) == len(ks) and not names(ks[0]) & changed else None
        for ks in zip(*(e.index for e in found), strict=True)
    )
    return _Chosen(name, array, steady)


def _computed(body: Block) -> frozenset[str]:
    """The scalars that are set to something else than an element (`_elements`)."""
    found: set[str] = set()
    for s in walk(body):
        match s:
            case Assign(Var(name), value) if name not in found:
                if not isinstance(value, Load) and _one_of(value, Var(name)) is None:
                    found.add(name)
            case Add(Var(name)):
                found.add(name)
    return frozenset(found)


def _elements(block: Block, name: str) -> Iterator[Load | None]:
    """What a scalar is set to, statement by statement; None for anything else than an
    element, or the scalar itself or an element, the smaller or the larger.
    """
    for s in walk(block):
        match s:
            case Assign(Var(n), Load() as element) if n == name:
                yield element
            case Assign(Var(n), value) if n == name:
                found = _one_of(value, Var(name))
                yield None if found is None else found[1]
            case Add(Var(n)) if n == name:
                yield None


def _one_of(value: Expr, kept: Expr) -> tuple[Expr, Load] | None:
    """The test by which ``min(kept, element)`` and its like choose the element, and
    the element. A tie goes to the first argument.

    >>> from pyrev.ir.text import expr_text
    >>> from pyrev.parse import parse_expr
    >>> for text in ("max(m, x[i])", "max(x[i], m)", "m if m < x[i] else x[i]"):
    ...     test, _ = _one_of(parse_expr(text), Var("m"))
    ...     print(expr_text(test))
    x[i] > m
    not m > x[i]
    not m < x[i]
    """
    match value:
        case Call("min" | "max" as op, (first, Load() as element)) if first == kept:
            return Call("<" if op == "min" else ">", (element, kept)), element
        case Call("min" | "max" as op, (Load() as element, second)) if second == kept:
            other = Call("<" if op == "min" else ">", (kept, element))
            return Call("not", (other,)), element
        case Call("where", (test, Load() as element, other)) if other == kept:
            return test, element
        case Call("where", (test, other, Load() as element)) if other == kept:
            return Call("not", (test,)), element
    return None


def _by_tests(block: Block, name: str) -> bool:
    """Do tests in loops set a scalar, loops in which nothing else reads it?

    What reads it there would ask for its position of each iteration.
    """
    loops = [
        s for s in walk(block) if isinstance(s, (For, While)) and _sets(s.body, name)
    ]
    return bool(loops) and not any(
        _reads(s, name) for loop in loops for s in walk(loop.body)
    )


def _sets(block: Block, name: str) -> bool:
    return any(isinstance(s, Assign) and s.target == Var(name) for s in walk(block))


def _reads(s: Stmt, name: str) -> bool:
    """Does a statement itself read a scalar, but to test it or to choose it again?"""
    match s:
        case If() | While():
            return False
        case Assign(Var(n), value) if n == name:
            return not isinstance(value, Load) and _one_of(value, Var(name)) is None
    return any(name in names(e) for e in exprs(s))


def _by_position(body: Block, chosen: _Chosen, taken: set[str]) -> Block:
    """`body` with subscripts in the place of a scalar while it is chosen."""
    read, at = _subscripts(chosen, taken)

    def set_to(element: Load, s: Assign) -> list[Stmt]:
        return [Assign(p, element.index[k], loc=s.loc) for k, p in at.items()]

    def block(stmts: Block) -> Block:
        out: list[Stmt] = []
        for s in stmts:
            match s:
                # What sets the scalar, an element that nothing writes.
                case Assign(target, Load() as element) if target == read:
                    out += set_to(element, s)
                case Assign(target, value) if target == read:
                    found = _one_of(value, read)
                    assert found is not None
                    test, element = found
                    out.append(If(test, tuple(set_to(element, s)), (), loc=s.loc))
                case _:
                    out.append(with_blocks(s, tuple(map(block, blocks(s)))))
        return tuple(out)

    where, _ = home(body, chosen.name)
    last = max(k for k, s in enumerate(where) if _sets((s,), chosen.name))
    choosing, behind = where[: last + 1], where[last + 1 :]
    new = block(with_value(choosing, chosen.name, read))
    if _once(behind, chosen.name):
        new += with_value(behind, chosen.name, read)
    elif occurs(behind, chosen.name):
        loc = _last(choosing[-1], chosen.name).loc
        new += (Assign(Var(chosen.name), read, loc=loc), *behind)
    return _exchanged(body, where, new)


def _subscripts(chosen: _Chosen, taken: set[str]) -> tuple[Load, dict[int, Var]]:
    """How a chosen element is read, and the subscripts that tell it, by axis."""
    moving = [k for k, e in enumerate(chosen.steady) if e is None]
    ends = [_AXES.get((len(chosen.steady), k), f"at_{k}") for k in moving]
    if len(moving) == 1:
        ends = ["at"]
    at = {
        k: Var(fresh(f"{chosen.name}_{end}", taken))
        for k, end in zip(moving, ends, strict=True)
    }
    index = (at[k] if e is None else e for k, e in enumerate(chosen.steady))
    return Load(chosen.array, tuple(index)), at


def _once(block: Block, name: str) -> bool:
    """Is a scalar read at one place of a block, and outside of its loops?"""
    parts = [e for s in walk(block) for top in exprs(s) for e in walk_expr(top)]
    loops = [s for s in walk(block) if isinstance(s, (For, While))]
    return parts.count(Var(name)) == 1 and not occurs(tuple(loops), name)


def _last(s: Stmt, name: str) -> Stmt:
    """The last statement in `s` that sets a scalar."""
    setters = (t for t in walk((s,)) if isinstance(t, Assign) and t.target == Var(name))
    *_, last = setters
    return last


def _exchanged(block: Block, old: Block, new: Block) -> Block:
    """`block` with one of its blocks exchanged for another."""
    if block is old:
        return new
    return tuple(
        with_blocks(s, tuple(_exchanged(b, old, new) for b in blocks(s))) for s in block
    )


#: How the axes of a matrix are called.
_AXES = {(2, 0): "row", (2, 1): "column"}
