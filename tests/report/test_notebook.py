"""A notebook that is executed, and what stands below its cells."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pyrev
from tests import ROOT

GOLDEN = ROOT / "tests" / "golden"

CELLS = [
    """
import os

os.environ["PATH"] = ""  # Graphviz is not installed here
import numpy as np

import pyrev


def squared(a):
    return a * a


@pyrev.differentiable(target="python", memory="1MB")
def energy(x, c):
    total = 0.0
    for i in range(x.shape[0]):
        total += c * squared(x[i])
    return total


energy
""",
    "energy.adjoint",
    "pyrev.grad(energy)(np.array([1.0, 2.0, np.nan]), 2.0)",
    "energy.explain()",
    "print(energy.explain())",
    "pyrev.check_grad(energy, np.array([1.0, 2.0]), 2.0)",
    "energy.graph()",
    """
@pyrev.differentiable
def reads(path):
    with open(path) as file:
        return file
""",
    "pyrev.grad(energy)(np.ones(3, np.float16), 2.0)",
    """
def nested(x):
    return pyrev.grad(energy, "z")(x, 2.0)


nested(np.ones(3))
""",
    """
import pickle, subprocess, sys

script = "import pickle, sys; print(pickle.load(sys.stdin.buffer).adjoint.source)"
done = subprocess.run(
    [sys.executable, "-c", script], input=pickle.dumps(energy), capture_output=True
)
there = done.stdout.decode().strip()
there == energy.adjoint.source.strip() or done.stderr.decode()
""",
    """
os.environ["PYREV_TRACEBACK"] = "full"
pyrev.grad(energy, "z")(np.ones(3), 2.0)
""",
]


def bare(markup: str) -> str:
    """What is read of HTML or SVG, by lines and cells."""
    marked = re.sub(r"</(tr|text|pre|caption)>", r"\n\g<0>", markup)
    marked = re.sub(r"</(td|th)>", r" \g<0>", marked)
    text = "".join(ElementTree.fromstring(marked).itertext())
    lines = [re.sub(r"[ \t]+\n?$", "", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if line.strip())


def shown(output: Any) -> str:
    """One output of a cell, without colours and what differs from run to run."""
    match output["output_type"]:
        case "stream":
            return f"<{output['name']}>\n{output['text']}"
        case "error":
            lines = "\n".join(output["traceback"])
            lines = re.sub(r"\x1b\[[0-9;]*m", "", lines)
            if files := dict.fromkeys(re.findall(r"/(pyrev/api/[\w/]+\.py)", lines)):
                lines = "\n".join(["(a whole traceback)", *files])
            return f"<error {output['ename']}>\n{lines}"
    data = output["data"]
    (picture,) = [k for k in data if k != "text/plain"] or ["text/plain"]
    text = data[picture] if picture == "text/plain" else bare(data[picture])
    text = re.sub(r"\d\.\de[-+]\d+", "#", text)
    return f"<{', '.join(sorted(data))}>\n{text}"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_notebook_shows_everything_once_and_names_its_cells(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.delenv("PYREV_TRACEBACK", raising=False)
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(text.strip()) for text in CELLS]
    nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", allow_errors=True
    ).execute()
    parts = []
    for number, cell in enumerate(book.cells, 1):
        assert len(cell.outputs) == 1, (number, cell.outputs)
        outputs = "\n".join(map(shown, cell.outputs)).rstrip("\n")
        parts.append(f"In[{number}]: {cell.source.splitlines()[-1]}\n{outputs}\n")
    found = "\n".join(parts)
    name = "notebook"
    path = GOLDEN / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pyrev.differentiable(target="python")
def energy(x):  # type: ignore[no-untyped-def]
    return np.sum(x * x)


def test_gradients_are_shown_with_their_extremes_and_what_is_no_number() -> None:
    parts = {"a": np.array([3.0, -4.0, np.nan]), "b": (2.0, np.zeros((0, 2)))}
    nested = pyrev.Gradients({"p": parts, "z": np.array([3.0 + 4.0j]), "n": None})
    table = bare(nested._repr_html_()).splitlines()
    assert [line.split() for line in table[2:]] == [
        ["p.a", "(3,)", "float64", "-4", "3", "5", "1"],
        ["p.b[0]", "()", "float", "2", "2", "2", "0"],
        ["p.b[1]", "(0,", "2)", "float64", "0"],
        ["z", "(1,)", "complex128", "5", "5", "5", "0"],
        ["n", "()", "NoneType"],
    ]
    assert bare(pyrev.Tangents({"x": 1.0})._repr_html_()).startswith("Tangents")


def test_reports_are_text_and_pages() -> None:
    report = pyrev.check_grad(energy, np.ones(3))
    assert bare(report._repr_html_()) == str(report)
    assert repr(report) == str(report)
    said = energy.explain()
    assert isinstance(said, str) and repr(said) == repr(str(said))
    assert bare(said._repr_html_()).splitlines() == [s for s in said.split("\n") if s]
    tried = pyrev.differentiable(energy.python).tune(np.ones(8), progress=False)
    assert bare(tried._repr_html_()) == str(tried)


def refused(error: pyrev.PyrevError) -> list[str]:
    """What IPython is given for an error."""
    lines: list[str] = error._render_traceback_()
    return lines


def test_tracebacks_show_lines_of_the_users_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYREV_TRACEBACK")
    with pytest.raises(pyrev.ArgumentError) as caught:
        pyrev.grad(energy, "z")(np.ones(3))
    files = [str(entry.path) for entry in caught.traceback]
    assert len([f for f in files if os.sep + "pyrev" + os.sep in f]) <= 1
    assert refused(caught.value)[-1].startswith("ArgumentError: wrt='z': ")
    assert refused(caught.value)[0].startswith("test_notebook.py:")
    bug = pyrev.InternalError("a bug")
    assert not hasattr(bug, "_render_traceback_")
    monkeypatch.setenv("PYREV_TRACEBACK", "full")
    with pytest.raises(pyrev.ArgumentError) as caught:
        pyrev.grad(energy, "z")(np.ones(3))
    assert len(caught.traceback) > 3
    assert not hasattr(caught.value, "_render_traceback_")
