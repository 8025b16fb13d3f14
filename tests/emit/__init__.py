"""Tests of the texts that are generated, and of what compiles them."""
