def g(v, w=1.0):
    return v * w


def f(x, options):
    return g(x, **options)


# P108_spread.py:6:12: P108 the arguments do not fit the function
#    6 |     return g(x, **options)
#      |            ^^^^^^^^^^^^^^^ `**` spreads arguments
#   help: write each argument out
