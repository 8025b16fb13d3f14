"""The test suite: one corpus of plain functions, and every rung of the ladder over it."""
