def f(x):
    if x > 1.0:
        return f(x / 2.0)
    return x


# P109_recursion.py:3:16: P109 recursion is outside the language
#    3 |         return f(x / 2.0)
#      |                ^^^^^^^^^^ `f` calls itself
#   help: write the recursion as a loop
