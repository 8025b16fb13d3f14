"""Loop functions as JAX functions: `pyrev.jax.function(f)`."""

from pyrev.bridges.jax import function

__all__ = ["function"]
