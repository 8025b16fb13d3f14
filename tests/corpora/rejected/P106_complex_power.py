def f(x, n):
    return abs((1j + x) ** n)


# P106_complex_power.py:2:16: P106 this kind of value is outside the language
#    2 |     return abs((1j + x) ** n)
#      |                ^^^^^^^^^^^^^ a power of a complex number, or to one, that is not a small integer which is written out
#   help: write `np.exp(w * np.log(z))`, or `np.sqrt(z)`
