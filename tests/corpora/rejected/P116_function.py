def min(x):
    return x[0] * x[1]


f = min


# P116_function.py:1:1: P116 this name is taken
#    1 | def min(x):
#      | ^^^^^^^^^^^ the function `min` hides what the derivative calls
#   help: give it another name, such as `min_`
