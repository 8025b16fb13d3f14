"""Adjoints that were derived by hand, before the generated ones had been seen.

A module each: the function, its arguments, and its adjoint as one would publish it.
`python -m tests.tools.by_hand` prints lines and tokens of both.
"""
