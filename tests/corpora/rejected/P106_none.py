def f(x):
    return x + None


# P106_none.py:2:16: P106 this kind of value is outside the language
#    2 |     return x + None
#      |                ^^^^ `None`
#   help: use numbers, arrays and their elements
