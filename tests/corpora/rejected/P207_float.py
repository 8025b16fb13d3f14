def f(x):
    for i in range(0, 3, 1.0):
        x[i] = 0.0


# P207_float.py:2:26: P207 this step is outside the language
#    2 |     for i in range(0, 3, 1.0):
#      |                          ^^^ a step is an integer
#   help: use an integer step other than zero
