def f(x):
    return x * f(x / 2.0)


# P109_recursion.py:2:16: P109 recursion is outside the language
#    2 |     return x * f(x / 2.0)
#      |                ^^^^^^^^^^ `f` calls itself
#   help: write the recursion as a loop
