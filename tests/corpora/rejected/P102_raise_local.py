from typing import Any

Hidden: Any = type("Inner", (ValueError,), {})


def f(x):
    if x < 0.0:
        raise Hidden("negative")
    return x * x


# P102_raise_local.py:8:9: P102 this statement is outside the language
#    8 |         raise Hidden("negative")
#      |         ^^^^^^^^^^^^^^^^^^^^^^^^ `Inner` is no name of a module
#   help: define it at the top of a module
