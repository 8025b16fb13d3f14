"""Derivatives that were derived by hand, before the generated ones had been seen.

A module each: the function, its arguments, its adjoint and its tangent as one would
publish them. `python -m tests.tools.by_hand` prints lines and tokens of both.
"""
