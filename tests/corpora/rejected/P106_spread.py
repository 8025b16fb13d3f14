def g(v, w):
    return v * w


def f(x):
    y = x[0] * x
    return g(*y)


# P106_spread.py:7:14: P106 this kind of value is outside the language
#    7 |     return g(*y)
#      |              ^^ a star spreads what is no tuple here
#   help: give it a tuple, or write the values out
