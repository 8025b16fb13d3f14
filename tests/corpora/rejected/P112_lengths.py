def f(x):
    a, b = x, x, x
    return a + b


# P112_lengths.py:2:5: P112 this is not something to assign to
#    2 |     a, b = x, x, x
#      |     ^^^^^^^^^^^^^^ 3 values for 2 names
#   help: make the two sides equally long
