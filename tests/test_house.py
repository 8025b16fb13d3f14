from __future__ import annotations

import ast
import graphlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pyrev
from tests import ROOT

PACKAGE = Path(pyrev.__file__).parent
#: Every folder of the package; imports go from one to those before it.
ROOMS = (
    *("ir", "runtime", "parse", "analysis", "adjoint", "schedule", "emit"),
    *("driver", "report", "api", "bridges", "testing"),
)
#: Folders of tests beside those that mirror the rooms.
BESIDE = {"corpora", "tools", "targets", "golden", "examples", "hand"}
DOORS = {
    "gast": "parse/",
    "islpy": "analysis/poly.py",
    "numba": "runtime/compiler.py",
    "cupy": "runtime/device.py",
    "torch": "bridges/torch.py",
    "jax": "bridges/jax.py",
    "dask": "bridges/dask.py",
    "matplotlib": "report/draw/figure.py",
    "pygments": "report/shown/highlight.py",
}
#: Lines of a file and of a function, methods of a class: as much as one reads at once.
MOST = {"file": 800, "function": 80, "class": 25}
TEXTS = """
import sys
sys.path.insert(0, {folder!r})
import pyrev
import functions
for name in ("conv", "smooth", "mixed"):
    f = pyrev.differentiable(getattr(functions, name))
    print(f.adjoint.source)
    print(f.explain())
"""
FUNCTIONS = """
import numpy as np

def conv(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[y, x] += image[y + j, x + i] * kernel[j, i]

def smooth(u, c, out):
    for x in range(1, u.shape[0] - 1):
        out[x] = c[x] * (u[x - 1] + u[x + 1]) * u[x]

def mixed(a, b, d):
    v = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        v[i] = np.exp(a[i]) * b[i] + d
    total = 0.0
    for i in range(a.shape[0]):
        if v[i] > 0:
            total += v[i] * a[i]
    return total
"""


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def test_every_room_is_listed_and_says_what_belongs_there() -> None:
    folders = {p.name for p in PACKAGE.iterdir() if (p / "__init__.py").is_file()}
    assert folders == set(ROOMS) and len(ROOMS) <= 12
    files = {p.name for p in PACKAGE.iterdir() if p.is_file()}
    # The bridges are imported by their own names: `import pyrev.torch`.
    doors = {"torch.py", "jax.py", "scipy.py", "dask.py"}
    assert files == {"__init__.py", "__main__.py", "py.typed", *doors}
    assert {p.name for p in (ROOT / "docs").iterdir()} >= {"architecture.md"}
    page = (ROOT / "docs" / "architecture.md").read_text()
    listed = re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)
    assert listed == list(ROOMS)


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_only_go_down(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0]
    if room not in ROOMS:
        return  # `pyrev` itself and its command line see all
    for name in imports(path):
        if name == "pyrev" or name.startswith("pyrev."):
            other = name.split(".")[1] if "." in name else name
            assert other in ROOMS[: ROOMS.index(room) + 1], f"{path} imports {name}"


def test_no_modules_import_each_other() -> None:
    paths = {module(p): p for p in sources()}
    graph = {name: {*imports(p)} & paths.keys() for name, p in paths.items()}
    for name, others in graph.items():
        # From a package a module of its own, not what the package itself defines.
        packages = {other.rpartition(".")[0] for other in others}
        others -= {name} | packages
    try:
        [*graphlib.TopologicalSorter(graph).static_order()]
    except graphlib.CycleError as cycle:
        pytest.fail(" <- ".join(cycle.args[1]))


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_each_dependency_has_one_door(path: Path) -> None:
    here = str(path.relative_to(PACKAGE))
    for name in imports(path):
        door = DOORS.get(name.split(".")[0])
        assert door is None or here.startswith(door), f"{here} imports {name}"


def test_importing_pyrev_does_not_import_numba() -> None:
    program = "import sys, pyrev; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=PACKAGE.parent)


def test_the_package_is_found_whole() -> None:
    folders = {p.parent for p in sources()}
    assert all((folder / "__init__.py").is_file() for folder in folders)
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize("name", pyrev.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    thing = getattr(pyrev, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing) and thing.__module__.startswith("pyrev"):
        for attribute, value in vars(thing).items():
            if attribute.startswith("_"):
                continue
            if inspect.isfunction(value) or isinstance(value, property):
                assert inspect.getdoc(value), f"{name}.{attribute}"


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_module_has_a_docstring(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_two_hash_seeds_give_the_same_texts(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    texts = [
        subprocess.run(
            [sys.executable, "-c", TEXTS.format(folder=str(tmp_path))],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=PACKAGE.parent,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert "def conv_adjoint" in texts[0]
    assert texts[0] == texts[1]


def test_no_golden_file_is_an_orphan() -> None:
    folder = ROOT / "tests" / "golden"
    tests = "".join(p.read_text() for p in (ROOT / "tests").rglob("*.py"))
    goldens = sorted(folder.iterdir()) if folder.is_dir() else []
    for golden in goldens:
        name = golden.name.split(".")[0]
        assert f'"{name}"' in tests or f"def {name}(" in tests, f"{golden} has no test"


def test_the_tests_mirror_the_rooms():
    folders = {
        p.name for p in (ROOT / "tests").iterdir() if p.is_dir() and p.name[0] != "_"
    }
    assert folders <= {*ROOMS, *BESIDE}
    at_top = {p.stem for p in (ROOT / "tests").glob("test_*.py")}
    at_top_ones = {"docs", "examples", "house", "readme", "release"}
    assert at_top == {f"test_{name}" for name in at_top_ones}


def test_every_error_code_has_a_rejection_file_and_each_file_a_code() -> None:
    from pyrev.ir.diagnostics import CODES

    folder = ROOT / "tests" / "corpora" / "rejected"
    tried = {p.name.split("_")[0] for p in folder.glob("P*.py")}
    assert tried <= set(CODES)
    assert set(CODES) <= tried


def sizes() -> Iterator[tuple[tuple[str, str], int]]:
    for path in sources():
        text, here = path.read_text(), str(path.relative_to(PACKAGE))
        yield ("file", here), text.count("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield ("function", f"{here}:{node.name}"), lines
            elif isinstance(node, ast.ClassDef):
                methods = sum(isinstance(s, ast.FunctionDef) for s in node.body)
                yield ("class", f"{here}:{node.name}"), methods


def test_nothing_is_larger_than_one_reads_at_once() -> None:
    assert {key: n for key, n in sizes() if n > MOST[key[0]]} == {}
