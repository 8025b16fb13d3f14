"""What is told of the time before a function runs."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.runtime import journal


def factor() -> float:
    return 3.0


def scaled(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        s += factor() * x[i] * x[i]
    return s


def smoothed(u: Any, out: Any) -> None:
    for i in range(1, u.shape[0] - 1):
        out[i] = u[i - 1] * u[i + 1]


def steps(f: pyrev.Differentiable, step: str) -> list[str]:
    return [e.why for e in f.journal.entries if e.step == step]


def test_what_was_compiled_says_why(fresh: None) -> None:
    f = pyrev.differentiable(smoothed)
    assert steps(f, "read") == ["the first"]
    assert not steps(f, "compiled")
    small, large = np.ones(8), np.ones(3_000_000)
    f(small, np.zeros(8))
    assert steps(f, "compiled") == ["the first"]
    f(small, np.zeros(8))
    assert len(steps(f, "compiled")) == 1
    f(large, np.zeros_like(large))
    assert steps(f, "compiled")[1].startswith("other sizes: now ")
    f(small.astype("float32"), np.zeros(8, "float32"))
    (why,) = steps(f, "compiled")[2:]
    other = "arguments of other ranks or dtypes: u float32[1], out float32[1]"
    # The text may be the one for float64.
    assert why in (other, journal._LAYOUT)
    f(np.ones(16)[::2], np.zeros(8))
    assert steps(f, "compiled")[3:] == [journal._LAYOUT]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache in which no machine code is."""
    monkeypatch.setenv("PYREV_CACHE_DIR", str(tmp_path))


def test_what_was_read_again_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    f = pyrev.differentiable(target="python")(scaled)
    assert pyrev.grad(f)(np.ones(3)).x[0] == 6.0
    before = len(steps(f, "read"))
    monkeypatch.setitem(globals(), "factor", lambda: 4.0)
    assert pyrev.grad(f)(np.ones(3)).x[0] == 8.0
    assert steps(f, "read")[before:] == ["it has changed, or what it uses has"]


def test_a_listener_hears_what_takes_long(
    fresh: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "pyrev"):
        f = pyrev.differentiable(smoothed)
        f(np.ones(5), np.zeros(5))
    said = [r.getMessage() for r in caplog.records if r.name == "pyrev"]
    assert [s.split(":")[0] for s in said] == ["read", "compiled"]
    assert "primal of smoothed in " in said[1]
    assert "(the first); kept in " in said[1]


def test_another_process_finds_what_was_compiled(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import numpy as np
        import pyrev

        @pyrev.differentiable
        def doubled(x):
            for i in range(x.shape[0]):
                x[i] *= 2.0

        doubled(np.ones(4))
        print(*(e.step for e in doubled.journal.entries), sep=", ")
    """)
    )
    env = {"PYREV_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
    said = [
        subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            check=True,
            env=env,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["read, derived, compiled", "read, derived, found in the cache"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def compile_slowly(line: Callable[[], journal._Line], seconds: float) -> None:
    made = line()
    time.sleep(seconds)
    made.end()


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_a_terminal_is_told_while_it_takes_long(
    kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LONG", 0.05)
    shown = kind()
    monkeypatch.setattr(sys, "stderr", shown)
    compile_slowly(lambda: journal._Line("primal of f"), 0.5)
    if kind is Terminal:
        line, taken = "\rpyrev: compiling primal of f, once ...", "\r\x1b[K"
        assert shown.getvalue() == line + taken
    else:
        assert not shown.getvalue()


def test_what_is_short_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    compile_slowly(lambda: journal._Line("primal of f"), 0.0)
    assert not shown.getvalue()


@pytest.mark.parametrize("stream", [None, Terminal()])
def test_a_terminal_that_is_gone_stops_nothing(
    stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LONG", 0.0)
    if stream is not None:
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    compile_slowly(lambda: journal._Line("primal of f"), 0.05)
    journal._write("text")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2.314, "2.31 s"),
        (0.0142, "14.2 ms"),
        (3.1e-6, "3.1 us"),
        (120.0, "120 s"),
        (9.1e-4, "910 us"),
        (0.9999, "1 s"),
    ],
)
def test_times_in_words(seconds: float, words: str) -> None:
    assert journal.in_seconds(seconds) == words
