import functools


def power(x, n):
    return x**n


f = functools.partial(power, n=3)


# P114 the source of this function cannot be read
#   because this is a `functools.partial`
#   help: give a function that passes the fixed arguments on, or pass them at the call
