"""pyrev: plain Python loop functions over NumPy arrays, and their derivatives as
Python.
"""

from __future__ import annotations

from pyrev.api.differentiable import (
    Differentiable,
    differentiable,
    grad,
    value_and_grad,
    vjp,
)
from pyrev.api.differentiable import TargetName as TargetName  # for annotations
from pyrev.api.forward import jvp, partials
from pyrev.api.gradients import Gradients, Tangents
from pyrev.api.matrices import hessian, hvp, jacobian
from pyrev.api.solvers import fixed_point, root
from pyrev.ir.diagnostics import (
    ArgumentError,
    BackendError,
    InternalError,
    PyrevError,
    UnsupportedError,
)
from pyrev.parse.custom import custom_vjp
from pyrev.parse.directives import checkpointed, probe, stop_gradient
from pyrev.runtime.pool import release
from pyrev.testing import GradientReport, check_grad

__version__ = "0.2.0"

__all__ = [
    "ArgumentError",
    "BackendError",
    "Differentiable",
    "GradientReport",
    "Gradients",
    "InternalError",
    "PyrevError",
    "Tangents",
    "UnsupportedError",
    "check_grad",
    "checkpointed",
    "custom_vjp",
    "differentiable",
    "fixed_point",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "partials",
    "probe",
    "release",
    "root",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]


def __dir__() -> list[str]:
    """The public names; those of bridges once they are imported."""
    doors = ("dask", "jax", "scipy", "torch")
    return sorted({*__all__, "__version__", *(d for d in doors if d in globals())})
