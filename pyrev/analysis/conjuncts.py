"""The parts of a formula of ISL that have nothing to do with each other.

ISL turns a formula into a union of conjunctions before it looks at it: of ten cases of
two that stand beside each other it makes 1024. Integers that satisfy a conjunction
exist exactly if they do for each group of its parts that share names, so each group is
a question of its own, and most groups stand in many questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"[()]| and | or ")
_NAME = re.compile(r"[A-Za-z_]\w*")
#: What ISL reads as an operator.
_WORDS = frozenset("and or not exists mod floor ceil floord ceild min max".split())
_WORDS |= {"true", "false"}


class Part(NamedTuple):
    """Conjuncts that share names with each other and with no other part."""

    names: frozenset[str]
    conjuncts: tuple[str, ...]


def independent(formulas: Iterable[str]) -> list[Part]:
    """The conjunction of `formulas` as parts that share no names, in their order.

    >>> for part in independent(["((i >= 0) and (k = 2)) and (i < n)"]):
    ...     print(sorted(part.names), *part.conjuncts)
    ['i', 'n'] i >= 0 i < n
    ['k'] k = 2
    """
    parts: list[Part] = []
    for formula in formulas:
        for conjunct in _split(formula, " and "):
            names = frozenset(_NAME.findall(conjunct)) - _WORDS
            near = [p for p in parts if p.names & names]
            joined = Part(
                names.union(*(p.names for p in near)),
                (*(c for p in near for c in p.conjuncts), conjunct),
            )
            place = parts.index(near[0]) if near else len(parts)
            parts = [p for p in parts if not p.names & names]
            parts.insert(place, joined)
    return parts


def disjuncts(formula: str) -> tuple[str, ...]:
    """What a disjunction joins, which may be one formula.

    >>> disjuncts("((i < 0) and (k = 2)) or ((i >= n) or (n = 0))")
    ('(i < 0) and (k = 2)', 'i >= n', 'n = 0')
    """
    return _split(formula, " or ")


@lru_cache(maxsize=4096)
def _split(formula: str, joint: str) -> tuple[str, ...]:
    """What `joint` joins at the top of a formula, and at the top of that."""
    ends: list[int] = []
    depth, around = 0, True  # is one pair of brackets around all of it?
    for found in _TOKEN.finditer(formula):
        token = found.group()
        if token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
            if not depth and found.end() < len(formula):
                around = False
        elif not depth:
            if token != joint:
                return (formula,)
            ends.append(found.start())
    if not ends:
        text = formula.strip()
        if text.startswith("(") and text.endswith(")") and around:
            return _split(text[1:-1], joint)
        return (text,)
    starts = [0, *(end + len(joint) for end in ends)]
    pieces = [formula[a:b] for a, b in zip(starts, [*ends, len(formula)], strict=True)]
    return tuple(inner for piece in pieces for inner in _split(piece, joint))
