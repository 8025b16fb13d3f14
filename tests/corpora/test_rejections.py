"""Every refusal is a file: a function, and under it the complete message it gets."""

from __future__ import annotations

import ast
import configparser
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import pyrev.parse
from pyrev import vjp
from pyrev.api.differentiable import differentiable
from pyrev.ir.diagnostics import CODES, PAGE, Findings, UnsupportedError
from pyrev.ir.nodes import Loc
from pyrev.parse import parse
from tests import ROOT

FILES = sorted((Path(__file__).parent / "rejected").glob("*.py"))


def split(text: str) -> tuple[str, str]:
    """The function's part of a file, and the message in its trailing comments."""
    lines = text.splitlines()
    last = max(k for k, line in enumerate(lines) if not line.startswith("#"))
    message = "\n".join(line.removeprefix("#")[1:] for line in lines[last + 1 :])
    return "\n".join(lines[: last + 1]), message


def refusal(path: Path) -> UnsupportedError:
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(UnsupportedError) as caught:
        if namespace.get("only_called"):  # it means nothing before
            vjp(differentiable(namespace["f"]), *namespace["arguments"])
        parse(namespace["f"])
        # What only differentiation finds, `P3xx`, is found before any call too.
        memory = namespace.get("memory")
        f = differentiable(namespace["f"], target="python", memory=memory)
        assert f.adjoint.source
        # What Python itself has no room for.
        assert callable(f.adjoint.python)
        # What a target has no form for.
        assert f.primal.source_for(namespace.get("target", "python"))
        # What only the ranks and dtypes of a call show.
        f(*namespace["arguments"])
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_refused_function_gets_its_whole_message(path: Path) -> None:
    _, expected = split(path.read_text())
    assert str(refusal(path)).replace(str(path), path.name) == expected


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_named_after_a_code_it_gets(path: Path) -> None:
    codes = {finding.code for finding in refusal(path).findings}
    assert path.stem.split("_")[0] in codes


def test_every_code_has_a_file_and_every_file_has_a_known_code() -> None:
    assert {path.stem.split("_")[0] for path in FILES} == set(CODES)


def places() -> list[tuple[str, int, int]]:
    """Where `pyrev.parse` adds a finding: the file, and the lines of the call."""
    assert pyrev.parse.__file__ is not None
    return [
        (str(path), node.lineno, node.end_lineno or node.lineno)
        for path in sorted(Path(pyrev.parse.__file__).parent.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(("findings.add", "w.refuse"))
    ]


@pytest.mark.slow
def test_every_place_that_refuses_has_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    met: set[tuple[str, int]] = set()
    add = Findings.add

    def noted(self: Findings, code: str, at: Loc, because: str, help: str) -> None:
        # The place, or `Walk.refuse` and the place that calls it.
        for caller in (sys._getframe(1), sys._getframe(2)):
            met.add((caller.f_code.co_filename, caller.f_lineno))
        add(self, code, at, because, help)

    monkeypatch.setattr(Findings, "add", noted)
    for path in FILES:
        refusal(path)
    never = [
        f"{Path(file).name}:{first}"
        for file, first, last in places()
        if not any((file, line) in met for line in range(first, last + 1))
    ]
    assert len(places()) > 60
    assert never == []


def test_every_code_has_its_row_and_an_example_in_the_page_about_errors() -> None:
    docs = ROOT / "docs"
    page = (docs / "errors.md").read_text()
    row = r"^\| <a id=\"(p\d+)\"></a>(P\d+) \| (.+?) \| .+ \| .+ \| \[.+\]\((.+)\) \|$"
    found = re.findall(row, page, re.MULTILINE)
    assert [anchor for anchor, *_ in found] == [c.lower() for _, c, *_ in found]
    rows = [parts for _, *parts in found]
    assert {code: title for code, title, _ in rows} == CODES
    assert [code for code, _, _ in rows] == sorted(CODES)
    for code, _, example in rows:
        path = (docs / example).resolve()
        assert path in FILES and path.stem.startswith(f"{code}_")
    # The message that is shown is one of theirs, and no other page has such a table.
    shown = page.partition("```text\n")[2].partition("```")[0]
    assert shown.strip() in [split(path.read_text())[1].strip() for path in FILES]
    for other in docs.glob("*.md"):
        assert other.name == "errors.md" or "</a>P1" not in other.read_text()


def test_every_error_of_pyrev_is_in_the_page_about_errors() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()
    told = set(re.findall(r"^\| `pyrev\.(\w+)`", page, re.MULTILINE))
    own = {n for n in vars(pyrev.ir.diagnostics) if n.endswith("Error")}
    assert told == own - {"PyrevError"}


def test_a_refusal_survives_pickling() -> None:
    refused = refusal(FILES[0])
    again = pickle.loads(pickle.dumps(refused))
    assert again.findings == refused.findings
    assert str(again) == str(refused)
    assert again.__notes__ == refused.__notes__


def test_a_traceback_says_where_its_codes_are_explained() -> None:
    refused = refusal(FILES[0])
    code = refused.findings[0].code.lower()
    assert refused.__notes__ == [f"more: {PAGE}#{code}"]
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    home = setup["metadata"]["url"]
    assert PAGE == f"{home}/blob/main/docs/errors.md"


def test_all_findings_of_a_function_and_its_helpers_come_together_in_order() -> None:
    path = next(path for path in FILES if path.stem == "P106_several")
    findings = refusal(path).findings
    assert len(findings) == 4
    places = [(f.at.line, f.at.col) for f in findings]
    assert places == sorted(places)
