"""The generated text, kept and reviewed like code, and executed as a module of its
own.
"""

from __future__ import annotations

import copy
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from tests import ROOT
from tests.corpora.kernels import KERNELS, conv2d
from tests.corpora.nests import WHOLE
from tests.tools.oracle import check

GOLDEN = ROOT / "tests" / "golden"


def arguments(name: str, rng: np.random.Generator) -> dict[str, Any]:
    shapes: dict[str, dict[str, Any]] = {
        "conv2d": {"image": (7, 8), "kernel": (3, 2), "out": (5, 7)},
        "laplacian": {"u": (6, 5), "out": (6, 5)},
        "strided": {"signal": (14,), "weights": (3,), "out": (4,)},
        "upsample": {"coarse": (3,), "fine": (10,)},
        "smooth_clamped": {"a": (6,), "b": (6,)},
        "logistic_map": {"x": (4,), "steps": 3},
        "masked": {"a": (4,), "g": (4,)},
    }
    return {
        key: rng.uniform(0.2, 0.8, shape) if isinstance(shape, tuple) else shape
        for key, shape in shapes[name].items()
    }


def golden_file(f: Callable[..., Any]) -> Path:
    return GOLDEN / f"{f.__name__}.python.py"


@pytest.mark.parametrize("f", KERNELS, ids=lambda f: f.__name__)
def test_the_readable_adjoint_is_the_golden_one(
    f: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    text = pyrev.differentiable(f).adjoint.source
    path = golden_file(f)
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), "make it with: pytest --update-golden"
    assert text == path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40


@pytest.mark.parametrize("f", KERNELS, ids=lambda f: f.__name__)
def test_the_golden_file_runs_without_pyrev_and_is_right(
    f: Callable[..., Any], rng: np.random.Generator
) -> None:
    path = golden_file(f)
    spec = importlib.util.spec_from_file_location(f"golden_{f.__name__}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given = arguments(f.__name__, rng)
    outputs = [n for n in ("out", "fine", "b", "x", "g") if n in given]
    checked = check(
        pyrev.differentiable(f, target="python"), f, given, outputs[:1], rng
    )
    assert checked
    copies = {k: copy.deepcopy(v) for k, v in given.items()}
    _, pullback = pyrev.vjp(f, **copies)
    cotangent = rng.standard_normal(np.shape(given[outputs[0]]))
    expected = pullback(**{outputs[0]: cotangent})
    plain = [v for v in given.values()]
    found = getattr(module, f"{f.__name__}_adjoint")(*plain, cotangent)
    for name, value in zip(expected, found, strict=True):
        np.testing.assert_allclose(value, expected[name], rtol=1e-12, atol=1e-13)


def test_every_golden_file_has_its_kernel() -> None:
    loops = {f"{f.__name__}.{t}.py" for f in KERNELS for t in ("python", "cuda")}
    whole = {f"{f.__name__}.numpy.py" for f in WHOLE}
    assert {p.name for p in GOLDEN.iterdir() if p.suffix == ".py"} == loops | whole


def test_every_write_to_d_image_has_bare_loop_indices_and_only_numpy_is_imported() -> (
    None
):
    text = pyrev.differentiable(conv2d).adjoint.source
    writes = re.findall(r"^\s*d_image\[(.*?)\] [+-]?=", text, flags=re.MULTILINE)
    assert writes
    for subscripts in writes:
        for subscript in subscripts.split(","):
            assert re.search(rf"for {subscript.strip()} in range", text), subscript
    assert re.findall(r"^(?:import|from) .*$", text, flags=re.MULTILINE) == [
        "import numpy as np"
    ]
    assert "pyrev" not in text


PRINT_ALL = """
import pyrev
from tests.corpora.kernels import KERNELS
for f in KERNELS:
    print(pyrev.differentiable(f).adjoint.source)
    print(pyrev.differentiable(f).adjoint.source_for("numba"))
"""


@pytest.mark.slow
def test_two_hash_seeds_give_the_same_text() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", PRINT_ALL],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
