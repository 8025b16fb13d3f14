"""Applications: one file each, the loops first, then their use."""
