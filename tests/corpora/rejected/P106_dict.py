def f(x):
    table = {0: x}
    return x


# P106_dict.py:2:13: P106 this kind of value is outside the language
#    2 |     table = {0: x}
#      |             ^^^^^^ a dict is made here
#   help: use arrays and scalars
