"""The passes of each schedule, in order, with what each relies on and what it keeps.

A pass is a function from programs to programs, one of `pyrev.driver.steps` or
`pyrev.driver.statement_steps`. After each `PYREV_DUMP=all` (or the names of passes,
separated by commas) prints the program on stderr, and the functions in `AFTER` look at
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyrev.analysis.poly import known_numbers
from pyrev.driver import statement_steps, steps
from pyrev.driver.dump import dump
from pyrev.driver.setting import Setting
from pyrev.driver.sizes import Sizes
from pyrev.ir.diagnostics import InternalError
from pyrev.ir.liveness import live_out
from pyrev.ir.nodes import Expr, Program
from pyrev.ir.text import program_text
from pyrev.ir.wellformed import check
from pyrev.schedule.costs import SHIPPED, Costs
from pyrev.schedule.launches import Launches
from pyrev.schedule.legality import unproved
from pyrev.schedule.plan_launches import launches
from pyrev.schedule.report import Decision

#: What looks at the program after each pass: under the tests `well_formed`, and
#: `proved` for a share of the functions, since that takes as long as the schedule.
AFTER: list[Callable[[str, Program], None]] = []


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

SPECIALISE = Pass(
    "specialise",
    steps.specialisation,
    "extents are the caller's",
    "every value, for arguments that give the same answers",
)
FIRST = Pass(
    "first",
    steps.first_writes,
    "zeros are made where the adjoint begins",
    "what every element is when it is read",
)
FUSE_PREFIX = Pass(
    "fuse prefix",
    steps.prefix_fusion,
    "loops are in the order in which they run",
    "every value; what two loops compute alike is computed once",
)
REUSE = Pass(
    "reuse",
    statement_steps.common_values,
    "no pass moves a statement any more",
    "every value; a dear function is evaluated once in a straight line",
)
SHAPES = Pass(
    "shapes",
    steps.known_shapes,
    "arrays are made where they will be made",
    "every value; extents of local arrays are those of arguments, or numbers",
)
FORWARD = Pass(
    "forward",
    statement_steps.forward_substitution,
    "nothing looks for a value by its name any more",
    "every value, of the same operations",
)
TESTS = Pass(
    "tests",
    statement_steps.same_tests,
    "what runs under a test stands where it runs",
    "every value",
)

READABLE = (
    Pass(
        "gather",
        steps.gathers,
        "the adjoint is as the reverse sweep left it",
        "every value up to the order of increments of one element",
    ),
    FUSE_PREFIX,
    REUSE,
    TESTS,
    Pass(
        "guards",
        statement_steps.common_guards,
        "values have names of their own still",
        "every value, but for zeros",
    ),
    Pass(
        "terms",
        statement_steps.sums_begun,
        "tests stand where they will",
        "every value, but for zeros",
    ),
    FORWARD,
    Pass(
        "tails",
        statement_steps.tails,
        "statements are those that are printed",
        "every statement, run in the same order",
    ),
)

#: For whole arrays: scatters stay as the reverse sweep left them, for the slices that
#: they write are as good as any.
WHOLE = (FORWARD,)

CPU = (
    SPECIALISE,
    FIRST,
    TESTS,
    Pass(
        "stores",
        statement_steps.stores_behind_tests,
        "nothing looks at what a branch alone does any more",
        "every value, stored in the same order",
    ),
    Pass(
        "layout",
        steps.data_layout,
        "nests are as the user wrote them: subscripts say what is contiguous",
        "every value; some arrays are copied into another order of axes",
    ),
    Pass(
        "owners",
        steps.ownership,
        "arrays have their layout",
        "every value up to the order of increments of one element",
    ),
    Pass(
        "interleaved",
        steps.interleaved_rows,
        "loops are in the order in which they run",
        "every value up to the order of increments of one element",
    ),
    SHAPES,
    Pass(
        "subscripts",
        statement_steps.subscripts_by_index,
        "loops are in the order in which they run",
        "every value",
    ),
    Pass(
        "rows",
        steps.inner_loops,
        "loops that are parallel carry their proof",
        "every value, added in the same order",
    ),
    Pass(
        "tiles",
        steps.register_tiles,
        "innermost loops are fused and without edges",
        "every value up to the order of increments of one element",
    ),
    Pass(
        "contract",
        steps.contraction,
        "one parallel loop alone uses an array",
        "every value; the array is a row of each iteration",
    ),
    Pass(
        "overlap",
        steps.overlapped_blocks,
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
        steps.threads,
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
    integers = known_numbers(program.body)
    for loop in unproved(program.body, (), live_out(program), integers):
        error = InternalError(f"after {name} the loop over {loop.index} has no proof")
        error.add_note(program_text(program))
        raise error


# ------------------------------------------------------------------ the schedules


def schedule(
    program: Program,
    dtypes: Mapping[str, str],
    costs: Costs = SHIPPED,
    users: frozenset[str] = frozenset(),
) -> Scheduled:
    """Put loops in the order of the readable form: gathers, owners, reductions.

    `users` are the names of the user's function.
    """
    return run(READABLE, program, Setting(dtypes, Sizes({}, costs), users=users))


def schedule_for_whole_arrays(
    program: Program, dtypes: Mapping[str, str], costs: Costs, users: frozenset[str]
) -> Scheduled:
    """The program of which nests become statements about whole arrays.

    `users` are the names of the user's function.
    """
    return run(WHOLE, program, Setting(dtypes, Sizes({}, costs), users=users))


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
