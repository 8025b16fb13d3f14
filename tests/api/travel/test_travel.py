"""Objects that travel: what comes out in another process does what it did here."""

from __future__ import annotations

import copy
import importlib.util
import json
import linecache
import os
import pickle
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.api.travel import known
from tests.api.travel.sender import WAYS

ROOT = Path(__file__).parents[3]
#: What some ways need.
NEEDS = {
    "cloudpickle": "cloudpickle",
    "joblib": "joblib",
    "joblib.dump": "joblib",
    "dask": "dask",
    "distributed": "distributed",
}


def script(*command: str) -> str:
    """What a script prints, which is run from the root of the project."""
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_everything_travels_every_way(way: str) -> None:
    needed = NEEDS.get(way)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    printed = script("-m", "tests.api.travel.sender", way)
    here, came = json.loads(printed.splitlines()[-1])
    assert len(here) >= 30
    errors = {n for n, v in here.items() if isinstance(v, str) and "Error" in v[:18]}
    assert errors == {"refusal", "argument error", "backend error", "internal error"}
    assert came == here


def defined(text: str, file: str, **names: Any) -> dict[str, Any]:
    """What a cell of a notebook defines."""
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names |= {"__name__": "__main__", "np": np, "pyrev": pyrev}
    exec(compile(text, file, "exec"), names)
    return names


def again(f: Any) -> Any:
    return pickle.loads(pickle.dumps(f))


CELL = """
ran.append(1)

@pyrev.differentiable(target="python")
def f(x):
    return np.sum(x * weight)
"""


def test_text_is_compiled_and_not_run_and_arrives_once() -> None:
    ran: list[int] = []
    names = defined(CELL, "<a cell that travels>", ran=ran, weight=2.0)
    one, other = again(names["f"]), again(names["f"])
    assert ran == [1]
    assert one is other and one is not names["f"]
    names["weight"] = 3.0
    assert again(names["f"])(known.X) == 3.0 * known.X.sum()
    assert one(known.X) == 2.0 * known.X.sum()


def test_what_was_changed_on_arrival_does_not_come_again() -> None:
    names = defined(CELL, "<another cell that travels>", ran=[], weight=2.0)
    one = again(names["f"])
    one.python.__globals__["weight"] = 5.0
    assert again(names["f"])(known.X) == 2.0 * known.X.sum()
    table = defined(CELL, "<a cell with a table>", ran=[], weight=np.ones(5))
    first = again(table["f"])
    first.python.__globals__["weight"][:] = 7.0
    assert again(table["f"])(known.X) == known.X.sum()


def test_a_text_with_the_name_of_another_is_kept_beside_it() -> None:
    file = "<a name taken twice>"
    data = pickle.dumps(defined(CELL, file, ran=[], weight=2.0)["f"])
    other = "\n" * 30 + "def g(x):\n    return 2.0 * np.sum(x)\n"
    g = pyrev.differentiable(defined(other, file)["g"])
    f = pickle.loads(data)
    assert pyrev.grad(f)(known.X).x.tolist() == [2.0] * 5
    assert pyrev.grad(g)(known.X).x.tolist() == [2.0] * 5
    assert f.adjoint.source.splitlines()[0].endswith(f" in {file}.")


def test_a_text_without_the_function_is_refused() -> None:
    f = defined(CELL, "<a cell to damage>", ran=[], weight=2.0)["f"]
    made, (make, texts, *others) = f.__reduce__()
    ((file, name, lines),) = texts
    damaged = [(file, name, tuple(one.replace("def f", "def h") for one in lines))]
    with pytest.raises(pyrev.ArgumentError, match="f that was sent is not in the text"):
        made(make, damaged, *others)
    with pytest.raises(pyrev.ArgumentError, match="is not in the text"):
        made(make, [(file, name, ("def f(:\n",))], *others)


