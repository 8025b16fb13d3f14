"""One command runs every hunter, with options that it has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import ROOT
from tests.tools.nightly import STEPS, command

#: Commands that look for nothing by themselves, with the reason.
ASKED_FOR = {
    "texts": "it compares two commits",
    "slow": "it writes the list of slow tests from what a run has printed",
    "by_hand": "it counts lines",
    "nightly": "it is the command",
    "times": "it measures, in the seconds of a quiet machine",
    "site": "`make docs` runs it on what it has built, and so does CI",
}


def test_every_hunter_is_run() -> None:
    tools = ROOT / "tests" / "tools"
    commands = {
        p.parent.name if p.stem == "__main__" else p.stem
        for p in [*tools.glob("*.py"), *tools.glob("*/__main__.py")]
        if "__main__" in p.read_text(encoding="utf-8") and not p.match("test_*")
    }
    run = {words.split()[0].rpartition(".")[2] for words, _ in STEPS.values()}
    assert commands - {*ASKED_FOR} == run - {"pytest"}


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted({w.split()[0] for w, _ in STEPS.values()}))
def test_it_has_the_options_that_it_is_given(module: str) -> None:
    if module.endswith(".coverage"):
        pytest.importorskip("coverage", reason="an extra of its own brings it")
    told = subprocess.run(
        [sys.executable, "-m", module, "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name, (words, _) in STEPS.items():
        if words.split()[0] == module:
            options = [w for w in command(name, 1, 2) if w.startswith("--")]
            assert all(o in told for o in options), name
