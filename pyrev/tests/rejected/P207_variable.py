def f(x, k):
    for i in range(0, len(x), k):
        x[i] = 0.0


# P207_variable.py:2:31: P207 the step of a range must be an integer literal
#    2 |     for i in range(0, len(x), k):
#      |                               ^ the sign of this step is not known in the text
#   help: write the step as a number; other steps are not supported yet
