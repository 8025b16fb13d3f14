"""What `explain()` prints: every loop, every array, every value kept, with its
reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyrev.driver.derive import Derived
from pyrev.driver.unit import Unit
from pyrev.ir.nodes import Alloc, For, While, walk
from pyrev.ir.text import expr_text, proof_text
from pyrev.parse.probes import told
from pyrev.report.shown.told import Told
from pyrev.schedule.report import Decision
from pyrev.schedule.storage import Stored


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way of keeping what the reverse sweep needs, and what it records."""

    store: tuple[str, ...]
    recorded: tuple[Stored, ...]
    taken: bool

    @staticmethod
    def of(derived: Derived, taken: bool) -> Alternative:
        return Alternative(derived.kept, derived.recorded, taken)

    def to_dict(self) -> dict[str, object]:
        """The alternative as plain data."""
        recorded = [s.to_dict() for s in self.recorded]
        return {"store": list(self.store), "recorded": recorded, "taken": self.taken}

    def __str__(self) -> str:
        what = [
            f"{s.name} [{', '.join(map(expr_text, s.shape))}] {s.dtype}"
            for s in self.recorded
        ]
        option = f"store={self.store!r}" if self.store else "nothing asked for"
        taken = " (taken)" if self.taken else ""
        return f"{option}{taken}: {', '.join(what) or 'nothing'}"


@dataclass(frozen=True, slots=True, repr=False)
class Report(Told):
    """The decisions behind one generated adjoint, as data and as text."""

    function: str
    target: str
    loops: tuple[Decision, ...]
    values: tuple[Stored, ...]
    reassociated: tuple[str, ...]
    inspected: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    #: What the generated code does beside running the loops in this order.
    forms: tuple[str, ...] = ()
    #: What a call keeps for its pullback, which then only runs the reverse sweep.
    passed: tuple[str, ...] = ()
    #: Which functions of the user's the adjoint calls, and where.
    called: tuple[str, ...] = ()
    #: Operations in an innermost iteration and values recorded, without local
    #: preaccumulation and with it, and if it was taken; None where it changes nothing.
    preaccumulated: tuple[tuple[int, int], tuple[int, int], bool] | None = None
    #: What the text that is read (target "python") has otherwise.
    readable: tuple[str, ...] = ()
    #: The loops that end when data say so, and whose steps are recorded.
    searches: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The report as plain data."""
        return {
            "function": self.function,
            "target": self.target,
            "loops": [d.to_dict() for d in self.loops],
            "values": [s.to_dict() for s in self.values],
            "reassociated": list(self.reassociated),
            "inspected": list(self.inspected),
            "alternatives": [a.to_dict() for a in self.alternatives],
            "forms": list(self.forms),
            "passed": list(self.passed),
            "preaccumulated": _counts(self.preaccumulated),
            "called": list(self.called),
            "readable": list(self.readable),
            "searches": list(self.searches),
        }

    def __str__(self) -> str:
        lines = [f"adjoint of {self.function}, target {self.target}", "", "loops:"]
        for d in self.loops:
            where = d.loc.place if d.loc.line else ""
            place = f"  {where:<16} " if where else "  "
            lines.append(f"{place}for {d.loop}: {d.array}: {d.kind} ({d.reason})")
            if d.proof:
                lines.append(f"{'':>{len(place)}}parallel: {proof_text(d.proof)}")
        if self.called:
            lines.append("  all serial, in CPython, in the order of the text: it calls")
            lines += [f"  {one}" for one in self.called]
        elif not self.loops:
            lines.append("  none")
        lines += ["", "values that the reverse sweep needs:"]
        for s in self.values:
            kept: str = s.kind
            if s.shape:
                kept += f" [{', '.join(map(expr_text, s.shape))}]"
            if s.kind in ("taped", "checkpointed"):
                kept += f" {s.dtype}" if s.shape else f" once, {s.dtype}"
            if s.level:
                kept += f" in each iteration of {s.level}"
            lines.append(f"  line {s.loc.line}: {s.name}: {kept}")
        if not self.values:
            lines.append("  none beyond the arguments")
        if self.searches:
            lines.append(f"  {_SEARCH}")
            lines += [f"    {one}" for one in self.searches]
        if len(self.alternatives) > 1:
            lines += ["", "what is recorded in the forward sweep, with"]
            lines += [f"  {one}" for one in self.alternatives]
        if self.preaccumulated is not None:
            *counts, taken = self.preaccumulated
            lines += ["", "partials multiplied out between reads and writes:"]
            for label, (operations, values) in zip(
                ("without", "with" + " (taken)" * taken), counts, strict=True
            ):
                lines.append(
                    f"  {label}: {operations} operations in an innermost iteration,"
                    f" {values} values recorded"
                )
        if self.readable:
            lines += ["", _OTHERWISE]
            lines += [f"  {one}" for one in self.readable]
        if self.passed:
            lines += ["", "kept by `vjp`, so that a pullback only goes back:"]
            lines += [f"  {one}" for one in self.passed]
        if self.forms:
            lines += ["", "forms of the generated code (docs/schedules.md):"]
            lines += [f"  {one}" for one in self.forms]
        if self.reassociated:
            lines += ["", "reductions whose sums are reassociated:"]
            lines += [f"  {one}" for one in self.reassociated]
        if self.inspected:
            lines += ["", "subscripts that data decides, computed before each call:"]
            lines += [f"  {one}" for one in self.inspected]
        return "\n".join(lines)


def report(
    function: str,
    unit: Unit,
    inspected: tuple[str, ...],
    passed: tuple[str, ...] = (),
    read: Unit | None = None,
) -> Report:
    """The report on one adjoint unit.

    `passed` is what a call would keep for the reverse sweep, and `read` the unit whose
    text is read, if that is another.
    """
    return Report(
        function,
        unit.target.name,
        unit.decisions,
        unit.stored,
        unit.reassociated,
        inspected,
        tuple(Alternative.of(d, taken) for d, taken in unit.alternatives),
        _forms(unit),
        passed,
        tuple(
            f"{s.loc.place}: {s.callback}({expr_text(s.value)})"
            for s in told(unit.program)
        ),
        _preaccumulated(unit),
        () if read is None else tuple(_otherwise(unit, read)),
        tuple(_searches(unit)),
    )


def _searches(unit: Unit) -> Iterator[str]:
    """The loops of the user's that end when data say so, and record what they do."""
    recorded = {s.loc.line for s in unit.stored if s.kind in ("taped", "checkpointed")}
    found: dict[str, None] = {}
    for s in walk(unit.program.body):
        if isinstance(s, While) and not s.index:
            if recorded & {t.loc.line for t in walk(s.body)}:
                found[s.loc.place] = None
    yield from found


