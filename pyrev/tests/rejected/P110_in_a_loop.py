def f(x):
    for i in range(len(x)):
        if x[i] > 0.0:
            return x[i]
    return 0.0


# P110_in_a_loop.py:4:13: P110 this `return` is not supported yet
#    4 |             return x[i]
#      |             ^^^^^^^^^^^ an early `return` is not supported yet
#   help: assign the value to a variable and return it at the end
