"""Which loop structure an adjoint gets, and which of its loops run in parallel."""