def _otherwise(unit: Unit, read: Unit) -> Iterator[str]:
    """What the text that is read does in another way than `unit`."""
    here, there = _kinds(unit.stored), _kinds(read.stored)
    for line, name in sorted(here.keys() | there.keys()):
        one, other = here.get((line, name)), there.get((line, name))
        if one == other:
            continue
        if one is None:
            yield f"line {line}: {name}: {other} there only"
        elif other is None:
            yield f"line {line}: {name}: {one} here only"
        else:
            yield f"line {line}: {name}: {other} there, {one} here"
    ours, others = _loops(unit), _loops(read)
    for loop, array in sorted(ours.keys() & others.keys()):
        kind, its = ours[loop, array], others[loop, array]
        if kind != its:
            yield f"for {loop}: {array}: {its} there, {kind} here"


def _kinds(stored: tuple[Stored, ...]) -> dict[tuple[int, str], str]:
    """How the value of each name on each line is kept."""
    found: dict[tuple[int, str], dict[str, None]] = {}
    for s in stored:
        found.setdefault((s.loc.line, s.name), {})[s.kind] = None
    return {key: " and ".join(kinds) for key, kinds in found.items()}


def _loops(unit: Unit) -> dict[tuple[str, str], str]:
    """How each loop treats each array."""
    return {(d.loop, d.array): d.kind for d in unit.decisions}


def _preaccumulated(
    unit: Unit,
) -> tuple[tuple[int, int], tuple[int, int], bool] | None:
    for derived, taken in unit.alternatives:
        if taken and derived.counts is not None:
            return (*derived.counts, derived.shortened)
    return None


def _counts(
    found: tuple[tuple[int, int], tuple[int, int], bool] | None,
) -> dict[str, object] | None:
    if found is None:
        return None
    parts = {
        key: {"operations": operations, "recorded": recorded}
        for key, (operations, recorded) in zip(
            ("without", "with"), found[:2], strict=True
        )
    }
    return {**parts, "taken": found[2]}


_OTHERWISE = (
    "otherwise in the text that is read (target python), which weighs what there is to "
    "read where this weighs what runs:"
)

_SEARCH = (
    "if these loops search for a solution, pyrev.fixed_point or pyrev.root has its"
    " derivative and records none of the search:"
)

#: Notes at loops that decisions are about, or parts of loops.
_NO_FORMS = ("gather", "serial", "private copies", "the ", "those ")


def _forms(unit: Unit) -> tuple[str, ...]:
    """Tiles, lanes, shared rows, blocks, other layouts: each once, in order."""
    found: dict[str, None] = {}
    for s in walk(unit.program.body):
        match s:
            case For(note=note) if note and not note.startswith(_NO_FORMS):
                found[note] = None
            case Alloc(array) if array.endswith("_turned"):
                found[f"{array}: channels side by side"] = None
            case Alloc(array) if array.endswith("_row"):
                found[f"{array}: a row in the place of an array"] = None
    return tuple(found)
