def phasor(t):
    return 1j * t


def apply(g, t):
    return g(t)


def f(x):
    return abs(1j + apply(phasor, x))


# P106_complex_function_argument.py:6:12: P106 this kind of value is outside the language
#    6 |     return g(t)
#      |            ^^^^ `phasor` is given or returns complex numbers here
#   help: call it by its name, or let it take and return real numbers
