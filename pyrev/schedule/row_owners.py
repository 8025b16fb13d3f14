"""Loops over what is written, not over who writes it: rows and blocks that own it.

The iterations of a scatter are put in the order of the target's outermost coordinates,
by ISL: for each row (of a target of one axis: for each block of elements) those that
add to it. Two iterations of such a loop meet nowhere. This plans and makes the loops;
whether they are worth it, `pyrev.schedule.ownership` decides, and that they are
parallel, `pyrev.schedule.legality` proves of what was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyrev.analysis.dependence import Access, Leaf, Region
from pyrev.analysis.loop_trees import Unknown
from pyrev.analysis.poly import Timed, conj, disj, pieces
from pyrev.ir.affine import slope
from pyrev.ir.nodes import (
    Block,
    Call,
    Const,
    Expr,
    Var,
    fresh,
    names,
)
from pyrev.ir.text import expr_text
from pyrev.ir.trip_counts import trip_count
from pyrev.schedule.contiguous import walkers
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.gather import Part, box_around, realise, target_of
from pyrev.schedule.report import Kind
from pyrev.schedule.verify import debugging, same_instances


@dataclass(frozen=True, slots=True)
class _Owned:
    """What gets a loop: the subscripts `axes`, or blocks of `size` elements of one."""

    axes: tuple[int, ...]
    size: int | None = None

    def text(self, term: str) -> str:
        """The coordinate for a subscript, for ISL."""
        return term if self.size is None else f"floor(({term}) / {self.size})"

    def coordinate(self, e: Expr) -> Expr:
        """What an owned coordinate is: a subscript, or the block that it falls in."""
        return e if self.size is None else Call("//", (e, Const(self.size)))


class Owners:
    """A scatter whose outermost target coordinates become loops.

    `axes` are the subscripts that get one: all affine ones but the last, which stays a
    contiguous walk. `reduces` is how many loops the target does not mention.
    """

    def __init__(
        self, region: Region, scatter: Sequence[Leaf], used: set[str], cpu: CpuCosts
    ) -> None:
        self.region, self.scatter, self.used = region, scatter, used
        #: Elements of an array of one axis that one task owns.
        self.block, self.least = cpu.block_elements, cpu.vector_iterations
        if not all(region.exact(leaf) for leaf in scatter):
            raise Unknown("a loop bound is data")
        affine = None
        for leaf in scatter:
            found = region.subscripts(leaf, _access(leaf), "i") or ()
            here = {k for k, cases in enumerate(found) if cases is not None}
            affine = here if affine is None else affine & here
        rank = len(target_of(scatter[0]).index)
        known = sorted(affine or ())
        self.axes = [k for k in known if k < rank - 1] if rank > 1 else []
        self.last = rank - 1 if rank - 1 in known else None
        mentioned = {
            n for leaf in scatter for e in target_of(leaf).index for n in names(e)
        }
        first = scatter[0]
        self.reduces = sum(at.loop.index not in mentioned for at in first.loops)

    @property
    def kind(self) -> Kind:
        """What owns elements: a row, or a block where there is only one subscript."""
        return "owner" if self.axes else "block owner"

    def sentence(self) -> str:
        """What the comment above the loops says."""
        target = target_of(self.scatter[0])
        if self.kind == "block owner":
            return f"block owner: {self.block} elements of {target.array} each"
        texts = [expr_text(target.index[k]) for k in self.axes]
        return f"row owner of {target.array}[{', '.join(texts)}]"

    def count(self, every: bool = False) -> Expr | None:
        """How many rows (or elements) there are, if all subscripts are loop indices."""
        leaf = self.scatter[0]
        loops = {at.loop.index: at.loop for at in leaf.loops}
        total: Expr | None = None
        whole = range(len(target_of(leaf).index))
        for k in whole if every else self.axes or whole:
            match target_of(leaf).index[k]:
                case Var(name) if name in loops:
                    trips = trip_count(loops[name])
                    total = trips if total is None else Call("*", (total, trips))
                case _:
                    return None
        if total is not None and not self.axes:
            total = Call("//", (total, Const(self.block)))
        return total

    def owned(self) -> _Owned:
        """Subscripts but the last; where there is only one, blocks of it."""
        if self.axes:
            return _Owned(tuple(self.axes))
        if self.last is None:
            raise Unknown("its index is data")
        return _Owned((self.last,), self.block)

    def nest(self) -> Block:
        """One loop per owned subscript (or over blocks of the only one), then the
        user's.

        Of the user's loops the one that walks memory comes last. Raises `Unknown` or
        `NoGather` where that is not possible.
        """
        region, owned = self.region, self.owned()
        axes, size = owned.axes, owned.size
        scope = set(self.used)
        heads = [fresh(n, scope) for n in ("u", "v", "w", "p", "q", "r")[: len(axes)]]
        if size is not None:
            heads = [fresh("b", scope)]
        parts = self.parts(owned)
        if not parts:
            return ()  # proven: no iteration ever runs
        timed, loop_names = self.times(parts, owned, heads, scope)
        if len(parts) > 1 and size is None:
            # The exact union of the rows is harder to read than the tests that the
            # statements need anyway, and its loops fit no other nest.
            width = max(leaf.depth for leaf in self.scatter)
            box = box_around(region.space, parts, len(axes), width + 1)
            timed += box
            loop_names |= {b.name: loop_names[parts[0].name] for b in box}
        claims = {
            part.name: (part.leaf, self.coordinates(part.leaf, owned)) for part in parts
        }
        whole = axes if size is None else ()
        made, skeleton = realise(region, timed, loop_names, parts, whole, claims)
        if debugging():
            assert same_instances(skeleton, region, claims), "instances lost or added"
        self.used |= set(heads)
        return made

    def parts(self, owned: _Owned) -> list[Part]:
        """The increments with what owns them: a statement for each piece of the map
        from its iterations to the owned coordinates.
        """
        region = self.region
        parts: list[Part] = []
        for leaf in self.scatter:
            found = region.subscripts(leaf, _access(leaf), "i")
            assert found is not None
            index = []
            for n, k in enumerate(owned.axes):
                cases = found[k]
                assert cases is not None, leaf
                # A subscript below zero is refused before any call (`analysis.bounds`).
                inside = [
                    conj((c.when, f"t{n} = {owned.text(c.term)}", f"t{n} >= 0"))
                    for c in cases
                ]
                index.append(disj(inside))
            variables = region.variables(leaf, "i")
            name = f"S{len(parts)}"
            domain = region.domain(leaf, "i")
            for piece in pieces(region.space, name, variables, domain, index):
                own = f"S{len(parts)}"
                named = piece._replace(
                    domain=piece.domain.replace(f"{name}[", f"{own}["),
                    mapping=piece.mapping.replace(f"{name}[", f"{own}["),
                )
                parts.append(Part(own, leaf, named, (), ()))
        return parts

    def times(
        self,
        parts: Sequence[Part],
        owned: _Owned,
        heads: Sequence[str],
        scope: set[str],
    ) -> tuple[list[Timed], dict[str, Sequence[str]]]:
        """When each part runs inside a row, and what the loops around it are called.

        Statements one after the other inside a row: guard-free contiguous loops.
        """
        timed: list[Timed] = []
        loop_names: dict[str, Sequence[str]] = {}
        width = max(leaf.depth for leaf in self.scatter)
        several = len(parts) > 1
        for n, part in enumerate(parts):
            leaf = part.leaf
            variables = self.region.variables(leaf, "i")
            rest = self.order(leaf, owned)
            times = [str(n)] * several + [variables[k] for k in rest]
            times += ["0"] * (width - len(rest))
            domain, mapping = part.piece.domain, part.piece.mapping
            timed.append(Timed(part.name, variables, domain, mapping, tuple(times)))
            inner = [leaf.loops[k].loop.index for k in rest]
            # An owned subscript that is a plain index keeps the user's name.
            head = [
                self.head(leaf, k, h) if owned.size is None else h
                for k, h in zip(owned.axes, heads, strict=True)
            ]
            clash = set(head)
            here = scope | clash
            inner = [fresh(i, here) if i in clash else i for i in inner]
            padding = ["_"] * (width - len(rest))
            loop_names[part.name] = [*head, *(["_"] * several), *inner, *padding]
        return timed, loop_names

    def coordinates(self, leaf: Leaf, owned: _Owned) -> tuple[Expr, ...]:
        """The owned coordinates of what `leaf` adds to."""
        index = target_of(leaf).index
        return tuple(owned.coordinate(index[k]) for k in owned.axes)

    def head(self, leaf: Leaf, axis: int, fallback: str) -> str:
        """The index of an owned subscript: the user's, if all leaves have it bare."""
        target = target_of(leaf).index[axis]
        same = all(target_of(s).index[axis] == target for s in self.scatter)
        return target.name if same and isinstance(target, Var) else fallback

    def order(self, leaf: Leaf, owned: _Owned) -> list[int]:
        """The loops below the owned coordinates, the one that walks memory last."""
        loops = [at.loop for at in leaf.loops]
        target = target_of(leaf)
        pivots: set[int] = set()
        if owned.size is None:
            for k in owned.axes:
                candidates = [
                    n
                    for n, loop in enumerate(loops)
                    if slope(target.index[k], loop.index) in (1, -1) and n not in pivots
                ]
                if candidates:
                    pivots.add(candidates[0])
        rest = [n for n in range(len(loops)) if n not in pivots]
        rest += sorted(pivots)  # degenerate: one value each
        free = [n for n in rest if n not in pivots]
        able = [loops[n] for n in free]
        for k in walkers(able, (leaf.stmt,), self.least)[:1]:
            best = free[k]
            rest.remove(best)
            rest.insert(len(free) - 1, best)
        return rest


def _access(leaf: Leaf) -> Access:
    target = target_of(leaf)
    return Access("add", target.array, target.index, 0, leaf.depth)
