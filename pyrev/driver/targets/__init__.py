"""The targets by name, and how another one is added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyrev.driver.targets.cuda import CUDA
from pyrev.driver.targets.numba import NUMBA
from pyrev.driver.targets.numpy import NUMPY
from pyrev.driver.targets.python import PYTHON
from pyrev.driver.targets.target import Target
from pyrev.runtime.device import any_device

__all__ = ["AUTO", "CUDA", "NUMBA", "NUMPY", "PYTHON", "TARGETS", "named", "register"]

#: All that a user may name; `register` adds to it.
TARGETS: dict[str, Target] = {t.name: t for t in (PYTHON, NUMPY, NUMBA, CUDA)}

#: What a user names to have the arguments decide.
AUTO = "auto"


def register(target: Target) -> None:
    """Let users name `target`."""
    TARGETS[target.name] = target


def named(name: str, values: Mapping[str, Any] | None = None) -> Target:
    """The target that a user names, for a call with arguments if there are any."""
    if name != AUTO:
        return TARGETS[name]
    return CUDA if values and any_device(tuple(values.values())) else NUMBA
