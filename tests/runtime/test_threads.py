"""Threads, forks and processes: the same bits, no crash, one cache for all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.runtime import code_cache as loading
from tests.tools import stress

COMPILING = """
import sys
import numpy as np
from tests.tools.costs import differentiable
from tests.tools.stress import stencil

u = np.arange(400.0).reshape(20, 20) / 400.0
dtype, layout = sys.argv[1:]
u = u.astype(dtype)
u = u.T.copy().T if layout == "F" else u
v = np.zeros_like(u)
f = differentiable(stencil, target="numba")
print("ready", flush=True)
sys.stdin.readline()
f(u, v)
print(repr(float(v.sum())))
"""


def compiling(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A process that waits for a line before it compiles."""
    return subprocess.Popen(
        [sys.executable, "-c", COMPILING, *arguments],
        env={**os.environ, "PYREV_CACHE_DIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def together(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Let all of them go at once; what each says last."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = []
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        told.append(out.strip())
    return told


@pytest.mark.slow
@pytest.mark.parametrize("layer", stress.LAYERS)
def test_threads_and_a_forked_child_compute_the_bits_of_one_thread(layer: str) -> None:
    status, told = stress.on_layer(layer, 3.0)
    if status == stress.ABSENT:
        pytest.skip(f"the threading layer {layer} is not installed")
    assert status == 0, told
    assert "0 wrong" in told and "the child ended with 0" in told


@pytest.mark.slow
def test_one_wrong_bit_is_found_by_the_stress_test() -> None:
    def identity(a: Any) -> Any:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        return s

    f = pyrev.differentiable(identity, target="python")
    a = np.ones(3)
    right = stress.run(f, (a,))
    assert stress.Job(f, (a,), right).right()
    moved = np.nextafter(right[-1], 2.0)
    assert not stress.Job(f, (a,), (*right[:-1], moved)).right()
    crowd = stress.work_for((stress.Job(f, (a,), (*right[:-1], moved)),), 0.05)
    assert crowd.calls >= crowd.wrong >= 1


def test_a_fork_waits_for_whoever_makes_code() -> None:
    entered, go = threading.Event(), threading.Event()

    def make() -> None:
        with loading.MAKING:
            entered.set()
            go.wait(10)

    maker = threading.Thread(target=make)
    maker.start()
    entered.wait(10)
    threading.Timer(0.2, go.set).start()
    pid = os.fork()
    if pid == 0:
        free = loading.MAKING.acquire(timeout=5) and loading.LAUNCH.acquire(timeout=5)
        os._exit(0 if free else 1)
    _, status = os.waitpid(pid, 0)
    maker.join()
    assert go.is_set()
    assert status == 0
    assert loading.MAKING.acquire(timeout=5)
    loading.MAKING.release()


def test_the_serial_text_differs_in_one_line() -> None:
    f = pyrev.differentiable(stress.stencil, target="numba")
    text = f.adjoint.source_for("numba")
    made = loading.serial(text)
    pairs = zip(text.splitlines(), made.splitlines(), strict=True)
    changed = [(a, b) for a, b in pairs if a != b]
    assert [b for _, b in changed] == ["PARALLEL = SERIAL"]
    assert '"parallel": True' in text and '"parallel": True' not in made


# ------------------------------------------------------------------ the cache


@pytest.mark.slow
def test_processes_that_compile_one_function_at_once_do_not_meet(
    tmp_path: Path,
) -> None:
    kinds = [("f8", "C"), ("f8", "F"), ("f8", "C"), ("f8", "F")]
    told = together([compiling(tmp_path, *kind) for kind in kinds])
    assert told[0] == told[2]
    assert told[1] == told[3]
    again = together([compiling(tmp_path, *kind) for kind in kinds[:2]])
    assert again == told[:2]


@pytest.mark.slow
def test_torn_machine_code_is_made_again(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    (before,) = together([compiling(whole, "f8", "C")])
    for damage, pattern in (
        ("half", "*.nb[ci]"),
        ("zeros", "*.nbi"),
        ("none", "*.nbc"),
    ):
        torn = tmp_path / damage
        shutil.copytree(whole, torn)
        files = sorted((torn / "__pycache__").glob(pattern))
        assert files
        for file in files:
            data = file.read_bytes()
            left = {"half": data[: len(data) // 2], "zeros": bytes(len(data))}
            file.write_bytes(left.get(damage, b""))
        assert together([compiling(torn, "f8", "C")]) == [before]


def test_neither_a_changed_file_nor_its_bytecode_is_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYREV_CACHE_DIR", str(tmp_path))
    text = "def f(x):\n    return x + 1\n"
    path = loading.module_path(text, "f")
    evil = "raise SystemExit('poisoned')"
    path.write_text(evil + "#" * (len(text) - len(evil)))
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(path)], check=True)
    stamp = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(stamp, stamp))
    assert loading.load(text, "f").f(1) == 2


def test_a_cache_folder_that_cannot_be_used_is_told_by_name_and_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_told", set())
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("PYREV_CACHE_DIR", str(blocked / "cache"))
    with pytest.warns(RuntimeWarning, match="a file/cache can't be.*PYREV_CACHE_D"):
        folder = loading.cache_dir()
    assert folder.stat().st_mode & 0o777 == 0o700
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert loading.cache_dir() == folder  # said once
    monkeypatch.setenv("PYREV_CACHE_DIR", str(tmp_path / "good"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.warns(RuntimeWarning, match="it can't be written"):
        assert loading.cache_dir() == folder


def test_without_a_home_that_can_be_written_the_cache_is_a_private_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.delenv("PYREV_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    folder = loading.cache_dir()
    assert folder == tmp_path / f"pyrev-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700
    os.chmod(folder, 0o777)
    monkeypatch.setattr(loading, "_told", set())
    with pytest.warns(RuntimeWarning, match="a file"):
        assert loading.cache_dir() != folder
