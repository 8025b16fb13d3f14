def f(x: float):
    a, b = 2.0 * x
    return a + b


# P112_unpacked.py:2:12: P112 this is not something to assign to
#    2 |     a, b = 2.0 * x
#      |            ^^^^^^^ this is not a tuple whose length is known
#   help: assign the elements one by one
