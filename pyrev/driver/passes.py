"""The passes of each schedule, in order, with what each relies on and what it keeps.

A pass is a function from programs to programs. After each one `PYREV_DUMP=all` (or the
names of passes, separated by commas) prints the program on stderr, and the functions in
`AFTER` look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyrev.analysis.poly import integer_names
from pyrev.driver.derive import RESERVED
from pyrev.driver.dump import dump
from pyrev.driver.sizes import Sizes, specialise, with_known_shapes
from pyrev.ir.diagnostics import InternalError
from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT, concrete, infer
from pyrev.ir.liveness import live_out
from pyrev.ir.nodes import Expr, Program, all_names
from pyrev.ir.text import program_text
from pyrev.ir.wellformed import check
from pyrev.schedule.costs import SHIPPED, Costs
from pyrev.schedule.distribute import schedule_readable
from pyrev.schedule.gpu_form import Device
from pyrev.schedule.launches import Launches
from pyrev.schedule.layout import turned
from pyrev.schedule.legality import unproved
from pyrev.schedule.ownership import schedule_cpu
from pyrev.schedule.plan_launches import launches
from pyrev.schedule.report import Decision
from pyrev.schedule.reuse import reuse
from pyrev.schedule.rows import rows
from pyrev.schedule.rows.contract import contracted
from pyrev.schedule.rows.first_writes import set_first
from pyrev.schedule.rows.fuse_prefix import found_once
from pyrev.schedule.rows.overlap import overlapped
from pyrev.schedule.tiles import tiled

#: What makes a number of Python's own of an element of an array.
_OWN = {WEAK_FLOAT: "float", WEAK_INT: "int"}

#: What looks at the program after each pass: under the tests `well_formed`, and
#: `proved` for a share of the functions, since that takes as long as the schedule.
AFTER: list[Callable[[str, Program], None]] = []


@dataclass(slots=True)
class Setting:
    """What the passes of one schedule share, and what they leave beside the program."""

    dtypes: Mapping[str, str]
    sizes: Sizes = field(default_factory=lambda: Sizes({}, SHIPPED))
    #: Arrays that are kept whole.
    store: frozenset[str] = frozenset()
    deterministic: bool = False
    #: Names of the program that is put in order, and those that texts use themselves.
    taken: frozenset[str] = RESERVED
    facts: Mapping[tuple[str, int], Expr] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    _typed: tuple[Program, dict[str, str]] | None = None

    @property
    def costs(self) -> Costs:
        """What is worth it."""
        return self.sizes.costs

    def types(self, program: Program) -> dict[str, str]:
        """The dtype of every name of a program."""
        if self._typed is None or self._typed[0] is not program:
            self._typed = program, infer(program, dict(self.dtypes))
        return self._typed[1]

    def names(self, program: Program) -> set[str]:
        """What new names in a program must not be."""
        own = {p.name for p in program.params}
        return {*all_names(program.body), *own, *self.taken}


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of a schedule."""

    name: str
    run: Callable[[Program, Setting], Program]
    relies_on: str
    keeps: str


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A program in the order in which it will run, and every decision on the way."""

    program: Program
    decisions: tuple[Decision, ...]
    #: What stands for extents of arguments in it.
    facts: Mapping[tuple[str, int], Expr] = field(default_factory=dict)


# ------------------------------------------------------------------ the passes


def _facts(program: Program, setting: Setting) -> Program:
    setting.facts = setting.sizes.facts(program)
    return specialise(program, setting.facts) if setting.facts else program


def _alone(program: Program, setting: Setting) -> Program:
    return replace(program, body=set_first(program.body, alone=True))


def _layout(program: Program, setting: Setting) -> Program:
    return turned(program, setting.names(program), setting.sizes, setting.costs.cpu)


def _readable(program: Program, setting: Setting) -> Program:
    types = setting.types(program)
    setting.taken = frozenset(setting.names(program))
    block, setting.decisions = schedule_readable(
        program.body,
        setting.taken,
        live_out(program),
        lambda name: concrete(types[name]),
        setting.costs,
    )
    return replace(program, body=block)


def _owners(program: Program, setting: Setting) -> Program:
    types = setting.types(program)
    setting.taken = frozenset(setting.names(program))
    block, setting.decisions = schedule_cpu(
        program.body,
        setting.taken,
        live_out(program),
        lambda name: concrete(types[name]),
        setting.sizes,
        setting.costs,
        lambda name: _OWN.get(types[name], ""),
    )
    return replace(program, body=block)


def _device(program: Program, setting: Setting) -> Program:
    types = setting.types(program)
    setting.taken = frozenset(setting.names(program))
    device = Device(setting.taken, program, types, setting.deterministic, setting.costs)
    block = device.block(program.body, (), live_out(program))
    return replace(program, body=block)


def _shapes(program: Program, setting: Setting) -> Program:
    return with_known_shapes(program)


def _rows(program: Program, setting: Setting) -> Program:
    return rows(program, setting.types(program), setting.costs.cpu)


def _tiles(program: Program, setting: Setting) -> Program:
    body = tiled(
        program.body,
        live_out(program),
        integer_names(program.body),
        setting.types(program),
        setting.names(program),
        setting.sizes,
        setting.costs.cpu,
    )
    return replace(program, body=body)


def _contracted(program: Program, setting: Setting) -> Program:
    return contracted(
        program,
        setting.names(program),
        setting.sizes,
        setting.costs.cpu,
        setting.store,
    )


def _overlapped(program: Program, setting: Setting) -> Program:
    return overlapped(
        program,
        setting.names(program),
        setting.sizes,
        setting.costs.cpu,
        setting.store,
    )


def _prefixes(program: Program, setting: Setting) -> Program:
    most = setting.costs.refound_iterations
    return replace(program, body=found_once(program.body, most))


def _reuse(program: Program, setting: Setting) -> Program:
    return reuse(program, setting.taken)


SPECIALISE = Pass(
    "specialise",
    _facts,
    "extents are the caller's",
    "every value, for arguments that give the same answers",
)
FIRST = Pass(
    "first",
    _alone,
    "zeros are made where the adjoint begins",
    "what every element is when it is read",
)
FUSE_PREFIX = Pass(
    "fuse prefix",
    _prefixes,
    "loops are in the order in which they run",
    "every value; what two loops compute alike is computed once",
)
REUSE = Pass(
    "reuse",
    _reuse,
    "no pass moves a statement any more",
    "every value; a dear function is evaluated once in a straight line",
)
SHAPES = Pass(
    "shapes",
    _shapes,
    "arrays are made where they will be made",
    "every value; extents of local arrays are those of arguments, or numbers",
)

READABLE = (
    Pass(
        "gather",
        _readable,
        "the adjoint is as the reverse sweep left it",
        "every value up to the order of increments of one element",
    ),
    FUSE_PREFIX,
    REUSE,
)

CPU = (
    SPECIALISE,
    FIRST,
    Pass(
        "layout",
        _layout,
        "nests are as the user wrote them: subscripts say what is contiguous",
        "every value; some arrays are copied into another order of axes",
    ),
    Pass(
        "owners",
        _owners,
        "arrays have their layout",
        "every value up to the order of increments of one element",
    ),
    SHAPES,
    Pass(
        "rows",
        _rows,
        "loops that are parallel carry their proof",
        "every value, added in the same order",
    ),
    Pass(
        "tiles",
        _tiles,
        "innermost loops are fused and without edges",
        "every value, added in the same order",
    ),
    Pass(
        "contract",
        _contracted,
        "one parallel loop alone uses an array",
        "every value; the array is a row of each iteration",
    ),
    Pass(
        "overlap",
        _overlapped,
        "rows that were contracted are no arrays any more",
        "every value; rows are made once more where blocks meet",
    ),
    FUSE_PREFIX,
    REUSE,
)

CUDA = (
    SPECIALISE,
    FIRST,
    Pass(
        "threads",
        _device,
        "the adjoint is as the reverse sweep left it",
        "every value up to the order of increments of one element",
    ),
    FUSE_PREFIX,
    SHAPES,
    REUSE,
)


def run(passes: Sequence[Pass], program: Program, setting: Setting) -> Scheduled:
    """The program after all passes of a schedule."""
    for step in passes:
        program = step.run(program, setting)
        for look in AFTER:
            look(step.name, program)
        dump(step.name, program)
    check(program)
    dump("schedule", program)
    return Scheduled(program, setting.decisions, setting.facts)


def well_formed(name: str, program: Program) -> None:
    """Raise `InternalError` if a program is not well formed after the pass `name`."""
    check(program)


def proved(name: str, program: Program) -> None:
    """Raise `InternalError` if a loop is called parallel after the pass `name`, and
    that cannot be proved of it as it stands.
    """
    integers = integer_names(program.body)
    for loop in unproved(program.body, (), live_out(program), integers):
        error = InternalError(f"after {name} the loop over {loop.index} has no proof")
        error.add_note(program_text(program))
        raise error


# ------------------------------------------------------------------ the schedules


def schedule(
    program: Program, dtypes: Mapping[str, str], costs: Costs = SHIPPED
) -> Scheduled:
    """Put loops in the order of the readable form: gathers, owners, reductions."""
    return run(READABLE, program, Setting(dtypes, Sizes({}, costs)))


def schedule_for_cpu(
    program: Program,
    dtypes: Mapping[str, str],
    sizes: Sizes,
    store: frozenset[str] = frozenset(),
) -> Scheduled:
    """Put loops in the order of the CPU's form: row owners, private copies.

    The arrays in `store` are kept whole.
    """
    return run(CPU, program, Setting(dtypes, sizes, store))


def schedule_for_cuda(
    program: Program,
    dtypes: Mapping[str, str],
    sizes: Sizes,
    deterministic: bool = False,
) -> tuple[Scheduled, Launches, dict[str, str]]:
    """Put loops in the order of a GPU's form: a thread for each element, and launches.

    Also the dtype of every name. Raises `NotOnDevice` for what has no form there.
    """
    setting = Setting(dtypes, sizes, deterministic=deterministic)
    done = run(CUDA, program, setting)
    types = setting.types(done.program)
    found, decisions = launches(
        done.program, types, sizes, sizes.costs.gpu, deterministic
    )
    return replace(done, decisions=decisions), found, types
