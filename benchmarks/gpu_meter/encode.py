"""A kernel of PTX as the records that `warps.cpp` runs.

Every register has a place in one file of bytes, a slot of 4 or 8 bytes for each of 32
lanes. Constants and parameters are registers, too, which are set before the start.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.gpu_meter.costs import latency
from benchmarks.gpu_meter.ptx import BYTES, Instruction, PtxError, PtxKernel, Variable

OPERANDS = 5
#: One instruction, as `struct Ins` in `lanes.h`.
RECORD = np.dtype(
    [
        ("op", "i4"),
        ("kind", "i4"),
        ("out", "u4", (OPERANDS,)),
        ("in", "u4", (OPERANDS,)),
        *((n, "i4") for n in ("outs", "ins", "guard", "negated")),
        *((n, "i4") for n in ("space", "bytes", "many", "extend")),
        ("offset", "i8"),
        *((n, "i4") for n in ("site", "target", "block", "latency", "what", "length")),
    ],
    align=True,
)
PLAIN, BRANCH, EXIT, MEMORY, ATOMIC, BARRIER, ACROSS, ALLOCATE, FREE = range(9)
SPACES = ("global", "shared", "local", "generic")
_LOAD, _STORE = 0, 1
_ADDING = ("add", "min", "max", "inc", "dec", "exch", "cas", "and", "or", "xor")
_ADDED = {"b32": "u32", "b64": "u64"}
_TYPES = ("u32", "s32", "u64", "s64", "f32", "f64")
_SHUFFLES = ("up", "down", "bfly", "idx")
_VOTES = ("all", "any", "uni", "ballot")
_MATCH, _ACTIVE, _MEET, _SUM = 8, 9, 10, 11
_REDUCED = {"add": _SUM, "min": 12, "max": 13}
SHARED_WINDOW, LOCAL_WINDOW = 1 << 60, 1 << 61

#: What says how the hardware does something, not what.
_MANNER = {
    *("rn", "approx", "ftz", "full", "uni", "wrap", "to"),
    *("relaxed", "weak", "volatile", "gpu", "sys", "cta", "aligned"),
}
_SIGNLESS = {
    "add",
    "sub",
    "and",
    "or",
    "xor",
    "not",
    "cnot",
    "neg",
    "mov",
    "selp",
    "shl",
}
_SIGNLESS_LOW = {"mul", "mad"}
_IDLE = {"membar", "fence", "nanosleep", "prefetch", "pragma"}


@dataclass(frozen=True)
class Site:
    """An instruction that touches memory."""

    index: int
    space: str
    #: "load", "store" or "atomic".
    access: str
    kind: str
    #: Bytes of one lane's access.
    width: int


@dataclass
class Encoded:
    """A kernel ready to run."""

    kernel: PtxKernel
    code: np.ndarray[Any, Any]
    sites: list[Site]
    #: First instruction and length of each basic block.
    blocks: list[tuple[int, int]]
    #: Places of special registers, parameters and constants in the file.
    places: dict[str, int]
    #: By place: the bytes of one lane of a constant.
    constants: dict[int, bytes]
    file_bytes: int
    shared_bytes: int
    local_bytes: int


def encoded(
    kernel: PtxKernel,
    known: Callable[[str], int],
    addresses: Mapping[str, int],
    dynamic: int = 0,
    outer: list[Variable] | None = None,
) -> Encoded:
    """The records of a kernel; `addresses` are those of the text's own variables.

    `known` numbers the names of plain instructions, -1 for those that it has not.
    """
    return _Encoder(kernel, known, addresses, dynamic, outer or []).run()


@dataclass
class _Encoder:
    kernel: PtxKernel
    known: Callable[[str], int]
    addresses: Mapping[str, int]
    dynamic: int
    outer: list[Variable]
    places: dict[str, int] = field(default_factory=dict)
    constants: dict[int, bytes] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    end: int = 0
    #: Where goes what nobody reads.
    spare: int = 0

    def run(self) -> Encoded:
        sizes = self.lay_out()
        for n, kind in self.kernel.registers.items():
            self.places[n] = self.room(BYTES[kind])
        for n in ("tid", "ctaid", "ntid", "nctaid"):
            for axis in "xyz":
                self.places[f"%{n}.{axis}"] = self.room(4)
        self.places["%laneid"] = self.room(4)
        self.spare = self.room(8)
        for n, kind in self.kernel.parameters:
            self.places[n] = self.room(BYTES[kind])
        starts = self.kernel.starts()
        ends = [*starts[1:], len(self.kernel.code)]
        blocks = [(a, b - a) for a, b in zip(starts, ends, strict=True)]
        code = np.zeros(len(self.kernel.code) + 1, RECORD)
        code["block"] = -1
        code["guard"] = -1
        for k, (start, length) in enumerate(blocks):
            code["block"][start], code["length"][start] = k, length
        for i in self.kernel.code:
            try:
                self.encode(i, code[i.index : i.index + 1])
            except (KeyError, ValueError) as error:
                raise PtxError(f"not emulated: `{i}` ({error})") from error
        code["kind"][-1] = EXIT
        return Encoded(
            self.kernel,
            code,
            self.sites,
            blocks,
            self.places,
            self.constants,
            self.end,
            sizes["shared"],
            sizes["local"],
        )

    def lay_out(self) -> dict[str, int]:
        """Offsets of shared and local variables; how much of each there is."""
        sizes = {"shared": 0, "local": 0}
        self.offsets: dict[str, int] = dict(self.addresses)
        declared = [*self.kernel.variables, *self.outer]
        used = {n for i in self.kernel.code for o in i.operands for n in _names(o)}
        for v in sorted(declared, key=lambda v: v.size == 0):
            if v.space in sizes and (v.name in used or v in self.kernel.variables):
                at = -(-sizes[v.space] // v.align) * v.align
                self.offsets[v.name] = at
                sizes[v.space] = at + v.size
        sizes["shared"] += self.dynamic
        sizes["local"] = -(-sizes["local"] // 16) * 16
        return sizes

    def room(self, size: int) -> int:
        """A new place of 32 slots; predicates have a mask in theirs."""
        at = self.end
        self.end += 256 if size == 8 else 128
        return at

    # ---------------------------------------------------------------- operands

    def constant(self, text: str, size: int) -> int:
        """The place of a number or of an address."""
        key = f"{text}:{size}"
        if key not in self.places:
            self.places[key] = at = self.room(size)
            self.constants[at] = self.value(text, size)
        return self.places[key]

    def value(self, text: str, size: int) -> bytes:
        if found := re.fullmatch(r"0[fF]([0-9A-Fa-f]{8})", text):
            return struct.pack("<I", int(found[1], 16))
        if found := re.fullmatch(r"0[dD]([0-9A-Fa-f]{16})", text):
            return struct.pack("<Q", int(found[1], 16))
        if text in self.offsets:
            number = self.offsets[text]
        else:
            number = int(re.sub(r"U$", "", text), 0)
        slot = 8 if size == 8 else 4
        return (number % (1 << (8 * slot))).to_bytes(slot, "little")

    def source(self, text: str, size: int) -> int:
        text = text.lstrip("!")
        if text == "WARP_SZ":
            text = "32"
        if text in ("%SP", "%SPL") or text in self.places:
            return self.places[text]
        if text.startswith("%"):
            raise ValueError(f"the register {text}")
        return self.constant(text, size)

    def width(self, register: str) -> int:
        """The bytes of a register's slot."""
        kind = self.kernel.registers.get(register)
        return 8 if kind is not None and BYTES[kind] == 8 else 4

    # ---------------------------------------------------------------- instructions

    def encode(self, i: Instruction, r: Any) -> None:
        if i.guard is not None:
            r["guard"], r["negated"] = self.places[i.guard], i.negated
        r["latency"] = latency(i)
        match i.opcode[0]:
            case "bra":
                r["kind"], r["target"] = BRANCH, self.kernel.labels[i.operands[0]]
            case "ret" | "exit":
                r["kind"] = EXIT
            case "bar" | "barrier" if i.has("warp"):
                self.across(r, _MEET, (), i.operands)
            case "bar" | "barrier" if i.has("sync"):
                r["kind"] = BARRIER
            case "ld" if i.has("param"):
                self.parameter(i, r)
            case "ld" | "ldu" | "st":
                self.access(i, r)
            case "atom" | "red":
                self.atomic(i, r)
            case "shfl" | "vote" | "match" | "redux" | "activemask":
                self.warp_wide(i, r)
            case op if op in _IDLE:
                self.plain(r, "nothing", (), ())
            case _:
                self.computed(i, r)

    def plain(self, r: Any, name: str, outs: Any, ins: Any) -> None:
        op = self.known(name)
        if op < 0:
            raise ValueError(f"no {name}")
        r["kind"], r["op"] = PLAIN, op
        self.wire(r, outs, ins)

    def wire(self, r: Any, outs: Any, ins: Any) -> None:
        r["outs"], r["ins"] = len(outs), len(ins)
        r["out"][0, : len(outs)] = outs
        r["in"][0, : len(ins)] = ins

    def parameter(self, i: Instruction, r: Any) -> None:
        """A parameter that is read is a register that is copied."""
        found = re.fullmatch(r"\[([\w$]+)(?:\+(\d+))?\]", i.operands[1])
        if found is None or int(found[2] or 0):
            raise ValueError("a part of a parameter")
        out = self.places[i.operands[0]]
        wide = self.width(i.operands[0])
        self.plain(r, f"mov.b{8 * wide}", [out], [self.places[found[1]]])

    def address(self, text: str, r: Any) -> int:
        found = re.fullmatch(r"\[([^\]+]+)(?:\+(-?\w+))?\]", text)
        if found is None:
            raise ValueError("an address")
        r["offset"] = int(found[2] or "0", 0)
        base = found[1].strip()
        # An address of shared memory has 32 bits or 64.
        r["target"] = base in self.places and self.width(base) == 4
        return self.source(base, 8)

    def access(self, i: Instruction, r: Any) -> None:
        """A load or a store, of one value or of a vector."""
        loads = i.opcode[0] != "st"
        space = next((s for s in SPACES if s in i.opcode), "generic")
        if i.has("const"):
            space = "global"
        size = BYTES[i.kind]
        value, at = i.operands if loads else i.operands[::-1]
        values = _vector(value)
        r["kind"], r["what"] = MEMORY, _LOAD if loads else _STORE
        r["space"], r["bytes"], r["many"] = SPACES.index(space), size, len(values)
        registers = [v for v in values if v.startswith("%")]
        wide = self.width(registers[0]) == 8 if registers else size == 8
        past = i.has("cg", "cv", "volatile", "relaxed", "acquire")
        r["extend"] = i.kind.startswith("s") + 2 * wide + 4 * past
        base = self.address(at, r)
        places = [self.source(v, 8 if wide else 4) for v in values]
        if loads:
            self.wire(r, places, [base])
        else:
            self.wire(r, [], [base, *places])
        access = "load" if loads else "store"
        r["site"] = len(self.sites)
        self.sites.append(Site(i.index, space, access, i.kind, size * len(values)))

    def atomic(self, i: Instruction, r: Any) -> None:
        """What reads, changes and writes in one."""
        space = next((s for s in SPACES if s in i.opcode), "generic")
        kind = _ADDED.get(i.kind, i.kind)
        what = next(w for w in i.opcode[1:] if w in _ADDING)
        returns = i.opcode[0] == "atom"
        at, *values = i.operands[1:] if returns else i.operands
        size = BYTES[kind]
        r["kind"], r["what"], r["extend"] = (
            ATOMIC,
            _ADDING.index(what),
            _TYPES.index(kind),
        )
        r["space"], r["bytes"], r["many"] = SPACES.index(space), size, 1
        out = i.operands[0]
        outs = [self.places[out]] if returns and out != "_" else []
        base = self.address(at, r)
        self.wire(r, outs, [base, *(self.source(v, size) for v in values)])
        r["site"] = len(self.sites)
        self.sites.append(Site(i.index, space, "atomic", i.kind, size))

    def across(self, r: Any, what: int, outs: Any, ins: Any) -> None:
        r["kind"], r["what"] = ACROSS, what
        self.wire(r, [self.places[o] for o in outs], [self.source(x, 4) for x in ins])

    def warp_wide(self, i: Instruction, r: Any) -> None:
        """What the lanes of a warp do together."""
        outs = i.operands[0].split("|")
        match i.opcode[0]:
            case "shfl":
                what = next(k for k, s in enumerate(_SHUFFLES) if s in i.opcode)
                self.across(r, what, outs, i.operands[1:])
            case "vote":
                what = 4 + next(k for k, s in enumerate(_VOTES) if s in i.opcode)
                r["extend"] = i.operands[1].startswith("!")
                self.across(r, what, outs, i.operands[1:])
            case "match" if i.has("any"):
                r["bytes"] = BYTES[i.kind]
                self.across(r, _MATCH, outs, i.operands[1:])
            case "redux":
                what = next(k for s, k in _REDUCED.items() if s in i.opcode)
                r["extend"] = i.kind == "s32"
                self.across(r, what, outs, i.operands[1:])
            case "activemask":
                self.across(r, _ACTIVE, outs, ())
            case _:
                raise ValueError(i.name)

    def computed(self, i: Instruction, r: Any) -> None:
        """Arithmetic, comparisons, conversions, and moves."""
        out, *ins = i.operands
        match i.opcode[0]:
            case "setp":
                self.compared(i, r)
            case "mov" if out.startswith("{") or ins[0].startswith("{"):
                self.packed(i, r)
            case "cvta":
                self.windowed(i, r)
            case "mov" | "ld" if i.kind == "pred":
                self.plain(r, "mov.pred", [self.places[out]], [self.source(ins[0], 4)])
            case "mov":
                wide = self.width(out)
                self.plain(
                    r,
                    f"mov.b{8 * wide}",
                    [self.places[out]],
                    [self.source(ins[0], wide)],
                )
            case "selp":
                size = BYTES[i.kind]
                places = [self.source(x, size) for x in ins[:2]]
                name = f"selp.b{64 if size == 8 else 32}"
                self.plain(r, name, [self.places[out]], [*places, self.places[ins[2]]])
            case "cvt":
                to, of = (BYTES[t] for t in i.opcode[-2:])
                if self.width(out) > max(4, to) or self.width(ins[0]) > max(4, of):
                    raise ValueError("a conversion in a wider register")
                place = self.source(ins[0], of)
                self.plain(r, _conversion(i), [self.places[out]], [place])
            case _:
                places = [
                    self.source(x, s) for x, s in zip(ins, _sizes(i), strict=False)
                ]
                self.plain(r, _name(i), [self.places[out.split("|")[0]]], places)

    def compared(self, i: Instruction, r: Any) -> None:
        size = BYTES[i.kind]
        places = [self.source(x, size) for x in i.operands[1:3]]
        outs = [self.places[p] for p in i.operands[0].split("|") if p != "_"]
        kind = re.sub(r"^b", "u", i.kind)
        if len(i.operands) > 3:
            r["what"] = ("and", "or", "xor").index(i.opcode[2])
            r["extend"] = i.operands[3].startswith("!")
            places.append(self.source(i.operands[3], 4))
        self.plain(r, f"setp.{i.opcode[1]}.{kind}", outs, places)

    def packed(self, i: Instruction, r: Any) -> None:
        out, given = i.operands
        bits = 8 * BYTES[i.kind]
        half = bits // 16
        if out.startswith("{"):
            outs = [self.places.get(o, self.spare) for o in _vector(out)]
            self.plain(r, f"unpack.b{bits}", outs, [self.source(given, bits // 8)])
        else:
            places = [self.source(v, half) for v in _vector(given)]
            self.plain(r, f"pack.b{bits}", [self.places[out]], places)

    def windowed(self, i: Instruction, r: Any) -> None:
        """Addresses of one space as addresses of all, and back."""
        out, given = i.operands
        window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}
        base = next((w for s, w in window.items() if s in i.opcode), 0)
        name = "sub.b64" if i.has("to") else "add.b64"
        places = [self.source(given, 8), self.constant(str(base), 8)]
        self.plain(r, name, [self.places[out]], places)


def _names(operand: str) -> list[str]:
    return re.findall(r"[\w$]+", operand)


def _vector(text: str) -> list[str]:
    return [v.strip() for v in text.strip("{}").split(",")]


def _sizes(i: Instruction) -> list[int]:
    """The bytes of each operand that is read."""
    size = BYTES[i.kind]
    match i.opcode[0]:
        case "shl" | "shr":
            return [size, 4]
        case "bfe":
            return [size, 4, 4]
        case "bfi":
            return [size, size, 4, 4]
        case "mad" if i.has("wide"):
            return [size, size, 2 * size]
    return [size] * OPERANDS


def _name(i: Instruction) -> str:
    """What `table.h` calls an instruction: what it does, without how."""
    op, kind = i.opcode[0], i.kind
    parts = [p for p in i.opcode[1:-1] if p not in _MANNER]
    if kind == "pred" or kind.startswith("f"):
        if op == "mad":
            op = "fma"
        return ".".join([op, *parts, kind])
    if op in _SIGNLESS or (op in _SIGNLESS_LOW and "lo" in parts):
        kind = re.sub(r"^[us]", "b", kind)
    if op in ("min", "max", "div", "rem", "abs") and kind.startswith("b"):
        kind = f"u{kind[1:]}"
    if op in ("abs",):
        kind = re.sub(r"^[us]", "b", kind)
    if op in ("shr",):
        kind = re.sub(r"^b", "u", kind)
    if op == "shf":
        parts = [p for p in parts if p in ("l", "r")]
    return ".".join([op, *parts, kind])


def _conversion(i: Instruction) -> str:
    to, of = i.opcode[-2:]
    how = [p for p in i.opcode[1:-2] if p not in _MANNER]
    if to == of and to.startswith("f") and not how:
        return f"mov.b{8 * BYTES[to]}"
    return ".".join(["cvt", *how, to, of])
