def f(x):
    return x * 1j


# P106_complex.py:1:1: P106 this kind of value is outside the language
#    1 | def f(x):
#      | ^^^^^^^^^ `f` returns complex numbers
#   help: return the parts, `z.real` and `z.imag`
