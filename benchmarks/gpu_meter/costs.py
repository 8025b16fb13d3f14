"""What instructions cost: which pipes of an SM they take, and how long they last.

The hardware's own instructions (SASS) are told by their names. What PTX becomes is a
guess, for use where the assembler is not installed: a 64-bit addition is two
instructions, a conversion between integers none.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.gpu_meter.ptx import Instruction

#: Warp instructions by the pipe that they take; all take "issue".
Cost = dict[str, float]
PIPES = ("issue", "fp32", "int", "fp64", "xu")

_FP32 = re.compile(r"F(FMA|MUL|ADD|SWZ)|HFMA|HADD|HMUL|MOV")
_INT = re.compile(
    r"I(ADD|SETP|MNMX|ABS)|LOP|SHF|SHL|SHR|LEA|SEL|PRMT|F(SETP|SEL|MNMX|SET|CHK)"
    r"|PLOP|P2R|R2P|BMSK|SGXT|VIADD|VIMNMX|I2FP|VABS|ISCADD|VOTE$"
)
_XU = re.compile(r"MUFU|I2F(?!P)|F2I|F2F|FRND|POPC|FLO|BREV")
_MULTIPLIES = re.compile(r"IMAD|IMUL|IDP")


def sass_cost(opcode: str) -> Cost:
    """What one instruction of the hardware takes."""
    cost: Cost = {"issue": 1.0}
    if opcode.startswith("IMAD.MOV") or _FP32.match(opcode):
        cost["fp32"] = 1.0
    elif _MULTIPLIES.match(opcode):
        # On the same pipe as fp32, at half its pace.
        cost["fp32"] = 2.0
    elif re.match(r"D(FMA|MUL|ADD|SETP|MNMX)", opcode):
        cost["fp64"] = 1.0
    elif _XU.match(opcode):
        cost["xu"] = 1.0
    elif _INT.match(opcode):
        cost["int"] = 1.0
    return cost


#: Multiply-adds, by the opcode of PTX.
MULTIPLY_ADDS = ("fma",)


def ptx_cost(i: Instruction) -> Cost:
    """What one instruction of PTX takes, as a guess."""
    kind, wide = i.kind, i.kind.endswith("64")
    count: Counter[str] = Counter()
    match i.opcode[0]:
        case "ld" if i.has("param"):
            pass
        case "cvta":
            pass
        case "mov":
            count["fp32"] = 0.2
        case "cvt":
            count += _converted(i)
        case "div" | "rem" | "rcp" | "sqrt" | "rsqrt" if kind.startswith("f"):
            count += _divided(i)
        case "div" | "rem":
            count["int"] = 20 if wide else 12
            count["xu"] = 1
        case "ex2" | "lg2" | "sin" | "cos" | "tanh":
            count["xu"] = 1
        case op if kind.startswith("f"):
            pipe = "fp64" if wide else "fp32"
            if op in ("min", "max", "setp", "selp"):
                pipe = "fp64" if wide and op != "selp" else "int"
            count[pipe] = 2 if op == "selp" and wide else 1
        case "mul" | "mad":
            count["fp32"] = 2 * (1 if "wide" in i.opcode or not wide else 4)
            count["issue"] = -count["fp32"] / 2
        case "ld" | "ldu" | "st" | "atom" | "red" | "bra" | "bar" | "barrier":
            count["issue"] = 1
        case "shfl" | "vote" | "match" | "redux" | "activemask" | "ret" | "exit":
            count["issue"] = 1
        case _ if kind == "pred":
            count["int"] = 0.5
        case _:
            count["int"] = 2 if wide else 1
    return {"issue": float(sum(count.values()))} | {
        p: float(n) for p, n in count.items() if p != "issue" and n
    }


def _converted(i: Instruction) -> Counter[str]:
    to, of = i.opcode[-2:]
    if to[0] in "us" and of[0] in "us":
        return Counter({"int": 1} if (of, to) == ("s32", "s64") else {})
    if to == of or i.has("sat"):
        return Counter({"fp32": 1} if i.has("sat") else {"xu": 1})
    return Counter({"int": 1} if (to, of) == ("f32", "s32") else {"xu": 1})


def _divided(i: Instruction) -> Counter[str]:
    if i.has("approx"):
        return Counter({"xu": 1, "fp32": 1 if i.opcode[0] == "div" else 0})
    if i.kind == "f64":
        return Counter({"xu": 1, "fp64": 8, "int": 3})
    return Counter({"xu": 1, "fp32": 7, "int": 2})


def latency(i: Instruction) -> int:
    """Clocks from the issue of an instruction to that of one that needs its result."""
    op, kind = i.opcode[0], i.kind
    if op in ("div", "rem", "sqrt", "rcp"):
        return 40 if i.has("approx") else 90 if kind.endswith("64") else 60
    if op in ("ex2", "lg2", "sin", "cos", "tanh", "rsqrt"):
        return 23
    if op in ("shfl", "vote", "match", "redux"):
        return 23
    if op == "cvt" and "f" in i.opcode[-1][0] + i.opcode[-2][0]:
        return 14
    if op in ("mov", "cvta", "cvt") or (op == "ld" and i.has("param")):
        return 1
    if kind == "f64":
        return 8
    return 8 if kind.endswith("64") and op in ("mul", "mad") else 5
