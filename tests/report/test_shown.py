"""How generated texts are shown: as `str`, on terminals, in notebooks, compared."""

from __future__ import annotations

import ast
import copy
import io
import json
import linecache
import math
import os
import pickle
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

import pyrev
from pyrev.__main__ import main
from pyrev.report.shown import styled
from pyrev.report.shown.listing import Listing
from pyrev.report.shown.passages import passages
from pyrev.report.shown.side_by_side import NARROWEST, Row
from tests.corpora.everything import EVERY, accepted
from tests.turns import share_of

CODE = re.compile(r"\x1b\[\d+m")
WHAT = ("adjoint", "tangent", "primal")


def steep(v, slope):
    w = v * slope
    for _ in range(3):
        w = w * v
    return w


@pyrev.differentiable
def energy(u, c):
    """The docstring is no statement."""
    total = 0.0
    for i in range(u.shape[0]):
        if u[i] < 1.0 and c > 0.0:  # <b>é</b> &amp; "quoted"
            total += math.sqrt(
                u[i] ** 2
                + c
            )  # fmt: skip
        else:
            total += steep(u[i], c)
    return total


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def no_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has said anything about colours, and nobody types."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delattr(sys, "ps1", raising=False)


def session(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Somebody types from now on, at a terminal of 200 columns."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "200")
    return terminal


def notebook(monkeypatch: pytest.MonkeyPatch, *types: str) -> None:
    """IPython runs, and shows these types."""
    shell = SimpleNamespace(display_formatter=SimpleNamespace(active_types=types))
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)


def pretty(thing: Any) -> str:
    """What IPython prints of a thing."""
    said: list[str] = []
    thing._repr_pretty_(SimpleNamespace(text=said.append), False)
    return "".join(said)


def texts() -> list[Listing]:
    return [
        *(getattr(energy, what).source for what in WHAT),
        *(energy.adjoint.source_for(t) for t in ("python", "numba", "cuda")),
    ]


# ------------------------------------------------------------------ as a str


