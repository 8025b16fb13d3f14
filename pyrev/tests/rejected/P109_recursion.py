def f(x):
    if x > 1.0:
        return f(x / 2.0)
    return x


# P109_recursion.py:2:5: P110 this `return` is not supported yet
#    2 |     if x > 1.0:
#      |     ^^^^^^^^^^^ the paths through this `if` return different numbers of values
#   help: return equally many values on every path
#
# P109_recursion.py:3:16: P109 recursion is outside the language
#    3 |         return f(x / 2.0)
#      |                ^^^^^^^^^^ `f` calls itself
#   help: write the recursion as a loop
