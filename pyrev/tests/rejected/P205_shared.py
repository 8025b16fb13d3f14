def f(x):
    i = 7
    x[i] = 1.0
    for i in range(3):
        x[i] = 0.0


# P205_shared.py:2:5: P205 a loop index belongs to its loop
#    2 |     i = 7
#      |     ^ `i` is also the index of a loop
#   help: use another name; sharing it is not supported yet
