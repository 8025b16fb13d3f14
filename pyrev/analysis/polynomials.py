"""Integer expressions as polynomials: ``a[y * w + x]`` is ``a[y, x]`` in rows of `w`.

Products of two unknowns are opaque to ISL; in rows of the right width there are none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import product
from math import gcd

from pyrev.ir.affine import Linear, from_linear
from pyrev.ir.nodes import Call, Const, Expr, Var

#: The factors of each product, and the number before it.
Polynomial = dict[tuple[Expr, ...], int]


def polynomial(e: Expr) -> Polynomial:
    """`e` expanded: the factors of each product, and the number before it."""

    def total(parts: Iterable[tuple[tuple[Expr, ...], int]]) -> Polynomial:
        found: Polynomial = {}
        for key, k in parts:
            found[key] = found.get(key, 0) + k
        return {key: k for key, k in found.items() if k}

    match e:
        case Const(value) if type(value) is int:
            return total([((), value)])
        case Call("neg", (a,)):
            return {key: -k for key, k in polynomial(a).items()}
        case Call("+", (a, b)):
            return total([*polynomial(a).items(), *polynomial(b).items()])
        case Call("-", (a, b)):
            minus = [(key, -k) for key, k in polynomial(b).items()]
            return total([*polynomial(a).items(), *minus])
        case Call("*", (a, b)):
            return total(
                (tuple(sorted((*p, *q), key=repr)), j * k)
                for (p, j), (q, k) in product(
                    polynomial(a).items(), polynomial(b).items()
                )
            )
        case _:
            return {(e,): 1}


def from_polynomial(form: Polynomial) -> Expr:
    """The expression that `form` expands."""
    terms: list[tuple[Expr, int]] = []
    for key, k in form.items():
        if key:
            e = key[0]
            for factor in key[1:]:
                e = Call("*", (e, factor))
            terms.append((e, k))
    return from_linear(Linear(tuple(terms), form.get((), 0)))


def divided(form: Polynomial, w: Expr, factor: int) -> Polynomial:
    """`form` without one factor `w` in each product, over a number."""
    found: Polynomial = {}
    for key, k in form.items():
        at = key.index(w)
        found[key[:at] + key[at + 1 :]] = k // factor
    return found


def row_widths(e: Expr, changing: Collection[str]) -> Iterator[tuple[Linear, ...]]:
    """Row widths, innermost first, that would make ``e`` affine.

    Each is a number times one unknown, which is none of the scalars `changing`.
    """
    form = polynomial(e)
    factors = [p for p in form if len(p) > 1]
    for w in dict.fromkeys(f for p in factors for f in p):
        if isinstance(w, Var) and w.name in changing:
            continue
        over = {k: c for k, c in form.items() if w in k}
        if any(p not in over for p in factors):
            continue
        width = Linear(((w, gcd(*over.values())),), 0)
        rest = divided(over, w, width.terms[0][1])
        deeper = [p for p in rest if len(p) > 1]
        if not deeper:
            yield (width,)
        for more in row_widths(from_polynomial(rest), changing) if deeper else ():
            yield (width, *more)
