"""A layer of PyTorch whose loops are defined inside it: no module has their name."""

from __future__ import annotations

from typing import Any

import torch

import pyrev
from pyrev.torch import function


class Layer(torch.nn.Module):  # type: ignore[misc]
    """Weights the squares of its input."""

    def __init__(self) -> None:
        super().__init__()
        scale = 3.0

        @pyrev.differentiable(target="python")
        def squares(x):  # type: ignore[no-untyped-def]
            total = 0.0
            for i in range(x.shape[0]):
                total += scale * (i + 1) * x[i] * x[i]
            return total

        self.loops = function(squares)

    def forward(self, x: torch.Tensor) -> Any:
        return self.loops(x)
