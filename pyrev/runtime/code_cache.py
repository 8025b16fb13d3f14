"""Where generated text lives and how it becomes a callable.

A generated module is a real file in a cache folder of the user, named after the
function and the hash of its text, so that tracebacks and debuggers show its lines and
Numba's `cache=True` finds its machine code again in the next process. The folder is
private: whoever can write there decides what we execute.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import linecache
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from platformdirs.unix import Unix
from platformdirs.windows import Windows

from pyrev.runtime import journal, parallel_loops, pool, subscripts
from pyrev.runtime.error_boundary import GENERATED, generated
from pyrev.runtime.forks import at_fork

#: The minor version of Numba whose internals `runtime.compiler` changes, and with which
#: it was tested. Any other one compiles as it comes: the same code, in more time.
TESTED_NUMBA = "0.68"

MAKING = threading.RLock()  # whoever derives, emits or loads code
LAUNCH = threading.RLock()  # whoever runs compiled code, where that needs a lock


class _Thread(threading.local):
    """What is so in one thread."""

    alone = False  # of each: a default costs a call a microsecond


_here = _Thread()  # it runs what it runs by itself
_alone = False  # in a forked child that cannot start Numba's threads


def cache_dir() -> Path:
    """The folder of the generated modules, made if need be.

    PYREV_CACHE_DIR, else the user's cache folder, else one for temporary files. Where
    none of them can be used, or the one that was chosen can't, a warning says why, and
    the folder is one that ends with this process.
    """
    why = ""
    for folder in _folders():
        try:
            return _private(folder.expanduser())
        except (OSError, RuntimeError) as error:
            why = why or f"the cache folder {folder} can't be used ({error})"
    _warn(f"{why}; name another one in PYREV_CACHE_DIR")
    return _own_folder()


def _folders() -> list[Path]:
    if chosen := os.environ.get("PYREV_CACHE_DIR"):
        return [Path(chosen)]
    found: list[Path] = []
    with contextlib.suppress(RuntimeError):  # no home at all
        found.append(_users_folder())
    number = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    return [*found, Path(tempfile.gettempdir()) / f"pyrev{number}"]


def _users_folder() -> Path:
    """Where the user's programs keep what they can make again.

    `~/.cache` on macOS, too, where other programs of a terminal have theirs.
    """
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "pyrev"
    if sys.platform == "win32":
        return Path(Windows("pyrev", appauthor=False).user_cache_dir)
    return Path(Unix("pyrev").user_cache_dir)


def _private(folder: Path) -> Path:
    """The folder, made if need be; what is in it may be executed."""
    folder = folder.absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if others := _open_to_others(folder):
        raise PermissionError(others)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise PermissionError("it can't be written")
    return folder


def _open_to_others(folder: Path) -> str:
    """Why others may write to the folder, and what to do; "" if nobody else may."""
    if hasattr(os, "getuid"):
        info = folder.stat()
        if info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return "other users can write to it: chmod 700 makes it private"
    elif not folder.resolve().is_relative_to(Path.home().resolve()):
        # Windows keeps in lists who may write, which Python doesn't read; what is in a
        # home folder only its user may write.
        return "other users may write outside of your home folder: choose one in it"
    return ""


_owned: dict[int, Path] = {}  # by process: a child of a fork has its own


def _own_folder() -> Path:
    """A folder that is removed when this process ends, if one can be made."""
    process = os.getpid()
    if process not in _owned or not _owned[process].is_dir():
        try:
            _owned[process] = Path(tempfile.mkdtemp(prefix="pyrev-"))
        except OSError:
            return Path(f"<pyrev {process}>")  # no file will be found there
        atexit.register(_remove, process, _owned[process])
    return _owned[process]


def _remove(process: int, folder: Path) -> None:
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


_told: set[str] = set()


def _warn(text: str) -> None:
    """Say once what makes compiled code be made again."""
    if text not in _told:
        _told.add(text)
        text += "; code is compiled again where it could have been read"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def module_path(text: str, name: str) -> Path:
    """The file that holds `text`: a readable name, and a hash of the content."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    readable = re.sub(r"\W+", "_", name).strip("_") or "generated"
    return cache_dir() / f"{readable}_{digest}.py"


