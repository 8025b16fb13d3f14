def f(x):
    class State:
        value = 0.0
    return x * 2.0


# P101_class.py:2:5: P101 a class cannot be differentiated
#    2 |     class State:
#      |     ^^^^^^^^^^^^ a class is defined here
#   help: keep the numbers in arrays and the code in functions
