"""PTX as data: the kernels of a text, their instructions and basic blocks.

    kernel      = .entry name(parameters) { declarations and instructions }
    instruction = [@[!]predicate] opcode operands ;

Only what NVIDIA's compiler writes is read: `PtxError` names what is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

#: Bytes of a value by its type.
BYTES = {"pred": 4} | {f"{k}{b}": b // 8 for k in "busf" for b in (8, 16, 32, 64)}

_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\((.*?)\)\s*((?:\.\w+[^{;]*)?)\{", re.DOTALL)
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+([\w$]+)(\[\d+\])?")
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(.*)", re.DOTALL)
_VARIABLE = re.compile(
    r"\.(shared|local|global|const)\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)"
    r"((?:\[\d*\])*)\s*(?:=\s*(.*))?",
    re.DOTALL,
)
_PLACE = re.compile(r"\.loc (\d+) (\d+) \d+(?:.*inlined_at 1 (\d+))?")
_LABEL = re.compile(r"([\w$]+):")
_ENDS = ("bra", "ret", "exit", "trap")


class PtxError(ValueError):
    """A text that the meter cannot read."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its place in the kernel, its opcode in parts, its operands."""

    index: int
    opcode: tuple[str, ...]
    operands: tuple[str, ...]
    #: The predicate it runs under, and whether that is negated.
    guard: str | None = None
    negated: bool = False
    #: The line of the CUDA C that it comes from, if the text says so.
    line: int = 0

    @property
    def name(self) -> str:
        return ".".join(self.opcode)

    @property
    def kind(self) -> str:
        """The type that it works on: the last part of the opcode."""
        return self.opcode[-1]

    def has(self, *parts: str) -> bool:
        return any(p in self.opcode for p in parts)

    def __str__(self) -> str:
        guard = "" if self.guard is None else f"@{'!' * self.negated}{self.guard} "
        return f"{guard}{self.name} {', '.join(self.operands)}".strip()


@dataclass(frozen=True)
class Variable:
    """Memory that the text declares: how many bytes, and what is in it at first."""

    space: str
    name: str
    kind: str
    size: int
    align: int
    first: tuple[str, ...] = ()


@dataclass
class PtxKernel:
    """One kernel."""

    name: str
    #: Name and type of each parameter.
    parameters: list[tuple[str, str]]
    #: The type of each register.
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)

    def starts(self) -> list[int]:
        """Where basic blocks start."""
        found = {0, *self.labels.values()}
        found |= {i.index + 1 for i in self.code if i.opcode[0] in _ENDS}
        return sorted(k for k in found if k < len(self.code))


@dataclass(frozen=True)
class PtxText:
    """A whole text: its kernels, and the memory that all of them see."""

    kernels: dict[str, PtxKernel]
    variables: list[Variable]


def read(text: str) -> PtxText:
    """The kernels and variables of a text."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"(?m)^\s*(\.loc\s[^\n;]*)$", r"\1;", text)
    kernels: dict[str, PtxKernel] = {}
    outside, at = [], 0
    for found in _ENTRY.finditer(text):
        end = _closing(text, found.end())
        kernels[found[1]] = _kernel(found[1], found[2], text[found.end() : end])
        outside.append(text[at : found.start()])
        at = end + 1
    outside.append(text[at:])
    # The first declaration follows directives that end with their line.
    rest = re.sub(
        r"(?m)^\.(version|target|address_size|file)\b.*$", "", "\n".join(outside)
    )
    declared = [v for s in rest.split(";") if (v := _variable(s))]
    return PtxText(kernels, declared)


def _closing(text: str, start: int) -> int:
    depth = 1
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return start + found.start()
    raise PtxError("a kernel without an end")


def _kernel(name: str, parameters: str, body: str) -> PtxKernel:
    given = [(p, kind) for kind, p, _ in _PARAMETER.findall(parameters)]
    kernel = PtxKernel(name, given)
    line = 0
    for statement in _statements(body):
        if label := _LABEL.fullmatch(statement):
            kernel.labels[label[1]] = len(kernel.code)
        elif registers := _REGISTERS.fullmatch(statement):
            kernel.registers |= dict(_registers(registers[1], registers[2]))
        elif variable := _variable(statement):
            kernel.variables.append(variable)
        elif where := _PLACE.match(statement):
            # What comes from another file was called from a line of this one.
            line = int(where[2] if where[1] == "1" else where[3] or line)
        elif not statement.startswith("."):
            kernel.code.append(_instruction(len(kernel.code), statement, line))
    return kernel


def _statements(body: str) -> Iterator[str]:
    at = 0
    while at < len(body):
        if body[at].isspace() or body[at] in "{}":
            at += 1
            continue
        if label := _LABEL.match(body, at):
            yield label[0]
            at = label.end()
            continue
        end = body.find(";", at)
        if end < 0:
            raise PtxError(f"no instruction: {body[at : at + 60]!r}")
        yield " ".join(body[at:end].split())
        at = end + 1


def _registers(kind: str, names: str) -> Iterator[tuple[str, str]]:
    for n in names.split(","):
        if several := re.fullmatch(r"(%[\w$]+)<(\d+)>", n.strip()):
            yield from ((f"{several[1]}{k}", kind) for k in range(int(several[2])))
        else:
            yield n.strip(), kind


def _variable(statement: str) -> Variable | None:
    statement = statement.strip()
    statement = re.sub(r"^(\.(visible|extern|weak|common)\s+)+", "", statement)
    found = _VARIABLE.match(statement)
    if found is None:
        return None
    space, align, kind, name, extents, first = found.groups()
    count = 1
    for n in re.findall(r"\[(\d*)\]", extents):
        count *= int(n or 0)
    values = tuple(v.strip() for v in (first or "").strip("{} ").split(",") if v)
    size = count * BYTES[kind]
    return Variable(space, name, kind, size, int(align or BYTES[kind]), values)


def _instruction(index: int, statement: str, line: int) -> Instruction:
    guard, negated = None, False
    if found := re.match(r"@(!?)(%[\w$]+)\s+", statement):
        guard, negated = found[2], bool(found[1])
        statement = statement[found.end() :]
    opcode, _, rest = statement.partition(" ")
    operands = tuple(_operands(rest))
    return Instruction(index, tuple(opcode.split(".")), operands, guard, negated, line)


def _operands(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for k, ch in enumerate(text):
        depth += (ch in "{[(") - (ch in "}])")
        if ch == "," and not depth:
            yield text[start:k].strip()
            start = k + 1
    if text[start:].strip():
        yield text[start:].strip()
