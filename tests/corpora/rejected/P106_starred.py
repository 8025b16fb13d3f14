def f(x):
    first, *rest = x, x, x
    return first


# P106_starred.py:2:12: P106 this kind of value is outside the language
#    2 |     first, *rest = x, x, x
#      |            ^^^^^ a starred expression
#   help: write the values out
