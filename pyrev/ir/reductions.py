"""Reductions: what a block adds to, and touches in no other way.

Increments commute, so where nothing else sees an element between two of them their
order is free, and a sum may be made beside the element.
"""

from __future__ import annotations

from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    For,
    Grow,
    Var,
    While,
    children,
    exprs,
    names,
    walk,
)


def reductions(block: Block) -> dict[str, tuple[Add, ...]]:
    """All increments of each array or scalar with which `block` does nothing else.

    To measure an array is not to touch it.

    >>> from pyrev.parse import parse_block
    >>> block = parse_block('''
    ... for i in range(n):
    ...     a[k[i]] += x[i]
    ...     b[i] += a.shape[0] * 1.0
    ...     c[i] += b[i - 1]
    ... ''')
    >>> list(reductions(block))
    ['a', 'c']
    """
    added: dict[str, tuple[Add, ...]] = {}
    touched: set[str] = set()
    for s in walk(block):
        read = exprs(s)
        match s:
            case Add(target, value):
                added[s.target_name] = (*added.get(s.target_name, ()), s)
                read = (*children(target), value)
            case Alloc(array):
                touched |= {array, *s.sources}
            case Grow(array):
                touched.add(array)
            case For(index) | While(index=index):
                touched.add(index)
        touched.update(*map(names, read))
    return {n: adds for n, adds in added.items() if n not in touched}


def extremes(block: Block) -> dict[str, str]:
    """The scalars with which `block` does nothing but to give them the greater, or the
    lesser, of their value and another: "max" or "min" for each.

    Python's `max(a, b)` is `a` unless `b` is greater: from a number on, what is no
    number is passed over, and `a` stays what it is if it is none, in any order.

    >>> from pyrev.parse import parse_block
    >>> block = parse_block('''
    ... for i in range(n):
    ...     top = max(top, x[i])
    ...     low = min(x[i], low)
    ...     end = min(end, i)
    ...     a[i] = end
    ... ''')
    >>> extremes(block)
    {'top': 'max'}
    """
    found: dict[str, str] = {}
    touched: list[str] = []
    for s in walk(block):
        match s:
            case Assign(Var(name), Call("max" | "min" as op, (Var(first), other))) if (
                name == first
            ):
                if found.setdefault(name, op) != op:
                    touched.append(name)
                touched += names(other)
            case Add():
                touched += [s.target_name, *names(s.value)]
            case For(index) | While(index=index):
                touched.append(index)
                touched += [n for e in exprs(s) for n in names(e)]
            case _:
                touched += [n for e in exprs(s) for n in names(e)]
    return {n: op for n, op in found.items() if n not in touched}
