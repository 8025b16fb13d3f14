"""What one launch of a kernel does, measured on some of its blocks.

Blocks are taken as an SM would have them: as many as it holds at a time, from the
start, the end and places between. A run of neighbouring blocks tells what the second
cache finds. Kernels of few blocks, and those that write integers, which others may use
as places, run whole.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.gpu_meter.costs import MULTIPLY_ADDS, PIPES, ptx_cost
from benchmarks.gpu_meter.device import Launch
from benchmarks.gpu_meter.emulator import Counts, Module
from benchmarks.gpu_meter.machine import Gpu, Occupancy, occupancy
from benchmarks.gpu_meter.ptx import Instruction
from benchmarks.gpu_meter.sass import Assembled, assembled
from tests.targets.cuda import nvrtc

#: How many instructions of warps are run for the SMs' blocks, for the neighbouring
#: ones, of a kernel that must run whole, and of one that does as its blocks are few.
SAMPLE, WINDOW, WHOLE, FEW = 3_000_000, 6_000_000, 400_000_000, 100_000_000
#: Registers of a kernel where no assembler says.
REGISTERS = 40


@dataclass
class SiteFigures:
    """One access of the text, with figures for the whole launch."""

    line: int
    text: str
    access: str
    space: str
    array: str
    width: int
    requests: float
    lanes: float
    sectors: float
    lines: float
    missed: float
    wavefronts: float
    addresses: float
    meeting: float
    #: Bytes that are read from main memory, and written over the second cache.
    from_dram: float

    def per_request(self, n: float) -> float:
        return n / self.requests if self.requests else 0.0

    @property
    def lanes_per_address(self) -> float:
        return self.lanes / self.addresses if self.addresses else 1.0

    @property
    def missed_share(self) -> float:
        return self.missed / self.sectors if self.sectors else 0.0


@dataclass
class Measured:
    """One launch."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    blocks: int
    sampled: int
    registers: int
    spilled: int
    shared: int
    occupancy: Occupancy
    #: "SASS" or "PTX".
    counted_from: str
    #: Warp instructions of the launch by pipe.
    instructions: dict[str, float]
    multiply_adds: float
    elements: int
    sites: list[SiteFigures]
    #: Bytes to and from main memory by array, if nothing of it is in the second cache.
    read: dict[str, float] = field(default_factory=dict)
    written: dict[str, float] = field(default_factory=dict)
    #: Bytes of each array.
    sizes: dict[str, int] = field(default_factory=dict)
    #: Clocks that a wave of blocks takes with nothing but its own waiting.
    wave_clocks: float = 0.0
    hottest: float = 0.0

    @property
    def threads(self) -> int:
        return int(np.prod(self.block)) * self.blocks

    @property
    def waves(self) -> float:
        """How often all SMs are filled with blocks."""
        return self.blocks / self.occupancy.blocks

    def total(self, what: str, space: str = "", access: str = "") -> float:
        return sum(
            float(getattr(s, what))
            for s in self.sites
            if space in ("", s.space) and access in ("", s.access)
        )


@functools.cache
def compiled(
    code: str, options: tuple[str, ...], gpu: Gpu
) -> tuple[Module, dict[str, Assembled]]:
    """A text of CUDA C, ready to run, and what the assembler makes of it."""
    arch = gpu.architecture.replace("sm", "compute")
    ptx = nvrtc.ptx(code, (*options, f"--gpu-architecture={arch}", "-lineinfo"))
    return Module(ptx, gpu), assembled(ptx, gpu.architecture)