def _store(path: Path, text: str) -> None:
    """Write the file in one step: no reader, in any process, sees half of it."""
    if _holds(path, text):
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        # The same bytes everywhere: what was compiled of them is found by their date.
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        # Windows replaces no file that is open: another process reads or writes it.
        if not (isinstance(error, PermissionError) and _holds(path, text)):
            raise


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


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
        _warn(f"{path} can't be written ({error})")


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
    version = _version("islpy")
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
    if _is_tested():
        from pyrev.runtime.compiler import remember  # imports Numba

        for value in tuple(vars(module).values()):
            remember(value)
    for value in tuple(vars(module).values()):
        cache = getattr(value, "_cache", None)
        file = getattr(cache, "_cache_file", None)
        if cache is not None and file is not None:
            file.save = _locked(file.save, path)
            file.load = _locked(file.load, path)
            cache.save_overload = _forgiving(cache.save_overload, path)
            found = _timed(cache.load_overload, module.__name__)
            cache.load_overload = _forgiving(found, path)


def _timed(load: Callable[..., Any], module: str) -> Callable[..., Any]:
    @functools.wraps(load)
    def loaded(*args: Any) -> Any:
        start = time.perf_counter()
        overload = load(*args)
        if overload is not None:
            journal.found(module, time.perf_counter() - start)
        return overload

    return loaded


def _locked(call: Callable[..., Any], path: Path) -> Callable[..., Any]:
    from filelock import FileLock  # as late as Numba: it takes a while

    @functools.wraps(call)
    def one_at_a_time(*args: Any) -> Any:
        if not path.parent.is_dir():  # removed while we run
            _private(path.parent)
        (path.parent / "__pycache__").mkdir(exist_ok=True)
        with FileLock(path.with_suffix(".lock")).acquire(poll_interval=0.01):
            return call(*args)

    return one_at_a_time


def _forgiving(call: Callable[..., Any], path: Path) -> Callable[..., Any]:
    """A use of the cache that is none where the files are not what they were."""

    @functools.wraps(call)
    def use(*args: Any) -> Any:
        try:
            return call(*args)
        except Exception as error:  # what is read may be anything, so may this be
            what = f"{type(error).__name__}: {error}"
            _warn(f"compiled code beside {path} can't be read or written ({what})")
            return None

    return use


class Loaded:
    """A generated module in memory, which is forgotten when this object is."""

    def __init__(self, module: ModuleType, key: str) -> None:
        self.module = module
        weakref.finalize(self, _unload, module, key).atexit = False


_LOADED: weakref.WeakValueDictionary[str, Loaded] = weakref.WeakValueDictionary()
_RECENT: OrderedDict[str, Loaded] = OrderedDict()
_MOST = 64  # modules that are kept though nothing runs them: they are asked for again


def load(text: str, name: str) -> ModuleType:
    """`loaded`, for what is run at once."""
    return loaded(text, name).module


def loaded(text: str, name: str) -> Loaded:
    """The module with this text; the same text gives the same module.

    It lives as long as what is returned, or longer. `name` is the function the module
    is about: file and module are named after it.
    """
    path = module_path(text, name)
    with MAKING:
        key = str(path)
        found = _LOADED.get(key)
        if found is None:
            try:
                _store(path, text)
                _drop_torn(path)
            except OSError as error:
                _warn(f"{path} can't be written ({error})")
                module = _unfiled(text, path)
            else:
                linecache.checkcache(key)
                try:
                    module = _executed(text, path)
                except (OSError, RuntimeError) as error:
                    # Numba has found no place for machine code.
                    _warn(f"nothing can be kept beside {path} ({error})")
                    module = _unfiled(text, path)
            if hasattr(module, "njit"):
                pool.keep_freed()
                _prepare(module, path)
            for one in ("zeros", "empty", "copy"):
                # A function of the user's may have the name.
                if getattr(module, one, None) is getattr(np, one):
                    setattr(module, one, getattr(pool, one))
            generated.add(key)
            found = _LOADED[key] = Loaded(module, key)
        _RECENT[key] = found
        _RECENT.move_to_end(key)
        while len(_RECENT) > _MOST:
            _RECENT.popitem(last=False)
        return found


