def f(x, k):
    table = {0: x[0], 1: x[1]}
    return table[k]


# P106_dict.py:2:13: P106 this kind of value is outside the language
#    2 |     table = {0: x[0], 1: x[1]}
#      |             ^^^^^^^^^^^^^^^^^^ a dict is made here
#   help: use arrays and scalars
