"""The test suite: one corpus of plain functions, every rung of the ladder over it."""

from pathlib import Path

#: The repository.
ROOT = Path(__file__).resolve().parents[1]
