"""One peer in a process of its own: JSON commands on stdin, answers on stdout."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(1, str(HERE.parent))

SLOW = 15.0
"""A first call that takes longer (seconds) is not repeated for the check."""


def peer_module(name: str) -> ModuleType:
    """A peer of `peers/` by name, or any Python file by path."""
    if not name.endswith(".py"):
        return importlib.import_module(f"peers.{name}")
    path = Path(name)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def memory_mb() -> tuple[float, float]:
    """Resident memory now and at its peak, in MB."""
    try:
        status = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return peak, peak
    fields = dict(line.split(":", 1) for line in status)
    return tuple(int(fields[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))


def reset_peak() -> None:
    """Start a new memory peak, where the system lets us."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def to_arrays(results: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in results.items()}


class Worker:
    """The peer and the step that it prepared last."""

    def __init__(self, peer: ModuleType) -> None:
        self.peer = peer
        self.arrays = getattr(peer, "to_numpy", to_arrays)
        self.step: Callable[[], dict[str, Any]] | None = None

    def prepare(self, command: dict[str, Any]) -> dict[str, Any]:
        import workloads

        self.step = None
        gc.collect()
        make = getattr(self.peer, command["workload"], None)
        if make is None:
            return {"ok": False, "error": "not implemented"}
        inputs = workloads.load(command["workload"]).inputs(command["small"])
        reset_peak()
        base = memory_mb()[0]
        start = time.perf_counter()
        self.step = make(inputs)
        results = self.step()
        first = time.perf_counter() - start
        if first < SLOW:
            # A peer that returns new arrays has them once, as one that fills buffers.
            del results
            results = self.step()
        peak = memory_mb()[1]
        if command["dump"]:
            np.savez(command["dump"], **self.arrays(results))
        note = getattr(self.step, "note", "")
        return {"ok": True, "first_s": first, "mb": peak - base, "note": note}

    def run(self) -> dict[str, Any]:
        assert self.step is not None
        start = time.perf_counter()
        results = self.step()
        seconds = time.perf_counter() - start
        del results
        return {"ok": True, "s": seconds}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a peer prints must not mix with the answers

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        worker = Worker(peer_module(sys.argv[1]))
    except Exception as error:
        traceback.print_exc()
        say({"ok": False, "error": repr(error)[:300]})
        return
    say({"ok": True})
    for line in sys.stdin:
        command = json.loads(line)
        try:
            match command["do"]:
                case "prepare":
                    say(worker.prepare(command))
                case "run":
                    say(worker.run())
                case _:
                    return
        except Exception as error:
            traceback.print_exc()
            say({"ok": False, "error": repr(error)[:300]})


if __name__ == "__main__":
    main()
