from __future__ import annotations

import ast
import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyrev.emit.python import emit_python
from pyrev.ir.nodes import NOWHERE
from pyrev.ir.text import program_text
from pyrev.parse import parse
from pyrev.runtime.code_cache import load
from tests.emit import programs
from tests.emit.cases import CASES, same


@pytest.mark.parametrize("name", CASES)
def test_the_text_computes_what_the_function_computes(name: str) -> None:
    function: Callable[..., Any] = getattr(programs, name)
    text = emit_python(parse(function).program).text
    made = getattr(load(text, name), name)
    for args in CASES[name](np.float64):
        mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
        same(made(*mine), function(*theirs))
        same(tuple(mine), tuple(theirs))


@pytest.mark.parametrize("name", CASES)
def test_the_text_passes_the_linter(name: str) -> None:
    text = emit_python(parse(getattr(programs, name)).program).text
    ast.parse(text)
    options = ["--select", "E,F,W,I", "--ignore", "F841", "--line-length", "100"]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", *options, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + text


def test_the_user_s_line_stands_above_its_nest_once() -> None:
    program = parse(programs.triangle).program
    file = program.loc.file
    sources = {file: Path(file).read_text().splitlines()}
    at = next(
        k for k, line in enumerate(sources[file], 1) if "s += local[j, i]" in line
    )
    sources[file][at - 1] = "        s += local[j][i]  # as the user wrote it"
    text = emit_python(program, doc="Made from\ntriangle.", sources=sources)
    lines = text.text.splitlines()
    assert lines[:2] == ["# Made from", "# triangle."]
    quoted = [k for k, line in enumerate(lines) if "programs.py" in line]
    assert [lines[k].strip() for k in quoted] == [
        f"# programs.py:{at}: s += local[j][i]  # as the user wrote it"
    ]
    (above,) = quoted
    assert lines[above + 1 : above + 3] == [
        "    for i in range(n):",
        "        for j in range(i, n):",
    ]
    assert text.locs[above + 1] == program.body[3].loc
    assert text.locs[0] == NOWHERE


def test_a_line_that_is_printed_as_written_is_not_quoted() -> None:
    program = parse(programs.blur).program
    file = program.loc.file
    sources = {file: Path(file).read_text().splitlines()}
    assert "programs.py" not in emit_python(program, sources=sources).text
    assert "# programs.py:" in emit_python(program).text


def test_only_what_is_used_is_imported() -> None:
    assert "import" not in emit_python(parse(programs.blur).program).text
    text = emit_python(parse(programs.elementary).program).text
    assert text.startswith("import math\n\nimport numpy as np\n\n\ndef elementary(")


def test_the_text_is_a_legal_input_again() -> None:
    text = emit_python(parse(programs.triangle).program).text
    module = load(text, "triangle")
    again = program_text(parse(module.triangle).program)
    assert again == program_text(parse(programs.triangle).program)


def rooted(a: float, b: np.ndarray) -> tuple[float, float]:
    root = np.sqrt(a)
    return b[0], 2.0 * root


def test_what_a_returned_expression_mentions_keeps_its_line() -> None:
    text = emit_python(parse(rooted).program).text
    assert "    root = np.sqrt(a)\n" in text
    same(load(text, "rooted").rooted(4.0, np.ones(1)), (1.0, 4.0))
