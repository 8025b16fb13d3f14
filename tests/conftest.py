"""Shared fixtures: a seeded generator per test, a cache of its own for the session."""

from __future__ import annotations

import gc
import os
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

from pyrev.driver import passes
from tests.tools import recycling
from tests.tools import slow as slow_tests
from tests.turns import SLOW_TURN, TURNS, its_turn


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` rewrites the golden files; the review is `git diff`."""
    parser.addoption("--update-golden", action="store_true", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Of the slow tests those whose turn it is: one in PYREV_TURNS (default: all)."""
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    long = slow_tests.listed()
    for item in items:
        if item.nodeid in long:
            item.add_marker(pytest.mark.slow)
        slow = item.get_closest_marker("slow") is not None
        left = slow and not its_turn(item.nodeid, TURNS, SLOW_TURN)
        (others if left else kept).append(item)
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = kept


def pytest_collection_finish() -> None:
    """The garbage collector need not look at modules and tests again and again, in each
    process that a worker starts: a tenth of the time of all tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_configure(config: pytest.Config) -> None:
    """A worker's tests run in children, which are replaced as they grow.

    What fails shows where it does in pyrev.
    """
    os.environ.setdefault("PYREV_TRACEBACK", "full")
    if recycling.possible(config):
        config.pluginmanager.register(recycling.Recycling())


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """The same numbers every run, different ones for every test."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session", autouse=True)
def _verified() -> Iterator[None]:
    """Programs are checked after every pass."""
    passes.AFTER.append(passes.well_formed)
    yield
    passes.AFTER.remove(passes.well_formed)


@pytest.fixture(scope="session", autouse=True)
def _cache_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests never touch the user's cache; PYREV_TEST_CACHE keeps one between runs."""
    before = os.environ.get("PYREV_CACHE_DIR")
    kept = os.environ.get("PYREV_TEST_CACHE")
    own = tmp_path_factory.getbasetemp() / "cache"  # of all children of a worker
    own.mkdir(mode=0o700, exist_ok=True)
    os.environ["PYREV_CACHE_DIR"] = kept or str(own)
    yield
    if before is None:
        del os.environ["PYREV_CACHE_DIR"]
    else:
        os.environ["PYREV_CACHE_DIR"] = before
