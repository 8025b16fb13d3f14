def f(x):
    return x * 1j


# P106_complex.py:2:16: P106 this kind of value is outside the language
#    2 |     return x * 1j
#      |                ^^ a complex number
#   help: use numbers, arrays and their elements
