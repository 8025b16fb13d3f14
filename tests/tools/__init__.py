"""Judges, generators and hunters of bugs, and the tests that run a share of them."""
