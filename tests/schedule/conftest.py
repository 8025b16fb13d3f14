"""Every test of the scheduler runs with its slow checks on."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def debug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYREV_DEBUG", "1")
