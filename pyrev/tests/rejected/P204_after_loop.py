def f(x):
    for i in range(len(x)):
        last = x[i]
    return last


# P204_after_loop.py:4:12: P204 this variable may not have a value yet
#    4 |     return last
#      |            ^^^^ `last` is not assigned on every path to here
#   help: assign it before the `if` or the loop
