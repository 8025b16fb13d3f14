"""The hardware's own instructions (SASS) of a text, where NVIDIA's tools are installed.

`ptxas` (the wheel `nvidia-cuda-nvcc-cu12`) assembles, `nvdisasm`
(`nvidia-cuda-nvdisasm`) shows. Every instruction of PTX is given a line number before,
which the assembler keeps: so what each became is known, and how often that runs is
what was counted of the PTX.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import statistics
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.gpu_meter.costs import PIPES, Cost, sass_cost
from benchmarks.gpu_meter.ptx import PtxKernel

#: What becomes of an instruction of PTX as often as the assembler has copied it.
_ANCHORS = {
    "ld.global": r"LDG|LD\b",
    "st.global": r"STG|ST\b",
    "ld.shared": "LDS",
    "st.shared": "STS",
    "ld.local": "LDL",
    "st.local": "STL",
    "fma": "[FD]FMA",
    "shfl": "SHFL",
    "bar": "BAR",
    "ex2": "MUFU",
}
_LINE = re.compile(r'//## File ".*", line (\d+)')
_WORD = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")


@dataclass
class Assembled:
    """One kernel as the hardware gets it."""

    registers: int
    spilled: int
    shared: int
    #: Opcodes by the number of the PTX instruction that they come from.
    words: dict[int, list[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """All instructions, each once."""
        return sum(map(len, self.words.values()))

    def costs(self, kernel: PtxKernel, blocks: Sequence[tuple[int, int]]) -> list[Cost]:
        """What a run of each basic block of PTX takes."""
        return [self.cost(kernel, start, start + n) for start, n in blocks]

    def cost(self, kernel: PtxKernel, start: int, end: int) -> Cost:
        total = dict.fromkeys(PIPES, 0.0)
        for k in range(start, end):
            for word in self.words.get(k, ()):
                for pipe, n in sass_cost(word).items():
                    total[pipe] += n
        copies = self.copies(kernel, start, end)
        return {pipe: n / copies for pipe, n in total.items()}

    def copies(self, kernel: PtxKernel, start: int, end: int) -> float:
        """How often a basic block is in the text: loops are unrolled."""
        found = []
        for i in kernel.code[start:end]:
            name = ".".join(i.opcode[:2])
            pattern = _ANCHORS.get(name) or _ANCHORS.get(i.opcode[0])
            if pattern is None:
                continue
            words = self.words.get(i.index, ())
            found.append(sum(bool(re.match(pattern, w)) for w in words))
        some = [n for n in found if n]
        return max(1, statistics.median(some)) if some else 1


def tool(name: str) -> str | None:
    """Where one of NVIDIA's tools is: in a wheel, else on the path."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for found in sorted(Path(folder).glob(f"*/bin/{name}")):
            return str(found)
    return shutil.which(name)


@functools.cache
def assembled(ptx: str, architecture: str) -> dict[str, Assembled]:
    """Every kernel of a text by its name; none where there is no assembler.

    Without `nvdisasm` registers and spills are known, instructions are not.
    """
    ptxas, nvdisasm = tool("ptxas"), tool("nvdisasm")
    if ptxas is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernels.ptx"), Path(folder, "kernels.cubin")
        source.write_text(numbered(ptx))
        command = [ptxas, f"-arch={architecture}", "-v", "--generate-line-info"]
        done = subprocess.run(
            [*command, str(source), "-o", str(binary)], capture_output=True, text=True
        )
        if done.returncode:
            raise ValueError(f"ptxas refuses it:\n{done.stderr[:2000]}")
        found = _used(done.stderr + done.stdout)
        if nvdisasm is not None:
            shown = subprocess.run(
                [nvdisasm, "-g", "-c", str(binary)], capture_output=True, text=True
            )
            for name, words in _words(shown.stdout).items():
                found[name].words = words
    return found


def numbered(ptx: str) -> str:
    """The text with the number of each instruction, from one, as its line."""
    out: list[str] = []
    number = 0
    inside = False
    opened = False
    for line in ptx.splitlines():
        if re.match(r"\s*\.(loc|file)\s", line):
            continue
        text = line.split("//")[0].strip()
        if ".entry" in text:
            number, inside = 0, True
        starts = not opened and re.match(r"(\{\s*)?(@!?%[\w$]+\s+)?[a-z]", text)
        if inside and starts:
            number += 1
            out.append(f".loc 1 {number} 0")
        if inside and text and not text.startswith((".", "$", "{", "}", ")", "(")):
            opened = not text.endswith((";", ":"))
        elif text.endswith(";"):
            opened = False
        out.append(line)
    return "\n".join([*out, '.file 1 "kernels.ptx"', ""])


def _used(text: str) -> dict[str, Assembled]:
    found: dict[str, Assembled] = {}
    parts = re.split(r"Compiling entry function '([\w$]+)'", text)[1:]
    for name, said in zip(parts[::2], parts[1::2], strict=True):
        registers = re.search(r"Used (\d+) registers", said)
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
        shared = re.search(r"(\d+) bytes smem", said)
        found[name] = Assembled(
            int(registers[1]) if registers else 0,
            sum(map(int, spills.groups())) if spills else 0,
            int(shared[1]) if shared else 0,
        )
    return found


def _words(text: str) -> dict[str, dict[int, list[str]]]:
    """Opcodes by kernel and by the PTX instruction that they come from.

    What a kernel calls (the slow way of a division) is left out.
    """
    found: dict[str, dict[int, list[str]]] = {}
    now: dict[int, list[str]] | None = None
    line = 0
    for row in text.splitlines():
        row = row.strip()
        if section := re.match(r"\.section\s+\.text\.([\w$]+)", row):
            now, line = found.setdefault(section[1], {}), 0
        elif re.match(r"\.section\s", row) or re.match(r"[\w$]*__internal[\w$]*:", row):
            now = None
        elif where := _LINE.search(row):
            line = int(where[1])
        elif (word := _WORD.match(row)) and now is not None and word[1] != "NOP":
            now.setdefault(line - 1, []).append(word[1])
    return found


def classes(words: Sequence[str]) -> Counter[str]:
    """How many instructions there are by their first word."""
    return Counter(w.split(".")[0] for w in words)
