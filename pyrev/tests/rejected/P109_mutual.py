def even(v):
    return odd(v - 1)


def odd(v):
    return even(v - 1)


def f(x):
    return even(x)


# P109_mutual.py:2:12: P108 the arguments do not fit the function
#    2 |     return odd(v - 1)
#      |            ^^^^^^^^^^ `odd` returns nothing
#   help: end it with `return` and the value
#
# P109_mutual.py:6:12: P109 recursion is outside the language
#    6 |     return even(v - 1)
#      |            ^^^^^^^^^^^ `even` calls itself
#   help: write the recursion as a loop
#
# P109_mutual.py:10:12: P108 the arguments do not fit the function
#   10 |     return even(x)
#      |            ^^^^^^^ `even` returns nothing
#   help: end it with `return` and the value
