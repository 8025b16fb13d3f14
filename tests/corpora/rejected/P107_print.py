def f(x):
    print(x)
    return x


# P107_print.py:2:5: P107 this function is not known here
#    2 |     print(x)
#      |     ^^^^^ `print` is a function that pyrev does not know
#   help: write it as loops and arithmetic in a plain function
