"""The test suite: one corpus of plain functions, every rung of the ladder over it."""
