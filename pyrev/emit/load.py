"""Where generated text lives and how it becomes a callable.

A generated module is a real file in a cache folder of the user, named after the
function and the hash of its text, so that tracebacks and debuggers show its lines and
Numba's `cache=True` finds its machine code again in the next process. The folder is
private: whoever can write there decides what we execute.
"""

from __future__ import annotations

import hashlib
import importlib.util
import linecache
import os
import re
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from pyrev import pool
from pyrev.diagnostics import BackendError

_LOCK = threading.RLock()
_LOADED: dict[str, ModuleType] = {}


def cache_dir() -> Path:
    """The folder of the generated modules, made if need be."""
    if chosen := os.environ.get("PYREV_CACHE_DIR"):
        folder = Path(chosen)
    elif base := os.environ.get("XDG_CACHE_HOME"):
        folder = Path(base) / "pyrev"
    else:
        folder = Path.home() / ".cache" / "pyrev"
    folder = folder.expanduser().absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    info = folder.stat()
    if info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BackendError(
            f"the cache folder {folder} can be written by other users: "
            "make it private (chmod 700) or name another one in PYREV_CACHE_DIR"
        )
    return folder


def module_path(text: str, name: str) -> Path:
    """The file that holds `text`: a readable name, and a hash of the content."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    readable = re.sub(r"\W+", "_", name).strip("_") or "generated"
    return cache_dir() / f"{readable}_{digest}.py"


def _store(path: Path, text: str) -> None:
    """Write the file in one step: no reader, in any process, sees half of it."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def load(text: str, name: str) -> ModuleType:
    """The module with this text; the same text gives the same module.

    `name` is the function the module is about: file and module are named after it.
    """
    path = module_path(text, name)
    with _LOCK:
        key = str(path)
        if key not in _LOADED:
            _store(path, text)
            linecache.checkcache(key)
            # Numba's cache finds the globals of a function by the name of its module.
            spec = importlib.util.spec_from_file_location(f"_pyrev_{path.stem}", path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            for one in ("zeros", "empty", "copy"):
                if hasattr(module, one):
                    setattr(module, one, getattr(pool, one))
            _LOADED[key] = module
        return _LOADED[key]


def launches_are_safe() -> bool:
    """May two Python threads launch parallel Numba code at once? Not on workqueue."""
    from numba.np.ufunc import parallel

    layer: Callable[[], str] = parallel.threading_layer
    try:
        return layer() in ("tbb", "omp")
    except ValueError:  # nothing parallel has run yet
        return False
