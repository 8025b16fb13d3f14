def f(x):
    x[[0, 2]] = 0.0


# P106_list_of_indices.py:2:7: P106 this kind of value is outside the language
#    2 |     x[[0, 2]] = 0.0
#      |       ^^^^^^ a list
#   help: use numbers, arrays and their elements
