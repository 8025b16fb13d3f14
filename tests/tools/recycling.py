"""A worker of pytest-xdist whose tests run in a child, which is replaced as it grows.

LLVM keeps about two megabytes of each function that it compiles, whatever becomes of
the function, so that a process that compiles thousands of them only grows. Here the
worker itself runs no test: a forked child does, one after the other as the worker says,
and when it has grown, the next test begins in a new child. What children share is on
disk.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item

BETWEEN_FILES = 500e6  # bytes of resident memory
WITHIN_A_FILE = 1000e6


def resident() -> float:
    """The bytes of memory that this process has."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * float(os.sysconf("SC_PAGE_SIZE"))
    except OSError:  # elsewhere than on Linux: the most that it had
        import resource

        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def possible(config: pytest.Config) -> bool:
    """Is this a worker, and may it fork? Not with the threads of other libraries."""
    return hasattr(config, "workerinput") and hasattr(os, "fork")


class Recycling:
    """The plugin of a worker."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._places: dict[int, int] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        if not {"torch", "jax"}.isdisjoint(sys.modules):
            return None  # a fork would be without the threads that they have started
        if not self._places:
            self._places = {id(one): k for k, one in enumerate(item.session.items)}
        hook, where = item.ihook, item.location
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=where)
        for report in self._reports(item, nextitem):
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=where)
        return True

    def pytest_sessionfinish(self) -> None:
        if self._child is not None:
            self._child.end()

    def _reports(self, item: pytest.Item, nextitem: pytest.Item | None) -> list[Any]:
        if self._child is None:
            self._child = Child(item.session)
        following = None if nextitem is None else self._places[id(nextitem)]
        try:
            told, size = self._child.ask((self._places[id(item)], following))
        except EOFError:
            why = f"the process died with {self._child.wait()}"
            self._child = None
            return [
                pytest.TestReport(
                    item.nodeid, item.location, {}, "failed", why, when="call"
                )
            ]
        within = nextitem is not None and nextitem.path == item.path
        if size > (WITHIN_A_FILE if within else BETWEEN_FILES):
            self._child.end()
            self._child = None
        back: Callable[..., Any] = item.config.hook.pytest_report_from_serializable
        return [back(config=item.config, data=data) for data in told]


class Child:
    """A process that runs tests of a session when asked."""

    def __init__(self, session: pytest.Session) -> None:
        import numba  # noqa: F401  once, and not in each child

        # The folder for temporary files is emptied by whoever asks for it first.
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        asked, ask = os.pipe()
        told, tell = os.pipe()
        with warnings.catch_warnings():
            # The threads there are wait for the controller: a child needs none.
            warnings.simplefilter("ignore")
            self._pid = os.fork()
        if not self._pid:
            os.close(ask)
            os.close(told)
            with open(asked, "rb") as questions, open(tell, "wb") as answers:
                _answer(session, questions, answers)
        os.close(asked)
        os.close(tell)
        self._ask, self._told = open(ask, "wb"), open(told, "rb")

    def ask(self, question: tuple[int, int | None]) -> tuple[list[Any], float]:
        """The reports of a test, and how large the process is then."""
        try:
            _send(self._ask, question)
        except BrokenPipeError:
            raise EOFError from None
        found: tuple[list[Any], float] = _receive(self._told)
        return found

    def end(self) -> None:
        """Let it end, after what its fixtures have to do."""
        self._ask.close()
        self._told.close()
        self.wait()

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def _answer(session: pytest.Session, questions: BinaryIO, answers: BinaryIO) -> None:
    """What a child does; it does not return."""
    code = 1
    try:
        plugins = session.config.pluginmanager
        for plugin in plugins.get_plugins():
            if type(plugin).__name__ == "WorkerInteractor":
                plugins.unregister(plugin)  # it is the parent that says something
        while True:
            try:
                place, following = _receive(questions)
            except EOFError:
                break
            item = session.items[place]
            nextitem = None if following is None else session.items[following]
            # The wrapper that sees to a test's filters of warnings is the parent's.
            with catch_warnings_for_item(
                config=item.config, ihook=item.ihook, when="runtest", item=item
            ):
                reports = runtestprotocol(item, log=False, nextitem=nextitem)
            told = item.config.hook.pytest_report_to_serializable
            data = [told(config=item.config, report=r) for r in reports]
            _send(answers, (data, resident()))
        session._setupstate.teardown_exact(None)
        code = 0
    finally:
        os._exit(code)


def _send(stream: BinaryIO, value: object) -> None:
    data = pickle.dumps(value)
    stream.write(struct.pack("Q", len(data)) + data)
    stream.flush()


def _receive(stream: BinaryIO) -> Any:
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    return pickle.loads(stream.read(*struct.unpack("Q", head)))
