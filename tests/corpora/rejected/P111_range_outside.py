def f(x):
    r = range(3)
    for i in r:
        x[i] = 0.0
    x[r[1]] = 1.0


# P111_range_outside.py:2:9: P111 this iteration is outside the language
#    2 |     r = range(3)
#      |         ^^^^^^^^ a range outside a `for`
#   help: write it in the `for` statement
