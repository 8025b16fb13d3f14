"""Tests of the examples, on small input."""
