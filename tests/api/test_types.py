"""What a type checker, and so an editor, says of calls."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CODE = """
import numpy as np
import pyrev

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

@pyrev.differentiable
def loss(x: Array, c: float) -> float:
    return float(np.sum(x)) * c

@pyrev.differentiable(target="numba", wrt="x")
def smooth(x: Array, out: Array) -> None: ...

x = np.ones(3)
value: float = loss(x, 1.0)
plain: float = loss.python(x, c=1.0)
smooth(x, out=x)
both: tuple[float, object] = pyrev.value_and_grad(loss, wrt="x")(x, 2.0)
pyrev.grad(loss)(x, c=2.0)
name: pyrev.TargetName = "cuda"
pyrev.differentiable(loss.python, target=name)(x, 1.0)
text: str = loss.adjoint.source
loss.frozen(x, 1.0).njit
kept: pyrev.Differentiable = loss

loss(x)  # red: no `c`
loss(x, "1")  # red: a text
loss(x, 1.0, 2.0)  # red: too many
smooth(x, outs=x)  # red: no such name
word: str = loss(x, 1.0)  # red: a float
pyrev.grad(loss)(x)  # red: no `c`
pyrev.differentiable(target="gpu")  # red: no such target
loss.adjiont  # red: a slip
"""


@pytest.mark.slow
def test_wrong_calls_are_red_and_right_ones_are_not(tmp_path: Path) -> None:
    file = tmp_path / "calls.py"
    file.write_text(CODE)
    config = tmp_path / "mypy.ini"
    config.write_text(
        textwrap.dedent("""
        [mypy]
        strict = True
        ignore_missing_imports = True
        follow_imports = silent
    """)
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {int(n) for n in re.findall(r"calls\.py:(\d+): error", said.stdout)}
    lines = CODE.splitlines()
    wanted = {k for k, line in enumerate(lines, 1) if "# red" in line}
    assert found == wanted, said.stdout + said.stderr
