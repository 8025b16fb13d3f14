"""What a target is: its schedule, its text, how that is loaded, and how it is called.

All that differs between targets is said here and in the modules beside. Who adds one
derives a class from `Target` and registers an instance of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Protocol

from pyrev.driver.passes import Scheduled
from pyrev.driver.sizes import Sizes, specialised
from pyrev.emit.seals import Sealed
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.nodes import Expr, Load, Loc, Program, exprs, walk, walk_expr
from pyrev.ir.printer import Emitted
from pyrev.runtime.code_cache import Loaded, loaded
from pyrev.runtime.error_boundary import runs_users


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What a user allows and forbids of the order in which numbers meet.

    `deterministic`: results have the same bits in every run, whatever came before.
    `fast`: sums in any order, and products rounded with a sum at once.
    """

    deterministic: bool = False
    fast: bool = False

    def within(self, edges: Sequence[str]) -> tuple[Arithmetic, tuple[str, ...]]:
        """What is taken of it in a function that has these `edges` (`analysis.smooth`),
        and a sentence about that.

        A value and its gradient have to be on the same side of an edge, and the test
        that an element exists stands apart from where it is read: there the same
        number made twice has to be the same.
        """
        if not self.fast:
            return self, ()
        if not edges:
            return self, ("all sums and products, by fastmath=True",)
        which = ", ".join(f"`{e}`" for e in dict.fromkeys(edges))
        sentence = f"none by fastmath=True: rounding may decide where {which} goes"
        return replace(self, fast=False), (sentence,)


STRICT = Arithmetic()


@dataclass(frozen=True, slots=True)
class Job:
    """A program that is to be put in order and printed, and what that rests on."""

    program: Program
    dtypes: Mapping[str, str]
    sizes: Sizes
    #: The comment at the top of the module.
    doc: str
    #: The lines of the files that statements come from.
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Subscripts that are never negative.
    never_negative: frozenset[Expr] = frozenset()
    #: Arrays that are kept whole.
    store: frozenset[str] = frozenset()
    #: The names of the user's function.
    users: frozenset[str] = frozenset()
    #: What the text of the user's function calls its variables.
    letters: frozenset[str] = frozenset()
    #: What it calls the extents of its parameters: array, axis, name.
    size_names: tuple[tuple[str, int, str], ...] = ()
    #: The shapes of parameters that are those of others.
    shapes: Mapping[str, tuple[Expr, ...]] = field(default_factory=dict)
    arithmetic: Arithmetic = STRICT
    #: Do statements stay in the order of the text?
    in_order: bool = False

    def natural(self, facts: Mapping[tuple[str, int], Expr]) -> frozenset[Expr]:
        """The subscripts that are never negative, as they stand where `facts` are
        known.

        Two may be one expression then: it counts if both do.
        """
        subscripts = {
            k
            for s in walk(self.program.body)
            for top in exprs(s)
            for e in walk_expr(top)
            if isinstance(e, Load)
            for k in e.index
        }
        sure = self.never_negative
        others = {specialised(k, facts) for k in subscripts - sure}
        return frozenset(specialised(k, facts) for k in sure) - others


class Runs(Protocol):
    """What a target asks of a unit that it runs."""

    program: Program

    @property
    def changed(self) -> tuple[bool, ...]:
        """For each parameter: is it an array that the code writes?"""

    @property
    def runs_alone(self) -> bool:
        """Does all of its code stay on the thread that calls it?"""

    def paced(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """What its compiled function returns, on as many threads as are best."""


class Target:
    """One target; the answers are those of compiled code on the CPU.

    An instance is compared by identity and pickled as a constant of its module, which
    is called as the target is, in capitals.
    """

    name = ""
    #: Is code made for the sizes of a call? If not, one text is for all calls.
    for_sizes = True
    #: Is the text a function that pyrev differentiates again?
    is_input = False
    #: Is the body of a loop there once, where names of arrays change places in it?
    bodies_once = False
    #: Would a float that is written to an integer lose its fraction unseen?
    truncates = True
    #: Does the code itself test that subscripts are inside?
    tests_subscripts = False
    #: Does the text that is shown test the sizes of its arguments, since its statements
    #: would take them for others?
    tests_sizes = False
    #: Does it pay to run the two sweeps of an adjoint apart?
    sweeps_apart = True
    #: Are arrays in the memory of a GPU, from which numbers only come back by a copy?
    on_device = False
    #: Does it take so long to compile that code for other sizes serves, too?
    compiles_slowly = False
    #: Are there schedules to time? See `pyrev.driver.tune`.
    tunes = False
    #: Can the code make digests of what it reads while it runs?
    seals = False
    #: Does a copy of an input take less time than the operations on it?
    copies_inputs = False
    #: Is a call one of the plain function?
    runs_plain = False

    def made(self, job: Job) -> tuple[Scheduled, Emitted]:
        """The program in the order of this target, and its text.

        Raises `UnsupportedError` where there is no form for it.
        """
        raise NotImplementedError

    def inspector(self, job: Job) -> Emitted:
        """The text of a program that computes the subscripts that data decides.

        Integers go around at 64 bits in it, as NumPy's do.
        """
        raise NotImplementedError

    def load(self, text: str, name: str, alone: bool) -> Loaded:
        """The module with this text, if `alone` for a process with one thread."""
        return loaded(text, name)

    def sealed(
        self, text: str, name: str, arrays: tuple[str, ...], chunks: int
    ) -> Sealed:
        """The text that makes digests of what it can of `arrays` beside its results.

        For a target that `seals`; see `emit.seals` for `chunks`.
        """
        raise NotImplementedError

    @runs_users
    def call(
        self, function: Callable[..., Any], values: Sequence[Any], unit: Runs
    ) -> Any:
        """Run the function of a unit."""
        return function(*values)

    def check_probes(self, primal: Program) -> None:
        """`UnsupportedError` where CPython can't run an adjoint that calls back."""

    def __reduce__(self) -> str:
        return self.name.upper()

    def __repr__(self) -> str:
        return f"<target {self.name}>"


def no_form(loc: Loc, because: str, helps: str) -> NoReturn:
    """Raise the error that says what a target has no form for."""
    raise UnsupportedError([Finding("P304", loc, because, helps)]) from None
