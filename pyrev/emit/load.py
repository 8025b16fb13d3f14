"""Where generated text lives and how it becomes a callable.

A generated module is a real file in a cache folder of the user, named after the
function and the hash of its text, so that tracebacks and debuggers show its lines and
Numba's `cache=True` finds its machine code again in the next process. The folder is
private: whoever can write there decides what we execute.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import linecache
import os
import pickle
import re
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pyrev import pool
from pyrev.diagnostics import BackendError
from pyrev.parse.source import GENERATED

MAKING = threading.RLock()  # whoever derives, emits or loads code
LAUNCH = threading.Lock()  # whoever runs compiled code, where that needs a lock
_LOADED: dict[str, ModuleType] = {}
_alone = False  # in a forked child that cannot start Numba's threads


def cache_dir() -> Path:
    """The folder of the generated modules, made if need be.

    PYREV_CACHE_DIR, else the user's cache folder, else, where there is none that can be
    written, one for temporary files.
    """
    if chosen := os.environ.get("PYREV_CACHE_DIR"):
        try:
            return _private(Path(chosen).expanduser())
        except OSError as error:
            raise _unusable(Path(chosen), error) from None
    try:
        base = os.environ.get("XDG_CACHE_HOME")
        return _private((Path(base) if base else Path.home() / ".cache") / "pyrev")
    except (OSError, RuntimeError):  # read-only, or no home at all
        folder = Path(tempfile.gettempdir()) / f"pyrev-{os.getuid()}"
    try:
        return _private(folder)
    except OSError as error:
        raise _unusable(folder, error) from None


def _private(folder: Path) -> Path:
    """The folder, made if need be; what is in it may be executed."""
    folder = folder.absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    info = folder.stat()
    if info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BackendError(
            f"the cache folder {folder} can be written by other users: "
            "make it private (chmod 700) or name another one in PYREV_CACHE_DIR"
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise PermissionError("it can't be written")
    return folder


def _unusable(folder: Path, error: OSError) -> BackendError:
    return BackendError(
        f"the cache folder {folder} can't be used ({error}): name another one in"
        " PYREV_CACHE_DIR"
    )


def module_path(text: str, name: str) -> Path:
    """The file that holds `text`: a readable name, and a hash of the content."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    readable = re.sub(r"\W+", "_", name).strip("_") or "generated"
    return cache_dir() / f"{readable}_{digest}.py"


def _store(path: Path, text: str) -> None:
    """Write the file in one step: no reader, in any process, sees half of it."""
    if path.is_file() and path.read_bytes() == text.encode():
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def tuning(text: str, name: str) -> tuple[str, ...]:
    """What `tune` found for the module with this text: see `remember_tuning`."""
    found = _kept(_tuning_path(text, name))
    if isinstance(found, list) and all(isinstance(one, str) for one in found):
        return tuple(found)
    return ()


def remember_tuning(text: str, name: str, flipped: Sequence[str]) -> None:
    """Keep which tests of sizes are to be decided the other way round.

    `text` is the module as it is without, so what is kept ends with it.
    """
    path = _tuning_path(text, name)
    try:
        _store(path, json.dumps(list(flipped)))
    except OSError as error:
        raise _unusable(path.parent, error) from None


