"""What tests of the CUDA target need, and why they are skipped without it."""

from __future__ import annotations

import pytest

from tests.targets.cuda import nvrtc, standin

compiler = pytest.mark.skipif(
    standin.COMPILER is None, reason="no C++ compiler to run kernels on the CPU (CXX)"
)
nvidia = pytest.mark.skipif(
    nvrtc.library() is None, reason="nvidia-cuda-nvrtc-cu12 is not installed"
)
