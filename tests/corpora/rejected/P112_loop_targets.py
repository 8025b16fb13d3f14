def f(x, y):
    for i, v, w in enumerate(x):
        y[i] = v


# P112_loop_targets.py:2:9: P112 this is not something to assign to
#    2 |     for i, v, w in enumerate(x):
#      |         ^^^^^^^ the targets do not fit what the loop runs over
#   help: name each value: `for i, (x, y) in enumerate(zip(a, b))`
