def by_rule(x):
    return x


def f(x):
    y = by_rule(x * x)
    return y * y


# P119_second.py:6:5: P119 a rule has no second derivative
#    6 |     y = by_rule(x * x)
#      |     ^^^^^^^^^^^^^^^^^^ the derivative of a value that has a rule of its own is asked for, and a rule says no more than the first
#   help: leave out custom_vjp for second derivatives, or write the rule without the result
