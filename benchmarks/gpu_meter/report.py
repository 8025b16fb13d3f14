"""What was measured, as a table for reading and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.gpu_meter.measure import Measured, SiteFigures
from benchmarks.gpu_meter.predict import Prediction, Row, bounds


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns, the first to the left, the others to the right."""
    lines = [list(head), *map(list, rows)]
    wide = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if k in (0, len(head) - 1) else cell.rjust(w)
            for k, (cell, w) in enumerate(zip(line, wide, strict=True))
        ).rstrip()
        for line in lines
    )


def shown(found: Prediction, sites: int = 8) -> str:
    """A whole prediction."""
    moved, least = found.moved / 1e6, found.least / 1e6
    more = f", {moved / least:.2f} times the least of {least:.1f} MB" if least else ""
    out = [
        f"{1e3 * found.seconds:.3f} ms on {found.gpu.name}: {found.launches} launches, "
        f"{found.allocations} allocations ({found.allocated / 1e6:.1f} MB), "
        f"{moved:.1f} MB to and from main memory{more}"
    ]
    for row in sorted(found.rows, key=lambda r: -r.seconds):
        out += ["", *_row(row, found, sites)]
    return "\n".join(out)


def _row(row: Row, found: Prediction, sites: int) -> list[str]:
    times = f" x {row.launches}" if row.launches > 1 else ""
    head = f"{row.name}{times}: {1e3 * row.seconds:.3f} ms, bound by {row.bound}"
    m = row.measured
    if m is None:
        return [f"{head}, {row.bytes / 1e6:.1f} MB"]
    parts = sorted(bounds(m, found.gpu).items(), key=lambda p: -p[1])
    each = ", ".join(f"{k} {1e3 * v:.3f}" for k, v in parts if v > 0.02 * parts[0][1])
    total, o = m.instructions["issue"], m.occupancy
    each_add = 32 * total / m.multiply_adds if m.multiply_adds else 0.0
    adds = f", {each_add:.1f} per multiply-add" * bool(each_add)
    lines = [
        head,
        f"  grid {m.grid}, block {m.block}; {m.registers} registers, {m.spilled} bytes "
        f"spilled, {m.shared} shared; {o.warps} warps an SM ({o.limit})",
        f"  {total / 1e6:.2f} M warp instructions ({m.counted_from}), "
        f"{32 * total / m.elements:.1f} per element{adds}; "
        f"{m.sampled} of {m.blocks} blocks ran",
        f"  ms: {each}; main memory {row.bytes / 1e6 / row.launches:.1f} MB a launch",
    ]
    some = sorted(m.sites, key=lambda s: -_weight(s))[:sites]
    rows = [_site(s) for s in some]
    made = table(_HEAD, rows) if rows else ""
    return [*lines, *(f"    {line}" for line in made.splitlines())]


_HEAD = ("access", "requests", "sectors", "lines", "L1 misses", "lanes/address", "text")


def _weight(s: SiteFigures) -> float:
    return s.missed + s.sectors * (s.access == "atomic") + s.lines + s.wavefronts


def _site(s: SiteFigures) -> tuple[str, ...]:
    space = "" if s.space == "global" else f"{s.space} "
    per = s.wavefronts if s.space == "shared" else s.sectors
    return (
        f"{space}{s.access} {s.array}",
        f"{s.requests / 1e6:.3f} M",
        f"{s.per_request(per):.1f}",
        f"{s.per_request(s.lines):.1f}",
        f"{100 * s.missed_share:.0f} %" if s.space != "shared" else "",
        f"{s.lanes_per_address:.1f}" if s.access == "atomic" else "",
        f"{s.line}: {s.text[:60]}",
    )


def as_json(found: Prediction) -> dict[str, Any]:
    """A prediction as data."""
    return {
        "gpu": found.gpu.name,
        "ms": 1e3 * found.seconds,
        "launches": found.launches,
        "allocations": found.allocations,
        "allocated": found.allocated,
        "moved": found.moved,
        "least": found.least,
        "kernels": [_row_json(r, found) for r in found.rows],
    }


def _row_json(r: Row, found: Prediction) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": r.name,
        "launches": r.launches,
        "ms": 1e3 * r.seconds,
        "bound": r.bound,
        "moved": r.bytes,
    }
    if r.measured is None:
        return made
    m: Measured = r.measured
    return made | {
        "grid": m.grid,
        "block": m.block,
        "blocks": m.blocks,
        "sampled": m.sampled,
        "registers": m.registers,
        "spilled": m.spilled,
        "shared": m.shared,
        "warps": m.occupancy.warps,
        "limit": m.occupancy.limit,
        "counted_from": m.counted_from,
        "instructions": m.instructions,
        "instructions_per_element": 32 * m.instructions["issue"] / m.elements,
        "instructions_per_multiply_add": (
            32 * m.instructions["issue"] / m.multiply_adds if m.multiply_adds else None
        ),
        "bounds_ms": {k: 1e3 * v for k, v in bounds(m, found.gpu).items()},
        "sites": [
            vars(s)
            | {
                "sectors_per_request": s.per_request(s.sectors),
                "lines_per_request": s.per_request(s.lines),
                "lanes_per_address": s.lanes_per_address,
            }
            for s in m.sites
        ],
    }


def geometric_mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
