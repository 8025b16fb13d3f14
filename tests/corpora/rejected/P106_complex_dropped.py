def f(x):
    return float(x * 1j)


# P106_complex_dropped.py:2:12: P106 this kind of value is outside the language
#    2 |     return float(x * 1j)
#      |            ^^^^^^^^^^^^^ `float` of a complex number
#   help: write it with `abs`, `.real`, `.imag`, arithmetic, `exp`, `log`, `sqrt` and the trigonometric and hyperbolic functions
