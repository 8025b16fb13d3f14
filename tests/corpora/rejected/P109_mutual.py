def even(v):
    return odd(v - 1)


def odd(v):
    return even(v - 1)


def f(x):
    return even(x)


# P109_mutual.py:2:12: P109 recursion is outside the language
#    2 |     return odd(v - 1)
#      |            ^^^^^^^^^^ `odd` calls itself
#   help: write the recursion as a loop
