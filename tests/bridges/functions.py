# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Five functions that the tests of every bridge differentiate."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests import ROOT

PAGE = ROOT / "docs" / "bridges.md"


def blur(image, kernel, out):
    """A stencil that adds to an array of the caller."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[y, x] += image[y + j, x + i] * kernel[j, i]


def gathered(values, index):
    """Reads where data says; returns an array of its own."""
    found = np.zeros(index.shape[0], values.dtype)
    for i in range(index.shape[0]):
        found[i] = values[index[i]] * values[i]
    return found


def heat(start, c, steps):
    """A time loop, nonlinear and in place; returns a number."""
    u = start.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            u[i] += c * (u[i - 1] - 2.0 * u[i] + u[i + 1]) * u[i]
    total = 0.0
    for i in range(u.shape[0]):
        total += u[i] ** 2
    return total


def huber(x, delta):
    """A branch that data decides."""
    total = 0.0
    for i in range(x.shape[0]):
        r = abs(x[i])
        if r <= delta:
            total += 0.5 * x[i] * x[i]
        else:
            total += delta * (r - 0.5 * delta)
    return total


def smoothed(x, gain, shift, repeat, out):
    """Numbers among the parameters; returns two values, of which it writes one."""
    total = 0.0
    for _ in range(repeat):
        for i in range(x.shape[0]):
            out[i] = out[i] * gain + math.tanh(x[i] + shift)
            total += out[i]
    return total, out


def arguments() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Each function with arguments: floats vary, what has integers stays."""
    rng = np.random.default_rng(0)
    r = rng.random
    return {
        "blur": (blur, (r((5, 6)), r((2, 3)), r((4, 4)))),
        "gathered": (gathered, (r(4), np.array([3, 0, 1, 1]))),
        "heat": (heat, (r(6), 0.1, 4)),
        "huber": (huber, (np.array([-1.5, -0.4, 0.2, 0.6, 1.9]), 0.7)),
        "smoothed": (smoothed, (r(3), 0.5, 0.25, 2, r(3))),
    }


def example(title: str, folder: Path) -> dict[str, Any]:
    """What the Python of a section of the page defines, once it has run."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    section = section.partition("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert blocks, title
    names: dict[str, Any] = {"__name__": "page"}
    for number, text in enumerate(blocks):
        path = folder / f"block_{number}.py"  # pyrev reads functions from files
        path.write_text(text, encoding="utf-8")
        exec(compile(text, str(path), "exec"), names)
    return names
