"""Halide 21, propagate_adjoints + Adams2019 autoscheduler."""

from . import _halide as _h

_h.AUTO = "Adams2019"
from ._halide import *
