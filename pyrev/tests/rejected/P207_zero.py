def f(x):
    for i in range(0, len(x), 0):
        x[i] = 0.0


# P207_zero.py:2:31: P207 the step of a range must be an integer literal
#    2 |     for i in range(0, len(x), 0):
#      |                               ^ a step of zero never arrives
#   help: use a step other than zero
