def f(x):
    for i in range(len(x)):
        x[i] = 0.0
    return i


# P205_after_loop.py:4:12: P205 a loop index belongs to its loop
#    4 |     return i
#      |            ^ the loop over `i` has ended here
#   help: keep the value in another variable; reading an index after its loop is not supported yet
