"""Time to the first gradient of a 2-D convolution, in fresh processes.

    python benchmarks/first_gradient.py [--size 512]

Prints the seconds from the start of the interpreter to the first gradient, imports
included and compiled, with a cold cache (an empty directory) and with a warm one, and
the seconds from the plain function to the text of its adjoint.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

FIRST = """
import sys
sys.path[:0] = {paths!r}
import numpy as np
import pyrev
import examples_2d
rng = np.random.default_rng(0)
image, kernel = rng.random(({size}, {size})), rng.random((9, 9))
out = np.zeros(({size} - 8, {size} - 8))
_, pullback = pyrev.vjp(examples_2d.conv, image, kernel, out)
gradients = pullback(out=1.0)
assert gradients.image.shape == image.shape and gradients.kernel.sum() > 0
"""

TEXT = """
import sys, time
sys.path[:0] = {paths!r}
import pyrev
import examples_2d
start = time.perf_counter()
pyrev.differentiable(examples_2d.conv).adjoint.source
print(time.perf_counter() - start)
"""

CONV = """
def conv(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[y, x] += image[y + j, x + i] * kernel[j, i]
"""


def run(program: str, cache: Path) -> tuple[float, str]:
    """Wall-clock seconds of a fresh interpreter that runs `program`, and its output."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYREV_CACHE_DIR": str(cache)},
        check=True,
        capture_output=True,
        text=True,
    )
    return time.perf_counter() - start, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--size", type=int, default=512, help="pixels (default 512)")
    size = parser.parse_args().size
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "examples_2d.py").write_text(CONV)
        paths = [directory, str(HERE.parent)]
        cache = folder / "cache"
        first = FIRST.format(paths=paths, size=size)
        print(f"first gradient, cold cache {run(first, cache)[0]:7.2f} s", flush=True)
        warm = min(run(first, cache)[0] for _ in range(3))
        print(f"first gradient, warm cache {warm:7.2f} s", flush=True)
        text = min(float(run(TEXT.format(paths=paths), cache)[1]) for _ in range(3))
        print(f"parse to adjoint text      {text:7.2f} s", flush=True)


if __name__ == "__main__":
    main()
