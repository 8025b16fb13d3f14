"""Lines of C."""

from __future__ import annotations


def each(index: str, first: str, end: str, step: str) -> str:
    """The head of a loop of a thread."""
    return f"for (long long {index} = {first}; {index} < {end}; {index} += {step})"


class Lines:
    """Lines of C, indented by their blocks."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def __call__(self, line: str = "") -> None:
        self.lines.append("    " * self.depth + line if line else "")

    def open(self, line: str) -> None:
        self(f"{line} {{" if line else "{")
        self.depth += 1

    def close(self, more: str = "") -> None:
        self.depth -= 1
        self("}" + more)
