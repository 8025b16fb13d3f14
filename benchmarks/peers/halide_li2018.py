"""Halide 21, propagate_adjoints + Li2018 autoscheduler."""

from . import _halide as _h

_h.AUTO = "Li2018"
from ._halide import *
