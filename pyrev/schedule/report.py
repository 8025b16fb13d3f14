"""What was decided about each loop and array, and why, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyrev.ir.nodes import NOWHERE, Loc, Proof
from pyrev.ir.text import proof_text

Kind = Literal[
    "gather",
    "owner",
    "block owner",
    "private copies",
    "inverse index",
    "atomic",
    "serial",
    "reduction",
    "kept",
]


@dataclass(frozen=True)
class Decision:
    """How the nest whose outermost loop is `loop` treats `array`, in one sentence.

    `proof` is what makes the outermost loop parallel, if it is.
    """

    loop: str
    array: str
    kind: Kind
    reason: str
    proof: Proof | None = None
    loc: Loc = NOWHERE

    def to_dict(self) -> dict[str, object]:
        """The decision as plain data."""
        return {
            "loop": self.loop,
            "array": self.array,
            "kind": self.kind,
            "reason": self.reason,
            "proof": proof_text(self.proof),
            "file": self.loc.file,
            "line": self.loc.line,
        }
