"""Time from what was measured: the largest of what each part of a GPU needs.

    issue, fp32, int, fp64, xu   warp instructions over the pace of a pipe
    L1        lines of 128 bytes and rounds of shared memory
    L2        sectors that the first caches have not, and all stores
    DRAM      bytes that the second cache has not
    atomics   sectors, or lanes on one address, over the slices of the second cache
    waiting   what the warps of an SM wait for, if there are too few to hide it

They are taken to overlap wholly, and launches not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.gpu_meter.costs import PIPES
from benchmarks.gpu_meter.device import Allocated, Event, Launch, Moved, standing_in
from benchmarks.gpu_meter.machine import H200, Gpu
from benchmarks.gpu_meter.measure import Measured, SiteFigures, measured

#: Of the second cache, what an array can count on.
SHARE_OF_L2 = 0.7
#: How many launches of one kernel are measured where their sizes differ.
SIZES = 4


@dataclass
class Row:
    """One kernel, or what CuPy does itself, with all its launches."""

    name: str
    launches: int = 0
    seconds: float = 0.0
    #: Seconds by bound, over all launches.
    bounds: dict[str, float] = field(default_factory=dict)
    bytes: float = 0.0
    measured: Measured | None = None

    @property
    def bound(self) -> str:
        """What most of the time is due to."""
        return max(self.bounds, key=lambda k: self.bounds[k]) if self.bounds else ""

    def worst(self) -> SiteFigures | None:
        """The site that costs the most of what the kernel is bound by."""
        if self.measured is None or not self.measured.sites:
            return None
        return max(self.measured.sites, key=_COST.get(self.bound, _COST["L2"]))


@dataclass
class Prediction:
    """All launches of one call."""

    gpu: Gpu
    rows: list[Row]
    allocations: int
    allocated: int
    #: Bytes to and from main memory, and the least that there must be.
    moved: float
    least: int

    @property
    def seconds(self) -> float:
        return sum(r.seconds for r in self.rows)

    @property
    def launches(self) -> int:
        return sum(r.launches for r in self.rows)

    @property
    def slowest(self) -> Row:
        return max(self.rows, key=lambda r: r.seconds)


def site_lines(s: SiteFigures) -> float:
    return s.lines + s.wavefronts


_COST: dict[str, Callable[[SiteFigures], float]] = {
    "L1": site_lines,
    "L2": lambda s: s.missed + (s.sectors if s.access == "atomic" else 0),
    "DRAM": lambda s: s.from_dram + 32 * (s.sectors if s.access == "store" else 0),
    "atomics": lambda s: max(s.sectors, s.meeting) if s.access == "atomic" else 0,
    "waiting": lambda s: s.missed,
}


def bounds(m: Measured, gpu: Gpu) -> dict[str, float]:
    """Seconds that each part of the GPU needs for a launch; main memory apart."""
    # The SM with the most blocks decides, unless it holds them all at once with others.
    uneven = -(-m.blocks // gpu.sms) * gpu.sms / m.blocks
    clock = uneven / (gpu.sms * gpu.hertz)
    found = {
        p: m.instructions[p] / (gpu.pipes[p] * gpu.issue_share) * clock for p in PIPES
    }
    lines = m.total("lines") + m.total("wavefronts")
    found["L1"] = lines / gpu.l1_lines * clock
    adding = [s for s in m.sites if s.access == "atomic" and s.space != "shared"]
    sectors = m.total("missed") + sum(s.sectors for s in adding)
    found["L2"] = 32 * sectors / gpu.l2_bandwidth
    taken = sum(max(s.sectors, s.meeting) for s in adding)
    found["atomics"] = max(taken / gpu.l2_slices, m.hottest / gpu.hot_rate) / gpu.hertz
    found["waiting"] = m.wave_clocks * max(1.0, m.waves / gpu.sms) / gpu.hertz
    return {k: v for k, v in found.items() if v > 0}


class _Recent:
    """What was touched lately enough to be in the second cache."""

    def __init__(self, gpu: Gpu) -> None:
        self.most = SHARE_OF_L2 * gpu.l2_bytes
        self.touched: dict[int, int] = {}

    def near(self, at: int) -> bool:
        between = 0
        for other, size in reversed(self.touched.items()):
            between += size
            if between > self.most:
                return False
            if other == at:
                return True
        return False

    def touch(self, at: int, size: int) -> None:
        self.touched.pop(at, None)
        self.touched[at] = size


class Meter:
    """Notes what a call does on the stand-in of CuPy, and measures its kernels."""

    def __init__(self, gpu: Gpu = H200, *, whole: bool = False) -> None:
        self.gpu, self.whole = gpu, whole
        self.rows: dict[str, Row] = {}
        self.known: dict[tuple[str, str], list[Measured]] = {}
        self.recent = _Recent(gpu)
        self.allocations = self.allocated = 0
        self.moved = 0.0
        #: Arrays that were read or written, by address.
        self.read: set[int] = set()
        self.written: set[int] = set()

    def note(self, event: Event) -> None:
        match event:
            case Launch():
                self.launched(event)
            case Moved(what, size, array):
                self.filled(what, size, array)
            case Allocated(size):
                self.allocations += 1
                self.allocated += size

    def launched(self, launch: Launch) -> None:
        m = self.like(launch)
        row = self.rows.setdefault(launch.name, Row(launch.name))
        scale = float(np.prod(launch.grid, dtype=np.int64)) / m.blocks
        found = {k: scale * v for k, v in bounds(m, self.gpu).items()}
        far = self.far(launch, m)
        found["DRAM"] = scale * far / self.gpu.dram_bandwidth
        bound = max(found, key=lambda k: found[k])
        if found[bound] < self.gpu.launch:
            bound = "launch"
        taken = max(found.values()) + self.gpu.launch
        row.launches += 1
        row.seconds += taken
        row.bounds[bound] = row.bounds.get(bound, 0.0) + taken
        row.bytes += scale * far
        self.moved += scale * far
        if row.measured is None or row.measured.blocks < m.blocks:
            row.measured = m

    def like(self, launch: Launch) -> Measured:
        """The figures of a launch, or of one of the same kernel with other sizes."""
        known = self.known.setdefault((launch.name, launch.code), [])
        sizes = launch.grid, launch.block
        for m in known:
            if (m.grid, m.block) == sizes:
                if self.whole:
                    measured(launch, self.gpu, whole=True)
                return m
        if len(known) >= SIZES and not self.whole:
            blocks = float(np.prod(launch.grid, dtype=np.int64))
            return min(known, key=lambda m: abs(m.blocks - blocks))
        known.append(measured(launch, self.gpu, whole=self.whole))
        return known[-1]

    def far(self, launch: Launch, m: Measured) -> float:
        """Bytes that a launch moves to and from main memory."""
        total = 0.0
        arrays: dict[str, Any] = {
            n: a
            for n, a in zip(launch.parameters, launch.arguments, strict=True)
            if isinstance(a, np.ndarray)
        }
        for n, a in arrays.items():
            read, written = m.read.get(n, 0.0), m.written.get(n, 0.0)
            at = a.ctypes.data
            if read and at not in self.written:
                self.read.add(at)
            if written:
                self.written.add(at)
            if not self.recent.near(at):
                total += read + written
        for n, a in arrays.items():
            if m.read.get(n, 0.0) + m.written.get(n, 0.0):
                self.recent.touch(a.ctypes.data, a.nbytes)
        return total

    def filled(self, what: str, size: int, array: Any) -> None:
        row = self.rows.setdefault(what, Row(what))
        near = self.recent.near(array.ctypes.data) and what != "sort"
        needed = size / (self.gpu.l2_bandwidth if near else self.gpu.dram_bandwidth)
        row.launches += 1
        row.seconds += self.gpu.launch + needed
        name = "launch" if needed < self.gpu.launch else "L2" if near else "DRAM"
        row.bounds[name] = row.bounds.get(name, 0.0) + self.gpu.launch + needed
        if not near:
            row.bytes += size
            self.moved += size
        self.recent.touch(array.ctypes.data, array.nbytes)

    def prediction(self, arguments: Mapping[str, Any], results: Any) -> Prediction:
        given = {a.ctypes.data: a.nbytes for a in arguments.values() if _array(a)}
        returned = results if isinstance(results, tuple) else (results,)
        given |= {a.ctypes.data: a.nbytes for a in returned if _array(a)}
        least = sum(n for at, n in given.items() if at in self.read)
        least += sum(n for at, n in given.items() if at in self.written)
        rows = [r for r in self.rows.values() if r.launches]
        made = self.allocations, self.allocated
        return Prediction(self.gpu, rows, *made, self.moved, least)


def _array(a: Any) -> bool:
    return isinstance(a, np.ndarray) and a.nbytes > 0


def metered(
    text: str,
    name: str,
    arguments: Mapping[str, Any],
    gpu: Gpu = H200,
    *,
    whole: bool = False,
) -> tuple[Prediction, Any]:
    """What the function `name` of a generated text does, and what it returns."""
    meter = Meter(gpu, whole=whole)
    space: dict[str, Any] = {}
    with standing_in(meter.note):
        exec(compile(text, f"<{name}>", "exec"), space)
        result = space[name](**arguments)
    return meter.prediction(arguments, result), result
