"""Reductions: what a block adds to, and touches in no other way.

Increments commute, so where nothing else sees an element between two of them their
order is free, and a sum may be made beside the element.
"""

from __future__ import annotations

from pyrev.ir.nodes import (
    Add,
    Alloc,
    Block,
    For,
    Grow,
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
