"""What was decided about each loop and array, and why, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyrev.ir.nodes import NOWHERE, Loc

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

    `proof` is the sentence that makes the outermost loop parallel, empty if it is not.
    """

    loop: str
    array: str
    kind: Kind
    reason: str
    proof: str = ""
    loc: Loc = NOWHERE

    def to_dict(self) -> dict[str, object]:
        """The decision as plain data."""
        return {
            "loop": self.loop,
            "array": self.array,
            "kind": self.kind,
            "reason": self.reason,
            "proof": self.proof,
            "file": self.loc.file,
            "line": self.loc.line,
        }
