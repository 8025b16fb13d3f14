"""How fast CUDA C would be on a GPU that is not there.

    python -m benchmarks.gpu_meter --all
    python -m benchmarks.gpu_meter conv2d --adjoint --json conv2d.json

NVIDIA's compiler makes PTX of a text; `ptx.py` reads it, `encode.py` and `warps.cpp`
run some of its blocks, a warp of 32 lanes at a time, and record what their accesses
touch; `sass.py` tells what the hardware's own instructions are, where its tools are
installed; `machine.py` has the numbers of a GPU and turns what was counted into time.
"""
