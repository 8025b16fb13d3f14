"""The generated code that the documentation shows is the code that is generated."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from tests import ROOT
from tests.corpora.workloads import loops
from tests.test_readme import BLOCK

SCHEDULES = ROOT / "docs" / "schedules.md"
FENCES = "```text\n", "```\n"
SOURCES = sorted(
    str(file.relative_to(ROOT).with_suffix("")).replace("/", ".")
    for file in (ROOT / "pyrev").rglob("*.py")
    if ">>> " in file.read_text()
)


@pytest.mark.parametrize("module", SOURCES)
def test_examples_in_docstrings_print_what_they_show(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module.removesuffix(".__init__")))
    assert found.attempted and not found.failed


def test_the_adjoint_of_the_bilateral_slice_is_the_one_shown(
    request: pytest.FixtureRequest,
) -> None:
    f = pyrev.differentiable(loops().bslice, target="numba")
    # Sizes are all that is looked at.
    image = np.lib.stride_tricks.as_strided(
        np.zeros(1, np.float32), (4, 3, 1024, 1024), (0, 0, 0, 0)
    )
    grid = np.zeros((4, 12, 8, 32, 32), np.float32)
    text = f.adjoint.source_for("numba", image, image[:, 0], grid, image)
    head, _, rest = SCHEDULES.read_text(encoding="utf-8").partition(FENCES[0])
    shown, _, tail = rest.partition(FENCES[1])
    if request.config.getoption("--update-golden"):
        whole = head + FENCES[0] + text + FENCES[1] + tail
        SCHEDULES.write_text(whole, encoding="utf-8")
        shown = text
    assert text == shown
    assert inspect.getsource(f.__wrapped__) in head


def test_the_counts_of_products_that_are_shown_are_printed(tmp_path: Path) -> None:
    page = SCHEDULES.read_text(encoding="utf-8")
    path = tmp_path / "chain.py"
    path.write_text(BLOCK.findall(page)[0])
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    shown = page.partition("```txt\n")[2].partition("```\n")[0]
    assert shown in pyrev.differentiable(names["chain"]).explain("python") + "\n"


def test_the_kernel_that_is_shown_is_the_golden_one(
    request: pytest.FixtureRequest,
) -> None:
    page = ROOT / "docs" / "cuda.md"
    golden = (ROOT / "tests/golden/conv2d.cuda.py").read_text(encoding="utf-8")
    start = golden.index('extern "C"')
    kernel = golden[start : golden.index("\n}\n", start) + 3]
    head, _, rest = page.read_text(encoding="utf-8").partition("```c\n")
    shown, _, tail = rest.partition("```\n")
    if request.config.getoption("--update-golden"):
        page.write_text(head + "```c\n" + kernel + "```\n" + tail, encoding="utf-8")
        shown = kernel
    assert shown == kernel


def executed(
    page: str, folder: Path, first: str, names: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """Run the blocks of a page: text and output.

    The first one is the file `first`, one that begins with a function has its name.
    """
    for number, text in enumerate(BLOCK.findall(page)):
        begins = re.match(r"def (\w+)", text)
        name = f"{begins[1]}.py" if begins else f"block_{number}.py"
        file = folder / (name if number else first)
        file.write_text(text, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(compile(text, str(file), "exec"), names)
        yield text, said.getvalue().replace(f"{folder}/", "")


def with_outputs(
    page: str, folder: Path, first: str, names: dict[str, Any]
) -> Iterator[str]:
    """Run the blocks of a page: its pieces, the next fence with what a block prints."""
    for text, said in executed(page, folder, first, names):
        head, fence, page = page.partition(text + "```\n")
        yield head + fence
        if said:
            between, fence, page = page.partition(FENCES[0])
            _, _, page = page.partition(FENCES[1])
            yield between + fence + said.strip("\n") + "\n" + FENCES[1]
    yield page


def assert_outputs(
    path: Path,
    folder: Path,
    first: str,
    names: dict[str, Any],
    request: pytest.FixtureRequest,
) -> None:
    """Run the blocks of a page; what they print is what it shows, or is updated."""
    page = path.read_text(encoding="utf-8")
    whole = "".join(with_outputs(page, folder, first, names))
    if request.config.getoption("--update-golden"):
        path.write_text(whole, encoding="utf-8")
        page = whole
    assert page == whole


def test_every_block_of_the_modes_runs_and_shows_the_tangent(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "modes.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "modes"}
    [*executed(page, tmp_path, "modes.py", names)]
    tangent = pyrev.differentiable(names["grow"]).tangent.source
    shown = page.partition(FENCES[0])[2].partition(FENCES[1])[0]
    assert tangent.endswith(shown)


def test_every_block_about_pictures_runs_and_shows_the_graph(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    path = ROOT / "docs" / "graph.md"
    page = path.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "graphs"}
    [*executed(page, tmp_path, "energy.py", names)]
    plt.close("all")
    text = str(names["energy"].graph(simplified=True))
    head, _, rest = page.partition(FENCES[0])
    shown, _, tail = rest.partition(FENCES[1])
    if request.config.getoption("--update-golden"):
        whole = head + FENCES[0] + text + FENCES[1] + tail
        path.write_text(whole, encoding="utf-8")
        shown = text
    assert shown == text
    assert (tmp_path / "shear.png").stat().st_size < 150_000
    assert (ROOT / "docs" / "shear.png").is_file()


def test_every_block_about_reading_runs_and_shows_what_it_prints(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = ROOT / "docs" / "reading.md"
    names: dict[str, Any] = {"__name__": "reading"}
    assert_outputs(path, tmp_path, "advect.py", names, request)


def test_every_block_about_notebooks_runs_and_shows_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    ((_, said),) = executed(page, tmp_path, "misfit.py", {"__name__": "misfit"})
    shown, error = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert said == shown
    assert error in (ROOT / "tests" / "golden" / "notebook.txt").read_text()


def test_the_text_about_whole_arrays_is_the_one_shown(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = ROOT / "docs" / "whole_arrays.md"
    assert_outputs(path, tmp_path, "relax.py", {"__name__": "relax"}, request)


def test_the_way_of_a_function_is_the_one_shown(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = ROOT / "docs" / "architecture.md"
    names: dict[str, Any] = {"__name__": "architecture"}
    assert_outputs(path, tmp_path, "smooth.py", names, request)
    u, cotangent, slope = np.arange(5.0), names["cotangent"], np.zeros(5)
    for k in range(5):
        for sign in (1, -1):
            moved, out = u.copy(), np.zeros(5)
            moved[k] += sign * 1e-3
            names["smooth"](moved, out)
            slope[k] += sign * (out @ cotangent) / 2e-3
    assert names["found"] == pytest.approx(slope, rel=1e-9)


def test_the_adjoints_by_hand_are_right_and_beside_those_that_are_printed(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = ROOT / "docs" / "adjoint-by-hand.md"
    names: dict[str, Any] = {"__name__": "by_hand"}
    assert_outputs(path, tmp_path, "check.py", names, request)
    u = np.linspace(0.0, 1.0, 7)
    lame = [names["advect"], lambda u, out, d_out: (0 * u, 0 * out), u, 0 * u]
    with pytest.raises(AssertionError):
        names["check"](*lame)


DOCS = ROOT / "docs"
#: Pages at the top whose blocks have a test of their own, and where it is.
JUDGED = {
    "adjoint-by-hand": "above",
    "architecture": "above",
    "bridges": "tests/bridges",
    "check_grad": "tests/testing: its `f` is any function",
    "chunks": "tests/bridges",
    "cuda": "its array is on a GPU",
    "graph": "above: writes pictures",
    "modes": "above",
    "reading": "above",
    "schedules": "above",
    "whole_arrays": "above",
}
#: Pages about a package are run where it is installed: the one that their code imports.
OPTIONAL = ("torch", "jax", "dask", "scipy", "matplotlib", "cupy")
#: The file that the first block of a page is, where it is not called as the page.
FIRST = {"start.md": "blur.py", "reference/pyrev.md": "functions.py"}
RUN = {
    str(page.relative_to(DOCS)): page
    for page in sorted(DOCS.rglob("*.md"))
    if BLOCK.search(page.read_text(encoding="utf-8"))
    and str(page.relative_to(DOCS)) not in {f"{name}.md" for name in JUDGED}
}
#: Where the names of a module are described, and the modules.
REFERENCES = {
    "pyrev": "pyrev.md",
    "pyrev.scipy": "scipy.md",
    "pyrev.torch": "torch.md",
    "pyrev.jax": "jax.md",
    "pyrev.dask": "dask.md",
}
ENTRY = re.compile(r"^\.\. auto(?:function|class|exception):: ([\w.]+)", re.MULTILINE)


@pytest.mark.parametrize("page", RUN)
def test_every_block_of_a_page_runs_and_shows_what_it_prints(
    page: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "".join(BLOCK.findall(RUN[page].read_text(encoding="utf-8")))
    for name in re.findall(r"^(?:import|from) (?:pyrev\.)?(\w+)", text, re.MULTILINE):
        if name in OPTIONAL:
            pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    first = FIRST.get(page, f"{RUN[page].stem}.py")
    assert_outputs(RUN[page], tmp_path, first, names, request)


PAGES = [p for p in ROOT.rglob("*.md") if not {".venv", ".git", "build"} & {*p.parts}]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_what_a_page_points_at_is_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert target.startswith("http") or (page.parent / target).exists(), target


def listed(page: Path) -> Iterator[Path]:
    """The pages in the tables of contents of a page."""
    text = page.read_text(encoding="utf-8")
    for inside in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S):
        for name in re.findall(r"^\w[\w/-]*$", inside, re.MULTILINE):
            yield (page.parent / f"{name}.md").resolve()


def test_every_page_is_in_one_table_of_contents() -> None:
    pages = {page.resolve() for page in DOCS.rglob("*.md")}
    found = [place for page in pages for place in listed(page)]
    assert sorted(found) == sorted(pages - {(DOCS / "index.md").resolve()})
    assert {DOCS / f"{name}.md" for name in JUDGED} <= {*DOCS.glob("*.md")}


def public_names() -> Iterator[tuple[str, str]]:
    """Every public name with its module; what `__all__` says is read, not imported."""
    for module in REFERENCES:
        path = (
            ROOT
            / "pyrev"
            / f"{module.removeprefix('pyrev').strip('.') or '__init__'}.py"
        )
        for node in ast.parse(path.read_text()).body:
            if (
                isinstance(node, ast.Assign)
                and ast.unparse(node.targets[0]) == "__all__"
            ):
                for name in ast.literal_eval(node.value):
                    yield module, name


@pytest.mark.parametrize(("module", "name"), [*public_names()])
def test_every_public_name_is_described_with_an_example(module: str, name: str) -> None:
    page = (DOCS / "reference" / REFERENCES[module]).read_text(encoding="utf-8")
    _, *parts = ENTRY.split(page)
    entries = dict(zip(parts[::2], parts[1::2], strict=True))
    example = "".join(BLOCK.findall(entries[f"{module}.{name}"]))
    assert re.search(rf"\b{name}\b", example), f"no example of {module}.{name}"
    assert f"reference/{REFERENCES[module]}" in RUN


def test_every_door_of_the_package_has_a_page_of_reference() -> None:
    doors = {p.stem for p in (ROOT / "pyrev").glob("*.py") if p.stem[0] != "_"}
    assert {f"pyrev.{door}" for door in doors} | {"pyrev"} == {*REFERENCES}


def test_the_ladder_has_six_tutorials_that_are_run_in_their_order() -> None:
    tutorials = [*listed(DOCS / "tutorials" / "index.md")]
    assert len(tutorials) == 6
    for number, page in enumerate(tutorials, 1):
        assert page.read_text(encoding="utf-8").startswith(f"# {number}. ")
        assert f"tutorials/{page.name}" in RUN


def test_the_gallery_has_every_example_and_its_picture() -> None:
    shown = {page.stem for page in listed(DOCS / "gallery" / "index.md")}
    examples = {page.stem for page in (ROOT / "examples").glob("*.py")}
    # The loops are on the page of `layers`, and Adam is none.
    assert shown == examples - {"layer_loops", "adam"}
    cards = (DOCS / "gallery" / "index.md").read_text(encoding="utf-8")
    pictures = {page.stem for page in DOCS.glob("*.png")} & shown
    assert set(re.findall(r"^:img-top: \.\./(\w+)\.png$", cards, re.M)) == pictures


def test_the_readme_names_the_pages_where_to_begin() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in listed(DOCS / "tutorials" / "index.md"):
        assert f"(docs/tutorials/{page.name})" in readme
    for page in ("start", "howto/index", "reference/index", "gallery/index", "faq"):
        assert f"(docs/{page}.md)" in readme
    assert "(docs/coming_from.md)" in readme