def measured(launch: Launch, gpu: Gpu, *, whole: bool = False) -> Measured:
    """Run blocks of a launch, or all, and scale up what they did."""
    module, hardware = compiled(launch.code, launch.options, gpu)
    known = hardware.get(launch.name)
    e = module.encoded(launch.name, launch.dynamic)
    threads = int(np.prod(launch.block))
    registers = known.registers if known else REGISTERS
    holds = occupancy(gpu, threads, registers, e.shared_bytes)
    blocks = int(np.prod(launch.grid, dtype=np.int64))
    wanted = whole or _writes_places(launch)
    whole = wanted or blocks <= 2 * gpu.sms
    shared = holds.blocks * (e.shared_bytes + gpu.shared_kept)
    run = functools.partial(
        module.run,
        launch.name,
        launch.grid,
        launch.block,
        launch.arguments,
        dynamic=launch.dynamic,
        most=WHOLE if wanted else FEW,
        l1_bytes=max(16 << 10, gpu.l1_bytes_with_shared - max(shared, 28 << 10)),
    )
    # What an SM holds of a launch that does not fill all of them.
    resident = min(holds.blocks, -(-blocks // gpu.sms))
    if whole:
        dealt = [range(k, blocks, gpu.sms) for k in range(min(blocks, gpu.sms))]
        rounds = [-(-len(g) // resident) for g in dealt]
        try:
            window = counts = run(groups=dealt, resident=resident)
        except TimeoutError:
            if wanted:
                raise
            whole = False
    if not whole:
        middle = blocks // 2
        one = run(groups=[[middle]], resident=1).instructions
        some = _window(blocks, max(1, WINDOW // max(1, one)), gpu.sms * resident)
        window = run(groups=[some], first_caches=gpu.sms)
        groups = sample(blocks, resident, gpu.sms, SAMPLE // max(1, one))
        counts = run(groups=groups, resident=resident, dram=False)
        rounds = [1] * len(groups)
    return _figures(launch, module, known, holds, counts, window, rounds)


def sample(blocks: int, resident: int, sms: int, most: int) -> list[list[int]]:
    """Groups of blocks as one SM holds them: first, last, and spread between."""
    count = max(3, min(16, most // resident))
    span = sms * (resident - 1) + 1
    starts = np.linspace(0, max(0, blocks - span), count).astype(int)
    groups = [[k for k in range(s, s + span, sms) if k < blocks] for s in starts]
    return [g for k, g in enumerate(groups) if g not in groups[:k]]


def _window(blocks: int, most: int, wave: int) -> range:
    count = min(blocks, most, 2 * wave)
    start = (blocks - count) // 2
    return range(start, start + count)


def _writes_places(launch: Launch) -> bool:
    """Does a kernel write integers, other than its status?"""
    declared = launch.code[launch.code.index(f" {launch.name}(") :].split(")")[0]
    parts = declared.split("(", 1)[1].split(",")
    return any(
        isinstance(a, np.ndarray)
        and a.dtype.kind in "iub"
        and "const" not in part
        and name != "status"
        for part, name, a in zip(
            parts, launch.parameters, launch.arguments, strict=True
        )
    )


def _figures(
    launch: Launch,
    module: Module,
    known: Assembled | None,
    holds: Occupancy,
    counts: Counts,
    window: Counts,
    rounds: Sequence[int],
) -> Measured:
    e, scale = counts.encoded, counts.blocks / counts.ran
    kernel = e.kernel
    names = dict(zip([p for p, _ in kernel.parameters], launch.parameters, strict=True))
    if known is not None and known.words:
        costs = known.costs(kernel, e.blocks)
    else:
        costs = [_guessed(kernel.code[a : a + n]) for a, n in e.blocks]
    instructions = {
        p: scale
        * sum(float(r) * c.get(p, 0.0) for r, c in zip(counts.runs, costs, strict=True))
        for p in PIPES
    }
    adds = [
        sum(i.opcode[0] in MULTIPLY_ADDS for i in kernel.code[a : a + n])
        for a, n in e.blocks
    ]
    lines = launch.code.splitlines()
    clocks = [c / n for c, n in zip(counts.clocks, rounds, strict=True)]
    far = 32 * window.blocks / window.ran
    sites: list[SiteFigures] = []
    for s, c, w in zip(e.sites, counts.sites, window.sites, strict=True):
        if not c["requests"]:
            continue
        line = kernel.code[s.index].line
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        where = int(c["range"])
        array = names.get(counts.ranges[where], "?") if where >= 0 else ""
        figures = [scale * float(c[n]) for n in _SCALED]
        known_as = line, text or str(kernel.code[s.index]), s.access, s.space
        one = (array, s.width, *figures, far * float(w["from_dram"]))
        sites.append(SiteFigures(*known_as, *one))
    hot = float(counts.hottest)
    if counts.hottest_blocks and counts.ran > 1:
        share = (counts.hottest_blocks - 1) / (counts.ran - 1)
        each = hot / counts.hottest_blocks
        hot = each * (1 + share * (counts.blocks - 1))
    made = Measured(
        launch.name,
        launch.grid,
        launch.block,
        counts.blocks,
        counts.ran,
        known.registers if known else REGISTERS,
        known.spilled if known else 0,
        e.shared_bytes,
        holds,
        "SASS" if known is not None and known.words else "PTX",
        instructions,
        scale * float(np.dot(counts.lanes, adds)),
        _elements(launch),
        sites,
        wave_clocks=float(np.mean(clocks)),
        hottest=hot,
    )
    _memory(made, names, counts, window)
    return made


_SCALED = ("requests", "lanes", "sectors", "lines", "missed")
_SCALED += ("wavefronts", "addresses", "meeting")


def _memory(
    made: Measured, names: dict[str, str], counts: Counts, window: Counts
) -> None:
    """Bytes to and from main memory, array by array.

    What is read again soon is in the second cache; what the kernel touches all in all
    is read once if the cache holds it.
    """
    share = window.blocks / window.ran
    made.sizes = {
        names.get(n, n): size
        for n, size in zip(counts.ranges, counts.sizes, strict=True)
    }
    for k, n in enumerate(window.ranges):
        name, size = names.get(n, n), window.sizes[k]
        made.written[name] = min(float(size), share * window.written[k])
        once = min(float(size), share * window.read[k])
        here = [s for s in made.sites if s.array == name and s.access == "load"]
        far = sum(s.from_dram for s in here)
        made.read[name] = once
        if here and size > 0.5 * (50 << 20):
            made.read[name] = max(once, far)


def _guessed(code: Sequence[Instruction]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for i in code:
        for pipe, n in ptx_cost(i).items():
            total[pipe] += n  # type: ignore[assignment]
    return dict(total)


def _elements(launch: Launch) -> int:
    """How many elements the largest array of a launch has."""
    sizes = [a.size for a in launch.arguments if isinstance(a, np.ndarray)]
    return max(sizes, default=1)
