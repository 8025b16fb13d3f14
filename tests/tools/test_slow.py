"""The list of the slow tests: what a run has measured, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools import slow


def test_of_several_runs_the_shorter_time_counts() -> None:
    runs = [{"a": 3.0, "b": 0.1}, {"a": 1.2, "b": 2.0, "c": 1.0}]
    assert slow.updated(frozenset(), runs) == ["a", "c"]


def test_what_did_not_run_stays_and_what_became_fast_goes() -> None:
    assert slow.updated(frozenset(("old", "a")), [{"a": 0.1, "b": 5.0}]) == ["b", "old"]


def test_what_the_pages_and_examples_show_runs_every_time() -> None:
    names = {"tests/test_docs.py::x": 20.0, "tests/examples/test_lens.py::x": 20.0}
    assert slow.updated(frozenset(names), [names]) == []
    assert not [n for n in slow.listed() if n.startswith(("tests/test_", "tests/ex"))]


def test_the_list_is_written_from_what_pytest_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow, "LIST", tmp_path / "slow.txt")
    printed = tmp_path / "run.txt"
    lines = [
        "= slowest durations =",
        "2.10s call     t.py::a[1-b c]",
        "0.10s call  t.py::b",
    ]
    printed.write_text("\n".join([*lines, "(3 durations < 0.02s hidden.)"]))
    slow.main([str(printed)])
    assert slow.listed() == {"t.py::a[1-b c]"}


def test_each_file_of_the_list_is_there() -> None:
    files = {name.partition("::")[0] for name in slow.listed()}
    assert all((slow.ROOT / f).is_file() for f in files)
