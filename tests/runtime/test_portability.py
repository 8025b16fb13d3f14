"""What of the system pyrev relies on: here without what only POSIX has."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pyrev.runtime import code_cache
from pyrev.runtime.stack_depth import on_a_large_stack
from tests import ROOT

POSIX = {"fcntl", "grp", "pwd", "resource", "termios", "tty", "pty"}

#: What Windows lacks is taken away once the libraries have been imported, which have
#: code of their own for it; its files of text have other ends of lines.
AS_ON_WINDOWS = f"""
import functools, io, os, pathlib, sys, threading
import filelock, islpy, networkx, numba, numpy as np
import numba.np.ufunc.parallel, platformdirs.unix, platformdirs.windows
for name in {sorted(POSIX)!r}:
    sys.modules[name] = None
for name in (
    "fork", "forkpty", "register_at_fork", "getuid", "geteuid", "getgid", "getegid",
    "getgroups", "chown", "fchmod", "fchown", "sysconf", "uname", "sched_getaffinity",
):
    if hasattr(os, name):
        delattr(os, name)
sys.platform = "win32"
# What Windows says where the user's folders are.
platformdirs.windows.get_win_folder = lambda _: os.environ["LOCALAPPDATA"]

def as_text(real):
    def opened(
        file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **kw
    ):
        if newline is None and "w" in mode and "b" not in mode:
            newline = "\\r\\n"
        return real(file, mode, buffering, encoding, errors, newline, **kw)
    return opened
os.fdopen = as_text(os.fdopen)
io.open = as_text(io.open)
real_stack_size = threading.stack_size
def stack_size(size=0):
    if size >= 256 << 20:
        raise ValueError(f"size not valid: {{size}} bytes")
    return real_stack_size(size)
threading.stack_size = stack_size
"""

GRADIENT = """
import pyrev
from pyrev.runtime import code_cache

@pyrev.differentiable(target={target!r})
def smooth(u, out):
    for i in range(1, u.shape[0] - 1):
        out[i] = u[i - 1] * u[i + 1]

u = np.arange(5.0)
_, pullback = pyrev.vjp(smooth, u, np.zeros(5))
assert pullback(out=np.ones(5)).u.tolist() == [2.0, 3.0, 4.0, 1.0, 2.0]
saved = smooth.adjoint.save("saved.py")
assert b"\\r" not in saved.read_bytes()
dispatchers = [
    value
    for loaded in code_cache._LOADED.values()
    for value in vars(loaded.module).values()
    if hasattr(value, "stats")
]
print(code_cache.cache_dir())
print(sum(sum(one.stats.cache_hits.values()) for one in dispatchers))
print(sum(sum(one.stats.cache_misses.values()) for one in dispatchers))
"""


def on_windows(target: str, folder: Path) -> tuple[Path, int, int]:
    """A gradient as on Windows: the cache folder, what was in it, what was compiled."""
    file = folder / "script.py"
    file.write_text(AS_ON_WINDOWS + GRADIENT.format(target=target))
    environment = {k: v for k, v in os.environ.items() if "CACHE" not in k}
    local = folder / "AppData" / "Local"
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(file)],
        env={
            **environment,
            "HOME": str(folder),
            "LOCALAPPDATA": str(local),
            "PYTHONPATH": str(ROOT),
        },
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    where, found, made = done.stdout.split()
    for text in Path(where).glob("*.py"):
        assert b"\r" not in text.read_bytes(), text
    assert Path(where).is_relative_to(local)
    return Path(where), int(found), int(made)


def test_a_gradient_needs_nothing_that_only_posix_has(tmp_path: Path) -> None:
    folder, _, _ = on_windows("python", tmp_path)
    assert folder == tmp_path / "AppData" / "Local" / "pyrev" / "Cache"
    assert [*folder.glob("smooth*.py")]


@pytest.mark.slow
def test_compiled_code_is_found_again_where_posix_is_missing(tmp_path: Path) -> None:
    _, found, made = on_windows("numba", tmp_path)
    assert (found, made > 0) == (0, True)
    assert on_windows("numba", tmp_path)[1:] == (made, 0)


def test_no_module_imports_what_only_posix_has() -> None:
    for path in (ROOT / "pyrev").rglob("*.py"):
        text = path.read_text()
        if not any(name in text for name in POSIX):
            continue  # most of them need not be parsed
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                assert not POSIX & {alias.name for alias in node.names}, path
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in POSIX, path


def test_without_owners_and_modes_only_a_folder_at_home_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setattr(code_cache, "_told", set())
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    inside, outside = tmp_path / "home" / "cache", tmp_path / "elsewhere"
    monkeypatch.setenv("PYREV_CACHE_DIR", str(inside))
    assert code_cache.cache_dir() == inside
    monkeypatch.setenv("PYREV_CACHE_DIR", str(outside))
    with pytest.warns(RuntimeWarning, match="elsewhere can't be.*outside of your home"):
        assert code_cache.cache_dir() not in (inside, outside)
    (tmp_path / "home" / "link").symlink_to(outside)
    monkeypatch.setenv("PYREV_CACHE_DIR", str(tmp_path / "home" / "link"))
    with pytest.warns(RuntimeWarning, match="link can't be.*outside of your home"):
        assert code_cache.cache_dir() != tmp_path / "home" / "link"


def test_a_file_that_is_open_elsewhere_need_not_be_replaced_by_the_same_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "module.py"

    def refused(made: str, target: Path) -> None:
        target.write_text("x = 1\n")  # another process was first
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(os, "replace", refused)
    code_cache._store(path, "x = 1\n")
    assert [*tmp_path.iterdir()] == [path]
    with pytest.raises(PermissionError):
        code_cache._store(path, "x = 2\n")
    assert [*tmp_path.iterdir()] == [path]


def test_a_cache_on_another_drive_than_the_process_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_way(path: str) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    module = code_cache._unfiled("x = 1\n", tmp_path / "far.py")
    monkeypatch.setattr(os.path, "relpath", no_way)
    code_cache._unload(module, str(tmp_path / "far.py"))
    assert module.__name__ not in sys.modules
    assert str(tmp_path / "far.py") not in code_cache.linecache.cache


def test_a_system_of_smaller_stacks_gets_the_largest_that_it_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, asked, limits = threading.stack_size, [], []

    def at_most(size: int = 0) -> int:
        if size:
            asked.append(size)
        if size >= 256 << 20:
            raise ValueError(f"size not valid: {size} bytes")
        return real(size)

    def depth(n: int) -> int:
        limits.append(sys.getrecursionlimit())
        return 0 if n == 0 else 1 + depth(n - 1)

    monkeypatch.setattr(threading, "stack_size", at_most)
    assert on_a_large_stack(lambda: depth(20_000)) == 20_000
    assert asked == [512 << 20, 255 << 20]
    assert 20_000 < limits[0] < 100_000  # no deeper than the stack
    assert real() == 0 and sys.getrecursionlimit() < limits[0]


def test_without_islpy_the_import_says_what_is_missing_and_what_to_do() -> None:
    program = "import sys; sys.modules['islpy'] = None; import pyrev"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: pyrev needs islpy")
    for remedy in ("pip install islpy", "conda install -c conda-forge islpy", "WSL"):
        assert remedy in last
