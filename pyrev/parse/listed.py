"""Lists of arrays of one shape, as arrays with one axis more.

The text has an array with room for a list of numbers (`rewriting.lists`). Where arrays
turn out to be appended to it, the next walk gives it their axes: it is made in the
shape of the first one, the others are checked when the program runs.
"""

from __future__ import annotations

from dataclasses import replace

import gast

from pyrev.ir.nodes import Alloc, Call, Check, Expr, Extent, Loc
from pyrev.parse import views
from pyrev.parse.binding import bind_name
from pyrev.parse.capacity import as_length
from pyrev.parse.names import array_name
from pyrev.parse.reading import read_number
from pyrev.parse.rewriting.lists.sharing import LISTED, Listed
from pyrev.parse.rewriting.made_texts import root_of
from pyrev.parse.rooms import shape_before
from pyrev.parse.scopes import Scope
from pyrev.parse.shapes import RankFact
from pyrev.parse.targets import store
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Rows, Walk, Wanted
from pyrev.parse.whole_arrays import allocate


def begin_list(
    w: Walk, target: gast.AST, value: gast.AST, at: Loc, scope: Scope
) -> bool:
    """Is this the array of a list, to which the last walk found arrays to be appended?
    Then there is room for them behind this.
    """
    listed: Listed | None = getattr(value, LISTED, None)
    if listed is None or not isinstance(value, gast.Call):
        return False
    ranks = [
        e.rank
        for e in w.known.wanted
        if e.what == "rows" and (e.name, e.at) == _key(listed, scope)
    ]
    if not ranks:
        return False
    length = views.size(read_number(w, value.args[0], scope))
    since, rank = len(w.storage.allocated), max(ranks) + 1
    name = array_name(w, target.id, scope)
    made = _allocated(w, name, length, rank, at)
    w.env.rows[name] = Rows(name, rank)
    bind_name(w, target, made, since, at, scope)
    return True


def _allocated(w: Walk, name: str, length: Expr, rank: int, at: Loc) -> Array:
    """An array of which only the first length is known so far."""
    open_ = tuple(Extent(name, k, loc=at) for k in range(1, rank))
    made = allocate(w, name, (length, *open_), None, "float64", at)
    w.found.facts.append(RankFact(name, rank, at))
    return made


def put_element(
    w: Walk, target: gast.AST, value: Operand, at: Loc, scope: Scope
) -> bool:
    """Is this an array that is put into a list? Then it is stored behind this."""
    listed: Listed | None = getattr(target, LISTED, None)
    if listed is None:
        return False
    bound = scope.bound.get(root_of(target))
    rows = w.env.rows.get(bound.base or "") if isinstance(bound, Array) else None
    if not isinstance(value, Array):
        if rows is not None:
            _refuse(w, at, "numbers and arrays are in one list")
        return rows is not None
    refusal = listed.refusal()
    if refusal:
        _refuse(w, at, refusal)
        return True
    if rows is None:
        wanted = Wanted(*_key(listed, scope), "rows", value.rank)
        if w.wants(wanted):
            return False
        w.ask(wanted)
        return True
    if value.rank + 1 != rows.rank:
        _refuse(w, at, "arrays of unlike numbers of axes are in one list")
        return True
    rows.wholes.append(value)
    for k, theirs in enumerate(value.shape):
        mine = Extent(rows.name, k + 1, loc=at)
        test = Call("==", (mine, theirs), loc=at)
        w.emit.add(Check(test, "ValueError", _SHAPES.format(listed.name), loc=at))
    dtype = value.dtype or views.dtype_of(views.kinds(value.element))
    w.found.alike_kinds.append((rows.name, dtype, at))
    store(w, target, value, at, scope)
    return True


def _key(listed: Listed, scope: Scope) -> tuple[str, Loc]:
    return listed.name, scope.source.loc(scope.source.node)


def _refuse(w: Walk, at: Loc, because: str) -> None:
    w.refuse("P206", at, because, _LIST)


_SHAPES = "arrays of several shapes are in the list `{}`, which has to be an array"

_LIST = (
    "append arrays of one shape that nothing writes to any more: `xs.append(u.copy())`"
)


def end_lists(w: Walk) -> None:
    """Give the lists of arrays that were made in this block their shapes."""
    out = w.emit.out
    for k, s in enumerate(out):
        if not isinstance(s, Alloc) or s.array not in w.env.rows:
            continue
        rows = w.env.rows[s.array]
        open_ = tuple(Extent(s.array, k) for k in range(1, rows.rank))
        if s.shape[1:] != open_:
            continue
        shape = shape_before(w, rows.wholes, tuple(out[k + 1 :]))
        if shape is None:
            because = "the shape of the arrays in a list is not known where it begins"
            helps = "make an array in its place, `xs = np.zeros((n, m))`, and fill it"
            w.refuse("P206", s.loc, because, helps)
            continue
        lengths = tuple(map(as_length, shape))
        first = rows.wholes[0]
        dtype = first.dtype or views.dtype_of(views.kinds(first.element))
        found = (s.shape[0], *lengths)
        out[k] = replace(s, shape=found, dtype=dtype)
        w.storage.sizes[s.array] = found
