def counted(v, k):
    return v if k == 500 else 1.0 + counted(v, k + 1)


def f(x):
    return counted(x, 0)


# P109_many_levels.py:2:37: P109 recursion is outside the language
#    2 |     return v if k == 500 else 1.0 + counted(v, k + 1)
#      |                                     ^^^^^^^^^^^^^^^^^ `counted` calls itself
#   help: write the recursion as a loop
