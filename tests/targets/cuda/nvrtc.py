"""NVIDIA's compiler for CUDA C, which needs no GPU and no driver.

The wheel `nvidia-cuda-nvrtc-cu12` holds it as a shared library; these are its few
functions that turn text into PTX, by way of `ctypes`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Sequence
from pathlib import Path

#: What every text is compiled for: Turing, Ampere, Hopper.
ARCHITECTURES = ("compute_75", "compute_80", "compute_90")


@functools.cache
def library() -> ctypes.CDLL | None:
    """The compiler; None if it is not installed."""
    found = importlib.util.find_spec("nvidia")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for file in sorted(Path(folder).glob("cuda_nvrtc/lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(file))
    return None


def ptx(code: str, options: Sequence[str]) -> str:
    """`code` as PTX; `ValueError` with what the compiler says if it refuses it."""
    nvrtc = library()
    assert nvrtc is not None
    program = ctypes.c_void_p()
    text = code.encode()
    made = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), text, b"kernels.cu", 0, None, None
    )
    assert made == 0
    try:
        given = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
        if nvrtc.nvrtcCompileProgram(program, len(options), given):
            raise ValueError(_text(program, "ProgramLog"))
        return _text(program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(program: ctypes.c_void_p, what: str) -> str:
    nvrtc = library()
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode(errors="replace")
