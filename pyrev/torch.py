"""Loop functions as PyTorch operations: `pyrev.torch.function(f)`."""

from pyrev.bridges.torch import function

__all__ = ["function"]
