def f(x):
    y = None
    return x


# P106_none.py:2:9: P106 this kind of value is outside the language
#    2 |     y = None
#      |         ^^^^ `None`
#   help: use numbers, arrays and their elements
