def f(x):
    for i in range(3):
        for i in range(4):
            x[i] = 0.0


# P205_nested.py:2:9: P205 a loop index belongs to its loop
#    2 |     for i in range(3):
#      |         ^ the body assigns the loop index `i`
#   help: assign to another name; writing to the index is not supported yet
