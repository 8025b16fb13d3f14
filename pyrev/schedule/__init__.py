"""Which loop structure an adjoint gets, and which of its loops run in parallel."""

from pyrev.schedule.distribute import schedule_readable
from pyrev.schedule.report import Decision

__all__ = ["Decision", "schedule_readable"]
