"""Tests of what is read from a text, and what is refused."""
