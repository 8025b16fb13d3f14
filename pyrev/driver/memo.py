"""What was made of one function, and what was proved for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from pyrev.analysis.poly import answers, noted, recall
from pyrev.driver.sharing import F, Family
from pyrev.ir.nodes import Program
from pyrev.runtime.code_cache import MAKING, proofs, remember_proofs
from pyrev.runtime.stack_depth import deep
from pyrev.schedule.costs import Costs

T = TypeVar("T")


class Memo:
    """What was made of a function by what was asked for.

    What ISL was asked meanwhile is kept on disk: the next process need not ask again.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._made: dict[Hashable, Any] = {}
        self._asked: set[str] = set()
        self._kept: dict[str, bool] | None = None

    def forget(self) -> None:
        """Make everything anew."""
        with MAKING:
            self._made = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave when it was first asked for; not None."""
        found: T | None = self._made.get(key)
        return self._first(key, make) if found is None else found

    @deep
    def _first(self, key: Hashable, make: Callable[[], T]) -> T:
        with MAKING:
            found: T | None = self._made.get(key)
            if found is None:
                found = self._made[key] = self._noted(make)
        return found

    def fitting(
        self,
        key: Hashable,
        values: Mapping[str, Any] | None,
        make: Callable[[frozenset[str]], F],
        costs: Costs | None = None,
    ) -> F:
        """What was made for sizes like these, made now if there is none.

        With `costs` code for other sizes serves, too, where these say that it is good
        enough. `make` takes the extents that are not to be numbers in a text.
        """
        family: Family[F] = self.once((key, values is None), Family)

        def known() -> F | None:
            if costs is None or values is None:
                return family.made_for(values)
            return family.serving(values, costs)

        found = known()
        if found is not None:
            return found
        with MAKING:
            found = known()  # another thread may have made it
            if found is None:
                varied = frozenset() if costs is None else family.varied()
                found = self._noted(lambda: make(varied))
                if varied and costs is not None and found.fit.is_large(costs):
                    found = self._noted(lambda: make(frozenset()))
                family.add(found)
                if found.target.for_sizes and values is not None:
                    self._remember()
        return found

    def _noted(self, make: Callable[[], T]) -> T:
        """What `make` gives; what it asks of ISL is noted."""
        with noted() as asked:
            made = make()
        self._asked |= asked
        return made

    def recall(self) -> None:
        """Take what an earlier process has proved of this function."""
        if self._kept is None:
            self._kept = proofs(self._program.name, repr(self._program))
            recall(self._kept)

    def _remember(self) -> None:
        """Keep what was proved for the next process."""
        known = answers(self._asked)
        if self._kept is not None and not known.keys() <= self._kept.keys():
            self._kept = {**self._kept, **known}
            remember_proofs(self._program.name, repr(self._program), self._kept)
