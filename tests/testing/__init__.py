"""Tests of what users check gradients with."""
