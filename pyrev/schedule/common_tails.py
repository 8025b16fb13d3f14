"""What all branches of a test end with stands behind the test.

Each branch of the reverse sweep ends by setting the cotangent of what its branch of the
primal stored to zero; a person does so once.

Branches that end by storing different values in one element store, behind the test, the
one that they have chosen. Then it is plain that the element is stored whatever the test
says, which an analysis that does not know what data decides cannot see else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from pyrev.ir.dtypes import WEAK_FLOAT, expr_dtype, is_float, promote
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    If,
    Load,
    Program,
    Stmt,
    Var,
    all_names,
    blocks,
    fresh,
    with_blocks,
    written,
)
from pyrev.ir.text import negation


def common_tails(program: Program) -> Program:
    """`program` with the last statements that all branches share behind them.

    Law: the same statements run in the same order.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, d_x, d_y):
    ...     for i in range(x.shape[0]):
    ...         if x[i] > 1.0:
    ...             d_x[i] += 2 * d_y[i]
    ...             d_y[i] = 0.0
    ...         elif x[i] > 0.0:
    ...             d_x[i] += d_y[i]
    ...             d_y[i] = 0.0
    ...         else:
    ...             d_y[i] = 0.0
    ... ''')
    >>> print(program_text(common_tails(f)))
    def f(x, d_x, d_y):
        for i in range(x.shape[0]):
            if x[i] > 1.0:
                d_x[i] += 2 * d_y[i]
            elif x[i] > 0.0:
                d_x[i] += d_y[i]
            d_y[i] = 0.0
    """
    return replace(program, body=_Tails(_same_last).block(program.body))


def common_stores(
    program: Program, types: Mapping[str, str], taken: set[str]
) -> Program:
    """`program` with the stores that all branches end with behind them.

    Law: every element gets the same values, in the same order. `types` are the dtypes
    of the names; new ones are put into `taken`.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, y):
    ...     for i in range(x.shape[0]):
    ...         if x[i] > 1.0:
    ...             y[i] = 2 * x[i]
    ...         elif x[i] > 0.0:
    ...             y[i] = x[i]
    ...         else:
    ...             y[i] = 0.0
    ... ''')
    >>> types = {"x": "float64", "y": "float64", "i": "weak int"}
    >>> print(program_text(common_stores(f, types, {"x", "y", "i"})))
    def f(x, y):
        for i in range(x.shape[0]):
            if x[i] > 1.0:
                value = 2 * x[i]
            elif x[i] > 0.0:
                value = x[i]
            else:
                value = 0.0
            y[i] = value
    """
    return replace(program, body=_Tails(_Stores(types, taken)).block(program.body))


def with_stores_behind_tests(block: Block) -> Block:
    """The same of a block whose elements are asked for, not what is stored in them."""
    return _Tails(_Stores(None, set(all_names(block)))).block(block)


#: What all of some blocks can leave to what follows: the blocks without it, and it.
_Shared = Callable[[Sequence[Block]], tuple[list[Block], Stmt] | None]


class _Tails:
    def __init__(self, shared: _Shared) -> None:
        self.shared = shared

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for s in block:
            if not isinstance(s, If):
                out.append(with_blocks(s, tuple(map(self.block, blocks(s)))))
                continue
            branches = [self.block(b) for b in _branches(s)]
            behind: list[Stmt] = []
            while (found := self.shared(branches)) is not None:
                branches = found[0]
                behind.insert(0, found[1])
            made = _chain(s, branches)
            if made is not None:
                out.append(made)
            out += behind
        return tuple(out)


def _branches(s: If) -> list[Block]:
    """The blocks of ``if``, of each ``elif`` and of ``else``."""
    match s.orelse:
        case (If() as inner,):
            return [s.then, *_branches(inner)]
    return [s.then, s.orelse]


def _same_last(branches: Sequence[Block]) -> tuple[list[Block], Stmt] | None:
    """The last statement of all, if it is one."""
    if not all(branches):
        return None
    first, *others = (b[-1] for b in branches)
    if not isinstance(first, (Assign, Add)):
        return None
    same = all(
        type(s) is type(first) and (s.target, s.value) == (first.target, first.value)
        for s in others
    )
    return ([b[:-1] for b in branches], first) if same else None


class _Stores:
    """The last store of all, of one value or of the one that each branch has for it."""

    def __init__(self, types: Mapping[str, str] | None, taken: set[str]) -> None:
        self.types, self.taken = None if types is None else dict(types), taken
        #: The names of values that are stored behind a test already.
        self.values: set[str] = set()

    def __call__(self, branches: Sequence[Block]) -> tuple[list[Block], Stmt] | None:
        places = list(map(self._last, branches))
        chosen: list[Assign] = []
        for b, k in zip(branches, places, strict=True):
            match b[k] if k >= 0 else None:
                case Assign(Load(array)) as s if array not in all_names(b[k + 1 :]):
                    chosen.append(s)
                case _:
                    return None
        store = chosen[0]
        if any(s.target != store.target for s in chosen):
            return None
        if all(s.value == store.value for s in chosen):
            made = [
                (*b[:k], *b[k + 1 :]) for b, k in zip(branches, places, strict=True)
            ]
            return made, store
        kind = self._kind(chosen)
        if kind is None:
            return None
        value = Var(fresh("value", self.taken))
        if self.types is not None:
            self.types[value.name] = kind
        self.values.add(value.name)
        made = [
            (*b[:k], replace(s, target=value), *b[k + 1 :])
            for b, s, k in zip(branches, chosen, places, strict=True)
        ]
        return made, replace(store, value=value)

    def _kind(self, stores: Sequence[Assign]) -> str | None:
        """The dtype of one name for the values of all; None if it could round what the
        array takes as it is.
        """
        if self.types is None:
            return ""
        kinds = [expr_dtype(s.value, self.types) for s in stores]
        joined = reduce(promote, kinds)
        if len({*kinds}) == 1:
            return joined
        if not all(map(is_float, kinds)):
            return None
        # A literal would become a float32 beside one.
        same = expr_dtype(stores[0].target, self.types) == joined
        return joined if same or WEAK_FLOAT not in kinds else None

    def _last(self, branch: Block) -> int:
        """Where the last statement is that is none of those values; -1 for nowhere."""
        at = len(branch) - 1
        while at >= 0 and written(branch[at : at + 1]) <= self.values:
            at -= 1
        return at


def _chain(s: If, branches: Sequence[Block]) -> If | None:
    """The test with other blocks; None if nothing is left to do."""
    then, *rest = branches
    orelse = rest[0]
    match s.orelse:
        case (If() as inner,):
            made = _chain(inner, rest)
            orelse = () if made is None else (made,)
    if then:
        return replace(s, then=then, orelse=orelse)
    if orelse:
        return replace(s, test=negation(s.test), then=orelse, orelse=())
    return None