def _unload(module: ModuleType, key: str) -> None:
    """Forget a module that nothing runs any more, so that its code can be freed."""
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]
        generated.discard(key)
    files = [key]
    with contextlib.suppress(ValueError):  # Windows: no way leads to another drive
        files.append(os.path.relpath(key))  # Numba asks for this one
    for file in files:
        linecache.cache.pop(file, None)
    if hasattr(module, "njit") and not hasattr(module, "as_it_is"):
        # Compiled functions hold the names of their module where the garbage collector
        # does not look. What goes back to CPython is found by its text: Numba gives a
        # module with the same text, loaded later, the names of this one.
        vars(module).clear()


def _executed(text: str, path: Path) -> ModuleType:
    # Numba's cache finds the globals of a function by the name of its module.
    spec = importlib.util.spec_from_file_location(f"{GENERATED}{path.stem}", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    # The text itself, whatever the file or its bytecode hold by now.
    what: str | ast.Module = text
    if "njit" in text and _is_tested():
        what = _rewritten(text, module)
    exec(compile(what, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def _rewritten(text: str, module: ModuleType) -> ast.Module:
    """The module with this text, in words of `runtime.compiler` that it is given."""
    tree = ast.parse(text)
    if parallel_loops.are_in(text):
        from pyrev.runtime.compiler import parallel_for  # imports Numba

        parallel_loops.with_calls(tree)
        setattr(module, parallel_loops.NAME, parallel_for)
    if subscripts.are_in(text):
        from pyrev.runtime.compiler import from_end

        subscripts.FromEnd().visit(tree)
        setattr(module, subscripts.NAME, from_end)
    return ast.fix_missing_locations(tree)


def _is_tested() -> bool:
    """Is this the version of Numba whose internals `runtime.compiler` knows?"""
    return _version("numba").startswith(f"{TESTED_NUMBA}.")


@functools.cache
def _version(package: str) -> str:
    """The version that is installed, which is in a file."""
    return importlib.metadata.version(package)


def _unfiled(text: str, path: Path) -> ModuleType:
    """The module where there is no file for it: nothing of it is kept."""
    lines = text.splitlines(keepends=True)
    linecache.cache[str(path)] = (len(text), None, lines, str(path))
    return _executed(text.replace('"cache": True', '"cache": False'), path)


_started = ""


def layer() -> str:
    """The threading layer that Numba has started, for good; "" if it has not yet."""
    global _started
    if not _started:
        parallel = sys.modules.get("numba.np.ufunc.parallel")
        if parallel is None:
            return ""
        try:
            _started = str(parallel.threading_layer())
        except ValueError:  # nothing parallel has run yet
            return ""
    return _started


def threads() -> int:
    """How many threads compiled code runs on, here and now."""
    numba = sys.modules.get("numba")
    return 1 if numba is None or is_alone() else int(numba.get_num_threads())


def launches_are_safe() -> bool:
    """May two Python threads launch parallel Numba code at once? Not on workqueue."""
    return layer() in ("tbb", "omp")


# ------------------------------------------------------------------ after a fork


def is_alone() -> bool:
    """Must code made here run on one core? GNU OpenMP ends a child that uses it."""
    return _alone or _here.alone


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """What this thread runs in it runs on one core: others have their own tasks."""
    before = _here.alone
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = before


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
    _alone = _alone or layer() == "omp"
    _after_fork()


_held: list[Any] = []
at_fork(
    before=_before_fork,
    in_parent=_after_fork,
    in_child=_after_fork_in_child,
)
