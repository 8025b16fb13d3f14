"""Halide 21, propagate_adjoints + Mullapudi2016 autoscheduler."""

from . import _halide as _h

_h.AUTO = "Mullapudi2016"
from ._halide import *
