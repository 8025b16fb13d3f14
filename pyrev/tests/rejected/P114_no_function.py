import math

f = math.sin


# P114 the source of this function cannot be read
#   because an object of type `builtin_function_or_method` is not a plain function
#   help: give a function, a lambda or a `numba.njit` function