def test_a_module_that_nobody_can_import_is_refused() -> None:
    text = "@pyrev.differentiable\ndef f(x):\n    return np.sum(x) * own.scale\n"
    own = types.ModuleType("own")
    own.scale = 2.0  # type: ignore[attr-defined]
    f = defined(text, "<a cell with a module>", own=own)["f"]
    with pytest.raises(pyrev.ArgumentError, match="module 'own' can't be sent"):
        pickle.dumps(f)


def test_functions_share_there_what_they_share_here() -> None:
    text = (
        "def helper(a):\n    return a * weight\n\n\n"
        "@pyrev.differentiable\ndef inner(a):\n    return helper(a) + weight\n\n\n"
        "@pyrev.differentiable\ndef f(x):\n"
        "    return np.sum(x) * helper(weight) * inner(x[0])\n"
    )
    f = defined(text, "<a cell that shares>", weight=2.0)["f"]
    there = again(f)
    assert there is not f
    assert there.adjoint.source == f.adjoint.source


def test_functions_that_call_themselves_travel() -> None:
    text = (
        "@pyrev.differentiable\ndef f(x, n):\n"
        "    return x if n == 0 else x * f(x, n - 1)\n"
    )
    there = again(defined(text, "<a cell that recurs>")["f"])
    assert there(2.0, 3) == 16.0
    assert pyrev.grad(there)(2.0, 3).x == 32.0


def test_functions_of_modules_are_found_by_their_names() -> None:
    assert again(known.energy) is known.energy
    assert copy.copy(known.energy) is copy.deepcopy(known.energy) is known.energy
    assert again(known.of_squares) is again(known.of_squares)
    assert again(known.of_squares).python is known.squares
    for data in map(pickle.dumps, (known.energy, known.of_squares)):
        assert b"total" not in data


def test_what_was_compiled_or_derived_does_not_travel() -> None:
    f = defined(CELL, "<a cell that ran>", ran=[], weight=2.0)["f"]
    before = pickle.dumps(f)
    pyrev.grad(f)(known.X)
    str(f.adjoint.source_for("numba"))
    for data in (pickle.dumps(f), pickle.dumps(pyrev.grad(f))):
        assert not any(name in data for name in (b"islpy", b"numba", b"llvm"))
    assert len(pickle.dumps(f)) == len(before)


def test_cloudpickle_may_ask_for_modules_as_a_whole() -> None:
    cloudpickle = pytest.importorskip("cloudpickle", reason="no cloudpickle")
    cloudpickle.register_pickle_by_value(known)
    try:
        there = cloudpickle.loads(cloudpickle.dumps(known.energy))
    finally:
        cloudpickle.unregister_pickle_by_value(known)
    assert there is not known.energy
    assert pyrev.grad(there)(known.X).x.tolist() == (3.0 * known.X**2).tolist()


@pytest.mark.slow
def test_modules_of_pytorch_are_saved_with_their_loops(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from tests.api.travel.layer import Layer

    layer, path = Layer(), tmp_path / "layer.pt"
    torch.save(layer, path)
    expected = torch.ones(4, dtype=torch.float64, requires_grad=True)
    layer(expected).backward()
    printed = script(
        "-c",
        "import sys, torch; layer = torch.load(sys.argv[1], weights_only=False)\n"
        "x = torch.ones(4, dtype=torch.float64, requires_grad=True)\n"
        "layer(x).backward(); print(x.grad.tolist())",
        str(path),
    )
    assert json.loads(printed) == expected.grad.tolist()


@pytest.mark.slow
def test_the_page_about_sharing_prints_what_it_shows(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "sharing.md").read_text()
    code, shown = re.findall(r"```(?:python|text)\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "shots.py"
    path.write_text(code)
    assert script(str(path)) == shown


@pytest.mark.slow
def test_functions_of_dask_and_scipy_travel() -> None:
    pytest.importorskip("dask", reason="Dask is not installed")
    pytest.importorskip("scipy", reason="SciPy is not installed")
    printed = script("-m", "tests.api.travel.bridged")
    here, there = json.loads(printed)
    assert here == there and len(here) == 3
