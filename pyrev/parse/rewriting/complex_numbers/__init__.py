"""Complex numbers, as pairs of real ones."""
