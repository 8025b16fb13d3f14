from __future__ import annotations

import linecache
import os
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import pytest

from pyrev.runtime import code_cache as loading
from pyrev.runtime.code_cache import cache_dir, load, module_path

TEXT = "def f(x):\n    return 1 / x\n"

COMPILED = """
import sys
import time
from pathlib import Path

from pyrev.runtime.code_cache import load
from pyrev.emit.numba import emit_numba
from pyrev.parse import parse
from tests.emit import programs
import numpy as np

text = emit_numba(parse(programs.total).program, {"a": "float64", "w": "float64"})
module = load(text.text.text, "total")
print(module.total(np.ones(9), np.zeros(9)))
(stats,) = [module._total.stats]
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYREV_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_module_is_a_private_file_named_after_function_and_text(
    folder: Path,
) -> None:
    module = load(TEXT, "f")
    path = module_path(TEXT, "f")
    assert module.__file__ == str(path)
    assert path.parent == folder
    assert path.read_text() == TEXT
    assert path.name.startswith("f_")
    assert module_path(TEXT, "f") == path != module_path(TEXT + "\n", "f")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in folder.iterdir() if p.is_file()] == [path.name]


def test_the_same_text_is_the_same_module(folder: Path) -> None:
    assert load(TEXT, "f") is load(TEXT, "f")


def test_a_name_that_is_no_file_name_is_made_one(folder: Path) -> None:
    assert module_path(TEXT, "<lambda>").name.startswith("lambda_")
    assert module_path(TEXT, "../../x").parent == folder


def test_a_traceback_shows_the_generated_line(folder: Path) -> None:
    text = "def f(x):\n    # the line below\n    return 1 / x\n"
    with pytest.raises(ZeroDivisionError) as error:
        load(text, "f").f(0)
    assert "return 1 / x" in "".join(traceback.format_tb(error.tb))
    assert (
        linecache.getline(str(module_path(text, "f")), 2).strip() == "# the line below"
    )


def test_a_folder_that_others_can_write_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_told", set())
    folder.mkdir(mode=0o700)
    os.chmod(folder, 0o777)
    with pytest.warns(RuntimeWarning, match="other users can write.*PYREV_CACHE_DIR"):
        assert cache_dir() != folder
    assert load(TEXT + "# elsewhere\n", "f").f(2) == 0.5
    assert not list(folder.iterdir())


FOLDER = """
import functools, os, shutil, sys, warnings
from pathlib import Path
import numpy as np
import pyrev
from pyrev.runtime import code_cache

warnings.simplefilter("error" if {harmless} else "always")
folder = Path(os.environ["PYREV_CACHE_DIR"])

def square(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * x[i]

def cube(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * x[i] * x[i]

made = functools.cache(pyrev.differentiable)  # what was proved is not read again

def check(f, x, make=made):
    out = np.zeros(5)
    make(f)(x, out)
    assert (out == (x * x if f is square else x * x * x)).all(), out

check(square, np.ones(5) * 2)
{damage}
for make in (made, pyrev.differentiable):
    for f in (square, cube):
        for x in (np.ones(5) * 2, (np.ones(10) * 3)[::2], np.ones(5, np.float32)):
            check(f, x, make)
"""
DAMAGE = {
    "removed": "shutil.rmtree(folder)",
    "a file": "shutil.rmtree(folder); folder.write_text('')",
    "others may write": "os.chmod(folder, 0o777)",
    "foreign files": """
for file in sorted(folder.rglob("*.*")):
    if file.is_file():
        file.write_bytes(b"foreign")
""",
    "folders in place of files": """
for file in sorted(folder.rglob("*.*")):
    if file.is_file():
        file.unlink(); file.mkdir()
""",
    "full": """
def full(*_, **__):
    raise OSError(28, "No space left on device")
code_cache.tempfile.mkstemp = full
from numba.core import caching
caching.IndexDataCacheFile._open_for_write = full
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_cache_that_is_damaged_while_it_is_used_costs_a_warning_and_no_call(
    damage: str, folder: Path
) -> None:
    harmless = damage == "removed"  # it is made again
    script = folder.parent / "script.py"
    script.write_text(FOLDER.format(damage=DAMAGE[damage], harmless=harmless))
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ("RuntimeWarning" in done.stderr) != harmless, done.stderr
    assert done.stderr.count("RuntimeWarning") <= 8, done.stderr


def test_a_file_that_was_changed_is_written_again(folder: Path) -> None:
    text = TEXT + "# changed\n"
    path = module_path(text, "f")
    path.write_text("raise RuntimeError")
    assert load(text, "f").f(2) == 0.5
    assert path.read_text() == text


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "HOME"])
def test_the_folder_is_where_users_look_for_it(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYREV_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    inner = Path("pyrev") if variable == "XDG_CACHE_HOME" else Path(".cache/pyrev")
    assert cache_dir() == tmp_path / inner


def test_threads_get_one_module(folder: Path) -> None:
    text = TEXT + "# from threads\n"
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(load(text, "f"))) for _ in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(module is found[0] for module in found)


@pytest.mark.slow
def test_a_second_process_finds_the_machine_code(folder: Path) -> None:
    def run() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert run() == ["9.0", "0", "1"]
    assert run() == ["9.0", "1", "0"]
