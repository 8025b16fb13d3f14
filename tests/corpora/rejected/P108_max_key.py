def f(x):
    return max(x, key=abs)


# P108_max_key.py:2:12: P108 the arguments do not fit the function
#    2 |     return max(x, key=abs)
#      |            ^^^^^^^^^^^^^^^ `max` does not take these arguments here
#   help: write `max(a, b)` of numbers, `max(v)` of a vector, or the loop
