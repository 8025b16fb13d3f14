"""What happens where a program is nested too deeply for the interpreter's stack.

Passes recurse over expressions and blocks. Where Python's limit stops one, it runs
again on a thread with a stack that is large enough for any text that Python compiles.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
#: Bytes of address space, of which what is used becomes memory; Windows gives a thread
#: less than 256 MiB.
_STACKS = (512 << 20, 255 << 20)
_LEVEL = 5 << 10  # bytes of it that a level of recursion may take
_LOCK = threading.Lock()


class _Here(threading.local):
    """What this thread is in."""

    begun = False  # a function that is run again if it goes too deep
    large = False  # that second run


_here = _Here()


def deep(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, which must bear being begun twice, run again on a large stack if it
    raises `RecursionError`.

    Of several such functions inside each other the outermost runs again: it holds no
    lock that the thread with the large stack may need.

    >>> @deep
    ... def depth(n: int) -> int:
    ...     return 0 if n == 0 else 1 + depth.__wrapped__(n - 1)
    >>> depth(5000)
    5000
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if _here.begun:
            return function(*args, **kwargs)
        _here.begun = True
        try:
            return function(*args, **kwargs)
        except RecursionError:
            if _here.large:
                raise
        finally:
            _here.begun = False
        return on_a_large_stack(lambda: function(*args, **kwargs))

    return run


def on_a_large_stack(call: Callable[[], T]) -> T:
    """What `call` gives, called by a thread that may recurse deep."""
    if _here.large:
        return call()
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        _here.begun = _here.large = True
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    with _LOCK:  # the limit and the size of new stacks belong to the whole process
        limit = sys.getrecursionlimit()
        size = threading.stack_size()
        try:
            levels = _ask_for_a_large_stack() // _LEVEL
            thread = threading.Thread(target=work, name="pyrev-deep")
            sys.setrecursionlimit(max(limit, levels))
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
            threading.stack_size(size)
    if errors:
        raise errors[0]
    return results[0]


def _ask_for_a_large_stack() -> int:
    """Give threads that begin from now on the largest stack there is: its bytes."""
    for size in _STACKS:
        try:
            threading.stack_size(size)
        except ValueError:  # larger than this system gives
            continue
        return size
    return threading.stack_size()
