"""What `check_grad` found, in words and as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pyrev.report.shown.told import Told
from pyrev.testing.judge import Comparison


@dataclass(frozen=True, repr=False)
class GradientReport(Told):
    """What `check_grad` found; true when everything agrees within the tolerance.

    `entries` holds every derivative that was compared, random directions first.
    `line` names the first line, seen from the outputs, whose adjoint is wrong;
    `tangent_right` says of the worst derivative whether the forward mode has it right.
    """

    function: str
    entries: tuple[Comparison, ...]
    tolerance: float
    primal_error: float
    dot_product_error: float | None
    compiled: bool
    skipped: tuple[str, ...] = ()
    line: str = ""
    tangent_right: bool | None = None

    @property
    def worst(self) -> Comparison | None:
        """The derivative that is furthest off; the entry rather than the direction."""
        return max(
            self.entries,
            key=lambda c: (c.error, c.index is not None, c.difference),
            default=None,
        )

    @property
    def max_error(self) -> float:
        """The largest error of a derivative, relative to the scale of its parameter.

        What the differences themselves may be off by is not counted.
        """
        return max((c.error for c in self.entries), default=0.0)

    @property
    def max_difference(self) -> float:
        """The largest difference from a derivative, the differences' own error in it.

        Relative to the scale of the parameter; kinks and jumps are left out.
        """
        return max((c.difference for c in self._compared), default=0.0)

    @property
    def uncertainty(self) -> float:
        """What the differences may be off by: the largest estimate among them."""
        return max((c.uncertainty for c in self._compared), default=0.0)

    @property
    def verdict(self) -> str:
        """`right`, `WRONG`, or `undecided` where no difference could tell."""
        errors = (self.max_error, self.primal_error, self.dot_product_error or 0.0)
        if not all(e <= self.tolerance for e in errors):
            return "WRONG"
        if self.entries and all(c.verdict in ("rough", "pole") for c in self.entries):
            return "undecided"
        return "right"

    @property
    def ok(self) -> bool:
        """Every derivative, the primal and the dot product are within the tolerance."""
        return self.verdict == "right"

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        return (
            f"gradient of {self.function}: {self.verdict} "
            f"(largest difference {self.max_difference:.1e}, "
            f"differences good to {self.uncertainty:.1e}, "
            f"tolerance {self.tolerance:.0e})"
        )

    def to_dict(self) -> dict[str, object]:
        """The report as plain data."""
        return {
            "function": self.function,
            "verdict": self.verdict,
            "ok": self.ok,
            "tolerance": self.tolerance,
            "max_error": self.max_error,
            "max_difference": self.max_difference,
            "uncertainty": self.uncertainty,
            "primal_error": self.primal_error,
            "dot_product_error": self.dot_product_error,
            "compiled": self.compiled,
            "skipped": list(self.skipped),
            "line": self.line,
            "tangent_right": self.tangent_right,
            "entries": [c.to_dict() for c in self.entries],
        }

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [self.summary]
        source = "the compiled function" if self.compiled else "the plain function"
        lines.append(
            f"  {len(self.entries)} derivatives against differences of {source}"
        )
        worst = self.worst
        if worst is not None and worst.error > self.tolerance:
            lines.append(f"  furthest off: {worst}")
            lines.append(
                f"    that is {worst.difference:.1e} of the scale; "
                f"the differences are good to {worst.uncertainty:.1e}"
            )
        if self.line:
            lines.append(f"  {self.line}")
        if self.dot_product_error is not None:
            wrong = self.max_error > self.tolerance
            apart = not self.dot_product_error <= self.tolerance
            if wrong and self.tangent_right:
                lines.append("  the tangent keeps to the differences, the gradient not")
            elif wrong and not apart:
                lines.append("  the tangent is wrong alike: both use the same rules")
            if apart and not wrong:
                lines.append("  the gradient keeps to the differences, the tangent not")
        lines += self._exceptions()
        if self.primal_error > self.tolerance:
            lines.append(f"  the values themselves differ by {self.primal_error:.1e}")
        if self.dot_product_error is not None:
            off = self.dot_product_error
            lines.append(f"  dot product with the tangent: error {off:.1e}")
        if self.skipped:
            lines.append(f"  no derivative is asked for: {', '.join(self.skipped)}")
        return "\n".join(lines)

    @property
    def _compared(self) -> tuple[Comparison, ...]:
        return tuple(c for c in self.entries if c.verdict in ("right", "wrong"))

    def _exceptions(self) -> list[str]:
        """One line per kind of point where the function has no derivative."""
        counts = Counter(c.verdict for c in self.entries)
        said = {
            "kink": "at a kink, where the gradient keeps to its slopes",
            "jump": "at a jump, where the gradient keeps to one side of it",
            "pole": "at a pole, where the gradient is not finite either",
            "rough": "could not be judged",
        }
        lines = []
        for verdict, words in said.items():
            if counts[verdict]:
                alike = [c for c in self.entries if c.verdict == verdict]
                # An entry says more than a direction, and comes after them.
                first = next((c for c in alike if c.index is not None), alike[0])
                lines.append(
                    f"  {counts[verdict]} {words}: at {first.where} it says "
                    f"{first.found:.10g}, and {first.reason}"
                )
        return lines
