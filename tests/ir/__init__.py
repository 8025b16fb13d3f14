"""Tests of expressions and the primitives of every target."""
