"""The numbers of a GPU, and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Gpu:
    """What one GPU does in a clock or a second.

    NVIDIA's data sheet and tuning guide of Hopper (1), the table of arithmetic in the
    CUDA C++ Programming Guide for compute capability 9.0 (2), published
    microbenchmarks of Hopper (3); what is none of these is an assumption (4).
    """

    name: str = "H200"
    architecture: str = "sm_90"
    sms: int = 132  # 1
    #: Clocks a second under load; the boost clock is 1.98 GHz (1).
    hertz: float = 1.755e9  # 4
    #: Warp instructions per clock and SM, by pipe (2).
    pipes: dict[str, float] = field(
        default_factory=lambda: {
            "issue": 4.0,
            "fp32": 4.0,
            "int": 2.0,
            "fp64": 2.0,
            "xu": 0.5,
        },
        hash=False,
    )
    #: Share of that which real code reaches.
    issue_share: float = 0.85  # 4
    #: Bytes of the memory that the first cache shares with shared memory (1).
    l1_bytes_with_shared: int = 256 << 10
    shared_most: int = 227 << 10  # 1
    #: What the system keeps of shared memory for each block (1).
    shared_kept: int = 1 << 10
    #: Lines of 128 bytes, or rounds of shared memory, per clock and SM (1).
    l1_lines: float = 1.0
    l2_bytes: int = 50 << 20  # 1
    l2_bandwidth: float = 5.5e12  # 3
    dram_bandwidth: float = 0.9 * 4.8e12  # 1: 4.8 TB/s; 4: 90 % of it are reached
    #: Slices of the second cache, each of which takes a sector of atomics per clock.
    l2_slices: int = 96  # 3
    #: Atomic operations per clock on one address.
    hot_rate: float = 1.0  # 3
    #: Clocks until what is loaded is there (3).
    shared_clocks: int = 29
    l1_clocks: int = 38
    l2_clocks: int = 262
    dram_clocks: int = 600
    atomic_clocks: int = 300
    #: Seconds from one launch to the next, and of an allocation from CuPy's pool.
    launch: float = 3e-6  # 4
    allocation: float = 0.0  # 4: the host is ahead of the device
    #: Occupancy (1).
    registers: int = 65536
    warps: int = 64
    blocks: int = 32

    @property
    def l1_bytes(self) -> int:
        """What the first cache has where nothing is shared."""
        return self.l1_bytes_with_shared - 28 * 1024


H200 = Gpu()


@dataclass(frozen=True)
class Occupancy:
    """How many blocks an SM holds, and what keeps it from more."""

    blocks: int
    warps: int
    limit: str


def occupancy(gpu: Gpu, threads: int, registers: int, shared: int) -> Occupancy:
    """The blocks of `threads` threads that run on an SM at a time."""
    warps = -(-threads // 32)
    # Registers are given out for a warp, in units of 256.
    each = -(-max(registers, 16) * 32 // 256) * 256
    limits = {
        "blocks": gpu.blocks,
        "warps": gpu.warps // warps,
        "registers": gpu.registers // (each * warps),
        "shared memory": (gpu.shared_most + gpu.shared_kept)
        // (shared + gpu.shared_kept),
    }
    limit = min(limits, key=lambda k: limits[k])
    count = max(1, limits[limit])
    return Occupancy(count, count * warps, limit)
