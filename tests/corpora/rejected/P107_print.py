def changes(y):
    y[0] = 0.0
    return y[1]


def f(x):
    print(changes(x))
    return x


# P107_print.py:7:5: P107 this function is not known here
#    7 |     print(changes(x))
#      |     ^^^^^ `print` is a function that pyrev does not know
#   help: write it as loops and arithmetic in a plain function