@pytest.mark.parametrize("text", texts(), ids=lambda t: t._origin.title)
def test_a_text_is_a_str_in_all_that_is_done_with_one(
    text: Listing, tmp_path: Path
) -> None:
    plain = "".join(text)
    assert type(plain) is type(str(text)) is str
    assert text == plain and hash(text) == hash(plain) and {plain: 1}[text] == 1
    assert repr(text) == repr(plain)
    assert f"{text}" == f"{text!s:}" == plain and text + "" == plain
    assert json.loads(json.dumps({"text": text})) == {"text": plain}
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(plain))
    path = tmp_path / "text.py"
    path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("made", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_copy_of_a_text_is_the_text_alone(made: Any) -> None:
    text = energy.adjoint.source
    found = made(text)
    if isinstance(found, bytes):
        assert b"pyrev" not in found.replace(str(text).encode(), b"")
        found = pickle.loads(found)
    assert type(found) is str and found == text


def test_what_is_printed_is_plain_whatever_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = session(monkeypatch)
    monkeypatch.setenv("FORCE_COLOR", "1")
    print(energy.adjoint.source)
    print(energy.adjoint)
    print(energy.adjoint.side_by_side())
    print(energy.adjoint.diff(energy.tangent))
    assert "def energy_adjoint" in terminal.getvalue()
    assert "\x1b" not in terminal.getvalue()


# ------------------------------------------------------------------ on a terminal


@pytest.mark.parametrize(
    "thing",
    [
        energy.adjoint.source,
        energy.adjoint,
        energy.primal.source,
        energy.adjoint.side_by_side(),
        energy.adjoint.diff(energy.tangent),
    ],
    ids=lambda t: type(t).__name__,
)
def test_a_session_shows_a_thing_in_colour(
    thing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = session(monkeypatch)
    sys.displayhook(thing)
    shown = terminal.getvalue()
    assert CODE.search(shown)
    assert CODE.sub("", shown) == f"{str(thing).removesuffix(chr(10))}\n"
    assert pretty(thing) == repr(thing) == shown.removesuffix("\n")


@pytest.mark.parametrize(
    ("wishes", "terminal", "colour"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_there_is_colour_where_the_terminal_and_the_user_want_it(
    wishes: dict[str, str],
    terminal: bool,
    colour: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in wishes.items():
        monkeypatch.setenv(name, value)
    file = Terminal() if terminal else io.StringIO()
    energy.adjoint.show(file)
    assert bool(CODE.search(file.getvalue())) is colour
    assert CODE.sub("", file.getvalue()) == energy.adjoint.source
    monkeypatch.setattr(sys, "stdout", file)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert bool(CODE.search(repr(energy.adjoint.source))) is colour


def test_show_does_as_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    energy.adjoint.show()
    assert capsys.readouterr().out == energy.adjoint.source
    energy.adjoint.show(colour=True)
    assert CODE.search(capsys.readouterr().out)
    terminal = Terminal()
    energy.adjoint.source_for("numba").show(terminal, colour=False)
    assert terminal.getvalue() == energy.adjoint.source_for("numba")


def test_the_command_shows_as_show_does(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["show", f"{__file__}:energy"]
    shown = {}
    for file in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stdout", file)
        assert main(command) == 0
        shown[file.isatty()] = file.getvalue()
    assert shown[False] == energy.adjoint.source
    assert CODE.search(shown[True]) and CODE.sub("", shown[True]) == shown[False]


@pytest.mark.parametrize("file", [3, "name.py", io.BytesIO()])
def test_show_says_what_takes_no_text(file: Any) -> None:
    with pytest.raises(pyrev.ArgumentError, match="open for text"):
        energy.adjoint.show(file)


def test_a_closed_file_is_its_owners_error() -> None:
    file = io.StringIO()
    file.close()
    with pytest.raises(ValueError, match="closed"):
        energy.adjoint.show(file)


# ------------------------------------------------------------------ in a notebook


def test_a_notebook_gets_html_and_plain_text_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session(monkeypatch)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as its kernel does
    notebook(monkeypatch, "text/plain", "text/html")
    source = energy.adjoint.source
    assert f"{pretty(source)}\n" == source
    assert repr(source) == str.__repr__(source)
    assert pretty(energy.adjoint.side_by_side()) == str(energy.adjoint.side_by_side())
    notebook(monkeypatch, "text/plain")  # a terminal
    assert CODE.search(pretty(source)) and CODE.search(repr(source))


def page(html: str) -> ElementTree.Element:
    """The elements of a piece of HTML that brings all it needs, and does nothing."""
    for foreign in ("<script", "<style", "class=", "http", "url(", "\x1b"):
        assert foreign not in html
    root = ElementTree.fromstring(html)
    assert root.get("role") == "region" and root.get("aria-label")
    return root


def cells(root: ElementTree.Element) -> list[tuple[str, str, str]]:
    """The rows of its table."""
    found = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    assert {len(row) for row in found} == {3}
    return [(a, b, c) for a, b, c in found]


def test_a_notebook_shows_the_primal_beside_a_derivative() -> None:
    for derived in (energy.adjoint, energy.tangent):
        head, *rows = cells(page(derived.source._repr_html_()))
        assert head[1:] == ("energy in test_shown.py", derived.source._origin.name)
        assert derived._repr_html_() == derived.source._repr_html_()
        expected = [
            (str(r.line or ""), r.primal or r.title, r.derived or "")
            for r in derived.side_by_side().rows
        ]
        assert rows == expected
        assert any('<b>é</b> &amp; "quoted"' in left for _, left, _ in rows)


@pytest.mark.parametrize(
    "text", [energy.primal.source, energy.adjoint.source_for("cuda")]
)
def test_a_notebook_shows_other_texts_alone(text: Listing) -> None:
    root = page(text._repr_html_())
    assert root.find(".//table") is None
    assert "".join(root.itertext()) == text
    assert root.find(".//code/span") is not None


def test_cells_name_their_columns_and_lines() -> None:
    root = page(energy.adjoint._repr_html_())
    assert {h.get("scope") for h in root.findall(".//thead//th")} == {"col"}
    assert {h.get("scope") for h in root.findall(".//tbody//th")} == {"row"}


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_colours_are_read_on_light_and_on_dark() -> None:
    colours = re.findall(r"#[0-9a-f]{6}", "".join(styled._NOTEBOOK.values()))
    assert len(set(colours)) > 3
    for colour in colours:
        own, dark = luminance(colour) + 0.05, luminance("#111111") + 0.05
        assert 1.05 / own >= 4.5 and own / dark >= 4.1, colour


def test_without_pygments_all_is_there_but_the_colours_of_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = energy.adjoint.side_by_side().rows
    monkeypatch.setitem(sys.modules, "pygments.lexers.python", None)
    file = io.StringIO()
    energy.adjoint.show(file, colour=True)
    assert file.getvalue() == energy.adjoint.source
    assert "".join(page(energy.primal._repr_html_()).itertext()) == energy.primal.source
    assert cells(page(energy.adjoint._repr_html_()))
    assert energy.adjoint.side_by_side().rows == rows


# ------------------------------------------------------------------ side by side


LINES = Path(__file__).read_text(encoding="utf-8").splitlines()


def at(text: str) -> int:
    """The number of the first line of this file that is, but for its margin, `text`."""
    return next(k for k, line in enumerate(LINES, 1) if line.strip() == text)


def of(rows: tuple[Row, ...], line: int) -> list[str]:
    """The lines of the derivative in the rows that begin with a line, up to the next
    that has one.
    """
    found, inside = [], False
    for r in rows:
        inside = r.line == line or (inside and not r.line and not r.title)
        if inside and r.derived is not None:
            found.append(r.derived.strip())
    return found


def test_what_comes_from_a_line_stands_beside_it() -> None:
    rows = energy.adjoint.side_by_side().rows
    assert of(rows, at("def energy(u, c):"))[0].startswith("def energy_adjoint(u, c,")
    (first,) = of(rows, at("total += math.sqrt("))
    assert "np.sqrt(u[i] ** 2 + c)" in first
    assert all("d_" in d for d in of(rows, at("w = v * slope"))[-2:])
    assert rows[-1].derived is None and rows[-1].primal == "    return total"


def test_lines_of_a_function_that_was_inlined_are_under_its_name() -> None:
    rows = energy.adjoint.side_by_side().rows
    here = ""
    for r in rows:
        here = r.title or here
        inlined = at("def steep(v, slope):") <= r.line <= at("return w")
        assert inlined == (r.line > 0 and here == "steep in test_shown.py")
    assert here == "nothing on the right comes from"


def correlate(signal, kernel, out):
    for x in range(out.shape[0]):
        for k in range(kernel.shape[0]):
            out[x] += (
                signal[x + k] * kernel[k]
            )  # fmt: skip


def test_a_statement_of_several_lines_is_whole_once_then_referred_to() -> None:
    first = at("out[x] += (")
    rows = pyrev.differentiable(correlate).adjoint.side_by_side().rows
    shown = [(r.line, r.primal) for r in rows if first <= r.line <= first + 2]
    whole = [(k, LINES[k - 1]) for k in range(first, first + 3)]
    assert shown == [*whole, (first, f"{LINES[first - 1]} ...")]
    assert sum(r.line == at("for x in range(out.shape[0]):") for r in rows) == 2


def judge(text: Listing) -> None:
    """Is all of the derivative there once, in order, and all of the function?"""
    sides = text.side_by_side()
    derived = [r.derived for r in sides.rows if r.derived is not None]
    assert "\n".join([*derived, ""]) == text
    own, *_ = known = passages(text._origin.texts)
    numbers = {r.line for r in sides.rows}
    assert numbers >= {s.first for s in own.statements}
    lines = {
        k: styled.plain((p.line(k),))
        for p in reversed(known)
        for k in range(p.first, p.first + len(p.lines))
        if p.file == own.file
    }
    for r in sides.rows:
        assert (r.primal.removesuffix(" ...") == "") <= (
            not r.line or not lines[r.line]
        )
        assert not (r.title and r.derived)
    folded = str(text.side_by_side(NARROWEST))
    assert max(map(styled.columns, folded.split("\n"))) <= NARROWEST
    column = str(sides).split("\n")[0].index(" | ")
    for line, row in zip(str(sides).split("\n")[1:], sides.rows, strict=True):
        assert line[column + 3 :] == (row.derived or "").rstrip()


@pytest.mark.slow
@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("name", share_of(EVERY, 48))
def test_all_of_both_stands_side_by_side(name: str, what: str) -> None:
    derived = getattr(accepted(EVERY[name], "python"), what)
    judge(derived.source)
    page(derived._repr_html_())


@pytest.mark.parametrize("name", share_of(EVERY, 128))
def test_all_of_both_stands_side_by_side_for_numba(name: str) -> None:
    judge(accepted(EVERY[name], "numba").adjoint.source_for("numba"))


def test_folded_lines_lose_nothing() -> None:
    whole = energy.adjoint.side_by_side().rows
    for width in (NARROWEST, 60, 97):
        right = [
            line.partition("| ")[2]
            for line in str(energy.adjoint.side_by_side(width)).split("\n")[1:]
            if "| " in line
        ]
        expected = "".join(r.derived or "" for r in whole)
        assert "".join("".join(right).split()) == "".join(expected.split())


def test_a_terminal_gives_side_by_side_its_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for width, columns in ((None, 70), (90, 90)):
        terminal = session(monkeypatch)
        monkeypatch.setenv("COLUMNS", "70")
        energy.adjoint.side_by_side(width).show(colour=False)
        assert terminal.getvalue() == f"{energy.adjoint.side_by_side(columns)}\n"


@pytest.mark.parametrize("width", [3, -1, True, 2.5, "80", math.nan])
def test_a_width_is_a_number_of_columns(width: Any) -> None:
    with pytest.raises(pyrev.ArgumentError, match="columns"):
        energy.adjoint.side_by_side(width)


def test_the_text_for_cuda_has_no_lines_of_statements() -> None:
    with pytest.raises(pyrev.ArgumentError, match='"python" or "numba"'):
        energy.adjoint.source_for("cuda").side_by_side()


def cell(text: str, name: str) -> dict[str, Any]:
    """The names that a cell of a notebook defines."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    return names


def test_a_cell_of_a_notebook_stands_beside_its_adjoint() -> None:
    names = cell("def kühl(θ):\n    温度 = θ * θ\n    return 温度 * θ\n", "<cell 3>")
    f = pyrev.differentiable(names["kühl"])
    assert str(f.adjoint.side_by_side()).split("\n")[0] == (
        "  kühl in <cell 3>    | kühl_adjoint"
    )
    rows = f.adjoint.side_by_side().rows
    assert of(rows, 2)[:1] == ["温度 = θ * θ"]
    ends = {
        styled.columns(line.partition("|")[0])
        for line in str(f.adjoint.side_by_side()).split("\n")
    }
    assert ends == {len("  kühl in <cell 3>    ")}
    assert "&lt;cell 3&gt;" in f.adjoint._repr_html_()


def test_a_function_of_another_cell_is_named_with_it() -> None:
    twice = cell("def twice(x):\n    y = x + x\n    return y * x\n", "<cell 1>")[
        "twice"
    ]
    names = cell("def f(x):\n    return twice(x) * x\n", "<cell 2>")
    names["twice"] = twice
    sides = pyrev.differentiable(names["f"]).adjoint.side_by_side()
    titles = [r.title for r in sides.rows if r.title]
    assert titles[:1] == ["twice in <cell 1>"]
    assert "    y = x + x" in [r.primal for r in sides.rows if r.line == 2]


def test_a_lambda_stands_beside_its_adjoint() -> None:
    f = pyrev.differentiable(lambda a, b: a * b + a)
    (line,) = {r.line for r in f.adjoint.side_by_side().rows} - {0}
    assert line == at("f = pyrev.differentiable(lambda a, b: a * b + a)")
    judge(f.adjoint.source)


def test_an_adjoint_of_an_adjoint_stands_beside_that() -> None:
    second = pyrev.differentiable(energy.adjoint).adjoint
    judge(second.source)
    assert str(second.side_by_side()).lstrip().startswith("energy_adjoint in ")


# ------------------------------------------------------------------ differences


def less(x, k):
    return k * x


def more(x, k):
    return k * x * x


def doubled(x, out):
    for i in range(x.shape[0]):
        out[i] += 2 * x[i]


LESS, MORE = pyrev.differentiable(less), pyrev.differentiable(more)


def test_a_diff_says_what_must_be_done_to_have_the_other() -> None:
    diff = LESS.tangent.diff(MORE.tangent)
    lines = str(diff).split("\n")
    assert diff and lines[:2] == [
        "--- less_tangent (python, test_shown.py)",
        "+++ more_tangent (python, test_shown.py)",
    ]
    assert "-def less_tangent(x, k, dot_x, dot_k):" in lines
    assert "+def more_tangent(x, k, dot_x, dot_k):" in lines
    assert str(diff) == str(LESS.tangent.diff(MORE.tangent.source))


def test_equal_texts_have_a_false_diff_that_says_so(tmp_path: Path) -> None:
    adjoint = pyrev.differentiable(doubled).adjoint
    saved = adjoint.save(tmp_path / "saved.py").read_text(encoding="utf-8")
    for other in (adjoint, adjoint.source, saved):
        diff = adjoint.diff(other)
        assert not diff and "equal texts" in str(diff) and "equal texts" in repr(diff)
        assert "equal texts" in "".join(page(diff._repr_html_()).itertext())


def test_texts_for_targets_and_plain_strings_are_compared() -> None:
    numba = LESS.adjoint.source_for("numba")
    assert "+from numba import njit" in str(LESS.adjoint.diff(numba))
    assert "-from numba import njit" in str(numba.diff(LESS.adjoint))
    assert str(LESS.adjoint.diff("x = 1")).endswith(
        "+x = 1\n\\ No newline at end of file"
    )
    assert "+++ the other text" in str(LESS.adjoint.diff("x = 1\n"))


def test_a_diff_is_marked_without_colour_too() -> None:
    diff = LESS.adjoint.diff(MORE.adjoint)
    root = page(diff._repr_html_())
    text = "".join(root.itertext())
    assert text == str(diff)
    removed = ["".join(e.itertext()) for e in root.iter("del")]
    added = ["".join(e.itertext()) for e in root.iter("ins")]
    body = str(diff).split("\n")[2:]
    assert removed == [line for line in body if line.startswith("-")]
    assert added == [line for line in body if line.startswith("+")]
    file = io.StringIO()
    diff.show(file, colour=True)
    assert "\x1b[31m-def less_adjoint" in file.getvalue()
    assert CODE.sub("", file.getvalue()) == f"{diff}\n"


def test_lines_that_look_like_names_are_added_and_removed() -> None:
    diff = LESS.adjoint.source.diff("++ x\n-- y\n")
    file = io.StringIO()
    diff.show(file, colour=True)
    assert "\x1b[32m+++ x\x1b[0m" in file.getvalue()


@pytest.mark.parametrize("other", [None, 3, b"text", LESS, less])
def test_a_diff_says_what_is_no_text(other: Any) -> None:
    with pytest.raises(pyrev.ArgumentError, match=r"f\.adjoint\.diff\(g\.adjoint\)"):
        LESS.adjoint.diff(other)


# ------------------------------------------------------------------ what is refused


def test_what_is_refused_is_refused_as_before() -> None:
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(lambda x: [x])
    with pytest.raises(pyrev.ArgumentError, match="choose one of"):
        energy.adjoint.source_for("fortran")
    assert os.environ["TERM"] == "xterm"


def test_rich_shows_texts_and_reports_in_colour() -> None:
    console = pytest.importorskip("rich.console", reason="rich is not installed")
    f = pyrev.differentiable(steep)
    for shown in (f.adjoint.source, f.explain(), f.adjoint):
        coloured = io.StringIO()
        console.Console(
            file=coloured, force_terminal=True, color_system="standard", width=200
        ).print(shown)
        text = coloured.getvalue()
        assert "\x1b[" in text
        bare = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert [line.rstrip() for line in bare.splitlines()] == [
            line.rstrip() for line in str(shown).splitlines()
        ]
