def f(x):
    return max(x)


# P108_max_of_array.py:2:12: P108 the arguments do not fit the function
#    2 |     return max(x)
#      |            ^^^^^^ `max` of one argument looks into an array
#   help: write the loop, or `max(a, b)` of numbers
