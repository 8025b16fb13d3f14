"""What one call of a function costs, and what it cost before it could run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from pyrev.runtime.journal import COMPILED, DERIVED, FOUND, READ, Entry, in_seconds


@dataclass(frozen=True)
class Costs:
    """What `Differentiable.report` measured; times are seconds, sizes bytes.

    `once` are the steps before the first call of the function could run, since it was
    decorated, and `again` those that another class of arguments would have spared.
    """

    name: str
    #: The arguments: names, with shapes and dtypes.
    arguments: str
    target: str
    threads: int
    #: Numba's layer of threads, if any has been started.
    layer: str
    once: tuple[Entry, ...]
    #: Medians of warm calls: of the function alone, and of the two parts of its
    #: gradient.
    primal: float
    forward: float
    reverse: float
    #: What a pullback holds beside the arguments, and what it returns.
    recorded: int
    gradients: int

    def seconds(self, step: str) -> float:
        """How long a step took in all: "read", "derived", "compiled" or "found in the
        cache".
        """
        return sum(e.seconds for e in self.once if e.step == step)

    @property
    def proofs(self) -> float:
        """How long proofs took, of what was derived."""
        return sum(e.proofs for e in self.once)

    @property
    def compilations(self) -> tuple[Entry, ...]:
        """What was compiled so far, for any arguments."""
        return tuple(e for e in self.once if e.step == COMPILED)

    def to_dict(self) -> dict[str, Any]:
        """The same as data."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _lines(self) -> Iterator[str]:
        threads = f"{self.threads} thread{'s' if self.threads != 1 else ''}"
        layer = f" ({self.layer})" if self.layer else ""
        yield f"{self.name}({self.arguments}), target {self.target}, {threads}{layer}"
        yield ""
        yield "before it could run, once, for all arguments so far"
        rows = [
            ("read", self.seconds(READ), ""),
            ("derived", self.seconds(DERIVED), _of_them(self.proofs)),
            ("compiled", self.seconds(COMPILED), _count(self.compilations)),
            ("from the cache", self.seconds(FOUND), ""),
        ]
        for label, seconds, more in rows:
            if seconds:
                yield f"  {label:<15} {in_seconds(seconds):>9}{more}"
        yield "each call with such arguments"
        whole = self.forward + self.reverse
        yield f"  {'function':<15} {in_seconds(self.primal):>9}"
        yield (
            f"  {'with gradient':<15} {in_seconds(whole):>9}: forward"
            f" {in_seconds(self.forward)}, reverse {in_seconds(self.reverse)}"
        )
        yield f"  {'recorded':<15} {in_bytes(self.recorded):>9}"
        yield f"  {'gradients':<15} {in_bytes(self.gradients):>9}"
        if self.compilations:
            yield "compiled"
        for entry in self.compilations:
            why = f": {entry.why}" if entry.why else ""
            yield f"  {in_seconds(entry.seconds):>9}  {entry.of}{why}"
        for remedy in self.remedies():
            yield f"to compile less: {remedy}"

    def remedies(self) -> list[str]:
        """What would have avoided compilations, by why they were needed."""
        found: dict[str, None] = {}
        for entry in self.compilations:
            for begin, remedy in REMEDIES.items():
                if entry.why.startswith(begin):
                    found[remedy] = None
        return [*found]


#: What to do, by what a reason begins with.
REMEDIES = {
    "arguments of other ranks or dtypes": (
        "pass arrays of the same dtypes, or call once for each before time matters"
    ),
    "arrays lie in memory": (
        "pass arrays in C order and writable (np.ascontiguousarray), and numbers of one"
        " type"
    ),
    "other sizes": (
        "little and much work have code of their own; call once with sizes of each"
        " kind before time matters, later processes find both in the cache"
    ),
    "it sees changes": (
        "use value_and_grad, or vjp(..., copy=True), after which inputs may change"
    ),
    "with respect to": "ask for the same `wrt` each time",
}


def _of_them(proofs: float) -> str:
    return f", {in_seconds(proofs)} of them proofs" if proofs else ""


def _count(entries: tuple[Entry, ...]) -> str:
    many = f"{len(entries)} times"
    return f", {'once' if len(entries) == 1 else many}"


def in_bytes(size: int) -> str:
    """A size in words: 800 B, 1.2 MB."""
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size} B"
