"""Loop functions of Dask arrays: `pyrev.dask.distribute(f)`."""

from pyrev.bridges.chunked.phases import ChunkingError
from pyrev.bridges.dask import Distributed, distribute

__all__ = ["ChunkingError", "Distributed", "distribute"]
