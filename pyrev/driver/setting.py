"""What the passes of one schedule share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyrev.driver.derive import RESERVED
from pyrev.driver.sizes import Sizes
from pyrev.ir.dtypes import infer
from pyrev.ir.nodes import Expr, Program, all_names
from pyrev.schedule.costs import SHIPPED, Costs
from pyrev.schedule.report import Decision


@dataclass(slots=True)
class Setting:
    """What the passes of one schedule share, and what they leave beside the program."""

    dtypes: Mapping[str, str]
    sizes: Sizes = field(default_factory=lambda: Sizes({}, SHIPPED))
    #: Arrays that are kept whole.
    store: frozenset[str] = frozenset()
    deterministic: bool = False
    #: The user's names.
    users: frozenset[str] = frozenset()
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
