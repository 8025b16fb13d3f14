"""torch.compile (Inductor, C++/OpenMP via g++): forward and backward graphs through AOTAutograd."""

import torch

from . import torch_eager as E

E.W = lambda f: torch.compile(f, dynamic=False)
from .torch_eager import *
