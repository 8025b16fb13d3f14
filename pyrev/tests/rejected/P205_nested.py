def f(x):
    for i in range(3):
        for i in range(4):
            x[i] = 0.0


# P205_nested.py:3:9: P205 a loop index belongs to its loop
#    3 |         for i in range(4):
#      |         ^^^^^^^^^^^^^^^^^^ the outer loop uses the index `i` too
#   help: give each of the two loops its own index
