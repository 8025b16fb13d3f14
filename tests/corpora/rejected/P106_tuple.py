def f(x):
    pair = (x, x)
    return pair * 2


# P106_tuple.py:2:12: P106 this kind of value is outside the language
#    2 |     pair = (x, x)
#      |            ^^^^^^ a tuple where a number is needed
#   help: use numbers, arrays and their elements
