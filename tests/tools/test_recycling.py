"""Workers whose tests run in children: every report arrives, and memory is bounded."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

pytest.importorskip("xdist")

CONFTEST = """
import numba
import pytest
from tests.tools import recycling

limit = recycling.resident() + 100e6
recycling.BETWEEN_FILES = recycling.WITHIN_A_FILE = limit


def pytest_configure(config):
    if recycling.possible(config):
        config.pluginmanager.register(recycling.Recycling())


@pytest.fixture(scope="session", autouse=True)
def ends():
    yield
    with open({folder!r} + "/ended", "a") as file:
        file.write("ended\\n")
"""
TESTS = """
import os, signal
import numpy as np
import pytest

kept = []


@pytest.mark.parametrize("k", range(6))
def test_that_grows(k):
    kept.append(np.ones(15_000_000))
    with open({folder!r} + "/pids", "a") as file:
        file.write(f"{{os.getpid()}}\\n")


def test_that_fails():
    assert kept == "this text"


def test_that_skips():
    pytest.skip("not today")


@pytest.mark.xfail(strict=True)
def test_that_is_to_fail():
    raise ValueError


def test_that_dies():
    os.kill(os.getpid(), signal.SIGKILL)


def test_after_it():
    print("still here")
"""


@pytest.mark.slow
def test_each_report_arrives_and_a_child_that_has_grown_is_replaced(
    tmp_path: Path,
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.format(folder=str(tmp_path)))
    (tmp_path / "test_of_children.py").write_text(TESTS.format(folder=str(tmp_path)))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n1", "-p", "no:cacheprovider", "-rA"],
        cwd=tmp_path,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = done.stdout
    ends = re.findall(r"(\d+ (?:failed|passed|skipped|xfailed))", said)
    expected = ["2 failed", "7 passed", "1 skipped", "1 xfailed"]
    assert ends == expected, said + done.stderr
    assert "the process died with -9" in said
    assert "this text" in said and "not today" in said and "still here" in said
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 6
    assert 2 <= len(set(pids)) <= 4
    # Each child but the one that was killed has ended its fixtures.
    assert (tmp_path / "ended").read_text().count("ended") >= len(set(pids))
