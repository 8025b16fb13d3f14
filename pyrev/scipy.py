"""Loop functions for `scipy.optimize`: `pyrev.scipy.objective` and `residuals`."""

from pyrev.bridges.scipy import objective, residuals

__all__ = ["objective", "residuals"]
