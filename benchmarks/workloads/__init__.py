"""Workload definitions.  Each module: NAME, inputs(small) -> dict of float32 arrays,
reference(inp) -> dict of float64 arrays (torch double; needs torch), OUT (names compared),
cost(inp) -> (bytes_min, flops): compulsory DRAM traffic and flops of forward+backward."""

import importlib

ALL = [
    "conv2d",
    "ckpt1x5",
    "ckpt3x5",
    "stn",
    "flownet",
    "bslice",
    "heat3d",
    "rd2d",
    "dilconv",
    "hmlstm",
    "gmm",
    "splat",
]


def load(name):
    return importlib.import_module("workloads." + name)