def _kept(path: Path) -> Any:
    """What a file of the cache holds as JSON; None if it is not there, or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _tuning_path(text: str, name: str) -> Path:
    return module_path(text, name).with_suffix(".tuned")


def proofs(name: str, program: str) -> dict[str, bool]:
    """What `remember_proofs` kept for the function with this program, as text."""
    found = _kept(_proofs_path(name, program))
    if isinstance(found, dict) and all(isinstance(v, bool) for v in found.values()):
        return found
    return {}


def remember_proofs(name: str, program: str, answers: Mapping[str, bool]) -> None:
    """Keep what ISL answered about a function: the next process need not ask again."""
    try:
        _store(_proofs_path(name, program), json.dumps(answers))
    except OSError:
        pass  # it is only slower without


def _proofs_path(name: str, program: str) -> Path:
    version = importlib.metadata.version("islpy")
    return module_path(f"islpy {version}\n{program}", name).with_suffix(".isl")


def _drop_torn(path: Path) -> None:
    """Remove machine code that a crash left incomplete: Numba would stop at it.

    Its files are pickles: two in an index, one for each signature.
    """
    files = sorted(path.parent.glob(f"__pycache__/{path.stem}.*.nb[ci]"))
    if all(map(_is_whole, files)):
        return
    for file in files:
        file.unlink(missing_ok=True)


def _is_whole(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            if file.suffix == ".nbc":
                return stream.read().endswith(pickle.STOP)
            pickle.load(stream)
            pickle.loads(stream.read())
    except FileNotFoundError:  # another process removed it
        pass
    except Exception:  # whatever half a pickle may raise
        return False
    return True


def _prepare(module: ModuleType, path: Path) -> None:
    """Compile in less time, and one process at a time reads or writes machine code.

    Numba numbers the files of a function's signatures, and two processes that save two
    signatures at once could give both the same number.
    """
    from pyrev.emit.compiler import remember  # imports Numba

    for value in tuple(vars(module).values()):
        remember(value)
        file = getattr(getattr(value, "_cache", None), "_cache_file", None)
        if file is not None:
            file.save = _locked(file.save, path)
            file.load = _locked(file.load, path)


def _locked(call: Callable[..., Any], path: Path) -> Callable[..., Any]:
    @functools.wraps(call)
    def one_at_a_time(*args: Any) -> Any:
        with path.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return call(*args)

    return one_at_a_time


def load(text: str, name: str) -> ModuleType:
    """The module with this text; the same text gives the same module.

    `name` is the function the module is about: file and module are named after it.
    """
    path = module_path(text, name)
    with MAKING:
        key = str(path)
        if key not in _LOADED:
            try:
                _store(path, text)
                _drop_torn(path)
            except OSError as error:
                raise _unusable(path.parent, error) from None
            linecache.checkcache(key)
            # Numba's cache finds the globals of a function by the name of its module.
            known = f"{GENERATED}{path.stem}"
            spec = importlib.util.spec_from_file_location(known, path)
            assert spec is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            # The text itself, whatever the file or its bytecode hold by now.
            exec(compile(text, key, "exec", dont_inherit=True), module.__dict__)
            if hasattr(module, "njit"):
                _prepare(module, path)
            for one in ("zeros", "empty", "copy"):
                if hasattr(module, one):
                    setattr(module, one, getattr(pool, one))
            _LOADED[key] = module
        return _LOADED[key]


def _layer() -> str:
    """The threading layer that Numba has started; "" if it has not yet."""
    parallel = sys.modules.get("numba.np.ufunc.parallel")
    if parallel is None:
        return ""
    try:
        return str(parallel.threading_layer())
    except ValueError:  # nothing parallel has run yet
        return ""


def launches_are_safe() -> bool:
    """May two Python threads launch parallel Numba code at once? Not on workqueue."""
    return _layer() in ("tbb", "omp")


# ------------------------------------------------------------------ after a fork


def is_alone() -> bool:
    """Must code made here run on one core? GNU OpenMP ends a child that uses it."""
    return _alone


def serial(text: str) -> str:
    """The same module for Numba without threads: the results are the same bits."""
    return re.sub(r"^PARALLEL = .*$", "PARALLEL = SERIAL", text, flags=re.MULTILINE)


def _compiler_lock() -> Any:
    """Numba's own lock, once Numba is there: a child must not inherit it taken."""
    module = sys.modules.get("numba.core.compiler_lock")
    return getattr(module, "global_compiler_lock", None)


def _before_fork() -> None:
    # In the order in which calls take them.
    MAKING.acquire()
    LAUNCH.acquire()
    compiler = _compiler_lock()
    if compiler is not None:
        compiler.acquire()
    _held.append(compiler)


def _after_fork() -> None:
    compiler = _held.pop()
    if compiler is not None:
        compiler.release()
    LAUNCH.release()
    MAKING.release()


def _after_fork_in_child() -> None:
    global _alone
    _alone = _alone or _layer() == "omp"
    _after_fork()


_held: list[Any] = []
os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork,
    after_in_child=_after_fork_in_child,
)
