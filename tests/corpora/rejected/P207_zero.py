def f(x):
    for i in range(0, len(x), 0):
        x[i] = 0.0


# P207_zero.py:2:31: P207 this step is outside the language
#    2 |     for i in range(0, len(x), 0):
#      |                               ^ a step of zero never arrives
#   help: use an integer step other than zero
