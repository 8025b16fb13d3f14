def f(x):
    for i in range(len(x)):
        x[i] = 0.0
        i += 1


# P205_assigned.py:4:9: P205 a loop index belongs to its loop
#    4 |         i += 1
#      |         ^ `i` is also the index of a loop
#   help: use another name; sharing it is not supported yet
