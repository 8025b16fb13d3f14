"""What the user decides about values that a derivative needs: kept, or made again."""

from __future__ import annotations

from dataclasses import dataclass

from pyrev.driver.derive import Derived
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import Alloc, Program, assigned_scalars, walk
from pyrev.schedule.inline import NotInline, inlined


@dataclass(frozen=True, slots=True)
class Keeping:
    """The options of `differentiable` that rule over where values live."""

    memory: int | None = None
    store: tuple[str, ...] = ()
    recompute: tuple[str, ...] = ()
    #: May partials be multiplied out between reads and writes?
    preaccumulate: bool = True

    def check_names(self, program: Program) -> None:
        """`ArgumentError` for names that the function has not, or that are in both."""
        arrays = {s.array: None for s in walk(program.body) if isinstance(s, Alloc)}
        own = [*dict.fromkeys(assigned_scalars(program.body)), *arrays]
        for option in ("store", "recompute"):
            for name in getattr(self, option):
                if name not in own:
                    raise ArgumentError(
                        f"{option}={name!r}: {program.name}() has no local value of"
                        f" that name; it has {_listed(own)}"
                    )
        for name in self.store:
            if name in self.recompute:
                raise ArgumentError(
                    f"{name!r} is in `store` and in `recompute`: leave it in one"
                )

    def without(self, program: Program, avoid: frozenset[str]) -> Program:
        """`program` with the arrays that are to be made again where they are read."""
        for name in self.recompute:
            if not any(isinstance(s, Alloc) and s.array == name for s in program.body):
                continue  # a scalar, or an array of an iteration: see `check`
            try:
                program = inlined(program, name, avoid)
            except NotInline as why:
                raise ArgumentError(
                    f"recompute={name!r}: {program.name}() needs the array: {why}"
                ) from None
        return program

    def check(self, derived: Derived) -> None:
        """`ArgumentError` if something is recorded that was to be made again."""
        for s in derived.stored:
            if s.name in self.recompute and s.kind in ("taped", "checkpointed"):
                raise ArgumentError(
                    f"recompute={s.name!r}: line {s.loc.line} needs a value of it that"
                    " cannot be made again from what is there then; give `memory`"
                    " instead, and the loop runs again from checkpoints"
                )


def names_of(option: str, names: object) -> tuple[str, ...]:
    """A name or several, as a tuple; `ArgumentError` for anything else."""
    if isinstance(names, str):
        return (names,)
    if isinstance(names, (tuple, list, set, frozenset)):
        found = tuple(names)
        if all(isinstance(n, str) for n in found):
            return found
    raise ArgumentError(
        f"{option}={names!r}: give names of local values, as in {option}=('blurred',)"
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names) if names else "none"
