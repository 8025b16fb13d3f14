def f(x):
    x[0] + 1.0
    x[0] = 2.0


# P115_unused.py:2:5: P115 this expression has no effect
#    2 |     x[0] + 1.0
#      |     ^^^^^^^^^^ the value is not used
#   help: assign it, or remove the line
