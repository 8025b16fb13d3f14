"""Tests of transformations of loops."""
